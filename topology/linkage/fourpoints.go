package linkage

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/witness"
)

// A vicinity knows the nearest hosts of some hosts: those within nearestWithin of the
// nearest measurement, nearestMost at most. On one switch, and in a ring or torus, they see
// any other host as their host does in the mean: alike, or one a hop nearer and
// one a hop farther.
type vicinity struct {
	r       *measured.Symmetric
	nearest [][]int32 // per host; nil: not looked for
	row     []float32 // scratch
}

func newVicinity(r *measured.Symmetric) *vicinity {
	return &vicinity{r: r, nearest: make([][]int32, r.N()), row: make([]float32, r.N())}
}

const (
	// On one switch with 10 % of noise nearly all are near, in a ring the two neighbours, two
	// hops being twice as far.
	nearestWithin = 1.3
	// The mean of so many has a quarter of the noise of one.
	nearestMost = 16
	// A measurement is an outlier if it is above all that the nearest hosts of both its ends say by the factor
	// outlier, unless more than this share are. More are structure, such as opposite hosts of a ring of up to eight: one measurement of
	// seven is farther than all around it. Of one switch with 5 % of outliers more are found.
	outlierShare = 0.07
	// One near host in so many may side with an outlier, being one itself.
	outlierAlone = 8
)

// of returns the nearest hosts of host i. O(n) the first time.
func (v *vicinity) of(i int) []int32 {
	if v.nearest[i] == nil {
		near := v.r.Nearest(v.row, i, nearestMost)
		v.nearest[i] = slices.DeleteFunc(near, func(j int32) bool { return v.row[j] > nearestWithin*v.row[near[0]] })
	}
	return v.nearest[i]
}

// neighbourhoodHosts is how many hosts, spread evenly, the tree-likeness is found
// of: a host's nearest hosts cost a look at all its measurements, and 256 hosts make a
// hundred million quadruples.
const neighbourhoodHosts = 256

// outlier tells whether the nearest hosts of both ends contradict a measurement: all of them, or
// of many all but one in eight, as measurements of theirs may be outliers, too.
func (v *vicinity) outlier(i, j int) bool {
	limit := v.r.Measured(i, j) / outlier
	seen, agree := 0, 0
	for range 2 {
		for _, k := range v.of(i) {
			if int(k) == j {
				continue
			}
			if x := v.r.Measured(int(k), j); x > 0 {
				seen++
				if x >= limit {
					agree++
				}
			}
		}
		i, j = j, i
	}
	return outlierAlone*agree < seen
}

// fourPoints is the share of 2000 random quadruples of hosts that satisfy the
// four-point condition within 2 % and three standard deviations: of the three ways to
// sum two disjoint pairs, the two largest are equal. It holds for all quadruples of a tree, whatever
// its links (Buneman 1974), and for those of rings and tori it fails. noise is that
// of a measurement; NaN, as of one repetition, has it estimated, up to noiseMost, as structure counts where neighbours differ. Quadruples with an
// outlier are left out where outliers are few: with 2 % of them one quadruple of nine has
// one. NaN if there are fewer than four hosts or too few measurements. O(n) for each of
// up to 256 hosts.
func fourPoints(r *measured.Symmetric, noise, sigma float64) float64 {
	const samples = 2000 // the share of a tree, 0.98 at least, is right within 0.3 %
	if r.N() < 4 {
		return math.NaN()
	}
	near := newVicinity(r)
	if math.IsNaN(noise) {
		noise = min(noiseMost, sigma)
	}
	if !(noise > witness.NoiseGuess) {
		noise = witness.NoiseGuess
	}
	tol := witness.PathTolerance(noise)
	rng := rand.New(rand.NewPCG(uint64(r.N()), 4))
	step := (r.N()-1)/neighbourhoodHosts + 1
	hosts := (r.N()-1)/step + 1
	var good, all, suspect, suspects, pairs int
	for range samples {
		var q [4]int
		for k := 0; k < 4; {
			q[k] = rng.IntN(hosts) * step
			if !slices.Contains(q[:k], q[k]) {
				k++
			}
		}
		d := [6]float64{
			r.Measured(q[0], q[1]), r.Measured(q[2], q[3]), r.Measured(q[0], q[2]),
			r.Measured(q[1], q[3]), r.Measured(q[0], q[3]), r.Measured(q[1], q[2]),
		}
		sums := [3]float64{d[0] + d[1], d[2] + d[3], d[4] + d[5]}
		slices.Sort(sums[:])
		if math.IsNaN(sums[0]) { // sorted first
			continue
		}
		all++
		fine := sums[2]-sums[1] <= tol*sums[2]
		odd := 0
		if counted := all <= samples/4; counted || !fine {
			for x := range 4 {
				for y := range x {
					if near.outlier(q[x], q[y]) {
						odd++
					}
				}
			}
			if counted {
				pairs += 6
				suspects += odd
			}
		}
		switch {
		case fine:
			good++
		case odd > 0:
			suspect++
		}
	}
	if all < samples/10 {
		return math.NaN()
	}
	if float64(suspects) <= outlierShare*float64(pairs) {
		all -= suspect
	}
	return float64(good) / float64(all)
}
