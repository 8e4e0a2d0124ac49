package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"

	"github.com/topocast/topocast/model"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model/contention"
)

// fitter searches the parameters of concurrent transfers: the logarithm of
// each link's bandwidth, the coupling of each link class, and the RTT bias. It is a
// Levenberg-Marquardt search on ln(measured/predicted) with Huber weights;
// derivatives are differences, taken upward, so that a bandwidth that nothing
// is held up by has derivative 0. Bandwidths begin at the highest throughput
// seen, which is a lower bound, and once more where all links of a level are alike (searchFirst). What the
// transfers leave open stays near what is usual on the level of a link (alikeSpread).
type fitter struct {
	n        *model.Network
	tied     *fitter // of the same transfers, on a machine on which all links of a level are alike and shared fairly
	routes   *topology.Routes
	patterns []fitPattern
	linkOf   []int // arc -> link
	links    []Link
	levelOf  []int     // of each link
	lowest   []float64 // ln B/s of the highest throughput seen on each link; NaN: none
	given    []float64 // per link B/s; NaN: fitted
	classOf  []int     // arc -> class
	classes  []model.LinkClass

	// Per link ln(B/s), per class its coupling, per class its duplex factor, that of connections, the RTT bias.
	theta    []float64
	capacity []float64 // per channel: arcs, links for both directions by the lower arc, connections; scratch
	shared   int       // the first channel of a connection
	duplex   bool      // whether duplex factors are looked for
	solver   *contention.Solver
	play     *contention.Playback
	law      sharingLaw

	residual []float64     // of all transfers, pattern by pattern
	normal   *mat.SymDense // J^T W J, nil if there are more than maxDense parameters
	diagonal []float64     // of it
	sigma    float64       // robust spread of the residuals
	unseen   [][]float64   // heldOut of the law that was chosen; nil: fewer than manyPatterns
}

type fitPattern struct {
	flows   []contention.Flow
	seconds []float64
	begin   []float64 // s, of each transfer
	rtt     []float64 // s, of each path
	level   []int     // that joins the ranks of each transfer
	params  []int     // that matter to it, ascending
	rows    []fitRow  // derivatives of the residuals

	limited     []contention.Flow // the same over the channels that both directions share, too
	connection  []int             // of each transfer; -1: its receiver sends it nothing
	connections int               // how many there are
	opposed     bool              // whether any channel is shared by two directions
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

func newFitter(n *model.Network, observations []Observation, given map[int]float64) (*fitter, error) {
	f := &fitter{n: n}
	f.linkOf, f.links, f.given = linkParameters(n.Graph(), given)
	f.levelOf = make([]int, len(f.links))
	levels := linkLevels(n)
	for arc, level := range levels {
		f.levelOf[f.linkOf[arc]] = level
	}
	tied := &fitter{n: n, linkOf: levels, law: sharingLaw{fair: true}}
	for level := range n.Levels() {
		tied.links, tied.given, tied.levelOf = append(tied.links, Link{}), append(tied.given, math.NaN()), append(tied.levelOf, level)
	}
	f.tied = tied
	for _, x := range []*fitter{f, tied} {
		if err := x.prepare(observations); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// prepare takes over the long transfers.
func (f *fitter) prepare(observations []Observation) (err error) {
	g := f.n.Graph()
	if f.routes, err = topology.NewRoutes(g, f.n.Routing()); err != nil {
		return err
	}
	classes := f.n.Settings().Links
	if len(classes.Classes) == 0 {
		classes = model.ClassifyLinks(g)
	}
	f.classes, f.classOf = slices.Clone(classes.Classes), classes.OfArc
	f.shared = 2 * g.NumArcs()
	for _, o := range observations {
		if slices.ContainsFunc(o.Transfers, func(t model.Transfer) bool { return t.Bytes < longBytes }) {
			continue
		}
		if err := f.addPattern(o); err != nil {
			return err
		}
	}
	f.start()
	coupling := make([]float64, len(f.capacity)) // those of arcs are set before each playback
	f.solver, err = contention.NewSolver(f.capacity, &contention.Sharing{Asymmetric: true, Coupling: coupling})
	if err != nil {
		return err
	}
	f.play = contention.NewPlayback(f.solver)
	return nil
}

func (f *fitter) addPattern(o Observation) error {
	arcs := f.n.Graph().Arcs()
	p := fitPattern{seconds: o.Seconds}
	used := make([]bool, len(f.links))
	for _, t := range o.Transfers {
		data, err := f.routes.AppendRoute(nil, t.Src, t.Dst)
		if err != nil {
			return err
		}
		reverse, err := f.routes.AppendRoute(nil, t.Dst, t.Src)
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
		start := t.Start + f.n.StartUp(t.Src, t.Dst, t.Bytes, forth, o.Streamed)
		p.flows = append(p.flows, contention.Flow{Data: data, Reverse: reverse, Bytes: float64(t.Bytes), Start: start})
		p.begin, p.rtt = append(p.begin, t.Start), append(p.rtt, forth+back)
		p.level = append(p.level, f.n.LevelOf(t.Src, t.Dst))
	}
	for l, is := range used {
		if is {
			p.params = append(p.params, l)
		}
	}
	if len(o.Transfers) > 1 { // alone, nothing is shared
		for c := range f.classes {
			p.params = append(p.params, len(f.links)+c)
		}
		if f.share(&p, o.Transfers); p.opposed {
			for k := f.duplexOf(0); k < f.bias(); k++ {
				p.params = append(p.params, k)
			}
		}
		p.params = append(p.params, f.bias())
	}
	f.patterns = append(f.patterns, p)
	return nil
}
