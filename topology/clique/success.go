package clique

import "math"

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
