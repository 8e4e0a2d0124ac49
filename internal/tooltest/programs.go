package tooltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Programs are those that the tests of a package build, each once for all of them. A package has one, and TestMain calls its Main.
type Programs struct {
	Folder string // of all of them; "" before the first is built
}

// Main runs the tests, and then what is given, removes what they have built, and ends the process.
func (p *Programs) Main(m *testing.M, then ...func()) {
	code := m.Run()
	for _, f := range then {
		f()
	}
	if p.Folder != "" {
		os.RemoveAll(p.Folder)
	}
	os.Exit(code)
}

// Build returns the file of the program of that name. Unless an earlier test did, it runs the command, such as go build and
// a folder, with -o and the file put before its last word. For one test at a time.
func (p *Programs) Build(t testing.TB, name string, command ...string) string {
	t.Helper()
	if p.Folder == "" {
		dir, err := os.MkdirTemp("", "programs")
		if err != nil {
			t.Fatal(err)
		}
		p.Folder = dir
	}
	file, last := filepath.Join(p.Folder, name), len(command)-1
	if _, err := os.Stat(file); err == nil {
		return file
	}
	args := append(command[:last:last], "-o", file, command[last])
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return file
}
