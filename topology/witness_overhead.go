package topology

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Slacks up to so many standard deviations above twice the overhead are kept: nearestMean wants
	// those within two of a value that may be twice the first.
	slackDeviations = 5
	// Of a slack above 0 the reading is below the sum of the legs, so its deviation is at most the
	// root of 2 times noise and sum.
	slackWide = slackDeviations * math.Sqrt2
)

// endpointOverhead estimates the part of every latency that does not add up
// along a path because it is paid once per message, at its ends: M_ij = o +
// sum of hops. Two legs pay it twice, so the least M_ik + M_kj - M_ij of a pair
// that others lie between is o. m is n*n row-major, columns its transpose, noise the relative standard
// deviation of its readings. The result is at least 0; it is 0 also when no
// clear value shows, as in trees whose inner vertices are not measured.
//
// A first value is the half-sample mode over the least slacks of 1500 random
// pairs. Noise pulls it down, as it is a minimum over many. So it is refined
// on pairs of short latency, whose absolute noise is small: the slacks near the
// present value, at most three standard deviations away, are averaged with
// weights 1/variance until that value stays. Where it runs off, as the slacks of
// detours are too close to tell apart, the window is narrowed once, and the first
// value kept if that does not help. O(12800 n), memory of some 20 MiB.
func endpointOverhead[F stats.Float](n int, m, columns []F, noise float64) float64 {
	if n < 4 {
		return 0
	}
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var least []float64
	for range 1500 {
		i, j := rng.IntN(n), rng.IntN(n)
		if w := float64(m[i*n+j]); i != j && w < math.Inf(1) {
			if s := shortestSum(m[i*n:(i+1)*n], columns[j*n:(j+1)*n], i, j) - w; s >= -(4*noise+1e-9)*w && s < math.Inf(1) {
				least = append(least, s)
			}
		}
	}
	if len(least) == 0 {
		return 0
	}
	slices.Sort(least)
	o := halfSampleMode(least)

	var slacks []slack
	row, near := make([]F, 0, n), make([]int, 0, n)
	const most = 1 << 16 // slacks; meshes have fewer, full meshes with noise thousands per host
	for range min(n, 200) {
		if len(slacks) > most {
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
		count := min(len(row), 64, max(8, n/4))
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
		// As s below is above 0, a slack of interest has a first leg no longer than this.
		reach := math.Inf(1)
		if wide := slackWide * noise; wide < 1 {
			reach = (float64(far) + 2*o) / (1 - wide)
		}
		legs := make([]int, 0, n)
		for k, a := range rowI {
			if float64(a) <= reach && k != i {
				legs = append(legs, k)
			}
		}
		for _, j := range near {
			w := float64(rowI[j])
			colJ := columns[j*n : (j+1)*n]
			for _, k := range legs {
				a, b := float64(rowI[k]), float64(colJ[k])
				if s := a + b - w; s <= 2*o+slackWide*noise*(a+b) && k != j {
					deviation := noise * math.Sqrt(w*w+a*a+b*b)
					if s <= 2*o+slackDeviations*deviation {
						slacks = append(slacks, slack{s, deviation})
					}
				}
			}
		}
	}
	typical := make([]float64, 0, len(slacks))
	for _, s := range slacks {
		if math.Abs(s.value-o) <= 2*s.deviation {
			typical = append(typical, s.deviation)
		}
	}
	reach, _ := medianSpread(typical)
	for _, window := range []float64{2, 1} {
		if refined := nearestMean(slacks, o, window); math.Abs(refined-o) <= 3.5*reach {
			o = refined
			break
		}
	}
	return max(0, o)
}

// A slack is M_ik + M_kj - M_ij and its standard deviation.
type slack struct{ value, deviation float64 }

// nearestMean moves o to the weighted mean of the slacks not more than window
// standard deviations away until it stays.
func nearestMean(slacks []slack, o, window float64) float64 {
	for range 20 {
		var sum, weights float64
		for _, s := range slacks {
			if v := s.deviation * s.deviation; math.Abs(s.value-o) <= window*s.deviation && v > 0 {
				sum += s.value / v
				weights += 1 / v
			}
		}
		if weights == 0 || math.Abs(sum/weights-o) <= 1e-4*o {
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
