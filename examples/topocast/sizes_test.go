package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestSizesAreNamedOnce: an error says of which flag it is, and says it once.
func TestSizesAreNamedOnce(t *testing.T) {
	for _, args := range [][]string{{"measure"}, {"bcast"}} {
		status, _, stderr := topocast(append(args, "--sizes", "5x")...)
		if want := `topocast: --sizes: "5x": want a size`; status != cli.StatusInput || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %d, %q, want %d, %q", strings.Join(args, " "), status, stderr, cli.StatusInput, want)
		}
	}
}
