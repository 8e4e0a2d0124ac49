package harness

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/topology"
)

// roundsOf returns the rounds of a repetition.
func roundsOf(t *testing.T, p Pairs, ranks int, seed uint64, repetition int) []round {
	t.Helper()
	return p.rounds(ranks, seed, repetition)
}

// pairs lists who meets whom in each round of a repetition, the lower rank first, and checks that no rank meets two.
func pairs(t *testing.T, p Pairs, ranks int, seed uint64, repetition int) [][][2]int {
	t.Helper()
	var all [][][2]int
	for i, r := range roundsOf(t, p, ranks, seed, repetition) {
		met := make([]bool, ranks)
		var own [][2]int
		for _, x := range r.pairs {
			if x[0] == x[1] || met[x[0]] || met[x[1]] {
				t.Fatalf("round %d: %v: a rank meets itself, or two", i, r.pairs)
			}
			met[x[0]], met[x[1]] = true, true
			own = append(own, [2]int{min(x[0], x[1]), max(x[0], x[1])})
		}
		all = append(all, own)
	}
	return all
}

func TestEveryPairMeetsOnceInTheFewestRounds(t *testing.T) {
	for n := 1; n <= 33; n++ {
		for repetition := range 3 {
			rounds := pairs(t, Pairs{}, n, 5, repetition)
			// n(n-1)/2 pairs at floor(n/2) per round.
			want := 0
			if n > 1 {
				want = n * (n - 1) / 2 / (n / 2)
			}
			if len(rounds) != want {
				t.Fatalf("n = %d: %d rounds, want %d", n, len(rounds), want)
			}
			seen := make(map[[2]int]int)
			for _, round := range rounds {
				for _, pair := range round {
					seen[pair]++
				}
			}
			if len(seen) != n*(n-1)/2 {
				t.Fatalf("n = %d: %d pairs, want %d", n, len(seen), n*(n-1)/2)
			}
			for pair, times := range seen {
				if times != 1 {
					t.Fatalf("n = %d: pair %v meets %d times", n, pair, times)
				}
			}
		}
	}
}

func TestRepetitionsDiffer(t *testing.T) {
	first, second := fmt.Sprint(pairs(t, Pairs{}, 8, 1, 0)), fmt.Sprint(pairs(t, Pairs{}, 8, 1, 1))
	if first == second {
		t.Errorf("repetitions 0 and 1 have the same schedule %v", first)
	}
	if again := fmt.Sprint(pairs(t, Pairs{}, 8, 1, 0)); again != first {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if other := fmt.Sprint(pairs(t, Pairs{}, 8, 2, 0)); other == first {
		t.Errorf("seeds 1 and 2 have the same schedule %v", first)
	}
}

// tree is 12 ranks: racks {0..5} and {6..10} and the lone rank 11; hosts
// {0,1,2}, {3,4} in the first rack (rank 5 alone), {6,7,8,9} in the second.
func tree(t *testing.T) *topology.Hierarchy {
	t.Helper()
	h, err := topology.NewHierarchy(12, []topology.Level{{Name: "host"}, {Name: "rack"}}, []topology.Group{
		{Hosts: []int{0, 1, 2, 3, 4, 5}, Level: 1},
		{Hosts: []int{6, 7, 8, 9, 10}, Level: 1},
		{Hosts: []int{0, 1, 2}},
		{Hosts: []int{3, 4}},
		{Hosts: []int{6, 7, 8, 9}},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestGroupsAreMeasuredInParallelAndByThemselves(t *testing.T) {
	h := tree(t)
	rounds := pairs(t, Pairs{Groups: h}, 12, 3, 0)
	// Hosts of at most 4 ranks take 3 rounds, racks of 6 and of 5 take 5, and all 12 take 11.
	if want := 3 + 5 + 11; len(rounds) != want {
		t.Errorf("%d rounds, want %d", len(rounds), want)
	}
	seen := make(map[[2]int]bool)
	busiest := 0
	for i, round := range rounds {
		level := -1
		groups := make(map[int]bool)
		for _, pair := range round {
			if seen[pair] {
				t.Errorf("pair %v meets twice", pair)
			}
			seen[pair] = true
			g := h.Common(pair[0], pair[1])
			groups[g] = true
			if l := h.Groups()[g].Level; level < 0 {
				level = l
			} else if l != level {
				t.Errorf("round %d: pairs of levels %d and %d", i, level, l)
			}
		}
		busiest = max(busiest, len(groups))
	}
	if len(seen) != 66 {
		t.Errorf("%d pairs, want 66", len(seen))
	}
	if busiest < 2 {
		t.Errorf("no round has pairs of two groups")
	}

	rounds = pairs(t, Pairs{Groups: h, WithinGroups: true}, 12, 0, 0)
	if len(rounds) != 8 {
		t.Errorf("within groups: %d rounds, want 8", len(rounds))
	}
	count := 0
	for _, round := range rounds {
		count += len(round)
	}
	if count != 15+10 { // 6*5/2 pairs in one rack, 5*4/2 in the other
		t.Errorf("within groups: %d pairs, want 25", count)
	}
}

func TestPartOfTheRounds(t *testing.T) {
	whole := pairs(t, Pairs{}, 10, 9, 0)
	if part := pairs(t, Pairs{Rounds: 3}, 10, 9, 0); len(part) != 3 || fmt.Sprint(part) != fmt.Sprint(whole[:3]) {
		t.Errorf("part of the rounds = %v, want %v", part, whole[:3])
	}
	if rounds := len(roundsOf(t, Pairs{Rounds: 99}, 10, 0, 0)); rounds != 9 {
		t.Errorf("%d rounds, want 9", rounds)
	}
}

// circlePartner against the drawing of the method: the last player of an even
// number stays, all others move round a circle of m = n-1 places; in round r
// the places whose numbers add up to r (mod m) face each other.
func TestCirclePartnerAgainstTheDrawing(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for r := range circleRounds(n) {
			even := n + n%2
			m := even - 1
			for p := range n {
				want := -1
				for q := range even {
					if q == p {
						continue
					}
					meets := p < m && q < m && (p+q)%m == r ||
						p == m && 2*q%m == r || q == m && 2*p%m == r
					if meets && q < n {
						want = q
					}
				}
				if got := circlePartner(n, p, r); got != want {
					t.Errorf("circlePartner(%d, %d, %d) = %d, want %d", n, p, r, got, want)
				}
			}
		}
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add(uint8(7), uint64(1), uint8(0))
	f.Add(uint8(12), uint64(2), uint8(3))
	f.Fuzz(func(t *testing.T, ranks uint8, seed uint64, rounds uint8) {
		n := int(ranks)%40 + 1
		seen := make(map[[2]int]bool)
		for _, round := range pairs(t, Pairs{Rounds: int(rounds)}, n, seed, int(seed%7)) {
			for _, pair := range round {
				if seen[pair] {
					t.Fatalf("pair %v meets twice", pair)
				}
				seen[pair] = true
			}
		}
	})
}

func BenchmarkRepetition(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		b.Run(fmt.Sprintf("%d ranks", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if rounds := (&Pairs{}).rounds(n, 0, 1); len(rounds) != n-1 {
					b.Fatal(len(rounds))
				}
			}
		})
	}
}
