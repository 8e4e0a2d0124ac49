package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestShowIsWhatDiscoverPrints: the same text from the file as when it was found, within 80 columns.
func TestShowIsWhatDiscoverPrints(t *testing.T) {
	t.Chdir(t.TempDir())
	status, found, stderr := topocast("discover", "--patterns", "0", "--sim", "core:2 socket:2 host:2 rack:2", "-o", "network.json")
	if status != 0 {
		t.Fatalf("discover: status %d: %s", status, stderr)
	}
	status, shown, stderr := topocast("show", "network.json")
	head, tree, _ := strings.Cut(shown, "\n")
	if status != 0 || !strings.Contains(head, "topocast discover") || len(tree) < 100 || !strings.HasPrefix(found, tree) {
		t.Errorf("show: status %d: %s%s, discover: %s", status, shown, stderr, found)
	}
	if !strings.Contains(tree, "host n0, cores 0-3") {
		t.Errorf("show names no host: %s", tree)
	}
	for line := range strings.Lines(shown) {
		if len(line) > 81 {
			t.Errorf("a line of %d columns: %q", len(line)-1, line)
		}
	}
	if status, _, _ := topocast("show", "no-such-file"); status != cli.StatusInput {
		t.Errorf("show no-such-file: status %d, want %d", status, cli.StatusInput)
	}
}
