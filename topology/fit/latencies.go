package fit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// Settings are the settings of Latencies; nil is all defaults.
type Settings struct {
	// Bytes is the size of the messages whose latencies were measured. Above
	// 0, the time that the bandwidths of the arcs cost is subtracted first;
	// arcs of unknown bandwidth cost none.
	Bytes float64
	// StoreAndForward says that each vertex receives a message whole before it
	// sends it on: the cost is the sum over the path's arcs of bytes/bandwidth.
	// The default is cut-through: bytes over the least bandwidth of the path.
	StoreAndForward bool
	// Plain asks for least squares as they are, in place of Huber's loss,
	// whose readings pull no harder than at 10 % from the fit. With 2 % of
	// readings far too high plain least squares are worthless.
	Plain bool
	// Tolerance is the share by which a second path must be longer for a
	// reading to count: what may have gone either way says nothing of
	// either; 0 is 0.02.
	Tolerance float64
}

// What decides in Latencies.
const (
	// ambiguous is the default of Settings.Tolerance. Ways of equal links
	// differ by rounding or not at all; a second way that is one link longer is so by
	// a share of 1/30 or more on machines of up to 30 links across.
	ambiguous = 0.02

	// pathRounds bounds how often the shortest paths are looked for: those of the
	// latencies given or of hops, those of what was fitted along them, and once more
	// where that moved some. Two do for all tests, one does not.
	pathRounds = 3

	// partialSums are added in one order, whatever the number of processors. It
	// decides the rounding only, and how many processors can help.
	partialSums = 16

	// linkSolved is the square of the residual at which the conjugate gradients end,
	// as a share of the first: ten digits of a latency, of which nobody reads four. On
	// rings, tori and rings of switches it is reached after 4 to 65 % of the steps that
	// exact arithmetic needs at most, one per link.
	linkSolved = 1e-20

	// undeterminedShare is what is left of a component of a random normal vector of a
	// link that readings do not determine: about 1, and by linkSolved 1e-10 of those that they do.
	undeterminedShare = 1e-4
)

func (s *Settings) validate() error {
	if !(s.Bytes >= 0) || math.IsInf(s.Bytes, 0) {
		return fmt.Errorf("topology: latencies: Bytes %g: want at least 0 and finite", s.Bytes)
	}
	if !(s.Tolerance >= 0) || math.IsInf(s.Tolerance, 0) {
		return fmt.Errorf("topology: latencies: Tolerance %g: want at least 0 and finite", s.Tolerance)
	}
	return nil
}

// A Result is a graph with the latencies of its links worked out.
type Result struct {
	Graph *topology.Graph // the wiring as given, with fitted latencies
	Fit   topology.Fit    // R2 is high for wrong trees too: look at the residuals of the levels

	Used         int   // readings that took part
	Ambiguous    int   // readings left out as a second path is as short
	Undetermined []int // numbers of arcs of which the readings give only sums with others; these stay near the latencies given
	Warnings     []string
}

// ErrNothingToFit says that the readings speak of no path of the graph. Latencies returns it, wrapped.
var ErrNothingToFit = errors.New("no reading follows a path that is known")

