package main

import (
	"bytes"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/topocast/topocast/internal/cli"
)

var (
	update = flag.Bool("update", false, "rewrite docs/reference/commands")
	dist   = flag.String("dist", "", "folder for man pages and completions, of make dist")
)

// TestReference: the pages of docs/reference/commands are the help of the commands.
func TestReference(t *testing.T) {
	const folder = "../../docs/reference/commands"
	made := t.TempDir()
	link := func(name string) string { return name }
	for _, c := range documented() {
		var page bytes.Buffer
		if err := doc.GenMarkdownCustom(c, &page, link); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(made, pageOf(c)+".md"), page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := os.ReadDir(made)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(folder)
	if err != nil || len(kept) != len(pages) && !*update {
		t.Errorf("%d pages of %d commands, %v: go test ./examples/topocast -run Reference -update", len(kept), len(pages), err)
	}
	for _, page := range pages {
		want, err := os.ReadFile(filepath.Join(made, page.Name()))
		if err != nil {
			t.Fatal(err)
		}
		// Usage of flags is not wrapped here, and cobra marks code blocks without a language.
		file := filepath.Join(folder, page.Name())
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not the help of its command (%v): go test ./examples/topocast -run Reference -update", file, err)
		}
	}
}

// documented yields the commands that have a page, each with the flags that it takes.
func documented() iter.Seq2[int, *cobra.Command] {
	return func(yield func(int, *cobra.Command) bool) {
		root := command(cli.RunJob)
		root.DisableAutoGenTag = true
		n := 0
		var visit func(c *cobra.Command) bool
		visit = func(c *cobra.Command) bool {
			if !c.IsAvailableCommand() && c.HasParent() {
				return true
			}
			cli.HideOthers(c)
			if !yield(n, c) {
				return false
			}
			n++
			for _, below := range c.Commands() {
				if !visit(below) {
					return false
				}
			}
			return true
		}
		visit(root)
	}
}

// pageOf is the name of a command's page, as links between pages have it.
func pageOf(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "_") }

// TestFlagsAreFew: the whole command line has at most 120 flags, persistent ones counted once.
func TestFlagsAreFew(t *testing.T) {
	root := command(cli.RunJob)
	count := strings.Count(root.PersistentFlags().FlagUsages(), "\n      --")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		count += strings.Count("\n"+c.LocalNonPersistentFlags().FlagUsages(), "\n  ")
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
	if count < 90 || count > 120 {
		t.Errorf("%d flags, want 90 to 120", count)
	}
}

// TestDist writes man pages and completions for make dist.
func TestDist(t *testing.T) {
	if *dist == "" {
		t.Skip("make dist sets -dist")
	}
	man := filepath.Join(*dist, "man", "man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range documented() {
		var page bytes.Buffer
		if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "topocast", Manual: "topocast"}, &page); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(man, strings.ReplaceAll(pageOf(c), "_", "-")+".1"), page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := command(cli.RunJob)
	for shell, write := range map[string]func(string) error{
		"topocast.bash": func(file string) error { return root.GenBashCompletionFileV2(file, true) },
		"_topocast":     root.GenZshCompletionFile,
		"topocast.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
	} {
		file := filepath.Join(*dist, "completions", shell)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := write(file); err != nil {
			t.Fatal(err)
		}
	}
}
