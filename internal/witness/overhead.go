package witness

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// How much Overhead looks at. It is off by at most 2.3 standard deviations of a hop on rings and tori of 32 to 1024
// hosts. Their overhead was half a hop, with 2 % of outliers. Twice or half of each is as good, but with half the near hosts 1024 are not told from detours.
const (
	overheadPairs = 1500    // for the first value
	overheadHosts = 64      // for the refined one: their short measurements
	overheadNear  = 64      // short measurements per host
	overheadMost  = 1 << 16 // slacks; meshes have fewer, full meshes with noise thousands per host
)

const (
	// Least slacks of a pair so many deviations below zero are noise, exact ones are off by rounding. 2.8
	// to 5.6 give the same.
	slackNegative = 4
	slackRounding = 1e-9

	// overheadRounding is the part of the longest measurement below which an overhead is what sums of 32-bit floats leave of 0.
	overheadRounding = 1e-6
	// Slacks up to so many standard deviations above twice the first value are kept: nearestMean wants
	// those within two, of a value that the first may be far below. With 3.5 tori of 1024 are off
	// by 9 standard deviations, with 5 by 2.3, with 7 by 0.7.
	slackDeviations = 7
	// Of a slack above 0 the measurement is below the sum of the legs. So its deviation is at most the
	// root of 2 times noise and sum.
	slackWide = slackDeviations * math.Sqrt2
	// A refined value that is farther than this from the first, in typical deviations, ran off: the least
	// slacks of hundreds of ways are three to three and a half below their mean. 2.5 takes those of tori for
	// that; 3.5 to 4.9 give the same.
	slackAstray = 4
	// The window of nearestMean, in standard deviations.
	slackWindow = 2
)

// Overhead estimates the part of every latency that does not add up
// along a path because it is paid once per message, at its ends: M_ij = o +
// sum of hops. Two legs pay it twice, so the least M_ik + M_kj - M_ij of a pair
// that others lie between is o. m is n*n row-major, columns its transpose, noise the relative standard
// deviation of its measurements. The result is at least 0; it is 0 also when no
// clear value shows, as in trees whose inner vertices are not measured.
//
// A first value is the half-sample mode over the least slacks of 1500 random
// pairs. Noise pulls it down, as it is a minimum over many. So it is refined
// on pairs of short latency, whose absolute noise is small: the slacks near the
// present value, at most two standard deviations away, are averaged with
// weights 1/variance until that value stays. Where it runs off, as the slacks of
// detours are too close to tell apart, the first value is kept. O(5600 n), memory of a few MiB.
func Overhead[F stats.Float](n int, m, columns []F, noise float64) float64 {
	if n < 4 {
		return 0
	}
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var least []float64
	longest := 0.0
	for range overheadPairs {
		i, j := rng.IntN(n), rng.IntN(n)
		if w := float64(m[i*n+j]); i != j && w < math.Inf(1) {
			longest = max(longest, w)
			s := shortestBetween(m[i*n:(i+1)*n], columns[j*n:(j+1)*n], i, j) - w
			if s >= -(slackNegative*noise+slackRounding)*w && s < math.Inf(1) {
				least = append(least, s)
			}
		}
	}
	if len(least) == 0 {
		return 0
	}
	slices.Sort(least)
	o := halfSampleMode(least)

	slacks := shortSlacks(n, m, columns, noise, o, rng)
	typical := make([]float64, 0, len(slacks))
	for _, s := range slacks {
		if math.Abs(s.value-o) <= slackWindow*s.deviation {
			typical = append(typical, s.deviation)
		}
	}
	reach := stats.Median(typical)
	if refined := nearestMean(slacks, o); math.Abs(refined-o) <= slackAstray*reach {
		o = refined
	}
	if o < overheadRounding*longest {
		return 0
	}
	return o
}

// shortestBetween is the least sum of the two legs from i to j over a host that lies between them; +Inf if none does.
// Both legs of such a host are shorter than what is measured from i to j.
func shortestBetween[F stats.Float](rowI, colJ []F, i, j int) float64 {
	least, w := F(math.Inf(1)), rowI[j]
	for k, a := range rowI {
		if b := colJ[k]; a < w && b < w && a+b < least && k != i && k != j {
			least = a + b
		}
	}
	return float64(least)
}

