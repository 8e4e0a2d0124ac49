package fit

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model"
)

// fitter searches the parameters of concurrent transfers: the logarithm of each link's bandwidth, and the law by which links
// are shared. It is a Levenberg-Marquardt search on ln(measured/predicted) with Huber weights. What is predicted a
// model.Predictor plays. Derivatives are differences, taken upward, so that a bandwidth that nothing is held up by has
// derivative 0.
//
// Bandwidths begin where all links of a level are alike (searchFirst), but at least at the highest throughput seen, which
// is a lower bound. What the transfers leave open stays near what is usual on the level of a link (prior).
type fitter struct {
	n        *model.Network
	machine  *model.Predictor // that plays the patterns
	tied     *fitter          // of the same transfers, on a machine on which all links of a level are alike and shared fairly
	patterns []fitPattern
	linkOf   []int // arc -> link
	links    []Link
	levelOf  []int     // of each link
	lowest   []float64 // ln B/s of the highest throughput seen on each link; NaN: none

	theta []float64  // per link ln(B/s), then the law: see coupling
	law   sharingLaw // what is looked for

	residual []float64   // of all transfers, pattern by pattern
	diagonal []float64   // of the normal matrix
	sigma    float64     // robust spread of the residuals
	unseen   [][]float64 // heldOut of the law that was chosen; nil: fewer than manyPatterns
}

// A fitPattern is an observation of long transfers.
type fitPattern struct {
	*model.Pattern
	seconds    []float64
	deviations []float64 // see Observation
	level      []int     // that joins the ranks of each transfer
	params     []int     // that matter to it, ascending
	rows       []fitRow  // derivatives of the residuals
}

// fitRow is the derivative of a pattern's residuals by one parameter.
type fitRow struct {
	param int
	by    []float64
}

func newFitter(n *model.Network, observations []Observation, given map[int]float64) (*fitter, error) {
	f := &fitter{n: n}
	f.linkOf, f.links = linkParameters(n.Graph(), given)
	f.levelOf = make([]int, len(f.links))
	levels := linkLevels(n)
	for arc, level := range levels {
		f.levelOf[f.linkOf[arc]] = level
	}
	f.tied = &fitter{n: n, linkOf: levels, links: make([]Link, len(n.Levels()))}
	for level := range n.Levels() {
		f.tied.levelOf = append(f.tied.levelOf, level)
	}
	for _, x := range []*fitter{f, f.tied} {
		if err := x.prepare(observations); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// prepare takes over the long transfers.
func (f *fitter) prepare(observations []Observation) (err error) {
	if f.machine, err = f.n.NewPredictor(nil); err != nil {
		return err
	}
	for _, o := range observations {
		if !o.isLong() {
			continue
		}
		if err := f.addPattern(o); err != nil {
			return err
		}
	}
	f.start()
	return nil
}

func (f *fitter) addPattern(o Observation) error {
	pattern, err := f.machine.Pattern(o.Transfers, o.Streamed)
	if err != nil {
		return err
	}
	g := f.n.Graph()
	p := fitPattern{Pattern: pattern, seconds: o.Seconds, deviations: o.Deviations}
	used := make([]bool, len(f.links))
	carries := make([]bool, g.NumArcs())
	for i, j := range p.Flows {
		for _, c := range j.Data {
			used[f.linkOf[c]], carries[c] = true, true
		}
		for _, c := range j.Reverse {
			used[f.linkOf[c]] = true
			if math.IsNaN(g.Arcs()[c].Latency) {
				return fmt.Errorf("transfer %v: the latency of its way back is not known", o.Transfers[i])
			}
		}
		p.level = append(p.level, f.n.LevelOf(o.Transfers[i].Src, o.Transfers[i].Dst))
	}
	opposed := false // whether transfers cross a link both ways
	for _, j := range p.Flows {
		for _, c := range j.Reverse {
			opposed = opposed || carries[c]
		}
	}
	for l, is := range used {
		if is {
			p.params = append(p.params, l)
		}
	}
	for k := range ofLaw {
		isShared := k == duplex || k == connection
		if len(o.Transfers) > 1 && (opposed || !isShared) { // alone, nothing is shared
			p.params = append(p.params, len(f.links)+k)
		}
	}
	f.patterns = append(f.patterns, p)
	return nil
}

// must panics where the predictor refuses what the fitter has checked or made.
func must(err error) {
	if err != nil {
		panic("fit: network: " + err.Error())
	}
}
