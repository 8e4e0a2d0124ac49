package measure_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// On a simulated cluster the measurements are the latencies of its graph: messages
// of 0 B take no bandwidth from each other, and virtual time has no noise but
// the cost of reading the clock, which is subtracted.
func TestSimulatedClustersAreReadExactly(t *testing.T) {
	for _, spec := range []string{
		"star:7",
		"tree:2x2x3 latency=30us,12us,5us spread=10% seed=3 shuffle",
		"torus:3x4 hosts=2",
	} {
		t.Run(spec, func(t *testing.T) {
			cluster, err := gen.Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			var r *measure.Result
			err = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
				own, err := measure.Run(context.Background(), c, &measure.Settings{Sampling: measure.Sampling{Repetitions: 2, Samples: 5}})
				if own != nil {
					r = own
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want, err := cluster.Latencies()
			if err != nil {
				t.Fatal(err)
			}
			n := cluster.Graph.Hosts()
			for k, m := range r.Matrices() {
				for i := range n {
					for j := range n {
						if i == j {
							continue
						}
						// Half a round trip, kept to a picosecond; the clock is
						// read at both ends.
						half := (want.At(i, j) + want.At(j, i)) / 2
						if got := m.At(i, j); math.Abs(got-half) > 1e-6*half+1e-12 {
							t.Errorf("repetition %d, %d -> %d: %g s, want %g", k, i, j, got, half)
						}
					}
				}
			}
		})
	}
}

func TestSimulatedManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("many simulated ranks take a few seconds")
	}
	racks := 2
	if tooltest.Long() {
		racks = 8
	}
	cluster, err := gen.Parse(fmt.Sprintf("tree:8x%dx16 latency=30us,12us,5us", racks))
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
		r, err := measure.Run(context.Background(), c, &measure.Settings{Pairs: harness.Pairs{Rounds: 2}, Sampling: measure.Sampling{Repetitions: 1, Samples: 5}})
		if r != nil && len(r.Measurements()) != 2*8*racks*16 {
			t.Errorf("%d measurements, want %d", len(r.Measurements()), 2*8*racks*16)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStartIsCheapOnManyRanks: only rank 0 is told where all ranks run, so that
// nothing else travels but a plan and some numbers per rank, whatever their
// number: less than a byte for each rank.
func TestStartIsCheapOnManyRanks(t *testing.T) {
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	cluster, err := gen.Parse("tree:8x8x8")
	if err != nil {
		t.Fatal(err)
	}
	ranks := int64(cluster.Graph.Hosts())
	report, err := simnet.Simulate(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
		_, err := measure.Run(stopped, c, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if perRank := report.Bytes / ranks; perRank > ranks {
		t.Errorf("%d bytes per rank are sent on %d ranks", perRank, ranks)
	}
}

// BenchmarkStart is all of Run but the rounds, with the bytes that it and the
// simulation allocate.
func BenchmarkStart(b *testing.B) {
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, spec := range []string{"tree:8x16x8", "tree:16x16x16"} {
		cluster, err := gen.Parse(spec)
		if err != nil {
			b.Fatal(err)
		}
		ranks := cluster.Graph.Hosts()
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				err := simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
					_, err := measure.Run(stopped, c, nil)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.N)
			b.ReportMetric(allocated/(1<<20), "MiB")
			b.ReportMetric(allocated/float64(ranks), "B/rank")
		})
	}
}

// BenchmarkFullLatencyRun is Run as it is by default - three repetitions of 63 rounds, 20 samples
// both ways - on 64 simulated ranks: one per host, and eight per host with known groups.
func BenchmarkFullLatencyRun(b *testing.B) {
	for _, c := range []struct {
		name, spec string
		noise      simnet.Noise
	}{
		{"star", "star:64", simnet.Noise{}},
		{"tree, noise", "tree:2x4x8 latency=30us,12us,5us", simnet.Noise{Sigma: 0.03, Outliers: 0.02}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cluster, err := gen.Parse(c.spec)
			if err != nil {
				b.Fatal(err)
			}
			measurements := 0
			for b.Loop() {
				err := simnet.Run(cluster.Graph, nil, &simnet.Settings{Noise: c.noise}, func(comm mpi.Communicator) error {
					r, err := measure.Run(context.Background(), comm, nil)
					if r != nil {
						measurements = len(r.Measurements())
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			if want := 3 * 64 * 63; measurements != want {
				b.Errorf("%d measurements, want %d", measurements, want)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
		})
	}
}
