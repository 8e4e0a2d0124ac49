package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReconstructTellsItsSuccess: of a simulated cluster, whose measurements scatter by less than 1 %, all are within 10 %,
// and hardly any within 0.01 %; and other methods say nothing of it.
func TestReconstructTellsItsSuccess(t *testing.T) {
	measurements := filepath.Join(t.TempDir(), "r.json")
	if status, _, stderr := topocast("measure", "--sim", "tree:2x3", "-o", measurements); status != 0 {
		t.Fatalf("measure: status %d: %s", status, stderr)
	}
	matrix := write(t, "m.csv", twoPairs)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "clique", measurements}, "100 % are within the tolerance of their pair's median: in one repetition\nall of 15 pairs are with a probability of 100 %"},
		{[]string{"--method", "clique", "--eps", "0.0001", measurements}, "for 90 % 99.3 % of measurements have to be"}, // 0.9^(1/15)
		{[]string{"--method", "clique", matrix}, "6 pairs to be, in 90 % of runs, 98.26 % of them have to be"},          // 0.9^(1/6)
	} {
		if status, out, stderr := topocast(append([]string{"reconstruct"}, c.args...)...); status != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%v: status %d: %s: want %q in\n%s", c.args, status, stderr, c.want, out)
		}
	}
	if _, out, _ := topocast("reconstruct", measurements); strings.Contains(out, "Bufe") {
		t.Errorf("linkage tells its success:\n%s", out)
	}
}
