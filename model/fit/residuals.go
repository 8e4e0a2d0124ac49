package fit

import (
	"math"
	"slices"
)

// firstCoupling is in the middle of what a coupling may be.
const firstCoupling = 0.5

// shortestRTT, in s, stands for round trips on paths of no latency, whose share
// would be infinite: light goes 15 cm and back.
const shortestRTT = 1e-9

// typicalRTT scales round-trip times, in s, so that shares are near 1.
const typicalRTT = 100e-6

// start sets the parameters from which the search begins.
func (f *fitter) start() {
	f.theta = make([]float64, f.bias()+1)
	for l := range f.links {
		f.theta[l] = math.NaN()
	}
	through := make([]float64, len(f.linkOf))
	for _, p := range f.patterns {
		clear(through)
		first, begin, last := math.Inf(1), math.Inf(1), 0.0
		for i, j := range p.flows {
			first, begin, last = min(first, j.Start), min(begin, p.begin[i]), max(last, p.begin[i]+p.seconds[i])
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
				if rate := math.Log(bytes / span); !(f.theta[l] >= rate) {
					f.theta[l] = rate
				}
			}
		}
	}
	f.lowest = slices.Clone(f.theta[:len(f.links)])
	for l, rate := range f.given {
		if !math.IsNaN(rate) {
			f.theta[l] = math.Log(rate)
		}
	}
	for c := range f.classes {
		if !f.law.fair {
			f.theta[len(f.links)+c] = firstCoupling
		}
	}
	for k := f.duplexOf(0); k < f.bias(); k++ {
		f.theta[k] = firstDuplex
	}
	connections := 0
	for _, p := range f.patterns {
		connections = max(connections, p.connections)
	}
	f.capacity = make([]float64, f.shared+connections)
	for i := range f.capacity {
		f.capacity[i] = math.Inf(1)
	}
}

// must panics where the solver refuses what the fitter has checked or made.
func must(err error) {
	if err != nil {
		panic("fit: network: " + err.Error())
	}
}

// residuals appends ln(measured/predicted) of a pattern's transfers.
func (f *fitter) residuals(dst []float64, p *fitPattern) []float64 {
	if len(p.flows) == 1 { // alone: no need to play it
		j := &p.flows[0]
		return append(dst, math.Log(p.seconds[0]/(j.Start-p.begin[0]+j.Bytes/f.least(j.Data))))
	}
	flows := p.flows
	if f.duplex && p.opposed {
		flows = f.limit(p)
	}
	bias := f.theta[f.bias()]
	for i, j := range p.flows {
		flows[i].Share = math.Pow(max(p.rtt[i], shortestRTT)/typicalRTT, -bias)
		for _, list := range [...][]int32{j.Data, j.Reverse} {
			for _, c := range list {
				must(f.solver.SetCapacity(int(c), f.rate(c)))
				must(f.solver.SetCoupling(int(c), f.theta[len(f.links)+f.classOf[c]]))
			}
		}
	}
	from := len(dst)
	dst, err := f.play.Times(dst, flows)
	must(err)
	for i := range p.flows {
		dst[from+i] = math.Log(p.seconds[i] / (dst[from+i] - p.begin[i]))
	}
	return dst
}

// rate is the bandwidth of an arc in B/s; +Inf if nothing but acknowledgements crosses it.
func (f *fitter) rate(arc int32) float64 {
	if theta := f.theta[f.linkOf[arc]]; !math.IsNaN(theta) {
		return math.Exp(theta)
	}
	return math.Inf(1)
}

func (f *fitter) allResiduals() {
	f.residual = f.residual[:0]
	for i := range f.patterns {
		f.residual = f.residuals(f.residual, &f.patterns[i])
	}
}
