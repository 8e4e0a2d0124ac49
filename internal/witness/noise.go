package witness

import (
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/internal/stats"
)

// NoiseGuess is the noise of a measurement that is taken where nothing tells it: quiet networks have half
// to two percent. Less is not believed, as links of one kind vary.
const NoiseGuess = 0.01

// How Noise goes about it.
const (
	slackFirst   = 0.02 // noise that the first overhead is found with
	slackRounds  = 3    // in which the noise found is that of the overhead
	slackSettled = 0.03 // change of the noise that is none
	slackPairs   = 500  // whose triangles are looked at
	slackLeast   = 100  // paths that are too short for their median to tell anything
)

// Noise estimates the relative standard deviation of a measurement from
// triangles: paths over a third host are never shorter than the direct measurement
// but by noise. Of those that follow the shortest way, with no slack beyond the
// overhead, half come out shorter; the lower quartile of what they lack is 0.3186
// standard deviations of the sum. Triangles over a slow link, which routes take all the
// same, lack more: a third may do so. It is NaN if too few do, as where the true
// third vertices are switches that were not measured. Exact measurements give 0.
func Noise[F stats.Float](n int, m, columns []F) float64 {
	if n < 4 {
		return math.NaN()
	}
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	noise := slackFirst
	for range slackRounds {
		overhead := Overhead(n, m, columns, noise)
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
				size := math.Sqrt(w*w + a*a + b*b) // 0 of measurements too small for their squares
				if lack := w + overhead - a - b; k != i && k != j && lack >= -1e-9*w && size > 0 {
					lacks = append(lacks, max(0, lack)/size)
				}
			}
		}
		if len(lacks) < slackLeast {
			return math.NaN()
		}
		before := noise
		noise = stats.Quantile(lacks, 0.25) / (math.Sqrt2 * math.Erfinv(0.25))
		if math.Abs(noise-before) <= slackSettled*before {
			break // the overhead would be the same
		}
	}
	return noise
}
