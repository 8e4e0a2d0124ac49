package zhu

import (
	"math"

	"github.com/topocast/topocast/model/contention"
)

// Model is the model of concurrent transfers as it was printed: Zhu et al. 2014,
// Algorithms 1 and 2. Predictions are not made with it but with contention.Solver.
// The printed algorithm can over-commit a channel (its lines 10 and 17), and its
// result can depend on the order of flows.
//
// We read it so: the sets S and contra-sets hold only channels that the flow
// crosses (against eq. 1), and all of them; loops over them are half open;
// lines 12-19 work on the contra-sets; emptying one recomputes the key; "=="
// is within sameKey for keys and usedUp for saturation; of several contra-sets that
// attain the key the saturated ones count, and line 17 keeps the largest
// inverse bandwidth; the clamp beta_E is the slowest channel of the flow's own path. Where
// line 32 would divide by what an over-commitment has left, nothing or less, the
// flow gets its plain share of the channel. Ties go to the lower flow.
type Model struct {
	Asymmetric bool // the asymmetric property; false: contra-sets are empty
}

// Equality in the printed algorithm is of real numbers. Keys are ratios of few sums, and
// round by 1e-15 or so. What saturates a channel is a sum of rates that each came from
// others, up to one step per flow. So it is let off a thousand times as much.
const (
	sameKey = 1e-9
	usedUp  = 1e-6
	spent   = 1e-9 // of a capacity: what is left of it is only rounding
)

// logicalLink is a flow on its way through Algorithm 1.
type logicalLink struct {
	with, contra float64 // congestion factors k, eq. 2, and its reverse, eq. 4; s/B
	reverse      []int32 // contra-sets not emptied
	rated        bool
}

// Rates returns the rates in B/s of flows over channels of the given
// capacities in B/s, by Algorithm 1. Capacities are above 0, each flow crosses a channel, and all begin
// together. O(flows^2 * channels per flow).
func (m Model) Rates(capacity []float64, flows []contention.Flow) []float64 {
	rates := make([]float64, len(flows))
	crossing := make([][]int, len(capacity)) // the sets: channel -> flows
	for i, f := range flows {
		for _, c := range f.Data {
			crossing[c] = append(crossing[c], i)
		}
	}
	factor := func(channels []int32) float64 {
		k := 0.0
		for _, c := range channels {
			k = math.Max(k, float64(len(crossing[c]))/capacity[c])
		}
		return k
	}
	links := make([]logicalLink, len(flows))
	for i, f := range flows {
		if m.Asymmetric {
			links[i].reverse = append([]int32{}, f.Reverse...)
		}
		links[i].with, links[i].contra = factor(f.Data), factor(links[i].reverse)
	}
	for {
		i := mostCongested(links)
		if i < 0 {
			return rates
		}
		l := &links[i]
		if l.with >= l.contra*(1-sameKey) {
			inverse := 0.0
			for _, c := range flows[i].Data {
				if same(float64(len(crossing[c]))/capacity[c], l.with, sameKey) {
					inverse = math.Max(inverse, inverseBandwidth(c, capacity, crossing, links, rates))
				}
			}
			for _, c := range flows[i].Data {
				inverse = math.Max(inverse, 1/capacity[c])
			}
			rates[i], l.rated = 1/inverse, true
			continue
		}
		inverse := 0.0
		var kept []int32
		for _, c := range l.reverse {
			if !same(float64(len(crossing[c]))/capacity[c], l.contra, sameKey) {
				kept = append(kept, c)
				continue
			}
			used, fastest := 0.0, 0.0
			for _, x := range crossing[c] {
				if links[x].rated {
					used += rates[x]
					fastest = math.Max(fastest, rates[x])
				}
			}
			if same(used, capacity[c], usedUp) {
				inverse = math.Max(inverse, 1/fastest)
			}
		}
		if inverse > 0 {
			rates[i], l.rated = 1/inverse, true
			continue
		}
		l.reverse = kept
		l.contra = factor(kept)
	}
}

// mostCongested is the flow of the highest key, eq. 7; -1 if all are rated.
func mostCongested(links []logicalLink) int {
	best := -1
	for i := range links {
		if links[i].rated {
			continue
		}
		if best < 0 || moreCongested(&links[i], &links[best]) {
			best = i
		}
	}
	return best
}

func moreCongested(a, b *logicalLink) bool {
	for _, k := range [...][2]float64{
		{math.Max(a.with, a.contra), math.Max(b.with, b.contra)}, {a.with, b.with}, {a.contra, b.contra},
	} {
		if !same(k[0], k[1], sameKey) {
			return k[0] > k[1]
		}
	}
	return false
}

// inverseBandwidth is the function of that name in Algorithm 1, lines 26-32,
// without the clamp.
func inverseBandwidth(c int32, capacity []float64, crossing [][]int, links []logicalLink, rates []float64) float64 {
	used, rest := 0.0, 0.0
	for _, x := range crossing[c] {
		if links[x].rated {
			used += rates[x]
		} else {
			rest++
		}
	}
	if left := capacity[c] - used; left > spent*capacity[c] {
		return rest / left
	}
	return float64(len(crossing[c])) / capacity[c]
}

func same(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
