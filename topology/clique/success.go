package clique

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/stats"
)

// SuccessProbability is the probability that all n(n-1)/2 latencies between n
// hosts are within tolerance if each of them is with probability p (Bufe 2014,
// equation 3.5): what Switches needs to find the right machine. It is NaN
// for p outside [0, 1] or n below 0.
func SuccessProbability(p float64, n int) float64 {
	if !(p >= 0 && p <= 1) || n < 0 {
		return math.NaN()
	}
	return math.Pow(p, float64(n)*float64(n-1)/2)
}

// NeededPrecision is the probability p with which each latency between n hosts has to be
// within tolerance for all of them to be with the given probability: the inverse of
// SuccessProbability. It is NaN for a probability outside [0, 1] or n below 2.
func NeededPrecision(success float64, n int) float64 {
	if !(success >= 0 && success <= 1) || n < 2 {
		return math.NaN()
	}
	return math.Pow(success, 2/(float64(n)*float64(n-1)))
}

// Precision estimates p of SuccessProbability from repetitions of one measurement: of all
// measurements of pairs that were measured more than once the share that is within the tolerance
// of the median of their pair, both directions of which are one. Of so many measurements it was made; of none it is NaN.
// It refuses what Reconstruct refuses. O(measurements log measurements).
func (c *Switches) Precision(repetitions ...mat.Matrix) (p float64, of int, err error) {
	if err := c.validate(); err != nil {
		return 0, 0, err
	}
	in, err := measured.DirectedOf("clique", repetitions)
	if err != nil {
		return 0, 0, err
	}
	equal, within := c.tolerance(), 0
	var pair []float64
	for i := range in.N() {
		for j := range i {
			pair = pair[:0]
			times := 0
			for _, m := range repetitions {
				there, back := m.At(i, j), m.At(j, i)
				if !math.IsNaN(there) {
					pair = append(pair, there)
				}
				if !math.IsNaN(back) && back != there { // a symmetric matrix has each measurement twice
					pair = append(pair, back)
				}
				if !math.IsNaN(there) || !math.IsNaN(back) {
					times++
				}
			}
			if times < 2 {
				continue
			}
			median := stats.MiddleMedian(pair)
			for _, v := range pair {
				if of++; equal.equal(v, median) {
					within++
				}
			}
		}
	}
	return float64(within) / float64(of), of, nil
}
