package main

import (
	"path/filepath"
	"testing"
)

// TestOldNames: what scripts call commands and flags by since before they were in groups does the same.
func TestOldNames(t *testing.T) {
	t.Parallel()
	network := filepath.Join(t.TempDir(), "network.json")
	if status, _, stderr := topocast("simulate", "--cluster", "tree:2x2", "--", "discover", "-o", network); status != 0 {
		t.Fatalf("simulate: status %d: %s", status, stderr)
	}
	for _, c := range []struct{ old, now []string }{
		{[]string{"simulate", "--cluster", "star:4", "--", "measure"}, []string{"measure", "--sim", "star:4"}},
		{[]string{"cut", network}, []string{"network", "bisect", network}},
		{[]string{"check", "--sim", "star:4", "--silence", "1m"}, []string{"check", "--sim", "star:4", "--timeout", "1m"}},
	} {
		status, out, stderr := topocast(c.now...)
		if s, o, e := topocast(c.old...); s != status || o != out || e != stderr {
			t.Errorf("%q: status %d, %q, %q; %q: %d, %q, %q", c.old, s, o, e, c.now, status, out, stderr)
		}
	}
	if status, _, stderr := topocast("simulate", "--sim", "star:4"); status == 0 || stderr == "" {
		t.Errorf("simulate without a command: status %d, %q", status, stderr)
	}
}
