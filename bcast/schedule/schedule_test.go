package schedule_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
)

func TestEveryAlgorithmSolvesEveryProblem(t *testing.T) {
	const segment = 256
	rng := rand.New(rand.NewPCG(1, 2))
	var counts []int
	for n := 1; n <= 17; n++ {
		if n <= 5 || n >= 16 || n%4 == 0 || tooltest.Long() {
			counts = append(counts, n)
		}
	}
	for _, ranks := range counts {
		trees := []*topology.Hierarchy{nil, casttest.RegularTree(t, ranks, 2, 3), casttest.RandomTree(rng, ranks)}
		roots := []int{0, 1 % ranks, ranks / 2, ranks - 1}
		for _, a := range casttest.Algorithms() {
			for _, tree := range trees {
				for _, root := range roots {
					for _, bytes := range []int{0, 1, 7, segment - 1, segment, segment + 1, 20 * segment} {
						for _, s := range []int{0, segment} {
							p := schedule.Problem{Ranks: ranks, Root: root, Bytes: bytes, Segment: s, Tree: tree}
							if err := schedule.Check(a, p); err != nil {
								t.Fatalf("Check(%v, %+v) = %v", a, p, err)
							}
						}
					}
				}
			}
		}
	}
	for _, ranks := range []int{64, 100} {
		p := schedule.Problem{Ranks: ranks, Root: ranks / 3, Bytes: 20*segment + 1, Segment: segment}
		for _, p.Tree = range []*topology.Hierarchy{nil, casttest.RandomTree(rng, ranks)} {
			for _, a := range casttest.Algorithms() {
				if err := schedule.Check(a, p); err != nil {
					t.Fatalf("Check(%v, %+v) = %v", a, p, err)
				}
			}
		}
	}
	for _, a := range casttest.Algorithms() {
		p := schedule.Problem{Ranks: 16, Root: 5, Bytes: 1 << 20, Segment: 4096, Tree: casttest.RegularTree(t, 16, 2, 4)}
		if err := schedule.Check(a, p); err != nil {
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
		p := schedule.Problem{
			Ranks: n, Root: int(root) % n, Bytes: int(bytes), Segment: max(int(segment), int(bytes)/64),
			Tree: casttest.RandomTree(rand.New(rand.NewPCG(seed, 0)), n),
		}
		for _, a := range append(casttest.Algorithms(), schedule.Variants([]schedule.Algorithm{schedule.NativeGroups{}}, p)...) {
			if err := schedule.Check(a, p); err != nil {
				t.Errorf("Check(%v, %+v) = %v", a, p, err)
			}
		}
	})
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  casttest.Script
		want string
	}{
		{
			"a byte never comes",
			casttest.Script{{casttest.Send(1, 0, 9)}, {casttest.Recv(0, 0, 9)}},
			"rank 1 ends with",
		},
		{
			"a byte comes twice",
			casttest.Script{{casttest.Send(1, 0, 6), casttest.Send(1, 5, 5)}, {casttest.Recv(0, 0, 6), casttest.Recv(0, 5, 5)}},
			"second time",
		},
		{
			"the root receives",
			casttest.Script{{casttest.Send(1, 0, 10), casttest.Recv(1, 0, 10)}, {casttest.Recv(0, 0, 10), casttest.Send(0, 0, 10)}},
			"rank 0, step 1: receives part of [0, 10) a second time",
		},
		{
			"bytes are forwarded before they are there",
			casttest.Script{{casttest.Recv(1, 0, 10)}, {casttest.Send(0, 0, 10)}},
			"rank 1, step 0: sends [0, 10), which it does not have",
		},
		{
			"the lengths differ",
			casttest.Script{{casttest.Send(1, 0, 10)}, {casttest.Recv(0, 0, 9)}},
			"offers",
		},
		{
			"the offsets differ",
			casttest.Script{{casttest.Send(1, 0, 5), casttest.Send(1, 5, 5)}, {casttest.Recv(0, 5, 5), casttest.Recv(0, 0, 5)}},
			"offers",
		},
		{
			"a receive has no send",
			casttest.Script{{}, {casttest.Recv(0, 0, 10)}},
			"1 of 2 ranks wait for ever: rank 1 in step 0",
		},
		{
			"a send has no receive",
			casttest.Script{{casttest.Send(1, 0, 10), casttest.Send(1, 0, 10)}, {casttest.Recv(0, 0, 10)}},
			"1 of 2 ranks wait for ever: rank 0 in step 1",
		},
		{
			"it runs with buffered sends only", // each of 1 and 2 sends its half before it receives the other
			casttest.Script{
				{casttest.Send(1, 0, 5), casttest.Send(2, 5, 5)},
				{casttest.Recv(0, 0, 5), casttest.Send(2, 0, 5), casttest.Recv(2, 5, 5)},
				{casttest.Recv(0, 5, 5), casttest.Send(1, 5, 5), casttest.Recv(1, 0, 5)},
			},
			"2 of 3 ranks wait for ever",
		},
		{
			"a second send does not wait for its receive",
			casttest.Script{
				{casttest.Send(1, 0, 5), casttest.Send(1, 5, 5), casttest.Send(2, 5, 5)},
				{casttest.Recv(0, 0, 5), casttest.Send(2, 0, 5), casttest.Recv(0, 5, 5)},
				{casttest.Recv(0, 5, 5), casttest.Recv(1, 0, 5)},
			},
			"3 of 3 ranks wait for ever",
		},
		{
			"an exchange sends on what it receives",
			casttest.Script{
				{casttest.Send(1, 0, 10)},
				{casttest.Recv(0, 0, 10), casttest.Exchange(2, 0, 5), casttest.Recv(2, 0, 5)},
				{casttest.Exchange(1, 0, 5), casttest.Recv(1, 0, 5), casttest.Recv(1, 5, 5)},
			},
			"which it does not have",
		},
		{
			"an exchange of one rank is a send and a receive of the other, the wrong way round",
			casttest.Script{
				{casttest.Send(1, 0, 5), casttest.Send(2, 5, 5)},
				{casttest.Recv(0, 0, 5), casttest.Send(2, 0, 5), casttest.Recv(2, 5, 5)},
				{casttest.Recv(0, 5, 5), casttest.Exchange(1, 5, 5), casttest.Recv(1, 0, 5)},
			},
			"2 of 3 ranks wait for ever",
		},
		{
			"an exchange that receives first sends on what it receives",
			casttest.Script{
				{casttest.Send(2, 0, 10)},
				{casttest.Recv(3, 0, 10)},
				{casttest.Recv(0, 0, 10), casttest.Send(3, 0, 10)},
				{casttest.Exchange(1, 0, 10), casttest.Recv(2, 0, 10)},
			},
			"rank 3, step 0: sends [0, 10), which it does not have before the step",
		},
		{
			"half of an exchange is missing",
			casttest.Script{
				{casttest.Send(1, 0, 5), casttest.Send(1, 5, 5)},
				{casttest.Recv(0, 0, 5), casttest.Exchange(0, 0, 5), casttest.Recv(0, 5, 5)},
			},
			"1 of 2 ranks wait for ever: rank 1 in step 1: send [0, 5) peer 0",
		},
		{
			"half of an exchange goes nowhere",
			casttest.Script{{casttest.Exchange(1, 0, 10), casttest.Recv(0, 0, 10)}, {casttest.Recv(0, 0, 10)}},
			"want another rank",
		},
		{
			"an exchange begins with a receive",
			casttest.Script{{casttest.Send(1, 0, 10)}, {{Kind: schedule.Recv, Exchange: true, Length: 10}}},
			"want an exchange of a Send and the Recv after it",
		},
		{
			"an exchange ends without a receive",
			casttest.Script{{casttest.Exchange(1, 0, 10), casttest.Send(1, 0, 10)}, {casttest.Recv(0, 0, 10), casttest.Recv(0, 0, 10)}},
			"want an exchange of a Send and the Recv after it",
		},
		{
			"a send of the last step is an exchange",
			casttest.Script{{casttest.Exchange(1, 0, 10)}, {casttest.Recv(0, 0, 10)}},
			"want an exchange of a Send and the Recv after it",
		},
		{
			"it runs over the end",
			casttest.Script{{casttest.Send(1, 5, 6)}, {casttest.Recv(0, 5, 6)}},
			"within [0, 10)",
		},
		{
			"an empty message",
			casttest.Script{{casttest.Send(1, 0, 0)}, {casttest.Recv(0, 0, 0)}},
			"want 1 to",
		},
		{
			"a rank sends to itself",
			casttest.Script{{casttest.Send(0, 0, 10)}, {}},
			"want another rank",
		},
		{
			"a peer is outside",
			casttest.Script{{casttest.Send(2, 0, 10)}, {}},
			"want another rank",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := schedule.Check(c.ops, schedule.Problem{Ranks: len(c.ops), Bytes: 10})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestCheckAcceptsPiecesInAnyOrder(t *testing.T) {
	// Rank 1 gets the outer pieces first and the middle last, from two ranks.
	s := casttest.Script{
		{casttest.Send(1, 0, 2), casttest.Send(2, 0, 10), casttest.Send(1, 8, 2), casttest.Send(1, 4, 1)},
		{casttest.Recv(0, 0, 2), casttest.Recv(0, 8, 2), casttest.Recv(0, 4, 1), casttest.Recv(2, 5, 3), casttest.Recv(2, 2, 2)},
		{casttest.Recv(0, 0, 10), casttest.Send(1, 5, 3), casttest.Send(1, 2, 2)},
	}
	if err := schedule.Check(s, schedule.Problem{Ranks: 3, Bytes: 10}); err != nil {
		t.Error(err)
	}
}

// Two ranks swap what they have.
func TestCheckAcceptsExchanges(t *testing.T) {
	swap := casttest.Script{
		{casttest.Send(1, 1, 1), casttest.Send(2, 2, 1), casttest.Send(1, 0, 1)},
		{casttest.Recv(0, 1, 1), casttest.Recv(0, 0, 1), casttest.Exchange(2, 1, 1), casttest.Recv(2, 2, 1), casttest.Send(2, 0, 1)},
		{casttest.Recv(0, 2, 1), casttest.Exchange(1, 2, 1), casttest.Recv(1, 1, 1), casttest.Recv(1, 0, 1)},
	}
	if err := schedule.Check(swap, schedule.Problem{Ranks: 3, Bytes: 3}); err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesImpossibleProblems(t *testing.T) {
	for _, c := range []struct {
		p    schedule.Problem
		want string
	}{
		{schedule.Problem{}, "ranks 0"},
		{schedule.Problem{Ranks: 2, Root: 2}, "root 2"},
		{schedule.Problem{Ranks: 2, Root: -1}, "root -1"},
		{schedule.Problem{Ranks: 2, Bytes: -1}, "bytes -1"},
		{schedule.Problem{Ranks: 2, Segment: -1}, "segment -1"},
		{schedule.Problem{Ranks: 2, Tree: casttest.RegularTree(t, 4, 2)}, "tree of 4 hosts"},
	} {
		if err := schedule.Check(schedule.Flat{}, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check(%+v) = %v, want an error with %q", c.p, err, c.want)
		}
	}
}

// edges lists who sends to whom, by sender, in the order in which it serves.
func edges(a schedule.Algorithm, p schedule.Problem) string {
	var s []string
	for rank := range p.Ranks {
		for _, op := range a.Prepare(p).Of(rank).Ops(nil, p) {
			if op.Kind == schedule.Send {
				s = append(s, fmt.Sprintf("%d>%d", rank, op.Peer))
			}
		}
	}
	return strings.Join(s, " ")
}

// Drawn by hand: six ranks, root 4, two groups of three {0,1,2}, {3,4,5}.
func TestTreesByHand(t *testing.T) {
	tree := casttest.RegularTree(t, 6, 3)
	for _, c := range []struct {
		a    schedule.Algorithm
		tree *topology.Hierarchy
		want string
	}{
		{schedule.Flat{}, nil, "4>5 4>0 4>1 4>2 4>3"},
		{schedule.Flat{}, tree, "4>0 4>1 4>2 4>5 4>3"},
		// Positions from the root on: 4 5 0 1 2 3; position i from i without its lowest bit.
		{schedule.Binomial{}, tree, "0>1 2>3 4>2 4>0 4>5"},
		{schedule.Chain{}, nil, "0>1 1>2 2>3 4>5 5>0"},
		{schedule.Chain{}, tree, "0>1 1>2 3>5 4>3 5>0"},
		{schedule.MultiLevel{}, tree, "0>2 0>1 4>0 4>5 4>3"},
		{schedule.MultiLevel{Shapes: []schedule.Shape{schedule.ShapeFlat, schedule.ShapeChain}}, tree, "0>1 1>2 3>5 4>0 4>3"},
		{schedule.MultiLevel{Shapes: []schedule.Shape{schedule.ShapeChain}}, nil, "0>1 1>2 2>3 4>5 5>0"},
		{schedule.KChain{}, nil, "0>1 2>3 4>5 4>2 5>0"},
		{schedule.Binary{}, nil, "2>3 4>5 4>2 5>0 5>1"},
		{schedule.KNomial{Radix: 3}, nil, "1>2 1>3 4>1 4>5 4>0"},
		{schedule.KNomial{Radix: 2}, nil, "0>1 2>3 4>2 4>0 4>5"},
		// Four places, 4 0 2 3, of which the first two have 5 and 1 beside them. Two
		// rounds: -1 and +1 from even places.
		{classic.Bine{}, nil, "0>1 3>2 4>3 4>0 4>5"},
	} {
		got := edges(c.a, schedule.Problem{Ranks: 6, Root: 4, Bytes: 1, Tree: c.tree})
		if got != c.want {
			t.Errorf("%v, tree %v: %s, want %s", c.a, c.tree != nil, got, c.want)
		}
	}
}

// By hand from the partners of De Sensi et al. 2025: 3 places on from even places
// and back from odd ones, then -1, then 1.
func TestBineOfEight(t *testing.T) {
	if got, want := edges(classic.Bine{}, schedule.Problem{Ranks: 8, Bytes: 1}), "0>3 0>7 0>1 3>4 3>2 4>5 7>6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What makes two trees use the full bandwidth: no rank sends more than the message.
// The rank that is a leaf in both sends nothing.
func TestNobodySendsMoreThanTheMessageInTwoTrees(t *testing.T) {
	for ranks := 2; ranks <= 40; ranks++ {
		p := schedule.Problem{Ranks: ranks, Root: ranks / 2, Bytes: 120, Segment: 10}
		for rank, ops := range schedule.AllOps(nil, classic.TwoTree{}, p) {
			sum := 0
			for _, op := range ops {
				if op.Kind != schedule.Recv {
					sum += op.Length
				}
			}
			if sum > p.Bytes {
				t.Errorf("rank %d of %d sends %d bytes of %d", rank, ranks, sum, p.Bytes)
			}
		}
	}
}

// crossings counts the messages into groups that do not hold the sender.
func crossings(a schedule.Algorithm, p schedule.Problem) map[int]int {
	groups := p.Tree.Groups()
	n := make(map[int]int)
	for rank := range p.Ranks {
		for _, op := range a.Prepare(p).Of(rank).Ops(nil, p) {
			if op.Kind == schedule.Recv {
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
		p := schedule.Problem{Ranks: ranks, Root: rng.IntN(ranks), Bytes: 1, Tree: casttest.RandomTree(rng, ranks)}
		for _, a := range []schedule.Algorithm{schedule.Chain{}, schedule.MultiLevel{}, schedule.MultiLevel{Shapes: []schedule.Shape{schedule.ShapeChain, schedule.ShapeFlat}}} {
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
			for _, op := range (schedule.Chain{}).Prepare(p).Of(rank).Ops(nil, p) {
				if op.Kind == schedule.Send {
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
	head := casttest.Send(9, 9, 9)
	for _, a := range casttest.Algorithms() {
		p := schedule.Problem{Ranks: 5, Root: 1, Bytes: 10, Segment: 4}
		got := a.Prepare(p).Of(2).Ops([]schedule.Op{head}, p)
		if want := append([]schedule.Op{head}, a.Prepare(p).Of(2).Ops(nil, p)...); !slices.Equal(got, want) {
			t.Errorf("%v: Ops(dst) = %v, want %v", a, got, want)
		}
	}
}

// The closed forms in rounds, as ranks do them that wait for each other: a step
// begins when both ends of it have come to it, and takes L + G s; an Exchange
// the longer of its halves. Reference: Thakur et al. 2005, section 4, and Traeff 2024.
func TestRoundsTakeTheirTime(t *testing.T) {
	const L, G = 3.0, 1.0
	form := func(bytes ...float64) float64 {
		sum := 0.0
		for _, b := range bytes {
			sum += L + G*b
		}
		return sum
	}
	for _, c := range []struct {
		name string
		a    schedule.Algorithm
		p    schedule.Problem
		want float64
	}{
		{"scatter and doubling of 16", classic.ScatterDoubling{}, schedule.Problem{Ranks: 16, Root: 5, Bytes: 160}, form(80, 40, 20, 10) + form(10, 20, 40, 80)},
		{"17 pieces to 16: 20 rounds", schedule.Circulant{}, schedule.Problem{Ranks: 16, Bytes: 170, Segment: 10}, 20 * form(10)},
		{"17 pieces to 11: 20 rounds", schedule.Circulant{}, schedule.Problem{Ranks: 11, Root: 3, Bytes: 170, Segment: 10}, 20 * form(10)},
		{"a piece to 33: 6 rounds", schedule.Circulant{}, schedule.Problem{Ranks: 33, Root: 32, Bytes: 10}, 6 * form(10)},
		{"100 pieces to 100: 106 rounds", schedule.Circulant{}, schedule.Problem{Ranks: 100, Bytes: 1000, Segment: 10}, 106 * form(10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := inRounds(c.a, c.p, L, G); !casttest.Near(got, c.want, 1e-12) {
				t.Errorf("takes %g, want %g", got, c.want)
			}
		})
	}
	// 2 (h - 1) + k rounds and one more at most: every link carries every other round.
	for _, ranks := range []int{2, 3, 10, 32, 33} {
		p := schedule.Problem{Ranks: ranks, Bytes: 400, Segment: 10}
		h := math.Ceil(math.Log2(float64(ranks)))
		if got := inRounds(classic.TwoTree{}, p, L, G); got > (2*h+40)*form(10) || got < 40*form(10) {
			t.Errorf("two trees of %d ranks take %g rounds, want from 40 to %g", ranks, got/form(10), 2*h+40)
		}
	}
	// The ring takes P-1 rounds after the scattering, or less, as no rank gets what it has.
	if got, most := inRounds(classic.ScatterRing{}, schedule.Problem{Ranks: 16, Bytes: 160}, L, G), form(80, 40, 20, 10)+15*form(10); got > most || got < 16*form(10) {
		t.Errorf("scatter and ring take %g, want at most %g", got, most)
	}
}

// inRounds is the time until the last rank is done.
func inRounds(a schedule.Algorithm, p schedule.Problem, latency, perByte float64) float64 {
	type half struct {
		done bool
		end  float64
	}
	// A round of a rank is a step, or an exchange.
	type round struct{ send, recv *schedule.Op }
	rounds := make([][]round, p.Ranks)
	for rank, ops := range schedule.AllOps(nil, a, p) {
		exchange := false
		for i := range ops {
			op := &ops[i]
			switch {
			case exchange:
				rounds[rank][len(rounds[rank])-1].recv = op
			case op.Kind == schedule.Send:
				rounds[rank] = append(rounds[rank], round{send: op})
			default:
				rounds[rank] = append(rounds[rank], round{recv: op})
			}
			exchange = op.Exchange
		}
	}
	next, now := make([]int, p.Ranks), make([]float64, p.Ranks)
	sent, got := make([]half, p.Ranks), make([]half, p.Ranks) // halves of the current rounds
	for moved := true; moved; {
		moved = false
		for rank := range rounds {
			if next[rank] == len(rounds[rank]) {
				continue
			}
			op := rounds[rank][next[rank]].send
			if op == nil || sent[rank].done || next[op.Peer] == len(rounds[op.Peer]) {
				continue
			}
			other := rounds[op.Peer][next[op.Peer]].recv
			if other == nil || other.Peer != rank || got[op.Peer].done {
				continue
			}
			end := max(now[rank], now[op.Peer]) + latency + perByte*float64(op.Length)
			sent[rank], got[op.Peer] = half{true, end}, half{true, end}
			moved = true
			for _, r := range []int{rank, op.Peer} {
				current := rounds[r][next[r]]
				if (current.send == nil || sent[r].done) && (current.recv == nil || got[r].done) {
					now[r] = max(now[r], sent[r].end, got[r].end)
					sent[r], got[r] = half{}, half{}
					next[r]++
				}
			}
		}
	}
	return slices.Max(now)
}

// Of the settings of an algorithm the last one changes fastest: searches count on that.
func TestVariantsAreAllCombinationsInOrder(t *testing.T) {
	p := schedule.Problem{Ranks: 6, Tree: casttest.RegularTree(t, 6, 3)}
	var got []string
	for _, a := range schedule.Variants([]schedule.Algorithm{schedule.Chain{}, schedule.KNomial{}, schedule.Magpie2{}}, p) {
		got = append(got, schedule.Text(a))
	}
	want := []string{"chain", "k-nomial[2]", "k-nomial[4]"}
	for _, between := range []string{"flat", "binomial", "chain"} {
		for _, within := range []string{"flat", "binomial", "chain"} {
			want = append(want, fmt.Sprintf("magpie2[level 0, %s, %s]", between, within))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Variants = %v, want %v", got, want)
	}
}
