package model

import "gonum.org/v1/gonum/stat"

// Linear returns the parameters with the gap and the overheads on straight lines, p(m) = am + b, by
// least squares over the sizes (Reinfjell 2023, section 3.2, the first of the two methods; between sizes
// PLogP itself is the second). L does not depend on the size. Where a line is below 0 at the first or the
// last size it is set to 0 there, and clamped is true. Parameters of fewer than two sizes are returned as
// they are.
func (p *PLogP) Linear() (line PLogP, clamped bool) {
	if len(p.Sizes) < 2 {
		return p.clone(), false
	}
	first, last := p.Sizes[0], p.Sizes[len(p.Sizes)-1]
	x := make([]float64, len(p.Sizes))
	for i, m := range p.Sizes {
		x[i] = float64(m)
	}
	ends := func(y []float64) []float64 {
		if len(y) != len(x) {
			return nil // not measured
		}
		b, a := stat.LinearRegression(x, y, nil, false)
		at := []float64{b + a*float64(first), b + a*float64(last)}
		for i := range at {
			if at[i] < 0 {
				at[i], clamped = 0, true
			}
		}
		return at
	}
	line = PLogP{Latency: p.Latency, Sizes: []int64{first, last}, Gap: ends(p.Gap), Send: ends(p.Send), Recv: ends(p.Recv)}
	return line, clamped
}

// SendAt and RecvAt are os(bytes) and or(bytes) in s; NaN if they were not measured.
func (p *PLogP) SendAt(bytes int64) float64 { return interpolate(p.Sizes, p.Send, bytes) }

// RecvAt is or(bytes) in s, see SendAt.
func (p *PLogP) RecvAt(bytes int64) float64 { return interpolate(p.Sizes, p.Recv, bytes) }

// RoundTrip is RTT(bytes) = 2L + g(bytes) + g(0) in s: of a message that is answered by one of 0 bytes
// (Reinfjell 2023, before eq. 3.1).
func (p *PLogP) RoundTrip(bytes int64) float64 { return 2*p.Latency + p.GapAt(bytes) + p.GapAt(0) }
