package schedule

import "fmt"

// Paced is Earliest for messages in segments: no rank, and no link of a group,
// handles more bytes per segment than Pace times what the busiest one has to. At
// a pace of one each way is crossed by each segment once, as in contention-free
// trees (P. Patarasuk, A. Faraj, X. Yuan 2006), and where hosts cannot send faster
// than groups the tree is the depth-first chain. Greater ones make the link of the
// first segment shorter, and each further segment take longer.
type Paced struct {
	// Pace is in halves: 2 is one. 0: 2.
	Pace int
}

var _ Varied = Paced{}

// Name returns "paced".
func (Paced) Name() string { return "paced" }

// String names the pace too.
func (a Paced) String() string { return fmt.Sprintf("paced[%g]", float64(a.pace())/2) }

// Prepare implements Algorithm.
func (a Paced) Prepare(p Problem) Parts {
	piece := p.shapedFor()
	return grow(p, piece, int64(a.pace())*p.leastPace(piece)/2)
}

func (a Paced) pace() int { return orDefault(a.Pace, 1, 2) }

// Settings implements Varied: paces from one to eight. There are none without groups, where trees of one shape do the
// same.
func (Paced) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	if len(GroupedLevels(p)) == 0 {
		return oneOf(nil, nil)
	}
	return oneOf([]int{2, 3, 4, 6, 8, 12, 16}, func(pace int) Algorithm { return Paced{pace} })
}
