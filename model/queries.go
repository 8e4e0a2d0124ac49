package model

import "math"

// Degradation is how messages slow down under load, nil if it was not measured.
func (n *Network) Degradation() *Degradation { return n.degradation }

// DistanceRatio is how many times slower messages between the hosts of two ranks are than
// between neighbours while all hosts send: Degradation's ratio at their distance in
// its ring. NaN for ranks of one host, and where it is not known.
func (n *Network) DistanceRatio(a, b int) float64 {
	d := n.degradation
	if d == nil || n.hostOf == nil {
		return math.NaN()
	}
	return d.DistanceRatio(d.between(int(n.hostOf[a]), int(n.hostOf[b])))
}
