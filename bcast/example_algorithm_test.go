package bcast_test

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
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

// One algorithm is one type: it is proved right, predicted, and timed beside
// another one. Each broadcast brings every byte.
func Example_algorithm() {
	cluster, network := racks()
	p := schedule.Problem{Ranks: 7, Root: 2, Bytes: 1 << 20}
	fmt.Println("wrong:", schedule.Check(Couples{}, p))
	message := make([]byte, p.Bytes)
	_, _ = rand.NewChaCha8([32]byte{}).Read(message)
	err := simnet.Run(cluster.Graph, []int{0, 1, 2, 3, 4, 5, 6}, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{
			Network:    network,
			Algorithms: append(schedule.Algorithms(), Couples{}),
		})
		if err != nil {
			return err
		}
		plans, err := b.Candidates(p.Bytes, p.Root) // collective
		if err != nil {
			return err
		}
		watch, err := tuner.NewStopwatch(comm, mpi.MaxTag, nil, false) // collective
		if err != nil {
			return err
		}
		for _, plan := range plans {
			if plan.Name() != "flat" && plan.Name() != "couples" {
				continue
			}
			run, err := b.Compile(plan, p.Bytes, p.Root)
			if err != nil {
				return err
			}
			buf := make([]byte, p.Bytes)
			if comm.Rank() == p.Root {
				copy(buf, message)
			}
			took, err := watch.Time(func(int) error { return run(buf) }, p.Root) // collective
			if err != nil {
				return err
			}
			if !bytes.Equal(buf, message) {
				return fmt.Errorf("rank %d: wrong bytes by %v", comm.Rank(), plan)
			}
			if comm.Rank() == 0 {
				fmt.Printf("%s %.1f ms, predicted %.1f\n", plan.Name(), 1e3*took.Cold, 1e3*plan.Predicted)
			}
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
	// couples 3.8 ms, predicted 3.8
	// flat 6.3 ms, predicted 6.3
	// faster: chain
}
