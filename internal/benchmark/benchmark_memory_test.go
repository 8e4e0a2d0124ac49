package benchmark

import (
	"runtime"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// TestBenchmarkHasOneBuffer: each rank makes one buffer, of the longest size, though several are compared and each is
// tuned before. All that is allocated counts, found by the collector or not: 8 MiB on each of two ranks, and some KiB; sends wait, and keep no copies.
func TestBenchmarkHasOneBuffer(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := local.Run(2, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		_, err = Run(t.Context(), comm, b, &Settings{Sizes: []int{4 << 20, 8 << 20}, Only: []string{"ours"}, Repetitions: 1, WarmUps: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 20<<20 {
		t.Errorf("%d B allocated, want at most 20 MiB", got)
	}
}
