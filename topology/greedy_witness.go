package topology

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/internal/stats"
)

// witness is the form of GreedyCycle that does not depend on order. It takes the
// overhead out of in.m, in s, and mends single readings that are missing or far too high.
func (c *GreedyCycle) witness(in *cells) (arcs []pair, duplex, overhead float64, warnings []string) {
	n := in.n
	// Triangles show the noise of the combined readings; what repetitions or
	// directions differ by is that of single ones, and may be all upward.
	noise := slackNoise(n, in.m, transposed(n, in.m))
	if math.IsNaN(noise) {
		noise = in.noise
	}
	if math.IsNaN(noise) {
		noise = in.directionNoise()
	}
	if math.IsNaN(in.noise) {
		in.noise = noise
	}
	tolerance := c.Tolerance
	if tolerance == 0 {
		tolerance = pathTolerance(noise)
		if math.IsNaN(noise) {
			tolerance = pathTolerance(noiseGuess)
		}
	}
	test := spannerTest{relative: tolerance, directed: true}
	if !c.KeepOverhead {
		overhead = endpointOverhead(n, in.m, transposed(n, in.m), max(0, noise))
		for i, v := range in.m {
			if i%(n+1) != 0 {
				in.m[i] = max(0, v-overhead)
			}
		}
		test.absolute = tolerance * overhead
		if overhead > 0 {
			warnings = append(warnings, fmt.Sprintf("%.3g s of every latency are overhead of the ends and were taken out", overhead))
		}
	}
	arcs, mended := mendedSpanner(n, in.m, test)
	links := map[pair]bool{}
	for _, a := range arcs {
		links[a] = true
	}
	for _, p := range mended {
		if links[p] {
			warnings = append(warnings, fmt.Sprintf("the reading from host %d to %d was missing or far too high; its neighbours say %.3g s", p.from, p.to, in.m[p.from*n+p.to]))
		}
	}
	duplex = c.DuplexSpread
	if duplex == 0 {
		duplex = max(0.1, tolerance)
	}
	return arcs, duplex, overhead, warnings
}

// directionNoise estimates the relative standard deviation of a reading from
// how the two directions of a pair differ; NaN if they never do.
func (c *cells) directionNoise() float64 {
	var spread []float64
	for i := range c.n {
		for j := range i {
			if a, b := c.m[i*c.n+j], c.m[j*c.n+i]; a > 0 && b > 0 {
				spread = append(spread, math.Abs(math.Log(a)-math.Log(b)))
			}
		}
	}
	mid, _ := medianSpread(spread)
	if !(mid > 0) {
		return math.NaN()
	}
	return stats.SigmaPerMAD * mid / math.Sqrt2
}

// How slackNoise goes about it.
const (
	slackFirst   = 0.02 // noise that the first overhead is found with
	slackRounds  = 3    // in which the noise found is that of the overhead
	slackSettled = 0.03 // change of the noise that is none
	slackPairs   = 500  // whose triangles are looked at
	slackLeast   = 100  // paths that are too short for their median to tell anything
)

// slackNoise estimates the relative standard deviation of a reading from
// triangles: paths over a third host are never shorter than the direct reading
// but by noise. Of those that follow the shortest way, with no slack beyond the
// overhead, half come out shorter; the median of what they lack is 0.6745
// standard deviations of the sum. It is NaN if too few do, as where the true
// third vertices are switches that were not measured. Exact readings give 0.
func slackNoise[F stats.Float](n int, m, columns []F) float64 {
	if n < 4 {
		return math.NaN()
	}
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	noise := slackFirst
	for range slackRounds {
		overhead := endpointOverhead(n, m, columns, noise)
		var lacks []float64
		for range slackPairs {
			i, j := rng.IntN(n), rng.IntN(n)
			w := float64(m[i*n+j])
			if i == j || !(w < math.Inf(1)) {
				continue
			}
			rowI, colJ := m[i*n:(i+1)*n], columns[j*n:(j+1)*n]
			for k, leg := range rowI {
				a, b := float64(leg), float64(colJ[k])
				if w+overhead-a-b < -1e-9*w {
					continue // most; not a number goes on
				}
				size := math.Sqrt(w*w + a*a + b*b) // 0 of readings too small for their squares
				if lack := w + overhead - a - b; k != i && k != j && lack >= -1e-9*w && size > 0 {
					lacks = append(lacks, max(0, lack)/size)
				}
			}
		}
		if len(lacks) < slackLeast {
			return math.NaN()
		}
		mid, _ := medianSpread(lacks)
		before := noise
		noise = stats.SigmaPerMAD * mid
		if math.Abs(noise-before) <= slackSettled*before {
			break // the overhead would be the same
		}
	}
	return noise
}
