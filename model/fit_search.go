package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// fitter searches the parameters of concurrent transfers: the logarithm of
// each link's bandwidth, the coupling of each link class, and the RTT bias. It is a
// Levenberg-Marquardt search on ln(measured/predicted) with Huber weights;
// derivatives are differences, taken upward, so that a bandwidth that nothing
// is held up by has derivative 0. Bandwidths begin at the highest throughput
// seen, which is a lower bound.
type fitter struct {
	n        *Network
	patterns []fitPattern
	linkOf   []int // arc -> link
	links    []FittedCapacity
	classOf  []int // arc -> class
	classes  []LinkClass

	theta    []float64 // per link ln(B/s), per class its coupling, the RTT bias
	capacity []float64 // per channel, scratch
	play     playback

	residual []float64  // of all transfers, pattern by pattern
	jacobian [][]fitRow // per pattern
	normal   *mat.SymDense
	sigma    float64 // robust spread of the residuals
}

type fitPattern struct {
	jobs    []job
	seconds []float64
	begin   []float64 // s, of each transfer
	rtt     []float64 // s, of each path
	params  []int     // that matter to it, ascending
}

// fitRow is the derivative of a pattern's residuals by one parameter.
type fitRow struct {
	param int
	by    []float64
}

func newFitter(n *Network, observations []Observation, long int64) (*fitter, error) {
	g := n.graph
	f := &fitter{n: n, linkOf: make([]int, g.NumArcs())}
	for i, a := range g.Arcs() {
		if back := g.ArcIndex(a.To, a.From); back >= 0 && back < i {
			f.linkOf[i] = f.linkOf[back]
			continue
		}
		f.linkOf[i] = len(f.links)
		f.links = append(f.links, FittedCapacity{A: min(a.From, a.To), B: max(a.From, a.To), Bandwidth: math.NaN(), Error: math.Inf(1)})
	}
	classes := n.links
	if len(classes.Classes) == 0 {
		classes = ClassifyLinks(g)
	}
	f.classes, f.classOf = slices.Clone(classes.Classes), classes.OfArc
	for _, o := range observations {
		if slices.ContainsFunc(o.Transfers, func(t Transfer) bool { return t.Bytes < long }) {
			continue
		}
		if err := f.addPattern(o); err != nil {
			return nil, err
		}
	}
	f.start()
	var err error
	coupling := make([]float64, g.NumArcs()) // less than 1 somewhere: see Solver.coupled
	f.play.solver, err = NewSolver(f.capacity, &Sharing{Reverse: true, Coupling: coupling})
	return f, err
}

func (f *fitter) addPattern(o Observation) error {
	arcs := f.n.graph.Arcs()
	p := fitPattern{seconds: o.Seconds}
	used := make([]bool, len(f.links))
	for _, t := range o.Transfers {
		data, err := f.n.routes.AppendRoute(nil, t.Src, t.Dst)
		if err != nil {
			return err
		}
		reverse, err := f.n.routes.AppendRoute(nil, t.Dst, t.Src)
		if err != nil {
			return err
		}
		forth, back := 0.0, 0.0
		for _, c := range data {
			forth += arcs[c].Latency
			used[f.linkOf[c]] = true
		}
		for _, c := range reverse {
			back += arcs[c].Latency
			used[f.linkOf[c]] = true
		}
		if math.IsNaN(forth + back) {
			return fmt.Errorf("transfer %v: the latency of its path is not known", t)
		}
		p.jobs = append(p.jobs, job{data: data, reverse: reverse, bytes: float64(t.Bytes), start: t.Start + forth, bound: math.Inf(1), share: 1})
		p.begin, p.rtt = append(p.begin, t.Start), append(p.rtt, forth+back)
	}
	for l, is := range used {
		if is {
			p.params = append(p.params, l)
		}
	}
	if len(o.Transfers) > 1 { // alone, nothing is shared
		for c := range len(f.classes) + 1 {
			p.params = append(p.params, len(f.links)+c)
		}
	}
	f.patterns = append(f.patterns, p)
	return nil
}

// start sets the parameters from which the search begins.
func (f *fitter) start() {
	f.theta = make([]float64, len(f.links)+len(f.classes)+1)
	for l := range f.links {
		f.theta[l] = math.NaN()
	}
	through := make([]float64, len(f.linkOf))
	for _, p := range f.patterns {
		clear(through)
		first, last := math.Inf(1), 0.0
		for i, j := range p.jobs {
			first, last = min(first, j.start), max(last, p.begin[i]+p.seconds[i])
			for _, c := range j.data {
				through[c] += j.bytes
			}
		}
		for c, bytes := range through {
			if l := f.linkOf[c]; bytes > 0 && last > first {
				if rate := math.Log(bytes / (last - first)); !(f.theta[l] >= rate) {
					f.theta[l] = rate
				}
			}
		}
	}
	for c := range f.classes {
		f.theta[len(f.links)+c] = 0.5
	}
	f.capacity = make([]float64, len(f.linkOf))
	for i := range f.capacity {
		f.capacity[i] = math.Inf(1)
	}
}

