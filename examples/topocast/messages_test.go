package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
)

// foreignFlags are those of other programs that messages name.
var foreignFlags = []string{"host", "mca", "mpi", "map-by", "rankfile", "of", "oversubscribe", "export", "oversubscription", "bind-to", "cluster"}

// TestMessagesNameWhatThereIs: a text of a program or of a package below it that names a command of topocast names one that there is,
// and the flags beside it are flags of this command. Other flags are those of some command.
func TestMessagesNameWhatThereIs(t *testing.T) {
	root := command(cli.RunJob)
	known := append([]string{"help", "version"}, foreignFlags...)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
	call := regexp.MustCompile(`topocast ((?:[a-z]+ )*[a-z]+)((?: (?:--[a-z][a-z-]*(?: [a-z]+)?|[A-Z]+|[a-z]+\.json))*)`)
	flag := regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z-]+[a-z])`)
	for _, folder := range []string{".", "../../internal/cli", "../../bcast", "../../reduce", "../../measure", "../../model", "../../topology", "../../mpi"} {
		for where, text := range literals(t, folder) {
			for _, name := range flag.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(known, name[1]) {
					t.Errorf("%s: no command has a flag --%s: %q", where, name[1], text)
				}
			}
			for _, x := range call.FindAllStringSubmatch(text, -1) {
				c, _, err := root.Find(strings.Fields(x[1]))
				if err != nil || c == root {
					continue // words
				}
				for _, name := range flag.FindAllStringSubmatch(x[2], -1) {
					if name[1] != "help" && c.Flags().Lookup(name[1]) == nil && c.InheritedFlags().Lookup(name[1]) == nil {
						t.Errorf("%s: %s has no flag --%s: %q", where, c.CommandPath(), name[1], x[0])
					}
				}
			}
		}
	}
}

// TestNoPackageInMessages: the name of a package with which its errors begin is no part of what the command prints.
func TestNoPackageInMessages(t *testing.T) {
	seen := 0
	for _, folder := range []string{"../../bcast", "../../reduce", "../../measure", "../../model", "../../topology", "../../mpi", "../../internal/gen"} {
		for where, text := range literals(t, folder) {
			name := filepath.Base(filepath.Dir(where))
			known := slices.Contains(methodNames(), name) || name == "mpitest" || name == "anywhere" // which the command does without
			if known || !strings.HasPrefix(text, name+": ") {
				continue
			}
			seen++
			var printed strings.Builder
			if cli.Report(&printed, "topocast", errors.New(text+": x")); strings.Contains(printed.String(), " "+name+": ") {
				t.Errorf("%s: %q names its package", where, printed.String())
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d errors that begin with a package were seen", seen)
	}
}

// literals are the texts in the sources of a folder and of those below it, by place. Tests are no sources here.
func literals(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if value, err := strconv.Unquote(text.Value); err == nil {
					all[set.Position(text.Pos()).String()] = value
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
