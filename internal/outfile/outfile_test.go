//go:build !windows

package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// text writes a string.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists a folder: temporary files must not stay.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteReplacesARegularFileWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := Check(path); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != nil {
		t.Fatalf("Check left %q", got)
	}
	if err := Write(path, text("first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("half of it")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "sec")
		return failure
	})
	if err != failure || read(t, path) != "first" {
		t.Errorf("after a failure: error %v, content %q, want %v and the first content", err, read(t, path), failure)
	}
	if err := Write(path, text("second")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "second" || info.Mode() != 0o640 {
		t.Errorf("content %q, mode %s, want second with the mode as it was", got, info.Mode())
	}
	if got := names(t, dir); !slices.Equal(got, []string{"out"}) {
		t.Errorf("folder has %q, want out only", got)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(dir, "a", "real")
	for _, link := range [][2]string{
		{"../real", filepath.Join(deep, "relative")}, // not there yet
		{"relative", filepath.Join(deep, "second")},  // a link to a link
		{real, filepath.Join(dir, "absolute")},
		{"a/b", filepath.Join(dir, "folder")},
		{"folder/../real", filepath.Join(dir, "up")}, // from where folder leads, a/b, not from dir
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"a/b/relative", "a/b/second", "absolute", "folder/second", "up"} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		os.Remove(real)
		for range 2 { // without and with a file there
			if err := Check(path); err != nil {
				t.Fatal(err)
			}
			if err := Write(path, text(path)); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(real); err != nil || !info.Mode().IsRegular() || read(t, real) != path {
				t.Errorf("Write(%s) did not write what it points to: %v", path, err)
			}
		}
	}
	for _, link := range []string{"a/b/relative", "a/b/second", "absolute", "up"} {
		if _, err := os.Readlink(filepath.Join(dir, link)); err != nil {
			t.Errorf("the link is gone: %v", err)
		}
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "loop"), text("x")); err == nil {
		t.Error("a link to itself: no error")
	}
}

func TestWriteIntoWhatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	if err := Check(pipe); err != nil { // must not wait for a reader
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		got <- string(b)
	}()
	if err := Write(pipe, text("through the pipe")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through the pipe" {
		t.Errorf("the reader got %q", s)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is no pipe any more: %v", err)
	}

	null := filepath.Join(dir, "null")
	if err := os.Symlink(os.DevNull, null); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.DevNull, null} {
		if err := Write(path, text("away")); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeDevice == 0 {
			t.Fatalf("%s is no device any more: %v", path, err)
		}
	}

	if _, err := os.Stat("/dev/full"); err == nil {
		err := Write("/dev/full", text("x"))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
			t.Errorf("Write(/dev/full) = %v, want no space left, and the name", err)
		}
	}
}

// TestWriteIntoOpenFile: a name of an open file (/dev/stdout, a shell's
// process substitution) adds to what its owner has written, and reaches him.
func TestWriteIntoOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name := fmt.Sprintf("/dev/fd/%d", f.Fd())
	if folder, err := filepath.EvalSymlinks("/dev/fd"); err != nil || !strings.HasPrefix(folder, "/proc/") {
		tooltest.Lacks(t, "no /proc")
	}
	io.WriteString(f, "before, ")
	if err := Write(name, text("after")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "before, after" {
		t.Errorf("the file has %q", got)
	}
}

func TestCheckAndWriteRefuse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o444); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want error // nil: any
		root bool  // whether root is refused, too
	}{
		{"", nil, true},
		{dir, nil, true},
		{dir + "/", nil, true},
		{filepath.Join(dir, "missing", "x"), fs.ErrNotExist, true},
		{filepath.Join(file, "x"), syscall.ENOTDIR, true},
		{filepath.Join(dir, strings.Repeat("x", 300)), syscall.ENAMETOOLONG, true},
		{file, fs.ErrPermission, false},
		{filepath.Join(closed, "x"), fs.ErrPermission, false},
	} {
		if os.Geteuid() == 0 && !c.root {
			continue
		}
		for name, err := range map[string]error{"Check": Check(c.path), "Write": Write(c.path, text("x"))} {
			var path *fs.PathError
			if !errors.As(err, &path) || path.Path != c.path || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s(%q) = %v, want %v with the path", name, c.path, err, c.want)
			}
		}
	}
	if read(t, file) != "kept" {
		t.Error("a read-only file was replaced")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"closed", "file"}) {
		t.Errorf("folder has %q", got)
	}
}