// residuals appends ln(measured/predicted) of a pattern's transfers.
func (f *fitter) residuals(dst []float64, p *fitPattern) []float64 {
	solver := f.play.solver
	bias := f.theta[len(f.theta)-1]
	for i := range p.jobs {
		j := &p.jobs[i]
		j.share = math.Pow(max(p.rtt[i], 1e-9)/typicalRTT, -bias)
		for _, list := range [...][]int32{j.data, j.reverse} {
			for _, c := range list {
				capacity := math.Exp(f.theta[f.linkOf[c]])
				if math.IsNaN(capacity) {
					capacity = math.Inf(1) // nothing but acknowledgements crosses it
				}
				for _, part := range solver.fillings() {
					part.channels[c].capacity = capacity // no flow is there to tell
				}
				solver.sharing.Coupling[c] = f.theta[len(f.links)+f.classOf[c]]
			}
		}
	}
	from := len(dst)
	dst, err := f.play.run(dst, p.jobs)
	if err != nil {
		panic("model: fit: jobs that were checked are refused: " + err.Error())
	}
	for i := range p.jobs {
		dst[from+i] = math.Log(p.seconds[i] / (dst[from+i] - p.begin[i]))
	}
	return dst
}

func (f *fitter) allResiduals() {
	f.residual = f.residual[:0]
	for i := range f.patterns {
		f.residual = f.residuals(f.residual, &f.patterns[i])
	}
}

// differentiate fills the jacobian: steps of 1 % of a bandwidth, of 0.02 of
// the others, downward where a coupling is at its upper end.
func (f *fitter) differentiate() {
	f.jacobian = f.jacobian[:0]
	at := 0
	for i := range f.patterns {
		p := &f.patterns[i]
		base := f.residual[at : at+len(p.jobs)]
		at += len(p.jobs)
		var rows []fitRow
		for _, k := range p.params {
			old := f.theta[k]
			if math.IsNaN(old) {
				continue
			}
			step := 0.02
			switch {
			case k < len(f.links):
				step = 0.01
			case k < len(f.theta)-1 && old > 0.98:
				step = -0.02
			}
			f.theta[k] = old + step
			by := f.residuals(nil, p)
			f.theta[k] = old
			for x := range by {
				by[x] = (by[x] - base[x]) / step
			}
			rows = append(rows, fitRow{k, by})
		}
		f.jacobian = append(f.jacobian, rows)
	}
}

// spread is a robust standard deviation of the residuals about 0.
func (f *fitter) spread() float64 {
	abs := make([]float64, len(f.residual))
	for i, r := range f.residual {
		abs[i] = math.Abs(r)
	}
	return max(1e-6, 1.4826*quantile(abs, 0.5))
}

// huber is the cost of a residual, quadratic up to 1.5 standard deviations,
// and the weight that it has in least squares.
func (f *fitter) huber(r float64) (cost, weight float64) {
	limit := 1.5 * f.sigma
	if a := math.Abs(r); a > limit {
		return limit * (a - limit/2), limit / a
	}
	return r * r / 2, 1
}

func (f *fitter) cost() float64 {
	sum := 0.0
	for _, r := range f.residual {
		c, _ := f.huber(r)
		sum += c
	}
	return sum
}

// equations fills the normal matrix and returns the gradient.
func (f *fitter) equations() *mat.VecDense {
	n := len(f.theta)
	f.normal = mat.NewSymDense(n, nil)
	gradient := mat.NewVecDense(n, nil)
	at := 0
	for i, rows := range f.jacobian {
		size := len(f.patterns[i].jobs)
		for x := range size {
			r := f.residual[at+x]
			_, w := f.huber(r)
			for a, row := range rows {
				gradient.SetVec(row.param, gradient.AtVec(row.param)-w*row.by[x]*r)
				for _, other := range rows[a:] {
					f.normal.SetSym(row.param, other.param, f.normal.At(row.param, other.param)+w*row.by[x]*other.by[x])
				}
			}
		}
		at += size
	}
	return gradient
}