// Latencies works out the latencies of the links of a known graph, which
// cannot all be measured directly, so that the sums along the shortest paths
// explain the readings between hosts best (Bufe 2014, section 2.4, equation
// 2.8). Those measured are n*n, in s, NaN where not measured; the diagonal is not
// read. Both directions of a link get one latency, at least 0. The shortest
// paths are those of the latencies that g has, or the fewest hops if some are
// unknown, and again those of the fitted latencies until they stay, at most
// three times. The hierarchy, which may be nil, gives the levels of the Fit.
//
// Readings between hosts determine a link unless a switch on it has two links
// only, or two hosts and nothing else hang on its switch, or they form an even
// ring only (Bufe 2014, equation 2.7): Undetermined names such links.
//
// No matrix is built. A and its transpose are applied along the tree of
// shortest paths from each host, O(n) per vertex and step of the conjugate
// gradients; trees with a host on every leaf and nothing missing take O(n^2) in all.
func Latencies(g *topology.Graph, h *topology.Hierarchy, measured mat.Matrix, s *Settings) (*Result, error) {
	if s == nil {
		s = &Settings{}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	in, err := readings.DirectedOf("topology: latencies", []mat.Matrix{measured})
	if err != nil {
		return nil, err
	}
	if in.N() != g.Hosts() {
		return nil, fmt.Errorf("topology: latencies: %d x %d readings for %d hosts", in.N(), in.N(), g.Hosts())
	}
	if h == nil {
		if h, err = topology.NewHierarchy(g.Hosts(), nil, nil, math.NaN()); err != nil {
			return nil, err
		}
	}
	if h.Hosts() != g.Hosts() {
		return nil, fmt.Errorf("topology: latencies: hierarchy of %d hosts for %d hosts", h.Hosts(), g.Hosts())
	}
	f := newEdgeFit(g, in.Cells(), s)
	for range pathRounds {
		if !f.findPaths() {
			break
		}
		if f.used == 0 {
			return nil, fmt.Errorf("topology: latencies: %w", ErrNothingToFit)
		}
		f.solveAll(s.Plain)
	}
	return f.result(h)
}

// An edgeFit is a least squares problem whose unknowns are links, both
// directions of a pair of vertices, and whose rows are readings.
type edgeFit struct {
	g        *topology.Graph
	settings *Settings
	measured []float64 // n*n
	readings []float64 // n*n, corrected for the transfer time; NaN: not a row
	link     []int32   // arc -> link
	links    int
	x        []float64    // latencies of links
	known    bool         // x are latencies, not hops
	tree     *nested.Tree // the graph, if it can be fitted as a tree
	paths    [][]int32    // per host the arcs of its tree of shortest paths, each after those before it on a path
	used     int
	multiple int // readings with several paths
	early    int // readings below the transfer time of the message
}

func newEdgeFit(g *topology.Graph, m []float64, s *Settings) *edgeFit {
	f := &edgeFit{g: g, settings: s, measured: m, link: make([]int32, g.NumArcs()), known: true}
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			f.link[i] = f.link[back]
			continue
		}
		f.link[i] = int32(f.links)
		f.links++
	}
	f.x = make([]float64, f.links)
	count := make([]float64, f.links)
	for i, a := range g.Arcs() {
		f.known = f.known && !math.IsNaN(a.Latency)
		f.x[f.link[i]] += a.Latency
		count[f.link[i]]++
	}
	for e := range f.x {
		f.x[e] /= count[e]
		if !f.known {
			f.x[e] = 1
		}
	}
	f.tree = f.asTree()
	return f
}

func (f *edgeFit) lengths() []float64 {
	l := make([]float64, len(f.link))
	for i, e := range f.link {
		l[i] = f.x[e]
	}
	return l
}

// findPaths works out the shortest paths and with them the rows: the readings
// whose path is known, less the transfer time of the message on it. It returns
// false if the paths are those of before.
func (f *edgeFit) findPaths() bool {
	g, n := f.g, f.g.Hosts()
	tolerance := f.settings.Tolerance
	if tolerance == 0 {
		tolerance = ambiguous
	}
	if f.readings != nil && g.IsForest() {
		return false // there are no others
	}
	finder, old := topology.NewPaths(g, f.lengths()), f.paths
	f.paths, f.readings = make([][]int32, n), make([]float64, n*n)
	type counts struct {
		used, multiple, early int
		perHop                []float64
	}
	rows := make([]counts, n)
	parallel.Rows(n, func(i int) {
		t, c := finder.Tree(i), &rows[i]
		if f.tree == nil {
			f.paths[i] = make([]int32, 0, len(t.Order)-1)
			for _, v := range t.Order[1:] {
				f.paths[i] = append(f.paths[i], t.Arc[v])
			}
		}
		cost := f.settings.TransferTimes(g, t)
		for j := range n {
			at := i*n + j
			f.readings[at] = math.NaN()
			switch {
			case i == j || math.IsNaN(f.measured[at]) || math.IsInf(t.Distance[j], 1):
			case t.Excess[j] <= tolerance*t.Distance[j]:
				c.multiple++
			default:
				c.used++
				v := f.measured[at] - cost[j]
				f.readings[at] = v
				if v < 0 {
					c.early++
				}
				if !f.known && t.Distance[j] > 0 {
					c.perHop = append(c.perHop, v/t.Distance[j])
				}
			}
		}
	})
	f.used, f.multiple, f.early = 0, 0, 0
	var perHop []float64
	for _, c := range rows {
		f.used += c.used
		f.multiple += c.multiple
		f.early += c.early
		perHop = append(perHop, c.perHop...)
	}
	if hop := stats.Median(perHop); hop > 0 { // lengths were hops: make them latencies
		for e := range f.x {
			f.x[e] *= hop
		}
	}
	f.known = true
	return !slices.EqualFunc(old, f.paths, slices.Equal)
}

// TransferTimes is what a message costs on the path from the source of the tree to each vertex of g, in s: what
// Latencies takes out of a reading.
func (s *Settings) TransferTimes(g *topology.Graph, t *topology.PathTree) []float64 {
	cost := make([]float64, g.Vertices())
	if s.Bytes == 0 {
		return cost
	}
	arcs := g.Arcs()
	for _, v := range t.Order[1:] {
		a, own := arcs[t.Arc[v]], 0.0
		if !math.IsNaN(a.Bandwidth) {
			own = s.Bytes / a.Bandwidth
		}
		if s.StoreAndForward {
			cost[v] = cost[a.From] + own
		} else {
			cost[v] = max(cost[a.From], own)
		}
	}
	return cost
}

