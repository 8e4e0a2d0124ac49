// Package docs has no code: its tests hold the pages to what the programs do.
package docs

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/model"
)

// pages are all pages of the documentation, from this folder.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../CHANGELOG.md"}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A block is a session of commands on a page.
type block struct {
	line  int
	mpi   bool // its commands launch jobs
	steps []step
}

// A step is one command and the output that the page shows.
type step struct {
	command string
	output  []string
}

// blocks returns the blocks that begin with ```console, of which the word mpi follows where jobs are launched.
func blocks(text string) []block {
	var found []block
	var b *block
	for n, line := range strings.Split(text, "\n") {
		switch {
		case b == nil && strings.HasPrefix(line, "```console"):
			found = append(found, block{line: n + 1, mpi: strings.HasSuffix(line, " mpi")})
			b = &found[len(found)-1]
		case b == nil:
		case line == "```":
			b = nil
		case strings.HasPrefix(line, "$ "):
			b.steps = append(b.steps, step{command: line[2:]})
		case len(b.steps) > 0:
			last := &b.steps[len(b.steps)-1]
			last.output = append(last.output, line)
		}
	}
	return found
}

// shown tells whether output is what a page shows, where a line "..." stands for any lines, and "..." at the
// end of a line for any rest.
func shown(want, got []string) bool {
	for i, line := range want {
		if line == "..." {
			for skip := range len(got) + 1 {
				if shown(want[i+1:], got[skip:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 {
			return false
		}
		begin, open := strings.CutSuffix(line, "...")
		if first := strings.TrimRight(got[0], " "); !open && first != strings.TrimRight(line, " ") || open && !strings.HasPrefix(first, begin) {
			return false
		}
		got = got[1:]
	}
	return len(got) == 0
}

// TestCommands: the commands of each page print what the page shows, but for those that launch jobs.
func TestCommands(t *testing.T) { runPages(t, "") }

// TestJobCommands: so do the commands of pages that launch jobs, on the launcher of TOPOCAST_TEST_MPIRUN.
func TestJobCommands(t *testing.T) {
	launcher := os.Getenv("TOPOCAST_TEST_MPIRUN")
	if launcher == "" {
		t.Skip("TOPOCAST_TEST_MPIRUN is not set: make test sets it")
	}
	runPages(t, launcher)
}

// runPages runs the commands of each page in order, in a folder of the page. With a launcher it runs the pages that
// launch jobs alone.
func runPages(t *testing.T, launcher string) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go, which builds topocast")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "../examples/topocast")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mpirun := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", launcher)
	if err := os.WriteFile(filepath.Join(bin, "mpirun"), []byte(mpirun), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\n$ ") && len(blocks(string(text))) == 0 {
			t.Errorf("%s: commands with $ in no block of ```console", page)
		}
		launches := slices.ContainsFunc(blocks(string(text)), func(b block) bool { return b.mpi })
		if launcher != "" && !launches {
			continue
		}
		t.Run(strings.ReplaceAll(page, "/", "_"), func(t *testing.T) {
			if launcher == "" { // jobs share the cores
				t.Parallel()
			}
			folder := t.TempDir()
			for _, b := range blocks(string(text)) {
				if b.mpi && launcher == "" {
					continue
				}
				for _, s := range b.steps {
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
					c := exec.CommandContext(ctx, "sh", "-c", s.command)
					c.Dir, c.Env = folder, env
					var out, errs bytes.Buffer
					c.Stdout, c.Stderr = &out, &errs
					err := c.Run()
					cancel()
					if err != nil {
						t.Fatalf("%s:%d: $ %s: %v\n%s", page, b.line, s.command, err, errs.String())
					}
					// Pages show both streams as one.
					got := strings.Split(strings.TrimRight(out.String()+errs.String(), "\n"), "\n")
					if !shown(s.output, got) && !(len(s.output) == 0 && len(got) == 1 && got[0] == "") {
						t.Errorf("%s:%d: $ %s printed\n%s\nand the page shows\n%s", page, b.line, s.command, strings.Join(got, "\n"), strings.Join(s.output, "\n"))
					}
				}
			}
		})
	}
}

// TestPlatformsByHand: the platforms that pages show as JSON are networks that the commands read.
func TestPlatformsByHand(t *testing.T) {
	shown := regexp.MustCompile("(?s)```json\n(.*?)```")
	found := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range shown.FindAllSubmatch(text, -1) {
			found++
			if _, err := model.DecodeFile("", block[1], nil); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if found == 0 {
		t.Error("no page shows a platform")
	}
}

// TestLinks: links between pages, to pictures and to headings lead somewhere.
func TestLinks(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			target, err := url.Parse(m[1] + m[2])
			if err != nil || target.Scheme != "" {
				continue
			}
			file := page
			if target.Path != "" {
				file = filepath.Join(filepath.Dir(page), target.Path)
			}
			other, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if f := target.Fragment; f != "" && !hasHeading(string(other), f) {
				t.Errorf("%s: %s has no heading #%s", page, file, f)
			}
		}
	}
}

// hasHeading tells whether a page has a heading whose anchor is a fragment, as GitHub makes them.
func hasHeading(text, fragment string) bool {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			anchor := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
			if regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(anchor, "") == fragment {
				return true
			}
		}
	}
	return false
}

// TestReadmeIsShort: at most 120 lines, and outside blocks and tables 700 words and 15 numbers.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 120 {
		t.Errorf("%d lines, want at most 120", n)
	}
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), "")
	if n := len(strings.Fields(prose)); n > 700 {
		t.Errorf("%d words, want at most 700", n)
	}
	prose = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|<[^>]*>").ReplaceAllString(prose, "")
	if n := regexp.MustCompile(`\d+([.,]\d+)*`).FindAllString(prose, -1); len(n) > 15 {
		t.Errorf("%d numbers, want at most 15: %v", len(n), n)
	}
}
