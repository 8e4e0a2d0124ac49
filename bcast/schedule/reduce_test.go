package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
)

// hierarchy is one of hosts in racks: the ranks of rank r are on host order[r]/perHost.
func hierarchy(t *testing.T, order []int, perHost, perRack int) *topology.Hierarchy {
	t.Helper()
	ranks := len(order)
	hosts, racks := map[int][]int{}, map[int][]int{}
	for rank, at := range order {
		hosts[at/perHost] = append(hosts[at/perHost], rank)
		racks[at/perRack] = append(racks[at/perRack], rank)
	}
	var levels [2][][]int
	for i, groups := range []map[int][]int{hosts, racks} {
		for k := range ranks {
			if g := groups[k]; len(g) > 1 && len(g) < ranks {
				levels[i] = append(levels[i], g)
			}
		}
	}
	h, err := (&table.Topology{Name: "racks", Levels: levels[:]}).Tree(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// reductions are all that are there for a problem.
func reductions(p schedule.Problem) (all []schedule.Algorithm) {
	for _, v := range schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), p) {
		if _, is := v.Prepare(p).(*schedule.Tree); is {
			all = append(all, schedule.Reduce{Along: v}, schedule.Allreduce{Along: v})
			for _, level := range schedule.GroupedLevels(p) {
				all = append(all, schedule.Allreduce{Along: v, Late: 1 + 3*(len(all)%2), Spread: 1 + level})
			}
		}
	}
	return append(all, schedule.Variants(schedule.Allreductions(), p)...)
}

// Every algorithm, with any number of ranks, in block and shuffled order, of one value and of many, in segments and whole, for
// one root and for all ranks, has the values of each rank in the result exactly once.
func TestEveryReductionIsRight(t *testing.T) {
	checked := map[string]int{}
	most := 200 // values: forty segments of five
	if tooltest.Long() {
		most = 1000
	}
	for _, ranks := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 23, 26} {
		for _, shuffled := range []bool{false, true} {
			order := rand.New(rand.NewPCG(uint64(ranks), 1)).Perm(ranks)
			if !shuffled {
				for i := range order {
					order[i] = i
				}
			}
			for _, tree := range []*topology.Hierarchy{nil, hierarchy(t, order, 3, 9)} {
				for _, root := range []int{0, ranks - 1} {
					for i, a := range reductions(schedule.Problem{Ranks: ranks, Tree: tree}) {
						if a.(schedule.Reduction).ToAll() && root > 0 || i%5 != ranks%5 && ranks > 12 {
							continue // of many ranks, one in five
						}
						values, segment := []int{1, 7, 64, most}[(i+ranks)%4], []int{0, 5, 16}[i%3]
						if err := schedule.Check(a, schedule.Problem{Ranks: ranks, Root: root, Bytes: values, Segment: segment, Tree: tree}); err != nil {
							t.Fatalf("%v, %d ranks, root %d, %d values in segments of %d: %v", a, ranks, root, values, segment, err)
						}
						checked[a.Name()]++
					}
				}
			}
		}
	}
	for _, name := range []string{"binomial", "chain", "multilevel", "earliest", "multiplying", "halving", "ring"} {
		if checked[name] < 26 {
			t.Errorf("%s: checked %d times", name, checked[name])
		}
	}
}

// combining is a script that is a Reduction to rank 0, or to all ranks.
type combining struct {
	casttest.Script
	toAll bool
}

func (c combining) ToAll() bool { return c.toAll }

