package harness_test

import (
	"context"
	"fmt"
	"log"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// pairTest is a test of a pair of one's own: how long a message of 1 MiB takes there and an
// answer of 0 B back.
type pairTest struct {
	*harness.Conductor
	buf []byte
}

func (t *pairTest) exchange(rows []float64, peer int, _ bool, _ int) ([]float64, error) {
	for _, asks := range []bool{t.Comm.Rank() < peer, t.Comm.Rank() > peer} { // one after the other
		if !asks {
			if err := t.Comm.Recv(t.buf, peer, harness.FirstTag); err != nil {
				return rows, err
			}
			if err := t.Comm.Send(nil, peer, harness.FirstTag); err != nil {
				return rows, err
			}
			continue
		}
		start := t.Now()
		if err := t.Comm.Send(t.buf, peer, harness.FirstTag); err != nil {
			return rows, err
		}
		if err := t.Comm.Recv(nil, peer, harness.FirstTag); err != nil {
			return rows, err
		}
		rows = append(rows, t.Now()-start)
	}
	return rows, nil
}

// Four hosts at one switch, of which the last has a slow link.
func ExampleConductor_AllPairs() {
	cluster, err := gen.Parse("star:4 latency=1us rate=10Gbps")
	if err != nil {
		log.Fatal(err)
	}
	cable := []int{cluster.Graph.ArcIndex(3, 4), cluster.Graph.ArcIndex(4, 3)}
	slow := simnet.Faults{Slow: []simnet.Slow{{Arcs: cable, Latency: 2, Rate: 0.5}}}
	fastest := []float64{1, 1, 1, 1} // s, by rank
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Faults: slow}, func(c mpi.Communicator) error {
		_, err := harness.Conduct(context.Background(), c, 0, func(own *harness.Conductor) (*harness.Outcome, error) {
			outcome, err := own.AllPairs((&pairTest{own, make([]byte, 1<<20)}).exchange, &harness.Settings{
				Deliver: func(rows []harness.Row, _ harness.Progress) {
					for _, row := range rows {
						fastest[row.From] = min(fastest[row.From], row.Values[0])
					}
				},
			})
			if outcome != nil {
				fmt.Println(outcome.Rounds, "rounds of", outcome.Pairs, "pairs")
			}
			return outcome, err
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for rank, t := range fastest {
		fmt.Printf("rank %d: at least %.2f ms\n", rank, 1e3*t)
	}
	// Output:
	// 3 rounds of 6 pairs
	// rank 0: at least 0.85 ms
	// rank 1: at least 0.85 ms
	// rank 2: at least 0.85 ms
	// rank 3: at least 1.69 ms
}
