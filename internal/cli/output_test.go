//go:build !windows

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
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

// TestRanksRefuseAFileAlike: a file that cannot be written ends the work of all ranks, with the same words.
func TestRanksRefuseAFileAlike(t *testing.T) {
	said := make([]string, 3)
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		err := checkOutputs(comm, &Output{Flag: "--output", Path: "missing/file"})
		var input *InputError
		if errors.As(err, &input) {
			said[comm.Rank()] = err.Error()
		}
		return nil
	})
	if err != nil || said[0] == "" || said[1] != said[0] || said[2] != said[0] {
		t.Errorf("the ranks said %q, %v", said, err)
	}
}

// TestTerminalsOfLaunchersAreNone: mpirun of Open MPI gives ranks a terminal, and writes what they print into a batch log.
func TestTerminalsOfLaunchersAreNone(t *testing.T) {
	w := &checkedWriter{Writer: os.Stdout}
	if w.Fd() != os.Stdout.Fd() {
		t.Errorf("Fd = %d, want that of standard output", w.Fd())
	}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	t.Setenv("OMPI_COMM_WORLD_RANK", "0")
	if w.Fd() != ^uintptr(0) {
		t.Errorf("under a launcher Fd = %d, want that of nothing", w.Fd())
	}
}
