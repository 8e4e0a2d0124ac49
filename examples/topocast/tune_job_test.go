//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestJobTunes: what a job has tuned is in the file, and the next job of the same
// ranks starts with it; reports of jobs of which one forces an algorithm on the library become rules.
func TestJobTunes(t *testing.T) {
	network := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	for _, n := range []int{1, 4} {
		status, out, stderr := launch(t, n, "bcast", "tune", network, "--in-place", "--sizes", "8,64KiB", "--budget", "3s")
		if status != 0 || strings.Count(stderr, "written to "+network) != 1 {
			t.Fatalf("tune on %d ranks: status %d\n%s\n%s", n, status, out, stderr)
		}
	}
	all := tunings(t, network)
	if last := all[len(all)-1]; last.Ranks != 4 || last.Library == "" {
		t.Fatalf("tunings %+v", all)
	}
	const otherSettings = "made under other settings of the MPI library"
	report := func(name string, isTuned bool) string {
		status, out, stderr := launch(t, 4, "bcast", network, "--only", "native", "--sizes", "8,64KiB", "--repetitions", "7", "--json")
		if status != 0 || strings.Contains(stderr, otherSettings) == isTuned {
			t.Fatalf("bcast, want a table for its settings: %v: status %d\n%s", isTuned, status, stderr)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	own := report("own.json", true)
	isOpenMPI := strings.HasPrefix(all[len(all)-1].Library, "Open MPI")
	t.Run("another transport", func(t *testing.T) {
		if isOpenMPI {
			t.Setenv("OMPI_MCA_btl", "self,tcp")
			t.Setenv("OMPI_MCA_btl_tcp_if_include", "lo") // the one interface that every machine has
		} else {
			t.Setenv("MPIR_CVAR_NOLOCAL", "1")
		}
		report("transport.json", false)
		if status, _, stderr := launch(t, 4, "bcast", "tune", network, "--in-place", "--sizes", "8", "--budget", "3s"); status != 0 {
			t.Fatalf("tune: status %d\n%s", status, stderr)
		}
		report("transport.json", true)
		both := tunings(t, network)
		if last := both[len(both)-1]; len(both) != len(all)+1 || last.Settings == "" || last.Ranks != 4 {
			t.Errorf("tunings %+v, want one more", both)
		}
	})
	report("again.json", true)
	if isOpenMPI {
		t.Setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
		t.Setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "1")
	} else {
		t.Setenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "scatter_ring_allgather")
	}
	forced := report("forced.json", false)
	status, out, stderr := topocast("bcast", "rules", own, forced)
	if status != 0 || !strings.Contains(out, "64 KiB") {
		t.Errorf("rules: status %d, %s\n%s", status, stderr, out)
	}
	if status, _, stderr := topocast("bcast", "rules", forced); status != cli.StatusInput || !strings.Contains(stderr, "no report of the library's own choice") {
		t.Errorf("what was forced is not in the report: status %d, %s", status, stderr)
	}
	for _, c := range [][]string{{"bcast", "tune", "missing.json"}, {"bcast", "tune", "-o", "missing/file", network}} {
		if status, _, stderr := launch(t, 4, c...); status != cli.StatusInput || strings.Count(stderr, "missing") != 1 {
			t.Errorf("%q: status %d, %s, want 2 and one line", c, status, stderr)
		}
	}
}
