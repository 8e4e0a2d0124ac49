//go:build linux

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/tooltest"
)

// TestJobRankfile: a job is discovered, its ranks are placed, and Open MPI runs a job with the rankfile, in which each rank
// is where the file has put it: Servet's chain to its end.
func TestJobRankfile(t *testing.T) {
	launcher := os.Getenv(launcherVar)
	if !strings.Contains(launcher, "openmpi") {
		t.Skip("rankfiles are Open MPI's; placement/rankfile_tools_test.go has MPICH's lists")
	}
	if runtime.NumCPU() < 2 {
		tooltest.Lacks(t, "there is one core to choose from")
	}
	folder := t.TempDir()
	network, again, ranks := filepath.Join(folder, "network.json"), filepath.Join(folder, "again.json"), filepath.Join(folder, "ranks.txt")
	t.Setenv(launcherVar, launcher+" --bind-to core")
	if status, _, stderr := launch(t, 2, "discover", "--budget", "3s", "-o", network); status != 0 {
		t.Fatal(stderr)
	}
	status, rankfile, stderr := topocast("place", "--format", "rankfile", network)
	if status != 0 {
		t.Fatal(stderr)
	}
	// In the other order, so that it is not what Open MPI does by itself.
	lines := strings.Split(rankfile, "\n")
	_, first, _ := strings.Cut(lines[1], " slot=")
	_, second, _ := strings.Cut(lines[2], " slot=")
	swapped := strings.NewReplacer("slot="+first+"\n", "slot="+second+"\n", "slot="+second+"\n", "slot="+first+"\n").Replace(rankfile)
	if err := os.WriteFile(ranks, []byte(swapped), 0o600); err != nil {
		t.Fatal(err)
	}
	extra := ""
	if strings.Contains(lines[0], "physical") {
		extra = " --mca rmaps_rank_file_physical 1"
	}
	// Open MPI 5 does not bind ranks that may outnumber the cores, unless it is told to.
	t.Setenv(launcherVar, launcher+extra+" --bind-to core --rankfile "+ranks)
	if status, _, stderr := launch(t, 2, "discover", "--budget", "3s", "-o", again); status != 0 {
		t.Fatalf("%s\nwith\n%s", stderr, swapped)
	}
	before, err := cli.LoadNetwork(nil, network)
	if err != nil {
		t.Fatal(err)
	}
	after, err := cli.LoadNetwork(nil, again)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		if got, want := after.Location(rank), before.Location(1-rank); got != want {
			t.Errorf("rank %d ran at %+v, want %+v by\n%s", rank, got, want, swapped)
		}
	}
}
