package bcast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestEveryAlgorithmSolvesEveryProblem(t *testing.T) {
	const segment = 256
	rng := rand.New(rand.NewPCG(1, 2))
	counts := []int{64, 100}
	for n := 1; n <= 17; n++ {
		counts = append(counts, n)
	}
	for _, ranks := range counts {
		trees := []*topology.Hierarchy{nil, regularTree(t, ranks, 2, 3), randomTree(rng, ranks)}
		roots := []int{0, 1 % ranks, ranks / 2, ranks - 1}
		for _, a := range algorithms() {
			for _, tree := range trees {
				for _, root := range roots {
					for _, bytes := range []int{0, 1, 7, segment - 1, segment, segment + 1, 20 * segment} {
						for _, s := range []int{0, segment} {
							p := Problem{Ranks: ranks, Root: root, Bytes: bytes, Segment: s, Tree: tree}
							if err := Check(a, p); err != nil {
								t.Fatalf("Check(%v, %+v) = %v", a, p, err)
							}
						}
					}
				}
			}
		}
	}
	for _, a := range algorithms() {
		p := Problem{Ranks: 16, Root: 5, Bytes: 1 << 20, Segment: 4096, Tree: regularTree(t, 16, 2, 4)}
		if err := Check(a, p); err != nil {
			t.Errorf("Check(%v, 1 MiB) = %v", a, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(uint64(1), uint8(12), uint8(3), uint16(1000), uint16(100))
	f.Add(uint64(2), uint8(0), uint8(0), uint16(0), uint16(0))
	f.Add(uint64(3), uint8(99), uint8(98), uint16(1), uint16(1))
	f.Fuzz(func(t *testing.T, seed uint64, ranks, root uint8, bytes, segment uint16) {
		n := 1 + int(ranks)%128
		p := Problem{
			Ranks: n, Root: int(root) % n, Bytes: int(bytes), Segment: max(int(segment), int(bytes)/64),
			Tree: randomTree(rand.New(rand.NewPCG(seed, 0)), n),
		}
		for _, a := range algorithms() {
			if err := Check(a, p); err != nil {
				t.Errorf("Check(%v, %+v) = %v", a, p, err)
			}
		}
	})
}

// script is an Algorithm that does as it is told.
type script [][]Op

func (script) Name() string                             { return "script" }
func (s script) Ops(dst []Op, _ Problem, rank int) []Op { return append(dst, s[rank]...) }

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  script
		want string
	}{
		{
			"a byte never comes",
			script{{{Send, 1, 0, 9}}, {{Recv, 0, 0, 9}}},
			"rank 1 ends with",
		},
		{
			"a byte comes twice",
			script{{{Send, 1, 0, 6}, {Send, 1, 5, 5}}, {{Recv, 0, 0, 6}, {Recv, 0, 5, 5}}},
			"second time",
		},
		{
			"the root receives",
			script{{{Send, 1, 0, 10}, {Recv, 1, 0, 10}}, {{Recv, 0, 0, 10}, {Send, 0, 0, 10}}},
			"rank 0, step 1: receives part of [0, 10) a second time",
		},
		{
			"bytes are forwarded before they are there",
			script{{{Recv, 1, 0, 10}}, {{Send, 0, 0, 10}}},
			"rank 1, step 0: sends [0, 10), which it does not have",
		},
		{
			"the lengths differ",
			script{{{Send, 1, 0, 10}}, {{Recv, 0, 0, 9}}},
			"offers",
		},
		{
			"the offsets differ",
			script{{{Send, 1, 0, 5}, {Send, 1, 5, 5}}, {{Recv, 0, 5, 5}, {Recv, 0, 0, 5}}},
			"offers",
		},
		{
			"a receive has no send",
			script{{}, {{Recv, 0, 0, 10}}},
			"1 of 2 ranks wait for ever: rank 1 in step 0",
		},
		{
			"a send has no receive",
			script{{{Send, 1, 0, 10}, {Send, 1, 0, 10}}, {{Recv, 0, 0, 10}}},
			"1 of 2 ranks wait for ever: rank 0 in step 1",
		},
		{
			"it runs with buffered sends only", // each of 1 and 2 sends its half before it receives the other
			script{
				{{Send, 1, 0, 5}, {Send, 2, 5, 5}},
				{{Recv, 0, 0, 5}, {Send, 2, 0, 5}, {Recv, 2, 5, 5}},
				{{Recv, 0, 5, 5}, {Send, 1, 5, 5}, {Recv, 1, 0, 5}},
			},
			"2 of 3 ranks wait for ever",
		},
		{
			"it runs over the end",
			script{{{Send, 1, 5, 6}}, {{Recv, 0, 5, 6}}},
			"within [0, 10)",
		},
		{
			"an empty message",
			script{{{Send, 1, 0, 0}}, {{Recv, 0, 0, 0}}},
			"want 1 to",
		},
		{
			"a rank sends to itself",
			script{{{Send, 0, 0, 10}}, {}},
			"want another rank",
		},
		{
			"a peer is outside",
			script{{{Send, 2, 0, 10}}, {}},
			"want another rank",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(c.ops, Problem{Ranks: len(c.ops), Bytes: 10})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestCheckAcceptsPiecesInAnyOrder(t *testing.T) {
	// Rank 1 gets the outer pieces first and the middle last, from two ranks.
	s := script{
		{{Send, 1, 0, 2}, {Send, 2, 0, 10}, {Send, 1, 8, 2}, {Send, 1, 4, 1}},
		{{Recv, 0, 0, 2}, {Recv, 0, 8, 2}, {Recv, 0, 4, 1}, {Recv, 2, 5, 3}, {Recv, 2, 2, 2}},
		{{Recv, 0, 0, 10}, {Send, 1, 5, 3}, {Send, 1, 2, 2}},
	}
	if err := Check(s, Problem{Ranks: 3, Bytes: 10}); err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesImpossibleProblems(t *testing.T) {
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{}, "ranks 0"},
		{Problem{Ranks: 2, Root: 2}, "root 2"},
		{Problem{Ranks: 2, Root: -1}, "root -1"},
		{Problem{Ranks: 2, Bytes: -1}, "bytes -1"},
		{Problem{Ranks: 2, Segment: -1}, "segment -1"},
		{Problem{Ranks: 2, Tree: regularTree(t, 4, 2)}, "tree of 4 hosts"},
	} {
		if err := Check(Flat{}, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check(%+v) = %v, want an error with %q", c.p, err, c.want)
		}
	}
}

// edges lists who sends to whom, by sender, in the order in which it serves.
func edges(a Algorithm, p Problem) string {
	var s []string
	for rank := range p.Ranks {
		for _, op := range a.Ops(nil, p, rank) {
			if op.Kind == Send {
				s = append(s, fmt.Sprintf("%d>%d", rank, op.Peer))
			}
		}
	}
	return strings.Join(s, " ")
}

// Drawn by hand: six ranks, root 4, two groups of three {0,1,2}, {3,4,5}.
func TestTreesByHand(t *testing.T) {
	tree := regularTree(t, 6, 3)
	for _, c := range []struct {
		a    Algorithm
		tree *topology.Hierarchy
		want string
	}{
		{Flat{}, nil, "4>5 4>0 4>1 4>2 4>3"},
		{Flat{}, tree, "4>0 4>1 4>2 4>5 4>3"},
		// Positions from the root on: 4 5 0 1 2 3; position i from i without its lowest bit.
		{Binomial{}, tree, "0>1 2>3 4>2 4>0 4>5"},
		{Chain{}, nil, "0>1 1>2 2>3 4>5 5>0"},
		{Chain{}, tree, "0>1 1>2 3>5 4>3 5>0"},
		{MultiLevel{}, tree, "0>2 0>1 4>0 4>5 4>3"},
		{MultiLevel{[]Shape{ShapeFlat, ShapeChain}}, tree, "0>1 1>2 3>5 4>0 4>3"},
		{MultiLevel{[]Shape{ShapeChain}}, nil, "0>1 1>2 2>3 4>5 5>0"},
	} {
		got := edges(c.a, Problem{Ranks: 6, Root: 4, Bytes: 1, Tree: c.tree})
		if got != c.want {
			t.Errorf("%v, tree %v: %s, want %s", c.a, c.tree != nil, got, c.want)
		}
	}
}

// crossings counts the messages into groups that do not hold the sender.
func crossings(a Algorithm, p Problem) map[int]int {
	groups := p.Tree.Groups()
	n := make(map[int]int)
	for rank := range p.Ranks {
		for _, op := range a.Ops(nil, p, rank) {
			if op.Kind == Recv {
				for g := p.Tree.Smallest(rank); g != p.Tree.Common(rank, op.Peer); g = groups[g].Parent {
					n[g]++
				}
			}
		}
	}
	return n
}

func TestGroupsAreEnteredOnceAndLeftOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		ranks := 2 + rng.IntN(40)
		p := Problem{Ranks: ranks, Root: rng.IntN(ranks), Bytes: 1, Tree: randomTree(rng, ranks)}
		for _, a := range []Algorithm{Chain{}, MultiLevel{}, MultiLevel{[]Shape{ShapeChain, ShapeFlat}}} {
			entered := crossings(a, p)
			for g, group := range p.Tree.Groups() {
				want := 1
				if slices.Contains(group.Hosts, p.Root) {
					want = 0
				}
				if entered[g] != want {
					t.Fatalf("%v, %+v: group %v entered %d times, want %d", a, p, group.Hosts, entered[g], want)
				}
			}
		}
		// The chain leaves each group at most once as well.
		left := make(map[int]int)
		for rank := range ranks {
			for _, op := range (Chain{}).Ops(nil, p, rank) {
				if op.Kind == Send {
					for g := p.Tree.Smallest(rank); g != p.Tree.Common(rank, op.Peer); g = p.Tree.Groups()[g].Parent {
						left[g]++
					}
				}
			}
		}
		for g, n := range left {
			if n > 1 {
				t.Fatalf("chain, %+v: group %v left %d times", p, p.Tree.Groups()[g].Hosts, n)
			}
		}
	}
}

func TestOpsAppend(t *testing.T) {
	head := Op{Send, 9, 9, 9}
	for _, a := range algorithms() {
		p := Problem{Ranks: 5, Root: 1, Bytes: 10, Segment: 4}
		got := a.Ops([]Op{head}, p, 2)
		if want := append([]Op{head}, a.Ops(nil, p, 2)...); !slices.Equal(got, want) {
			t.Errorf("%v: Ops(dst) = %v, want %v", a, got, want)
		}
	}
}
