package measure

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// ledger is a communicator that adds up what the loops in C have taken.
type ledger struct {
	*mpi.Comm
	inC        float64 // s
	roundTrips int
}

func (l *ledger) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	err := l.Comm.PingPong(samples, peer, tag, size, iters, first)
	for _, s := range samples {
		l.inC += s
	}
	l.roundTrips += len(samples) * iters
	return err
}

// clocked is the test of latencies, and what each exchange takes beyond the loops in C.
type clocked struct {
	latencies
	comm   *ledger
	beyond []float64 // s, per round trip
}

func (c *clocked) exchange(rows []float64, peer int, first bool, samples int) ([]float64, error) {
	if samples == harness.WarmUp {
		return c.latencies.exchange(rows, peer, first, samples)
	}
	inC, roundTrips := c.comm.inC, c.comm.roundTrips
	start := time.Now()
	rows, err := c.latencies.exchange(rows, peer, first, samples)
	took := time.Since(start).Seconds()
	c.beyond = append(c.beyond, (took-c.comm.inC+inC)/float64(c.comm.roundTrips-roundTrips))
	return rows, err
}

// BenchmarkMPIOverhead is what an exchange of two ranks - all that is done for a pair: pilots, lots,
// what the ranks agree on, the rows - takes per round trip beyond the loops in C. On two ranks with
// a core each:
//
//	go test -c ./measure && mpirun -n 2 --bind-to core ./measure.test -test.run - -test.bench MPIOverhead -test.benchtime 1x
func BenchmarkMPIOverhead(b *testing.B) {
	c, err := mpi.World()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if c.Size() != 2 {
		b.Skip("wants two ranks")
	}
	for b.Loop() { // -benchtime 1x, or the ranks would differ in the number of times
		comm := &ledger{Comm: c}
		test := &clocked{latencies: latencies{probe: pingpong.New(comm, 8, defaultSamples), plan: &plan{Sizes: []int{8}, Samples: defaultSamples}}, comm: comm}
		_, err := harness.Conduct(context.Background(), comm, 0, func(own *harness.Conductor) (*harness.Outcome, error) {
			return own.AllPairs(test.exchange, &harness.Settings{Repetitions: 200, Samples: defaultSamples})
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(1e9*stats.MiddleMedian(test.beyond), "ns/roundtrip-beyond-C")
		b.ReportMetric(1e9*slices.Min(test.beyond), "ns/roundtrip-best")
		b.ReportMetric(1e9*comm.inC/float64(comm.roundTrips), "ns/roundtrip-in-C")
	}
}

func (*ledger) CallCosts() (call, loop float64) { return 0, 0 }
