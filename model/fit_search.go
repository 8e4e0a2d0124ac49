package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model/contention"
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
	links    []FittedLink
	classOf  []int // arc -> class
	classes  []LinkClass

	theta    []float64 // per link ln(B/s), per class its coupling, the RTT bias
	capacity []float64 // per channel, scratch
	solver   *contention.Solver
	play     *contention.Playback
	law      contention.CouplingLaw

	residual []float64     // of all transfers, pattern by pattern
	jacobian [][]fitRow    // per pattern
	normal   *mat.SymDense // J^T W J, nil if there are more than maxDense parameters
	diagonal []float64     // of it
	sigma    float64       // robust spread of the residuals
}

type fitPattern struct {
	flows   []contention.Flow
	seconds []float64
	begin   []float64 // s, of each transfer
	rtt     []float64 // s, of each path
	level   []int     // that joins the ranks of each transfer
	params  []int     // that matter to it, ascending
}

// maxDense bounds the parameters for which normal equations are set up; the
// steps for more are found by conjugate gradients, and their errors without correlations.
// A matrix of 400 is factored in some ten milliseconds.
const maxDense = 400

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
		f.links = append(f.links, FittedLink{A: min(a.From, a.To), B: max(a.From, a.To), Bandwidth: math.NaN(), RelativeError: math.Inf(1)})
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
	coupling := make([]float64, g.NumArcs()) // all of them are set before each playback
	f.solver, err = contention.NewSolver(f.capacity, &contention.Sharing{Asymmetric: true, Coupling: coupling})
	if err != nil {
		return nil, err
	}
	f.play = contention.NewPlayback(f.solver)
	return f, nil
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
		p.flows = append(p.flows, contention.Flow{Data: data, Reverse: reverse, Bytes: float64(t.Bytes), Start: t.Start + forth})
		p.begin, p.rtt = append(p.begin, t.Start), append(p.rtt, forth+back)
		p.level = append(p.level, f.n.LevelOf(t.Src, t.Dst))
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

// otherLaw is how much of the geometric law's deviation the linear one may leave to be
// taken: less than 2 % is not told from chance with ten to a hundred patterns.
const otherLaw = 0.98

// firstCoupling is in the middle of what a coupling may be.
const firstCoupling = 0.5

// shortestRTT, in s, stands for round trips on paths of no latency, whose share
// would be infinite: light goes 15 cm and back.
const shortestRTT = 1e-9

// chooseLaw fits each law of coupling to four fifths of the patterns, and
// takes the one that predicts the rest better: the geometric one unless the
// other's mean deviation is lower by 2 %, or if there are fewer than ten patterns
// of several transfers.
func (f *fitter) chooseLaw(steps int) {
	all := f.patterns
	var train, held []fitPattern
	several := 0
	for _, p := range all {
		if len(p.flows) > 1 {
			several++
		}
		if len(p.flows) > 1 && several%foldsOfMany == 0 {
			held = append(held, p)
		} else {
			train = append(train, p)
		}
	}
	if several < manyPatterns {
		return
	}
	var deviation [2]float64
	for _, law := range [...]contention.CouplingLaw{contention.GeometricLaw, contention.LinearLaw} {
		f.setLaw(law)
		f.patterns = train
		f.start()
		f.search(steps)
		f.patterns = held
		f.allResiduals()
		for _, r := range f.residual {
			deviation[law] += math.Abs(r)
		}
	}
	f.setLaw(contention.GeometricLaw)
	if deviation[contention.LinearLaw] < otherLaw*deviation[contention.GeometricLaw] {
		f.setLaw(contention.LinearLaw)
	}
	f.patterns = all
	f.start()
}

func (f *fitter) setLaw(law contention.CouplingLaw) {
	f.law = law
	must(f.solver.SetLaw(law))
}

// must panics where the solver refuses what the fitter has checked or made.
func must(err error) {
	if err != nil {
		panic("model: fit: " + err.Error())
	}
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
		for i, j := range p.flows {
			first, last = min(first, j.Start), max(last, p.begin[i]+p.seconds[i])
			for _, c := range j.Data {
				through[c] += j.Bytes
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
		f.theta[len(f.links)+c] = firstCoupling
	}
	f.capacity = make([]float64, len(f.linkOf))
	for i := range f.capacity {
		f.capacity[i] = math.Inf(1)
	}
}

// residuals appends ln(measured/predicted) of a pattern's transfers.
func (f *fitter) residuals(dst []float64, p *fitPattern) []float64 {
	if len(p.flows) == 1 { // alone: no need to play it
		j, rate := &p.flows[0], math.Inf(1)
		for _, c := range j.Data {
			rate = math.Min(rate, f.theta[f.linkOf[c]])
		}
		return append(dst, math.Log(p.seconds[0]/(j.Start-p.begin[0]+j.Bytes/math.Exp(rate))))
	}
	bias := f.theta[len(f.theta)-1]
	for i := range p.flows {
		j := &p.flows[i]
		j.Share = math.Pow(max(p.rtt[i], shortestRTT)/typicalRTT, -bias)
		for _, list := range [...][]int32{j.Data, j.Reverse} {
			for _, c := range list {
				capacity := math.Exp(f.theta[f.linkOf[c]])
				if math.IsNaN(capacity) {
					capacity = math.Inf(1) // nothing but acknowledgements crosses it
				}
				must(f.solver.SetCapacity(int(c), capacity))
				must(f.solver.SetCoupling(int(c), f.theta[len(f.links)+f.classOf[c]]))
			}
		}
	}
	from := len(dst)
	dst, err := f.play.Times(dst, p.flows)
	must(err)
	for i := range p.flows {
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
