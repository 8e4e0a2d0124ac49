package steps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/bcast/table"
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

// algorithms are all that are there for a problem.
func algorithms(p Problem) (all []Algorithm) {
	for _, a := range append(schedule.Algorithms(), classic.Algorithms()...) {
		for _, v := range schedule.Variants([]schedule.Algorithm{a}, p.broadcast(0)) {
			if IsTree(v, p) {
				all = append(all, Along{Broadcast: v})
				for _, level := range Levels(p) {
					all = append(all, Along{Broadcast: v, Late: 1 + 3*(len(all)%2), Spread: level})
				}
			}
		}
	}
	for _, c := range Cores(p) {
		all = append(all, c)
	}
	return all
}

// Every algorithm, with any number of ranks, in block and shuffled order, of one value and of many, in segments and whole, for
// one root and for all ranks, has the values of each rank in the result exactly once.
func TestEveryReductionIsRight(t *testing.T) {
	checked := map[string]int{}
	for _, ranks := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 23, 26} {
		for _, shuffled := range []bool{false, true} {
			order := rand.New(rand.NewPCG(uint64(ranks), 1)).Perm(ranks)
			if !shuffled {
				for i := range order {
					order[i] = i
				}
			}
			for _, tree := range []*topology.Hierarchy{nil, hierarchy(t, order, 3, 9)} {
				for _, root := range []int{AllRanks, 0, ranks - 1} {
					p := Problem{Ranks: ranks, Root: root, Bytes: 1 << 20, Tree: tree}
					for i, a := range algorithms(p) {
						if _, is := a.(Core); is && root != AllRanks || i%5 != ranks%5 && ranks > 12 {
							continue // of many ranks, one in five
						}
						values, segment := []int{1, 7, 64, 1000}[(i+ranks)%4], []int{0, 5, 16}[i%3]
						if err := Check(a, p, values, segment); err != nil {
							t.Fatalf("%d ranks, root %d, %d values in segments of %d: %v", ranks, root, values, segment, err)
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

// listed is an algorithm of given steps.
type listed [][]Step

func (listed) Name() string { return "listed" }
func (l listed) Prepare(Problem) Parts {
	return func(rank int) Part {
		return func(dst []Step, _, _ int) []Step { return append(dst, l[rank]...) }
	}
}

// Check refuses each kind of mistake.
func TestCheckRefuses(t *testing.T) {
	for want, list := range map[string]listed{
		"in the sum already":    {{{Combine, 1, 0, 4}, {Combine, 1, 0, 4}}, {{Send, 0, 0, 4}, {Send, 0, 0, 4}}},
		"ends without":          {{{Combine, 1, 0, 3}}, {{Send, 0, 0, 3}}},
		"are not kept":          {{{CombineKept, 0, 0, 4}}, nil},
		"wait for ever":         {{{Combine, 1, 0, 4}}, {{Combine, 0, 0, 4}, {Send, 0, 0, 4}}},
		"the peer sends [0, 3)": {{{Combine, 1, 0, 4}}, {{Send, 0, 0, 3}}},
		"does not receive it":   {{{Combine, 1, 0, 4}}, {{Send, 0, 0, 4}, {Send, 0, 0, 4}}},

		// Rank 0 waits for its first send, of which rank 1 posts the receive after four others: those wait for rank 0.
		"2 of 2 ranks wait": {
			{{SendResult, 1, 0, 1}, {Replace, 1, 0, 1}, {Send, 1, 0, 1}, {Send, 1, 1, 2}, {Send, 1, 2, 3}, {Send, 1, 3, 4}},
			{{SendResult, 0, 0, 1}, {Combine, 0, 0, 1}, {Combine, 0, 1, 2}, {Combine, 0, 2, 3}, {Combine, 0, 3, 4}, {Replace, 0, 0, 1}},
		},
		"another rank":     {{{Combine, 2, 0, 4}}, nil},
		"some of 4 values": {{{Combine, 1, 0, 5}}, nil},
	} {
		if err := Check(list, Problem{Ranks: 2, Root: 0}, 4, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", [][]Step(list), err, want)
		}
	}
}

// Halving and Ring send each value about twice, 2(n-1)/n times, and Multiplying by 2 log2(n) times (Thakur, Rabenseifner & Gropp
// 2005, sections 4.3 to 4.5). By k it sends each value k-1 times in each of logk(n) rounds (Ruefenacht, Bull & Booth 2017).
func TestVolumes(t *testing.T) {
	const ranks, values = 16, 1600
	want := map[string]int{"multiplying by 2": 4 * values, "multiplying by 4": 2 * 3 * values, "halving": 2 * values * 15 / 16, "ring": 2 * values * 15 / 16}
	for _, c := range Cores(Problem{Ranks: ranks, Root: AllRanks}) {
		volume, known := want[c.String()]
		if !known {
			continue
		}
		delete(want, c.String())
		for rank := range ranks {
			sent := 0
			for _, s := range c.Prepare(Problem{Ranks: ranks, Root: AllRanks})(rank)(nil, values, 0) {
				if s.Kind.IsSend() {
					sent += s.To - s.From
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
		p := Problem{Ranks: x.ranks, Root: AllRanks}
		parts := Core{Kind: Multiplying, Radix: x.radix}.Prepare(p)
		depth, next, sent := make([]int, x.ranks), make([]int, x.ranks), make(map[[2]int][]int)
		for range x.ranks * 20 {
			for rank := range x.ranks {
				list := parts(rank)(nil, 1, 0)
				for ; next[rank] < len(list); next[rank]++ {
					s := list[next[rank]]
					if from := [2]int{s.Peer, rank}; s.Kind.IsReceive() {
						if len(sent[from]) == 0 {
							break
						}
						depth[rank] = max(depth[rank], sent[from][0])
						sent[from] = sent[from][1:]
					} else if s.Kind.IsSend() {
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
	p := Problem{Ranks: 24, Root: AllRanks, Tree: hierarchy(t, order, 4, 12)}
	for _, c := range Cores(p) {
		if c.Level == 0 {
			continue
		}
		size := []int{4, 12}[c.Level-1]
		for rank := range p.Ranks {
			for _, s := range c.Prepare(p)(rank)(nil, 100, 0) {
				if s.Peer/size != rank/size && (rank%size != 0 || s.Peer%size != 0) {
					t.Errorf("%v: rank %d: %v", c, rank, s)
				}
			}
		}
	}
}

func ExampleCheck() {
	p := Problem{Ranks: 100, Root: AllRanks}
	fmt.Println(Check(Along{Broadcast: schedule.Chain{}}, p, 1<<20, 1<<12))
	// Output: <nil>
}
