package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestBannikovOnATorus: of exact times of a torus of 3 x 3, each host with four links, the algorithm finds the 36
// arcs with messages of 0 B, where latencies add up along paths; longer ones take their time once, however far they
// go, so that every arc is shorter than a path. Of a star, whose hosts are all alike, it finds all 12 arcs, and
// the paper's similarity is 0.
func TestBannikovOnATorus(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, c := range []struct {
		cluster                 string
		specified, found, alike float64
		long                    float64 // found with 64 KiB
	}{{"torus:3x3 latency=1us rate=1Gbps", 36, 36, 100, 72}, {"star:4 rate=1Gbps", 0, 12, 0, 12}} {
		o, s := &bannikovOptions{[]int{0, 1 << 10, 64 << 10}}, newStage()
		for name, exact := range map[string]bool{"exact": true, "noisy": false} {
			if err := o.simulated(t.Context(), s, bannikovMachine{name, name, c.cluster, exact}); err != nil {
				t.Fatal(err)
			}
		}
		got := printed(t, s.out)
		rows := got.table(t, "exact").Rows
		if first := rows[0]; first[1] != c.specified || first[2] != c.found || first[4] != c.alike {
			t.Errorf("%s: %v, want %g arcs of %g and %g %%", c.cluster, first, c.found, c.specified, c.alike)
		}
		if long := rows[2]; long[0] != "64 KiB" || long[2] != c.long {
			t.Errorf("%s: %v, want %g arcs", c.cluster, long, c.long)
		}
		// Noise of 1 % and overheads make it worse.
		if noisy := got.table(t, "noisy").Rows[0]; c.specified > 0 && noisy[2] == c.found {
			t.Errorf("%s: %v with noise, want other arcs than %g", c.cluster, noisy, c.found)
		}
	}
}

func TestBannikovWrongInput(t *testing.T) {
	for _, c := range [][]string{{"--sizes", "x"}, {"--sizes", "2147483647", "--sim", "star:1000"}, {"--full", "--here"}, {"--sim", "nothing"}} {
		if status, _, stderr := papers(append([]string{"bannikov"}, c...)...); status != cli.StatusInput || !strings.Contains(stderr, strings.TrimPrefix(c[0], "--")) && !strings.Contains(stderr, c[1]) {
			t.Errorf("%q: status %d, %q", c, status, stderr)
		}
	}
}
