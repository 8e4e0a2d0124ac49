package main

import (
	"os"
	"path/filepath"
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
		got := repeated(t, "bannikov", "--sim", c.cluster)
		rows := got.table(t, "machine-1").Rows
		if first := rows[0]; first[1] != c.specified || first[2] != c.found || first[4] != c.alike {
			t.Errorf("%s: %v, want %g arcs of %g and %g %%", c.cluster, first, c.found, c.specified, c.alike)
		}
		if long := rows[2]; long[0] != "64 KiB" || long[2] != c.long {
			t.Errorf("%s: %v, want %g arcs", c.cluster, long, c.long)
		}
		// Noise of 1 % and overheads make it worse, and leave the witness form as it is.
		if noisy := got.table(t, "machine-2").Rows[0]; c.specified > 0 && (noisy[5] != c.specified || noisy[6] != 100.0) {
			t.Errorf("%s: %v, want %g arcs by witness", c.cluster, noisy, c.specified)
		}
	}
}

// TestBannikovAgainstSpecification: ranks of this process, of which the first reads the specification, are held against
// a ring of as many hosts with other names, and against one whose hosts nobody is on.
func TestBannikovAgainstSpecification(t *testing.T) {
	if testing.Short() {
		t.Skip("the times of the algorithm take long under the race detector, and its ranks are those of TestDiscoverThisMachine")
	}
	folder := t.TempDir()
	ring, other := filepath.Join(folder, "ring.dot"), filepath.Join(folder, "other.dot")
	for path, text := range map[string]string{ring: "graph { a -- b; b -- c; c -- d; d -- a }", other: "graph { a -- b }"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := repeated(t, "bannikov", "--here", "--ranks", "4", "--sizes", "0", "--budget", "20s", "--specification", ring)
	if row := got.table(t, "machine-1").Rows[0]; row[1] != 8.0 || row[4] == nil {
		t.Errorf("%v, want 8 arcs of a ring, and a similarity", row)
	}
	status, _, stderr := papers("bannikov", "--here", "--ranks", "3", "--sizes", "0", "--budget", "20s", "--specification", other)
	if status != cli.StatusInput || strings.Count(stderr, "different machines") != 1 {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestBannikovWrongInput(t *testing.T) {
	for _, c := range [][]string{{"--sizes", "x"}, {"--shared-eps", "0"}, {"--duplex-eps", "-1"}, {"--specification", "x"}, {"--specification", "none", "--here", "--ranks", "3"}, {"--sim", "nothing"}} {
		if status, _, stderr := papers(append([]string{"bannikov"}, c...)...); status != cli.StatusInput || !strings.Contains(stderr, strings.TrimPrefix(c[0], "--")) && !strings.Contains(stderr, c[1]) {
			t.Errorf("%q: status %d, %q", c, status, stderr)
		}
	}
}
