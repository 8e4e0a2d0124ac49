package classic

import (
	"math/bits"

	"github.com/topocast/topocast/bcast/schedule"
)

// Bine is a tree of as many rounds as Binomial in which partners lie nearer to
// each other in the row of the ranks: 1, 1, 3, 5, 11, ... places instead of 1, 2, 4, 8,
// 16. Where groups that share a link stand together, by a third less
// crosses them. It is the binomial negabinary tree of De Sensi et al. 2025 (Bine
// trees: enhancing collective operations by optimizing communication
// locality), halving distances.
//
// In the round with j rounds to come after it the distance is d = (1-(-2)^(j+1))/3. Place r serves r + d if r is even, and
// r - d if r is odd, round the circle. If the number of ranks is no power of two, the first ones stand in pairs. The first
// of a pair serves the second, last of all.
type Bine struct{}

// Name returns "bine".
func (Bine) Name() string { return "bine" }

// Prepare implements Algorithm. O(ranks log ranks).
func (Bine) Prepare(p schedule.Problem) schedule.Parts {
	ranks := schedule.Line(p)
	rounds := bits.Len(uint(p.Ranks)) - 1
	places := 1 << rounds
	pairs := p.Ranks - places
	at := func(place int) int { return ranks[place+min(place, pairs)] }
	edges := make([]schedule.Edge, 0, p.Ranks-1)
	reached := make([]int, 1, places) // places, the root's first
	for j := rounds; j > 0; j-- {
		distance := (1 - 1<<j) / 3 // (1 - (-2)^j) / 3
		if j%2 == 1 {
			distance = (1 + 1<<j) / 3
		}
		for _, r := range reached {
			to := r + distance
			if r%2 == 1 {
				to = r - distance
			}
			to = (to%places + places) % places
			edges = append(edges, schedule.Edge{From: at(r), To: at(to)})
			reached = append(reached, to)
		}
	}
	for i := range pairs {
		edges = append(edges, schedule.Edge{From: at(i), To: ranks[2*i+1]})
	}
	return schedule.NewTree(p.Ranks, edges)
}
