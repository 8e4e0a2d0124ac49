package fit

import (
	"math"
	"slices"
)

// start sets the parameters from which the search begins.
func (f *fitter) start() {
	theta := make([]float64, len(f.links)+ofLaw)
	for l := range f.links {
		theta[l] = math.NaN()
	}
	through := make([]float64, len(f.linkOf))
	for _, p := range f.patterns {
		clear(through)
		first, begin, last := math.Inf(1), math.Inf(1), 0.0
		for i, j := range p.Flows {
			first, begin, last = min(first, j.Start), min(begin, p.Transfers[i].Start), max(last, p.Transfers[i].Start+p.seconds[i])
			for _, c := range j.Data {
				through[c] += j.Bytes
			}
		}
		span := last - first
		if span <= 0 { // all of it took less than the latency, which was measured while the machine was busy
			span = last - begin
		}
		for c, bytes := range through {
			if l := f.linkOf[c]; bytes > 0 {
				if rate := math.Log(bytes / span); !(theta[l] >= rate) {
					theta[l] = rate
				}
			}
		}
	}
	f.lowest = slices.Clone(theta[:len(f.links)])
	for l, link := range f.links {
		if link.Given {
			theta[l] = math.Log(link.Bandwidth)
		}
	}
	for k, p := range lawParameters() {
		if f.law[k] {
			theta[len(f.links)+k] = p.first
		}
	}
	f.theta = theta
}

// residuals appends ln(measured/predicted) of a pattern's transfers.
func (f *fitter) residuals(dst []float64, p *fitPattern) []float64 {
	if len(p.Flows) == 1 { // alone: no need to play it
		j := &p.Flows[0]
		return append(dst, math.Log(p.seconds[0]/(j.Start-p.Transfers[0].Start+j.Bytes/f.least(j.Data))))
	}
	must(f.machine.SetLaw(f.lawNow()))
	for _, j := range p.Flows {
		for _, route := range [...][]int32{j.Data, j.Reverse} {
			for _, c := range route {
				must(f.machine.SetBandwidth(int(c), math.Exp(f.theta[f.linkOf[c]]))) // NaN where only acknowledgements pass
			}
		}
	}
	from := len(dst)
	dst, err := f.machine.Play(dst, p.Pattern)
	must(err)
	for i, t := range p.Transfers {
		dst[from+i] = math.Log(p.seconds[i] / (dst[from+i] - t.Start))
	}
	return dst
}

// least is the lowest bandwidth in B/s of a route.
func (f *fitter) least(route []int32) float64 {
	rate := math.Inf(1)
	for _, c := range route {
		rate = min(rate, math.Exp(f.theta[f.linkOf[c]]))
	}
	return rate
}

func (f *fitter) allResiduals() {
	f.residual = f.residual[:0]
	for i := range f.patterns {
		f.residual = f.residuals(f.residual, &f.patterns[i])
	}
}
