package schedule_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
)

// Trees that are grown reach every rank, whatever the tree, the costs and the pace.
func TestGrownTreesSolveEveryProblem(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 80 {
		ranks := 1 + rng.IntN(40)
		p := schedule.Problem{
			Ranks: ranks, Root: rng.IntN(ranks), Bytes: rng.IntN(5000), Segment: rng.IntN(2) * (1 + rng.IntN(500)),
			Tree: casttest.RandomTree(rng, ranks),
		}
		if rng.IntN(4) > 0 {
			p.Costs = randomCosts(rng, len(p.Tree.Levels())+1)
		}
		if rng.IntN(8) == 0 {
			p.Tree, p.Costs = nil, nil
		}
		for _, a := range hierarchical(p) {
			if err := schedule.Check(a, p); err != nil {
				t.Fatalf("Check(%v, %+v) = %v", a, p, err)
			}
		}
	}
}

// randomCosts are those of a machine on which farther levels are slower, or not.
func randomCosts(rng *rand.Rand, levels int) *schedule.Costs {
	c := &schedule.Costs{Send: rng.Int64N(1_000_000), Recv: rng.Int64N(1_000_000)}
	for range levels {
		gap := rng.Int64N(10_000_000)
		c.Levels = append(c.Levels, schedule.LevelCost{
			Empty: c.Send + c.Recv + rng.Int64N(100_000_000),
			Gap:   []schedule.SizedCost{{Bytes: 0, Time: 0}, {Bytes: 1 << 10, Time: gap}, {Bytes: 1 << 20, Time: gap + rng.Int64N(10_000_000_000)}},
			Links: 250 * (1 + rng.Int64N(4)),
		})
	}
	return c
}

// At a pace of one, with hosts that send no faster than groups, the tree is a
// chain that enters and leaves every group once at most.
func TestTheLeastPaceIsTheDepthFirstChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for range 60 {
		ranks := 2 + rng.IntN(40)
		p := schedule.Problem{Ranks: ranks, Root: rng.IntN(ranks), Bytes: 8192, Tree: casttest.RandomTree(rng, ranks)}
		p.Costs = &schedule.Costs{Send: 100_000, Recv: 100_000}
		for level := range len(p.Tree.Levels()) + 1 {
			p.Costs.Levels = append(p.Costs.Levels, schedule.LevelCost{
				Empty: 1_000_000 << level, Links: 1000,
				Gap: []schedule.SizedCost{{Bytes: 0, Time: 0}, {Bytes: 1 << 20, Time: 1_000_000_000}},
			})
		}
		var got []int
		for rank := range ranks {
			if n := len(schedule.Paced{}.Prepare(p).(*schedule.Tree).Links(rank).Children); n > 1 {
				t.Fatalf("rank %d of %d serves %d", rank, ranks, n)
			}
		}
		for g, n := range crossings(schedule.Paced{}, p) {
			if n > 1 {
				got = append(got, g)
			}
		}
		if len(got) > 0 {
			t.Fatalf("%+v: groups %v are entered more than once", p, slices.Sorted(slices.Values(got)))
		}
	}
}

// hierarchical are the algorithms over groups with all their settings.
func hierarchical(p schedule.Problem) []schedule.Algorithm {
	return schedule.Variants([]schedule.Algorithm{schedule.Earliest{}, schedule.Paced{}, classic.MagPIe{}, classic.MagPIe{Pipelined: true}, schedule.Magpie2{}}, p)
}

// In a Tree nobody receives from two ranks.
func TestInATreeEverybodyHasOneParent(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	for range 10 {
		p := schedule.Problem{Ranks: 24, Root: rng.IntN(24), Bytes: 900, Segment: 100, Tree: casttest.RandomTree(rng, 24)}
		for _, a := range schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), p) {
			most := 0
			for _, ops := range schedule.AllOps(nil, a, p) {
				parents := map[int]bool{}
				for _, op := range ops {
					if op.Kind == schedule.Recv {
						parents[op.Peer] = true
					}
				}
				most = max(most, len(parents))
			}
			if _, tree := a.Prepare(p).(*schedule.Tree); tree && most > 1 {
				t.Errorf("%s is a tree, and a rank receives from %d", schedule.Text(a), most)
			}
		}
	}
}
