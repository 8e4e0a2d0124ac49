package bcast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/benchmark"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Couples lets the root give one half of the message to ranks of even distance
// and the other to those of odd distance; then neighbours swap.
type Couples struct{}

func (Couples) Name() string { return "couples" }

func (c Couples) Prepare(schedule.Problem) schedule.Parts { return schedule.Steps(c.ops) }

func (Couples) ops(dst []schedule.Op, p schedule.Problem, rank int) []schedule.Op {
	half := [2]int{p.Bytes / 2, p.Bytes - p.Bytes/2}
	if half[0] == 0 || p.Ranks%2 == 0 { // somebody would have no partner
		return schedule.Flat{}.Prepare(p).Of(rank).Ops(dst, p)
	}
	at := (rank - p.Root + p.Ranks) % p.Ranks
	if at == 0 {
		for i := 1; i < p.Ranks; i++ {
			to := (p.Root + i) % p.Ranks
			dst = append(dst, schedule.Op{Kind: schedule.Send, Peer: to, Offset: i % 2 * half[0], Length: half[i%2]})
		}
		return dst
	}
	mine, other := at%2, 1-at%2
	partner := (p.Root + at + 2*mine - 1) % p.Ranks // 1 with 2, 3 with 4, ...
	return append(dst,
		schedule.Op{Kind: schedule.Recv, Peer: p.Root, Offset: mine * half[0], Length: half[mine]},
		schedule.Op{Kind: schedule.Send, Exchange: true, Peer: partner, Offset: mine * half[0], Length: half[mine]},
		schedule.Op{Kind: schedule.Recv, Peer: partner, Offset: other * half[0], Length: half[other]})
}

// One algorithm is one type: it is proved right, predicted, and run beside the
// others.
func Example_algorithm() {
	cluster, network := racks()
	p := schedule.Problem{Ranks: 7, Root: 2, Bytes: 1 << 20}
	fmt.Println("wrong:", schedule.Check(Couples{}, p))
	err := simnet.Run(cluster.Graph, []int{0, 1, 2, 3, 4, 5, 6}, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{
			Network:    network,
			Algorithms: append(schedule.Algorithms(), Couples{}),
		})
		if err != nil {
			return err
		}
		report, err := benchmark.Run(context.Background(), comm, b, &benchmark.Settings{
			Sizes: []int{p.Bytes}, Root: p.Root, Repetitions: 3, Only: []string{"flat", "couples"},
		})
		if err != nil || comm.Rank() != 0 {
			return err
		}
		for _, row := range report.Rows {
			fmt.Printf("%s %.1f ms, predicted %.1f, every byte right: %v\n", row.Variant, 1e3*row.Median, 1e3*row.Plan.Predicted, row.Verified)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	plans, err := predict.Plans(network, []schedule.Algorithm{Couples{}, schedule.Chain{}}, p.Bytes, p.Root)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("faster:", plans[0].Name())
	// Output:
	// wrong: <nil>
	// flat 6.3 ms, predicted 6.3, every byte right: true
	// couples 3.8 ms, predicted 3.8, every byte right: true
	// faster: chain
}
