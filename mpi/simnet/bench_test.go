package simnet_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// binomial is the broadcast of a whole buffer along a binomial tree from rank 0.
func binomial(c mpi.Communicator, buf []byte) error {
	rank, n := c.Rank(), c.Size()
	span := 1
	for ; span < n; span *= 2 {
		if rank&span != 0 {
			if err := c.Recv(buf, rank-span, 0); err != nil {
				return err
			}
			break
		}
	}
	for span /= 2; span > 0; span /= 2 {
		if rank+span < n {
			if err := c.Send(buf, rank+span, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// chain passes segments from each rank to the next one.
func chain(c mpi.Communicator, buf []byte, segments int) error {
	rank, n := c.Rank(), c.Size()
	size := len(buf) / segments
	for k := range segments {
		s := buf[k*size : (k+1)*size]
		if rank > 0 {
			if err := c.Recv(s, rank-1, 0); err != nil {
				return err
			}
		}
		if rank+1 < n {
			if err := c.Send(s, rank+1, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hollow messages measure the simulator, not memory.
func BenchmarkBroadcast(b *testing.B) {
	for _, cluster := range []string{"tree:8x16x8", "fattree:16 routing=modulo", "tree:8x16x8 spread=10% rate-spread=10%"} {
		g := graphOf(b, cluster)
		buf := make([]byte, 1<<20)
		for name, body := range map[string]func(mpi.Communicator) error{
			"binomial 1 MiB":   func(c mpi.Communicator) error { return binomial(c, buf) },
			"chain 64x16 KiB":  func(c mpi.Communicator) error { return chain(c, buf, 64) },
			"binomial 8 bytes": func(c mpi.Communicator) error { return binomial(c, buf[:8]) },
		} {
			b.Run(cluster+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				var r *simnet.Report
				for b.Loop() {
					var err error
					if r, err = simnet.Simulate(g, nil, &simnet.Settings{HollowAbove: 64}, body); err != nil {
						b.Fatal(err)
					}
				}
				perRun := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(perRun/float64(r.Messages), "ns/message")
				b.ReportMetric(r.Seconds*1e3, "virtual-ms")
			})
		}
	}
}

// BenchmarkManyRanks is a broadcast over 16,384 ranks, with the memory of the
// process when it is over.
func BenchmarkManyRanks(b *testing.B) {
	g := graphOf(b, "tree:32x32x16")
	buf := make([]byte, 1<<20)
	for name, body := range map[string]func(mpi.Communicator) error{
		"chain 16x64 KiB": func(c mpi.Communicator) error { return chain(c, buf, 16) },
		"binomial 1 MiB":  func(c mpi.Communicator) error { return binomial(c, buf) },
	} {
		b.Run(name, func(b *testing.B) {
			var r *simnet.Report
			var memory runtime.MemStats
			for b.Loop() {
				var err error
				if r, err = simnet.Simulate(g, nil, &simnet.Settings{HollowAbove: 64}, body); err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&memory)
			}
			b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.Messages), "ns/message")
		})
	}
}

// BenchmarkMeasure is the measuring harness with its defaults over 1,024 ranks,
// for 16 of its 3,069 rounds.
func BenchmarkMeasure(b *testing.B) {
	g := graphOf(b, "tree:8x16x8")
	const rounds = 16
	for b.Loop() {
		if err := simnet.Run(g, nil, nil, func(c mpi.Communicator) error {
			_, err := measure.Run(context.Background(), c, &measure.Settings{Pairs: harness.Pairs{Rounds: rounds}, Sampling: measure.Sampling{Repetitions: 1}})
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/rounds, "ms/round")
}
