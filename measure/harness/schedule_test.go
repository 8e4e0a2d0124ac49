package harness

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/topology"
)

// schedules returns the schedules of all ranks.
func schedules(t *testing.T, p *plan, ranks int) []*schedule {
	t.Helper()
	all := make([]*schedule, ranks)
	for rank := range all {
		s, err := newSchedule(p, ranks, rank)
		if err != nil {
			t.Fatal(err)
		}
		all[rank] = s
	}
	return all
}

// pairs lists who meets whom in each round of a repetition, and checks that
// partners agree.
func pairs(t *testing.T, all []*schedule, repetition int) [][][2]int {
	t.Helper()
	partners := make([][]int, len(all))
	for rank, s := range all {
		drawn := s.repetition(repetition)
		for round := range s.rounds() {
			partners[rank] = append(partners[rank], drawn.step(round).peer)
		}
	}
	rounds := make([][][2]int, all[0].rounds())
	for i := range rounds {
		for rank := range all {
			peer := partners[rank][i]
			if peer < 0 {
				continue
			}
			if peer == rank || partners[peer][i] != rank {
				t.Fatalf("round %d: partner of rank %d is %d, whose partner is %d", i, rank, peer, partners[peer][i])
			}
			if rank < peer {
				rounds[i] = append(rounds[i], [2]int{rank, peer})
			}
		}
	}
	return rounds
}

func TestEveryPairMeetsOnceInTheFewestRounds(t *testing.T) {
	for n := 1; n <= 33; n++ {
		all := schedules(t, &plan{Seed: 5}, n)
		for repetition := range 3 {
			rounds := pairs(t, all, repetition)
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
	all := schedules(t, &plan{Seed: 1}, 8)
	first, second := fmt.Sprint(pairs(t, all, 0)), fmt.Sprint(pairs(t, all, 1))
	if first == second {
		t.Errorf("repetitions 0 and 1 have the same schedule %v", first)
	}
	if again := fmt.Sprint(pairs(t, schedules(t, &plan{Seed: 1}, 8), 0)); again != first {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if other := fmt.Sprint(pairs(t, schedules(t, &plan{Seed: 2}, 8), 0)); other == first {
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
	p := (&Settings{Pairs: Pairs{Groups: h}, Seed: 3}).plan()
	rounds := pairs(t, schedules(t, &p, 12), 0)
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

	p = (&Settings{Pairs: Pairs{Groups: h, WithinGroups: true}}).plan()
	rounds = pairs(t, schedules(t, &p, 12), 0)
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
	all := schedules(t, &plan{Rounds: 3, Seed: 9}, 10)
	whole := pairs(t, schedules(t, &plan{Seed: 9}, 10), 0)
	if part := pairs(t, all, 0); len(part) != 3 || fmt.Sprint(part) != fmt.Sprint(whole[:3]) {
		t.Errorf("part of the rounds = %v, want %v", part, whole[:3])
	}
	if rounds := schedules(t, &plan{Rounds: 99}, 10)[0].rounds(); rounds != 9 {
		t.Errorf("%d rounds, want 9", rounds)
	}
}

// CirclePartner against the drawing of the method: the last player of an even
// number stays, all others move round a circle of m = n-1 places; in round r
// the places whose numbers add up to r (mod m) face each other.
func TestCirclePartnerAgainstTheDrawing(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for r := range CircleRounds(n) {
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
				if got := CirclePartner(n, p, r); got != want {
					t.Errorf("CirclePartner(%d, %d, %d) = %d, want %d", n, p, r, got, want)
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
		for _, round := range pairs(t, schedules(t, &plan{Seed: seed, Rounds: int(rounds)}, n), int(seed%7)) {
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
			s, err := newSchedule(&plan{}, n, n/2)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				drawn := s.repetition(1)
				for round := range n - 1 {
					drawn.step(round)
				}
			}
		})
	}
}