// normal sets y to A^T times row(i, j, (A x)_ij). Rows run in a few chunks, whose
// sums are added in order, so the result does not depend on the processors.
func (f *edgeFit) normal(x, y []float64, row func(i, j int, sum float64) float64) {
	n := f.g.Hosts()
	partial := make([][]float64, partialSums)
	parallel.Rows(partialSums, func(c int) {
		own := make([]float64, f.links)
		sum, into := make([]float64, f.g.Vertices()), make([]float64, f.g.Vertices())
		for i := c * n / partialSums; i < (c+1)*n/partialSums; i++ {
			sum[i] = 0
			for _, k := range f.paths[i] {
				a := &f.g.Arcs()[k]
				sum[a.To] = sum[a.From] + x[f.link[k]]
			}
			clear(into)
			for j := range n {
				if !math.IsNaN(f.readings[i*n+j]) {
					into[j] = row(i, j, sum[j])
				}
			}
			for at := len(f.paths[i]) - 1; at >= 0; at-- {
				k := f.paths[i][at]
				a := &f.g.Arcs()[k]
				own[f.link[k]] += into[a.To]
				into[a.From] += into[a.To]
			}
		}
		partial[c] = own
	})
	clear(y)
	for _, p := range partial {
		for e, v := range p {
			y[e] += v
		}
	}
}

func sumItself(_, _ int, sum float64) float64 { return sum }

// solve returns the solution of the normal equations for b, zero where fixed.
// Of many solutions it is one without a part that nothing determines.
func (f *edgeFit) solve(b []float64, fixed []bool) []float64 {
	x, image := make([]float64, f.links), make([]float64, f.links)
	ones := make([]float64, f.links)
	for e := range ones {
		ones[e] = 1
	}
	weight := make([]float64, f.links) // rows over each link
	f.normal(ones, weight, func(_, _ int, _ float64) float64 { return 1 })
	rest, direction := make([]float64, f.links), make([]float64, f.links)
	scaled := func(e int) float64 {
		if fixed[e] || weight[e] == 0 {
			return 0
		}
		return rest[e] / weight[e]
	}
	var rho float64
	copy(rest, b)
	for e := range rest {
		direction[e] = scaled(e)
		rho += rest[e] * direction[e]
	}
	first := rho
	for step := 0; step < 2*f.links && rho > linkSolved*first && rho > 0; step++ { // exact arithmetic needs one per link at most
		f.normal(direction, image, sumItself)
		var curve float64
		for e := range direction {
			curve += direction[e] * image[e]
		}
		if !(curve > 0) {
			break
		}
		alpha := rho / curve
		next := 0.0
		for e := range x {
			x[e] += alpha * direction[e]
			rest[e] -= alpha * image[e]
			next += rest[e] * scaled(e)
		}
		for e := range x {
			direction[e] = scaled(e) + next/rho*direction[e]
		}
		rho = next
	}
	return x
}

// solveAll moves x to the best latencies. Huber's loss is fitted through
// pseudo-data: readings are pulled to within 10 % of the fit, fitted, and
// pulled again, until nothing changes. A latency that comes out below zero
// is held at zero and the others are fitted again.
func (f *edgeFit) solveAll(plain bool) {
	if f.tree != nil {
		if f.solveTree(plain) {
			return
		}
		f.tree, f.readings = nil, nil
		f.findPaths()
	}
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
				rest := f.readings[i*n+j] - fit
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

// undetermined finds the links of which readings give only sums with others. A
// random vector less its part that the readings see is random in the
// directions that they do not see, and zero on links that are determined.
func (f *edgeFit) undetermined() []bool {
	rng := rand.New(rand.NewPCG(uint64(f.links), 4))
	z, b := make([]float64, f.links), make([]float64, f.links)
	for e := range z {
		z[e] = rng.NormFloat64()
	}
	f.normal(z, b, sumItself)
	seen := f.solve(b, make([]bool, f.links))
	open := make([]bool, f.links)
	for e := range open {
		open[e] = math.Abs(z[e]-seen[e]) > undeterminedShare
	}
	return open
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
	r := &Result{Graph: g, Fit: topology.NewFit(g, h, f.readings, 0), Used: f.used, Ambiguous: f.multiple}
	open := make([]bool, f.links) // none, in trees whose switches have three links
	if f.tree == nil {
		open = f.undetermined()
	}
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
		r.Warnings = append(r.Warnings, "the readings give only sums of the latencies of links "+words.List(names))
	}
	if f.early > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d readings are shorter than their %g bytes take at the bandwidths given", f.early, f.settings.Bytes))
	}
	zero := 0
	for _, v := range f.x {
		if v == 0 {
			zero++
		}
	}
	if zero > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d links have no latency that the readings show", zero))
	}
	return r, nil
}
