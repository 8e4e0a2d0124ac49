package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestTopologiesAreCompared: rows and choices tell the groups that they follow, a file brings its own by its name, and
// what cannot be is refused in a line.
func TestTopologiesAreCompared(t *testing.T) {
	const cluster = "core:2 host:4"
	network := discovered(t, "--patterns", "0", "--sim", cluster)
	other := write(t, "racks.json", read(t, discovered(t, "--patterns", "0", "--sim", "tree:2x4")))
	simulate := func(args ...string) (int, string, string) {
		return topocast(append(args, "--sim", cluster, "--placement", "cyclic")...)
	}
	bcast := []string{"bcast", network, "--sizes", "64KiB", "--repetitions", "1", "--only", "chain"}
	status, out, stderr := simulate(append(bcast, "--topology", "found,hosts,flat")...)
	if status != 0 || !strings.Contains(out, "chain         ") || !strings.Contains(out, "chain (flat), segments of") || stderr != "warning: topology hosts has the groups of found: compared once\n" {
		t.Errorf("bcast: status %d, %s\n%s", status, stderr, out)
	}
	status, out, stderr = simulate("bcast", "tune", "--sizes", "64KiB", "--topology", "flat", network)
	if status != 0 || !strings.Contains(out, " (flat), ") || !strings.Contains(stderr, "are not stored") {
		t.Errorf("tune: status %d, %s\n%s", status, stderr, out)
	}
	for _, c := range []struct {
		topologies, want string
		status           int
	}{
		{"racks", "--topology: want found, hosts, flat, level0 and so on, or a network file: open racks", cli.StatusInput},
		{"flat,hosts,flat", "--topology: flat is given twice", cli.StatusInput},
		{"level7", "--topology level7: want found, hosts, flat or level0, or a network file", cli.StatusInput},
		{other + ",flat", "topology racks.json: hosts that were not measured", 0},
	} {
		status, _, stderr := simulate(append(bcast, "--topology", c.topologies)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("--topology %s: status %d, %q, want %d and %q", c.topologies, status, stderr, c.status, c.want)
		}
	}
	// Among ranks with a library's broadcast the choices are kept, and the next job starts with them.
	status, _, stderr = onGoroutines(4, "bcast", "tune", "--sizes", "8,4KiB", "--topology", "found,flat", "--budget", "2s", "--in-place", network)
	if status != 0 || !strings.Contains(stderr, "written to "+network) {
		t.Fatalf("tune: status %d, %s", status, stderr)
	}
	if _, _, stderr := onGoroutines(4, "bcast", network, "--sizes", "8", "--repetitions", "1", "--only", "ours"); strings.Contains(stderr, "table") {
		t.Error(stderr)
	}
}
