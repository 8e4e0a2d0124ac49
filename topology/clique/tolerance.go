package clique

import "math"

// roughly compares latencies with a relative tolerance, as in Bufe 2014,
// equation 1.9, and an absolute one.
type roughly struct{ relative, absolute float64 }

// equal tells whether two latencies differ by at most the tolerance times
// their mean. Infinity equals nothing, itself included: it stands for no link.
func (r roughly) equal(a, b float64) bool {
	d := math.Abs(a - b)
	return d <= r.relative*(a+b)/2+r.absolute && !math.IsInf(a+b, 0)
}

func (r roughly) less(a, b float64) bool { return a < b && !r.equal(a, b) }

// groups cuts sorted latencies where two neighbours differ beyond tolerance. Bufe 2014, section 4.2, proposes it in
// place of the rough set of section 2.2.3, whose result depends on the order of the latencies.
func (r roughly) groups(sorted []float64) [][]float64 {
	var all [][]float64
	first := 0
	for i := range sorted {
		if last := i == len(sorted)-1; last || !r.equal(sorted[i], sorted[i+1]) {
			all = append(all, sorted[first:i+1])
			first = i + 1
		}
	}
	return all
}