// shortSlacks returns the slacks of short measurements of random hosts that may be the overhead, whose
// first value is o.
func shortSlacks[F stats.Float](n int, m, columns []F, noise, o float64, rng *rand.Rand) []slack {
	var slacks []slack
	row, near := make([]F, 0, n), make([]int, 0, n)
	legs, firsts := make([]int, 0, n), make([]float64, 0, n)
	wide := 1 / max(0, 1-slackWide*noise) // of much noise infinite
	for range min(n, overheadHosts) {
		if len(slacks) > overheadMost {
			break
		}
		i := rng.IntN(n)
		rowI := m[i*n : (i+1)*n]
		row = row[:0]
		for j, v := range rowI {
			if j != i && v < F(math.Inf(1)) {
				row = append(row, v)
			}
		}
		count := min(len(row), overheadNear, max(8, n/4)) // of few hosts not the farther ones
		if count == 0 {
			continue
		}
		far := stats.Select(row, count-1)
		near = near[:0]
		for j, v := range rowI {
			if j != i && v <= far {
				near = append(near, j)
			}
		}
		slices.SortFunc(near, func(a, b int) int { return cmp.Or(cmp.Compare(rowI[a], rowI[b]), a-b) })
		near = near[:count]
		legs, firsts = legs[:0], firsts[:0]
		for k, a := range rowI {
			if a := float64(a); k != i && a <= (float64(far)+2*o)*wide {
				legs, firsts = append(legs, k), append(firsts, a)
			}
		}
		for _, j := range near {
			w := float64(rowI[j])
			most := (w + 2*o) * wide
			colJ := columns[j*n : (j+1)*n]
			for x, k := range legs {
				// Cheap test first: most pairs of legs end here.
				a, b := firsts[x], float64(colJ[k])
				if !(a+b <= most) || k == j {
					continue
				}
				deviation := noise * math.Sqrt(w*w+a*a+b*b)
				if s := a + b - w; s <= 2*o+slackDeviations*deviation {
					slacks = append(slacks, slack{s, deviation})
				}
			}
		}
	}
	return slacks
}

// A slack is M_ik + M_kj - M_ij and its standard deviation.
type slack struct{ value, deviation float64 }

// nearestMean ends when the value changes by less than a part in ten thousand, or after so many
// rounds, of which it takes three to eight.
const (
	meanSettled = 1e-4
	meanRounds  = 20
)

// nearestMean moves o to the weighted mean of the slacks not more than slackWindow
// standard deviations away until it stays.
func nearestMean(slacks []slack, o float64) float64 {
	for range meanRounds {
		var sum, weights float64
		for _, s := range slacks {
			if v := s.deviation * s.deviation; math.Abs(s.value-o) <= slackWindow*s.deviation && v > 0 {
				sum += s.value / v
				weights += 1 / v
			}
		}
		if weights == 0 || math.Abs(sum/weights-o) <= meanSettled*o {
			break
		}
		o = sum / weights
	}
	return o
}

// halfSampleMode is the mode of sorted values by repeated halving: of all
// halves the densest is kept (Bickel and Frühwirth 2006).
func halfSampleMode(sorted []float64) float64 {
	for len(sorted) > 3 {
		half := (len(sorted) + 1) / 2
		best := 0
		for i := 0; i+half <= len(sorted); i++ {
			if sorted[i+half-1]-sorted[i] < sorted[best+half-1]-sorted[best] {
				best = i
			}
		}
		sorted = sorted[best : best+half]
	}
	switch len(sorted) {
	case 3:
		if sorted[1]-sorted[0] <= sorted[2]-sorted[1] {
			return (sorted[0] + sorted[1]) / 2
		}
		return (sorted[1] + sorted[2]) / 2
	case 2:
		return (sorted[0] + sorted[1]) / 2
	}
	return sorted[0]
}
