package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/check"
)

// TestRunIsKeptElsewhere: a run that its history does not take, here a file that may not grow, is in another file, which the error names.
func TestRunIsKeptElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	fd, err := unix.MemfdCreate("history", unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := topocast("check", "--sim", "star:4", "--history", fmt.Sprintf("/proc/self/fd/%d", fd))
	_, at, kept := strings.Cut(strings.TrimSpace(stderr), "; kept in ")
	if status != cli.StatusFailed || !kept {
		t.Fatalf("status %d, %s", status, stderr)
	}
	f, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if runs, lost, err := check.ReadRuns(f); err != nil || lost > 0 || len(runs) != 1 {
		t.Errorf("%s: %d runs, %d lost, %v", at, len(runs), lost, err)
	}
}
