package latencyfit

import (
	"errors"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// pathRounds bounds how often the shortest paths are looked for: those of the
// latencies given or of hops, those of what was fitted along them, and once more
// where that moved some. Two do for all tests, one does not.
const pathRounds = 3

// A Result is a graph with the latencies of its links worked out.
type Result struct {
	Graph *topology.Graph // the wiring as given, with fitted latencies
	Fit   topology.Fit    // R2 is high for wrong trees too: look at the residuals of the levels

	Used         int   // measurements that took part
	Ambiguous    int   // measurements left out as a second path is as short
	Undetermined []int // numbers of arcs of which the measurements give only sums with others; these stay near the latencies given, at the scale of the measurements
	Warnings     []string
}

// ErrNothingToFit says that the measurements speak of no path of the graph. Latencies returns it, wrapped.
var ErrNothingToFit = errors.New("no measurement follows a path that is known")

// Latencies works out the latencies of the links of a known graph, which
// cannot all be measured directly. The sums along the shortest paths then
// explain the measurements between hosts best (Bufe 2014, section 2.4, equation
// 2.8). The measured times are n*n, in s, NaN where not measured; the diagonal is not
// read. Both directions of a link get one latency, at least 0. The shortest
// paths are those of the latencies that g has, or the fewest hops if some are
// unknown. Then they are those of the fitted latencies until they stay, at most
// three times. The hierarchy, which may be nil, gives the levels of the Fit.
//
// Measurements between hosts do not determine every link (Bufe 2014, equation 2.7); Undetermined names those that they do not.
// Such a link has a switch with two links only, or hangs on one with two hosts and nothing else. Or the measurements over it
// form an even ring only.
//
// No matrix is built. A and its transpose are applied along the tree of
// shortest paths from each host, O(n) per vertex and step of the conjugate
// gradients.
func Latencies(g *topology.Graph, h *topology.Hierarchy, times mat.Matrix, s *Settings) (*Result, error) {
	if s == nil {
		s = &Settings{}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	in, err := measured.DirectedOf("fit", []mat.Matrix{times})
	if err != nil {
		return nil, err
	}
	if in.N() != g.Hosts() {
		return nil, fmt.Errorf("fit: %d x %d measurements for %d hosts", in.N(), in.N(), g.Hosts())
	}
	if h == nil {
		if h, err = topology.NewHierarchy(g.Hosts(), nil, nil, math.NaN()); err != nil {
			return nil, err
		}
	}
	if h.Hosts() != g.Hosts() {
		return nil, fmt.Errorf("fit: hierarchy of %d hosts for %d hosts", h.Hosts(), g.Hosts())
	}
	f := newEdgeFit(g, in.Cells(), s)
	for range pathRounds {
		if !f.findPaths() {
			break
		}
		if f.used == 0 {
			return nil, fmt.Errorf("fit: %w", ErrNothingToFit)
		}
		f.solveAll(s.Plain)
	}
	return f.result(h)
}

// solveAll moves x to the best latencies. Huber's loss is fitted through
// pseudo-data: measurements are pulled to within 10 % of the fit, fitted, and
// pulled again, until nothing changes. A latency that comes out below zero
// is held at zero and the others are fitted again.
func (f *edgeFit) solveAll(plain bool) {
	n := f.g.Hosts()
	fixed := make([]bool, f.links)
	b := make([]float64, f.links)
	steps := nested.HuberSteps
	if plain {
		steps = 1
	}
	for negative := true; negative; {
		for range steps {
			f.normal(f.x, b, func(i, j int, fit float64) float64 {
				rest := f.measurements[i*n+j] - fit
				if !plain {
					rest = max(-nested.HuberClip*fit, min(nested.HuberClip*fit, rest))
				}
				return rest
			})
			change, sum := 0.0, 0.0
			for e, d := range f.solve(b, fixed) {
				f.x[e] += d
				change = max(change, math.Abs(d))
				sum += math.Abs(f.x[e])
			}
			if change <= nested.HuberSettled*sum/float64(f.links) {
				break
			}
		}
		negative = false
		for e, v := range f.x {
			if v < 0 {
				f.x[e], fixed[e], negative = 0, true, true
			}
		}
	}
}

func (f *edgeFit) result(h *topology.Hierarchy) (*Result, error) {
	arcs := make([]topology.Arc, f.g.NumArcs())
	for i, a := range f.g.Arcs() {
		a.Latency = f.x[f.link[i]]
		arcs[i] = a
	}
	g, err := f.g.WithArcs(arcs)
	if err != nil {
		return nil, err
	}
	r := &Result{Graph: g, Fit: topology.NewFit(g, h, f.measurements, 0), Used: f.used, Ambiguous: f.multiple}
	open := f.undetermined()
	var names []string
	for i, a := range g.Arcs() {
		if open[f.link[i]] {
			r.Undetermined = append(r.Undetermined, i)
			if a.From < a.To {
				names = append(names, g.Name(a.From)+"-"+g.Name(a.To))
			}
		}
	}
	if len(names) > 0 {
		r.Warnings = append(r.Warnings, "the measurements give only sums of the latencies of links "+words.List(names))
	}
	if f.early > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d measurements are shorter than their %g bytes take at the bandwidths given", f.early, f.settings.Bytes))
	}
	zero := 0
	for _, v := range f.x {
		if v == 0 {
			zero++
		}
	}
	if zero > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d links have no latency that the measurements show", zero))
	}
	return r, nil
}
