package api

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the listings")

// The listings in testdata are what is promised. A difference is no fault by
// itself, but somebody has to have meant it.
func TestExportedAPIIsAsListed(t *testing.T) {
	exported := listings(t, "../..")
	if *update {
		if err := os.RemoveAll("testdata"); err != nil {
			t.Fatal(err)
		}
		for name, listing := range exported {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(listing), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for name, got := range exported {
		want, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("the exported API is not that of internal/api/%s (- listed, + found):\n%s%s", name, difference(string(want), got), advice)
		}
	}
	err := filepath.WalkDir("testdata", func(name string, entry fs.DirEntry, err error) error {
		if _, ok := exported[name]; err == nil && !entry.IsDir() && !ok {
			t.Errorf("internal/api/%s lists a package that is not there.%s", name, advice)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

const advice = `
If programs of users shall see this change: go test ./internal/api -update,
read the diff of testdata, and tell of it in CHANGELOG.md. Else undo it.`

// listings returns the listing of each package that users can import, by the
// name of its file in testdata.
func listings(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if folder != root && private(entry.Name()) {
			return filepath.SkipDir
		}
		if folder == root {
			return nil // documentation
		}
		listing, err := Listing(folder)
		if err != nil || listing == "" {
			return err
		}
		path, err := filepath.Rel(root, folder)
		found[filepath.Join("testdata", path+".txt")] = listing
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no package below %s", root)
	}
	return found
}

// private tells whether a folder holds nothing that users import: examples are
// programs, and the rest are names that the go command passes over.
func private(folder string) bool {
	return folder == "internal" || folder == "examples" || folder == "testdata" || folder == "vendor" ||
		strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// difference returns the lines that only one of two texts has, in their order.
func difference(want, got string) string {
	only := func(sign, a, b string) string {
		var text strings.Builder
		left := strings.Split(b, "\n")
		for line := range strings.SplitSeq(a, "\n") {
			if i := slices.Index(left, line); i >= 0 {
				left = slices.Delete(left, i, i+1)
			} else {
				fmt.Fprintf(&text, "\t%s %s\n", sign, line)
			}
		}
		return text.String()
	}
	return only("-", want, got) + only("+", got, want)
}

// One package with everything that a listing has to get right; the expected text
// follows from the rules in doc.go.
func TestListingHoldsWhatIsExported(t *testing.T) {
	folder := t.TempDir()
	for name, source := range map[string]string{
		"a.go": `// Package sample is one.
package sample

import "io"

// Later comes after Earlier, whatever the order of the source.
const Later = 2

const Earlier = 1

// A Colour is a constant with methods.
type Colour int

// The colours.
const (
	Red Colour = iota

	// Blue has a comment.
	Blue
	secret
)

func (c Colour) String() string { return "colour" }
func (c Colour) Dark() bool     { return c == Blue }
func (c *Colour) set(v Colour)  { *c = v }

// Open belongs to Reader.
func Open(name string) (*Reader, error) {
	panic(name)
}

// Free belongs to nothing.
func Free[T any](values ...T) (n int) { return len(values) }

type Reader struct {
	// Name is long to say, and parted from the rest.

	Name string
	W    io.Writer // by the way

	count int
}

// A private type has no line.
type private struct{ Shown int }
`,
		"b_linux.go": "package sample\n\nfunc OnLinux() {}\n",
		"b_other.go": "//go:build !linux\n\npackage sample\n\nfunc Elsewhere() {}\n",
		"c.go":       "//go:build mpi\n\npackage sample\n\nfunc WithMPI() {}\n",
		"d.go":       "package sample\n\nimport \"C\"\n\nfunc WithC() {}\n",
		"e_test.go":  "package sample\n\nfunc InTests() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const want = `package sample

const Earlier = 1

const Later = 2

func Free[T any](values ...T) (n int)
func OnLinux()

type Colour int

const (
	Red Colour = iota
	Blue
)

func (c Colour) Dark() bool
func (c Colour) String() string

type Reader struct {
	Name string
	W    io.Writer
	// contains filtered or unexported fields
}

func Open(name string) (*Reader, error)
`
	got, err := Listing(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("Listing of the sample =\n%s\nwhich differs by\n%s", got, difference(want, got))
	}
}

func TestListingRefusesWhatIsNoGo(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.go"), []byte("package a\n\nfunc {"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Listing(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("Listing of nonsense = %v, want an error that names the folder", err)
	}
	if listing, err := Listing(t.TempDir()); listing != "" || err != nil {
		t.Errorf("Listing of an empty folder = %q, %v, want nothing", listing, err)
	}
}
