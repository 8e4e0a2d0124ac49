package bcast_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// mostRandom is the number of ranks up to which random problems are drawn.
const mostRandom = 33

// randomProblems lets all ranks of the world broadcast one random problem after
// the other, without a pause, by any algorithm, and compares every byte. Each
// rank spoils its buffer as soon as it has the bytes: what others still read
// of it would be wrong.
func randomProblems(t testing.TB, world mpi.Communicator, count int, seed uint64) error {
	const longest = 3000 // bytes
	ranks := world.Size()
	rng := rand.New(rand.NewPCG(seed, uint64(ranks)))
	buf := make([]byte, longest)
	var list []schedule.Algorithm
	var b *bcast.Broadcaster
	p := schedule.Problem{Ranks: ranks}
	for i := range count {
		if i%20 == 0 { // a tree is dear
			p.Tree = nil
			if rng.IntN(2) == 1 {
				p.Tree = casttest.RandomTree(rng, ranks)
			}
			var err error
			if b, err = along(t, world, p.Tree); err != nil {
				return err
			}
			list = append(casttest.Algorithms(), schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), p)...)
		}
		p.Root, p.Bytes, p.Segment = rng.IntN(ranks), rng.IntN(1<<rng.IntN(12)), 0
		if rng.IntN(2) == 1 {
			p.Segment = p.Bytes/16 + rng.IntN(p.Bytes+1)
		}
		a := list[rng.IntN(len(list))]
		pattern := rng.Uint64()
		run := by(b, predict.Plan{Algorithm: a, Segment: p.Segment}, p.Bytes, p.Root)
		fill(buf[:p.Bytes], pattern, world.Rank() == p.Root)
		if err := run(buf[:p.Bytes]); err != nil {
			return fmt.Errorf("%s %v, %+v: %w", a.Name(), a, p, err)
		}
		if !matches(buf[:p.Bytes], pattern) {
			return fmt.Errorf("%s %v, %+v: rank %d has wrong bytes", a.Name(), a, p, world.Rank())
		}
	}
	return nil
}

// randomWorlds runs count random problems on up to 33 ranks of each kind.
func randomWorlds(t testing.TB, count int, seed uint64) {
	t.Helper()
	const kinds = 4
	for ranks := 1; ranks <= mostRandom; ranks++ {
		each := count / mostRandom / kinds
		for _, abilities := range []string{"nothing", "requests", "steps"} {
			err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
				return randomProblems(t, hide(world, abilities), each, seed)
			})
			if err != nil {
				t.Fatalf("%d ranks with %s: %v", ranks, abilities, err)
			}
		}
		c, err := gen.Parse(fmt.Sprintf("star:%d latency=2us rate=10Gbps", max(ranks, 2)))
		if err != nil {
			t.Fatal(err)
		}
		var placement []int
		for i := range ranks {
			placement = append(placement, i)
		}
		if err := simnet.Run(c.Graph, placement, overheads, func(world mpi.Communicator) error {
			return randomProblems(t, world, each, seed)
		}); err != nil {
			t.Fatalf("%d simulated ranks: %v", ranks, err)
		}
	}
}

func TestRandomProblems(t *testing.T) { randomWorlds(t, 1000, 1) }

// 10^5 of them, in one go.
func BenchmarkRandomProblems(b *testing.B) {
	const count = 100_000
	seed := uint64(2)
	for b.Loop() {
		randomWorlds(b, count, seed)
		seed++
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/10^5-problems")
}