// Check refuses each kind of mistake.
func TestCheckFindsWhatIsWrongInReductions(t *testing.T) {
	send, recv := casttest.Send, casttest.Recv
	combine := func(peer, offset, length int) schedule.Op {
		return schedule.Op{Kind: schedule.Combine, Peer: peer, Offset: offset, Length: length}
	}
	hold := func(kind schedule.Kind, peer int) schedule.Op { return schedule.Op{Kind: kind, Peer: peer, Length: 4} }
	for want, list := range map[string]casttest.Script{
		"in the sum already":                    {{combine(1, 0, 4), combine(1, 0, 4)}, {send(0, 0, 4), send(0, 0, 4)}},
		"ends without all of [3, 4)":            {{combine(1, 0, 3)}, {send(0, 0, 3)}},
		"ends without all of [0, 4)":            {{hold(schedule.Hold, 1)}, {send(0, 0, 4)}},
		"not all of which is held back":         {{hold(schedule.CombineHeld, 0)}, nil},
		"wait for ever":                         {{combine(1, 0, 4)}, {combine(0, 0, 4), send(0, 0, 4)}},
		"offers send [0, 3)":                    {{combine(1, 0, 4)}, {send(0, 0, 3)}},
		"wait for ever: rank 1 in step 1":       {{combine(1, 0, 4)}, {send(0, 0, 4), send(0, 0, 4)}},
		"without some values that it has":       {{recv(1, 0, 4)}, {send(0, 0, 4)}},
		"receives part of [0, 4) a second time": {{combine(1, 0, 4), send(1, 0, 4), send(1, 0, 4)}, {send(0, 0, 4), recv(0, 0, 4), recv(0, 0, 4)}},

		// Rank 0 waits for its first send, of which rank 1 posts the receive after four others: those wait for rank 0.
		"3 of 3 ranks wait": {
			{send(1, 0, 1), combine(1, 0, 1), send(2, 3, 1)},
			{send(0, 0, 1), recv(2, 0, 1), recv(2, 1, 1), recv(2, 2, 1), recv(2, 3, 1), combine(0, 0, 1)},
			{combine(0, 3, 1), send(1, 0, 1), send(1, 1, 1), send(1, 2, 1), send(1, 3, 1)},
		},
		"want another rank":    {{combine(2, 0, 4)}, nil},
		"want the rank itself": {{hold(schedule.CombineHeld, 1)}, nil},
		"within [0, 4)":        {{combine(1, 0, 5)}, nil},
		"want no exchange":     {{casttest.Exchange(1, 0, 4), recv(1, 0, 4)}, nil},
	} {
		p := schedule.Problem{Ranks: len(list), Bytes: 4}
		if err := schedule.Check(combining{list, false}, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	toOne := casttest.Script{{combine(1, 0, 4)}, {send(0, 0, 4)}}
	if err := schedule.Check(combining{toOne, true}, schedule.Problem{Ranks: 2, Bytes: 4}); err == nil || !strings.Contains(err.Error(), "rank 1 ends without all of [0, 4)") {
		t.Errorf("all ranks want the result, and one has it: %v", err)
	}
	if err := schedule.Check(toOne, schedule.Problem{Ranks: 2, Bytes: 4}); err == nil || !strings.Contains(err.Error(), "no Reduction") {
		t.Errorf("a broadcast that combines: %v", err)
	}
}

// cores are those that differ in a problem.
func cores(p schedule.Problem) (all []schedule.Core) {
	for _, a := range schedule.Variants(schedule.Allreductions(), p) {
		if c, is := a.(schedule.Core); is {
			all = append(all, c)
		}
	}
	return all
}

// Halving and Ring send each value about twice, 2(n-1)/n times, and Multiplying by 2 log2(n) times (Thakur, Rabenseifner & Gropp
// 2005, sections 4.3 to 4.5). By k it sends each value k-1 times in each of logk(n) rounds (Ruefenacht, Bull & Booth 2017).
func TestVolumes(t *testing.T) {
	const ranks, values = 16, 1600
	want := map[string]int{"multiplying by 2": 4 * values, "multiplying by 4": 2 * 3 * values, "halving": 2 * values * 15 / 16, "ring": 2 * values * 15 / 16}
	p := schedule.Problem{Ranks: ranks, Bytes: values}
	for _, c := range cores(p) {
		volume, known := want[c.String()]
		if !known {
			continue
		}
		delete(want, c.String())
		for rank := range ranks {
			sent := 0
			for _, op := range c.Prepare(p).Of(rank).Ops(nil, p) {
				if op.Kind == schedule.Send {
					sent += op.Length
				}
			}
			if sent != volume {
				t.Errorf("%v: rank %d sends %d values, want %d", c, rank, sent, volume)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not among the cores: %v", want)
	}
}

// The longest chain of messages that wait for each other, counted by hand: 12 ranks are 3 times 4. By 2 they are 8 and 4 that are
// folded: these give their values away one round earlier. The ranks that they meet in the last round are not folded, and pass
// nothing on. The same goes for 13 by 4. 15 by 2 have folded ranks that meet in the last round, and one round more.
func TestRounds(t *testing.T) {
	for _, x := range []struct{ ranks, radix, want int }{
		{8, 2, 3}, {12, 2, 4}, {12, 4, 2}, {12, 3, 3}, {16, 4, 2}, {25, 5, 2}, {13, 4, 3}, {15, 2, 5}, {5, 5, 1}, {1, 2, 0},
	} {
		p := schedule.Problem{Ranks: x.ranks, Bytes: 1}
		lists := schedule.AllOps(nil, schedule.Core{Kind: schedule.Multiplying, Radix: x.radix}, p)
		depth, next, sent := make([]int, x.ranks), make([]int, x.ranks), make(map[[2]int][]int)
		for range x.ranks * 20 {
			for rank := range x.ranks {
				list := lists[rank]
				for ; next[rank] < len(list); next[rank]++ {
					s := list[next[rank]]
					if from := [2]int{s.Peer, rank}; s.Kind.Receives() {
						if len(sent[from]) == 0 {
							break
						}
						depth[rank] = max(depth[rank], sent[from][0])
						sent[from] = sent[from][1:]
					} else if s.Kind == schedule.Send {
						to := [2]int{rank, s.Peer}
						sent[to] = append(sent[to], depth[rank]+1)
					}
				}
			}
		}
		if got := slices.Max(depth); got != x.want {
			t.Errorf("%d ranks by %d: %d rounds, want %d", x.ranks, x.radix, got, x.want)
		}
	}
}

// Leaders alone talk to other groups.
func TestLeadersTalk(t *testing.T) {
	order := make([]int, 24)
	for i := range order {
		order[i] = i
	}
	p := schedule.Problem{Ranks: 24, Bytes: 100, Tree: hierarchy(t, order, 4, 12)}
	for _, c := range cores(p) {
		if c.Level == 0 {
			continue
		}
		size := []int{4, 12}[c.Level-1]
		for rank := range p.Ranks {
			for _, s := range c.Prepare(p).Of(rank).Ops(nil, p) {
				if s.Peer/size != rank/size && (rank%size != 0 || s.Peer%size != 0) {
					t.Errorf("%v: rank %d: %v", c, rank, s)
				}
			}
		}
	}
}

func ExampleCheck_allreduce() {
	p := schedule.Problem{Ranks: 100, Bytes: 1 << 20, Segment: 1 << 12}
	fmt.Println(schedule.Check(schedule.Allreduce{Along: schedule.Chain{}}, p))
	// Output: <nil>
}

// Reductions of random problems have the values of each rank in the result exactly once.
func TestRandomReductionsAreRight(t *testing.T) {
	problems := 60
	if tooltest.Long() {
		problems = 6000
	}
	rng := rand.New(rand.NewPCG(5, 70))
	for range problems {
		n := 1 + rng.IntN(70)
		p := schedule.Problem{Ranks: n, Root: rng.IntN(n), Bytes: rng.IntN(1 << rng.IntN(10)), Tree: casttest.RandomTree(rng, n)}
		if rng.IntN(3) > 0 {
			p.Segment = p.Bytes/32 + 1 + rng.IntN(p.Bytes+1)
		}
		all := reductions(p)
		for range 4 {
			a := all[rng.IntN(len(all))]
			if err := schedule.Check(a, p); err != nil {
				t.Errorf("%s, %+v: %v", schedule.Text(a), p, err)
			}
		}
	}
}
