package measure

import (
	"testing"

	"github.com/topocast/topocast/internal/gen"
)

// TestAlonePairs: in each round exactly one pair meets, or none where it comes
// up again; every level gets its pairs; ranks agree.
func TestAlonePairs(t *testing.T) {
	c, err := gen.Parse("tree:2x3x4")
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Alone: 5, Groups: c.Hierarchy, Repetitions: 2}
	p := s.plan()
	ranks := c.Graph.Hosts()
	for repetition := range 2 {
		var partners [][]int
		for rank := range ranks {
			s, err := newSchedule(&p, ranks, rank)
			if err != nil {
				t.Fatal(err)
			}
			partners = append(partners, s.repetition(repetition))
		}
		met := make(map[[2]int]int)
		perLevel := make(map[int]int)
		for round := range partners[0] {
			busy := 0
			for rank := range ranks {
				peer := partners[rank][round]
				if peer < 0 {
					continue
				}
				busy++
				if partners[peer][round] != rank {
					t.Fatalf("round %d: %d meets %d, who meets %d", round, rank, peer, partners[peer][round])
				}
				if rank < peer {
					met[[2]int{rank, peer}]++
					perLevel[c.Hierarchy.Groups()[c.Hierarchy.Join(rank, peer)].Level]++
				}
			}
			if busy > 2 {
				t.Fatalf("round %d: %d ranks are busy, want at most one pair", round, busy)
			}
		}
		for pair, times := range met {
			if times > 1 {
				t.Errorf("pair %v meets %d times", pair, times)
			}
		}
		if len(partners[0]) != 15 || perLevel[0] < 3 || perLevel[1] < 3 || perLevel[2] < 3 {
			t.Errorf("%d rounds, pairs per level %v, want 15, and nearly 5 each", len(partners[0]), perLevel)
		}
	}
}
