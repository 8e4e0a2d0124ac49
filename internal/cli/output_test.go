//go:build !windows

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// TestKeepGoesToAnotherFolder where this one takes nothing.
func TestKeepGoesToAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	content := func(w io.Writer) error {
		_, err := io.WriteString(w, "all of it")
		return err
	}
	at, err := keep("network.json", content)
	if b, failed := os.ReadFile(at); err != nil || failed != nil || string(b) != "all of it" || filepath.Dir(at) != home {
		t.Errorf("keep = %q, %v with %q, want a file in %s", at, err, b, home)
	}
	t.Setenv("HOME", gone)
	if at, err := keep("network.json", content); err == nil {
		t.Errorf("keep where nothing can be written = %q", at)
	}
	f := &Output{Flag: "--output", Path: filepath.Join(gone, "x")}
	if at, err := f.Save(content); err == nil || at != "" || !strings.Contains(err.Error(), "no other place") {
		t.Errorf("save = %q, %v", at, err)
	}
}
