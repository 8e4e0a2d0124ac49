//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestJobCheck: of a job on one host, with as many ranks as the line has hosts, check gets
// through, whatever it finds there: ranks that share cores may look slow, or too uneven to tell.
func TestJobCheck(t *testing.T) {
	status, out, stderr := launch(t, 4, "check", "star:4", "--size", "16KiB")
	if !slices.Contains([]int{cli.StatusFine, cli.StatusDifferent, cli.StatusUnknown}, status) || !strings.Contains(out, "4 hosts, ") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
	status, _, stderr = launch(t, 2, "check", "star:4")
	if status == cli.StatusFine || !strings.Contains(stderr, "star:4") {
		t.Errorf("two ranks: status %d\n%s", status, stderr)
	}
}