// search goes down until a step gains less than one part in 10^5, or steps are used up.
func (f *fitter) search(steps int) {
	if len(f.patterns) == 0 {
		return
	}
	n := len(f.theta)
	f.allResiduals()
	damping := 1e-2
	for range steps {
		f.sigma = f.spread()
		before := f.cost()
		f.differentiate()
		gradient := f.equations()
		gained := false
		for range 8 {
			damped := mat.NewSymDense(n, nil)
			damped.CopySym(f.normal)
			for k := range n {
				damped.SetSym(k, k, damped.At(k, k)*(1+damping)+1e-6)
			}
			var chol mat.Cholesky
			var step mat.VecDense
			if !chol.Factorize(damped) || chol.SolveVecTo(&step, gradient) != nil {
				damping *= 10
				continue
			}
			old := slices.Clone(f.theta)
			f.move(&step)
			f.allResiduals()
			if after := f.cost(); after < before {
				gained = before-after > 1e-5*before
				damping = max(1e-6, damping/5)
				break
			}
			f.theta = old
			f.allResiduals()
			damping *= 4
		}
		if !gained {
			break
		}
	}
	f.sigma = f.spread()
	f.differentiate()
	f.equations()
}

// move takes a step, at most a factor of 1.6 for bandwidths, and stays where the
// parameters mean something.
func (f *fitter) move(step *mat.VecDense) {
	for k := range f.theta {
		d := step.AtVec(k)
		switch last := len(f.theta) - 1; {
		case k < len(f.links):
			f.theta[k] += max(-0.5, min(0.5, d))
		case k < last:
			f.theta[k] = max(0, min(1, f.theta[k]+d))
		default:
			f.theta[k] = max(-2, min(2, f.theta[k]+d))
		}
	}
}

// result reads the parameters, their errors and what is not determined.
func (f *fitter) result() *Fitted {
	out := &Fitted{Residual: math.NaN(), Capacity: f.links, Coupling: f.classes}
	if len(f.patterns) == 0 {
		out.Warnings = append(out.Warnings, "no long transfers were timed: bandwidths, coupling and RTT bias are not determined")
		return out
	}
	abs := make([]float64, len(f.residual))
	for i, r := range f.residual {
		abs[i] = math.Abs(math.Expm1(r))
	}
	out.Residual = quantile(abs, 0.5)
	errors := f.errors()
	for l := range f.links {
		link := &f.links[l]
		link.Bandwidth, link.Error = math.Exp(f.theta[l]), errors[l]
		link.Determined = link.Error <= 0.05
		a, b := f.n.graph.Name(link.A), f.n.graph.Name(link.B)
		switch {
		case math.IsNaN(link.Bandwidth):
			out.Warnings = append(out.Warnings, fmt.Sprintf("link %s-%s: no transfer crosses it: its bandwidth is not determined", a, b))
		case !link.Determined:
			out.Warnings = append(out.Warnings, fmt.Sprintf("link %s-%s: it holds hardly a transfer up: its bandwidth is at least about %s", a, b, rate(link.Bandwidth)))
		}
	}
	for c := range f.classes {
		k := len(f.links) + c
		f.classes[c].Coupling = f.theta[k]
		if errors[k] > 0.1 {
			f.classes[c].Coupling = 0 // nothing speaks against fair sharing
			out.Warnings = append(out.Warnings, fmt.Sprintf("link class %q: few transfers against the stream: its coupling is not determined", f.classes[c].Name))
		}
	}
	out.RTTBias = f.theta[len(f.theta)-1]
	if errors[len(f.theta)-1] > 0.2 {
		out.RTTBias = 0
		out.Warnings = append(out.Warnings, "few transfers of different round-trip times share a link: the RTT bias is not determined")
	}
	return out
}

// errors are the standard errors of the parameters, +Inf where the data say
// nothing.
func (f *fitter) errors() []float64 {
	n := len(f.theta)
	errors := make([]float64, n)
	ridged := mat.NewSymDense(n, nil)
	ridged.CopySym(f.normal)
	for k := range n {
		ridged.SetSym(k, k, ridged.At(k, k)+1e-9)
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	ok := chol.Factorize(ridged) && chol.InverseTo(&inverse) == nil
	for k := range n {
		errors[k] = math.Inf(1)
		if ok && f.normal.At(k, k) > 1e-6 {
			errors[k] = f.sigma * math.Sqrt(inverse.At(k, k))
		}
	}
	return errors
}

// ratios are 41 quantiles of measured over predicted times, widened by what
// the fitted parameters have taken out of the residuals.
func (f *fitter) ratios() []float64 {
	free := 0
	for k := range f.theta {
		if f.normal.At(k, k) > 1e-6 {
			free++
		}
	}
	n := float64(len(f.residual))
	widen := math.Sqrt(n / max(n/4, n-float64(free)))
	sorted := slices.Clone(f.residual)
	slices.Sort(sorted)
	out := make([]float64, 41)
	for i := range out {
		out[i] = math.Exp(widen * quantile(sorted, float64(i)/40))
	}
	return out
}

// graph is the network's graph with the fitted bandwidths.
func (f *fitter) graph() (*topology.Graph, error) {
	g := f.n.graph
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		if b := f.links[f.linkOf[i]].Bandwidth; !math.IsNaN(b) {
			arcs[i].Bandwidth = b
		}
	}
	return rebuild(g, arcs)
}
