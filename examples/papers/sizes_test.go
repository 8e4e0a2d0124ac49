package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestSizesAreNamedOnce: an error says of which flag it is, and says it once.
func TestSizesAreNamedOnce(t *testing.T) {
	for _, args := range [][]string{{"bannikov"}, {"servet"}} {
		status, _, stderr := papers(append(args, "--sizes", "5x")...)
		if want := `papers: --sizes: "5x": want a size`; status != cli.StatusInput || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %d, %q, want %d, %q", strings.Join(args, " "), status, stderr, cli.StatusInput, want)
		}
	}
}

// TestSizesBeyondTheMemory: sizes that no host holds are refused before anything is measured or any buffer is made.
func TestSizesBeyondTheMemory(t *testing.T) {
	for _, args := range [][]string{
		{"bannikov", "--sim", "star:1000", "--sizes", "2147483647"},
		{"servet", "--sim", "star:1000", "--sizes", "2147483647"},
	} {
		if status, _, stderr := papers(args...); status != cli.StatusInput || !strings.Contains(stderr, "--sizes: 2.0 GiB: the buffers of 1000 ranks on this host take 2.0 TiB") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
}
