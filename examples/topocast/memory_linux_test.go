package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestSizesBeyondTheMemory: sizes that no host holds are refused in one line, before anything is measured or any buffer is made.
func TestSizesBeyondTheMemory(t *testing.T) {
	network := discovered(t, "--sim", "star:2", "--patterns", "0")
	for _, args := range [][]string{
		{"bcast", "--ranks", "2", "--sizes", "8,1000TiB"},
		{"bcast", "--sim", "star:2", "--sizes", "1000TiB"},
		{"bcast", "tune", "--sim", "star:2", "--sizes", "1000TiB", network},
	} {
		status, out, stderr := topocast(args...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.HasPrefix(stderr, "topocast: --sizes: 1000 TiB: the buffers of 2 ranks on this host take 2.0 PiB: want at most 90 % of the ") {
			t.Errorf("%q: status %d, %q, %q", args, status, out, stderr)
		}
	}
	for _, args := range [][]string{
		{"measure", "--sim", "star:1000", "--sizes", "2147483647"},
	} {
		if status, _, stderr := topocast(args...); status != cli.StatusInput || !strings.Contains(stderr, "--sizes: 2.0 GiB: the buffers of 1000 ranks on this host take 2.0 TiB") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
}
