package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/fit"
	"gonum.org/v1/gonum/mat"
)

// A Verdict is what a comparison says of one link.
type Verdict string

// The verdicts. The first four are of regular machines, whose hosts are wired to
// each other; the last three, and LinkFound where the reference gives no time,
// of hierarchical ones, whose hosts are on switches.
const (
	LinkFound   Verdict = "found"   // in both directions
	LinkSimplex Verdict = "simplex" // in one direction only
	LinkMissing Verdict = "missing" // specified, but not found
	LinkExtra   Verdict = "extra"   // found, but not specified
	LinkUnused  Verdict = "unused"  // on no shortest path between hosts that were found joined, by an arc or over switches alone; white in the paper
	LinkFast    Verdict = "fast"    // as fast as specified, or faster; red
	LinkSlow    Verdict = "slow"    // slower than specified; blue
)

// A LinkCheck is the verdict on the link between two vertices of the reference.
type LinkCheck struct {
	U, V        int // U < V
	Verdict     Verdict
	Probability float64 // of regular machines: mean over both directions that the link exists
	Measured    float64 // of hierarchical ones: mean time in s that messages spent on the link; NaN if unused
	Ideal       float64 // s, as specified; NaN if the reference does not say
	Paths       int     // shortest paths that lead over the link, both directions
}

// A Comparison of a measured machine with its specification.
type Comparison struct {
	// Similarity is the mean over the specified links between hosts of the
	// probability that they exist, in percent. It is 0 if no host is wired to
	// another in the specification.
	Similarity float64
	Regular    bool        // hosts are wired to each other in the specification; else the machine is hierarchical
	Links      []LinkCheck // of the reference, sorted; then, of regular machines, extra ones
	Suspects   []Suspect   // hosts and links to look at, the worst first
	Unknown    string      // why hosts could not be tried for being suspects; "" if they could
}

// Settings are the settings of Graphs; nil is all defaults.
type Settings struct {
	// Bytes is the size of the messages whose times are compared: a specified
	// link takes its latency, if known, and Bytes/bandwidth, if known.
	Bytes float64
}

// Graphs compares a measured graph with a specified one, as Bannikov and
// Salnikov 2014, section 2.3, do. Hosts of both are matched by name; hosts of
// the measured graph with equal names are processes of one node. times are
// those between its hosts, n*n in s, NaN where not measured.
//
// Of regular machines each specified link is looked up. Of hierarchical ones the
// mean time between two nodes that the measured graph joins (equation 3) is
// spread over the arcs of the shortest path between them in the reference in proportion
// to 1/bandwidth (equation 4), and an arc's mean over all paths is held against
// the time specified for it. Where the reference gives latencies the proportion is that
// of the specified times, of which the paper's is the case without latencies.
// The list of suspects is ours: see Suspect. O(n^2) paths.
func Graphs(measured *topology.Graph, times mat.Matrix, reference *topology.Graph, s *Settings) (*Comparison, error) {
	if s == nil {
		s = &Settings{}
	}
	if !(s.Bytes >= 0) || math.IsInf(s.Bytes, 0) {
		return nil, fmt.Errorf("topology: compare: Bytes %g: want at least 0 and finite", s.Bytes)
	}
	in, err := readings.DirectedOf("topology: compare", []mat.Matrix{times})
	if err != nil {
		return nil, err
	}
	if in.N() != measured.Hosts() {
		return nil, fmt.Errorf("topology: compare: %d x %d times for %d hosts", in.N(), in.N(), measured.Hosts())
	}
	c := &comparer{measured: measured, reference: reference, times: in.Cells(), bytes: s.Bytes}
	if err := c.match(); err != nil {
		return nil, err
	}
	c.group()
	out := &Comparison{}
	out.Similarity = c.similarity()
	if out.Regular = wiresHosts(reference); out.Regular {
		out.Links = c.regular()
		out.Suspects = suspectLinks(reference, out.Links)
	} else {
		out.Links = c.hierarchical()
	}
	more, err := c.suspects()
	switch {
	case errors.Is(err, fit.ErrNothingToFit):
		out.Unknown = err.Error()
	case err != nil:
		return nil, err
	}
	out.Suspects = append(out.Suspects, more...)
	rank(out.Suspects)
	return out, nil
}

// wiresHosts tells whether two hosts are linked without a switch.
func wiresHosts(g *topology.Graph) bool {
	return slices.ContainsFunc(g.Arcs(), func(a topology.Arc) bool { return a.From < g.Hosts() && a.To < g.Hosts() })
}

type comparer struct {
	measured, reference *topology.Graph
	times               []float64 // n*n of the measured hosts
	bytes               float64
	node                []int   // measured host -> host of the reference
	members             [][]int // the reverse
	joined              []float64
	mean                []float64 // equation 3, hosts of the reference squared; NaN: not measured
	costs               []float64 // transfer times between hosts, once asked for
}

// match finds each measured host in the reference by name.
func (c *comparer) match() error {
	index := map[string]int{}
	for h := range c.reference.Hosts() {
		name := c.reference.Name(h)
		if other, ok := index[name]; ok {
			return fmt.Errorf("topology: compare: hosts %d and %d of the reference are both named %q", other, h, name)
		}
		index[name] = h
	}
	c.members = make([][]int, c.reference.Hosts())
	for h := range c.measured.Hosts() {
		r, ok := index[c.measured.Name(h)]
		if !ok {
			return fmt.Errorf("topology: compare: host %q is not in the reference: the two describe different machines", c.measured.Name(h))
		}
		c.node = append(c.node, r)
		c.members[r] = append(c.members[r], h)
	}
	return nil
}

// group joins the arcs of processes to those of nodes: joined is the greatest
// probability of any, mean the mean time over all pairs of processes.
func (c *comparer) group() {
	k, n := c.reference.Hosts(), c.measured.Hosts()
	c.joined, c.mean = make([]float64, k*k), make([]float64, k*k)
	for _, a := range c.measured.Arcs() {
		if a.From < n && a.To < n && c.node[a.From] != c.node[a.To] {
			at := c.node[a.From]*k + c.node[a.To]
			c.joined[at] = max(c.joined[at], a.Probability)
		}
	}
	for x, from := range c.members {
		for y, to := range c.members {
			sum, count := 0.0, 0
			for _, i := range from {
				for _, j := range to {
					if v := c.times[i*n+j]; i != j && !math.IsNaN(v) {
						sum += v
						count++
					}
				}
			}
			c.mean[x*k+y] = sum / float64(count) // NaN of none
		}
	}
}

// similarity is the paper's measure, over the arcs between hosts that were measured.
func (c *comparer) similarity() float64 {
	k, sum, count := c.reference.Hosts(), 0.0, 0
	for _, a := range c.reference.Arcs() {
		if a.From < k && a.To < k && len(c.members[a.From]) > 0 && len(c.members[a.To]) > 0 {
			sum += c.joined[a.From*k+a.To]
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return 100 * sum / float64(count)
}

// regular looks up each specified link between measured hosts, and lists what
// was found besides.
func (c *comparer) regular() []LinkCheck {
	k := c.reference.Hosts()
	check := func(u, v int) LinkCheck {
		p, q := c.joined[u*k+v], c.joined[v*k+u]
		l := LinkCheck{U: u, V: v, Verdict: LinkFound, Probability: (p + q) / 2, Measured: (c.mean[u*k+v] + c.mean[v*k+u]) / 2, Ideal: c.ideal(u, v)}
		switch {
		case p == 0 && q == 0:
			l.Verdict = LinkMissing
		case p == 0 || q == 0:
			l.Verdict = LinkSimplex
		}
		return l
	}
	var links, extra []LinkCheck
	for u := range k {
		for v := u + 1; v < k; v++ {
			specified := c.reference.ArcIndex(u, v) >= 0 || c.reference.ArcIndex(v, u) >= 0
			switch {
			case specified && len(c.members[u]) > 0 && len(c.members[v]) > 0:
				links = append(links, check(u, v))
			case !specified && c.joined[u*k+v]+c.joined[v*k+u] > 0:
				l := check(u, v)
				l.Verdict = LinkExtra
				extra = append(extra, l)
			}
		}
	}
	return append(links, extra...)
}

// ideal is the time that the reference gives a link, the mean of its
// directions; NaN if it says nothing.
func (c *comparer) ideal(u, v int) float64 {
	sum, count := 0.0, 0
	for _, i := range [2]int{c.reference.ArcIndex(u, v), c.reference.ArcIndex(v, u)} {
		if i < 0 {
			continue
		}
		if t := c.idealArc(c.reference.Arcs()[i]); !math.IsNaN(t) {
			sum += t
			count++
		}
	}
	return sum / float64(count)
}

func (c *comparer) idealArc(a topology.Arc) float64 {
	t := math.NaN()
	if !math.IsNaN(a.Latency) {
		t = a.Latency
	}
	if !math.IsNaN(a.Bandwidth) && c.bytes > 0 {
		if math.IsNaN(t) {
			t = 0
		}
		t += c.bytes / a.Bandwidth
	}
	return t
}

// weights are what an arc counts on a path: its specified time, or one over its
// bandwidth, or a hop, whichever is known of all arcs.
func (c *comparer) weights() []float64 {
	of := []func(a topology.Arc) float64{
		c.idealArc,
		func(a topology.Arc) float64 { return 1 / a.Bandwidth },
		func(topology.Arc) float64 { return 1 },
	}
	w := make([]float64, c.reference.NumArcs())
	for _, f := range of {
		known := true
		for i, a := range c.reference.Arcs() {
			w[i] = f(a)
			known = known && !math.IsNaN(w[i])
		}
		if known {
			break
		}
	}
	return w
}

// meet tells which hosts of the reference the measured graph joins: those with
// an arc between processes of theirs, as in the paper, whose graphs have no
// switches, and those between which a path leads over switches alone.
func (c *comparer) meet() []bool {
	g, k := c.measured, c.reference.Hosts()
	meet := make([]bool, k*k)
	for i, p := range c.joined {
		meet[i] = p > 0
	}
	seen := make([]bool, g.Vertices())
	for s := g.Hosts(); s < g.Vertices(); s++ {
		if seen[s] {
			continue
		}
		seen[s] = true
		var from, to []int // nodes with an arc to a switch of this part, and from one
		queue := []int{s}
		for len(queue) > 0 {
			u := queue[0]
			queue = queue[1:]
			visit := func(v int, ends *[]int) {
				switch {
				case !g.IsSwitch(v):
					*ends = append(*ends, c.node[v])
				case !seen[v]:
					seen[v] = true
					queue = append(queue, v)
				}
			}
			for _, a := range g.Out(u) {
				visit(a.To, &to)
			}
			for _, i := range g.In(u) {
				visit(g.Arcs()[i].From, &from)
			}
		}
		for _, ends := range []*[]int{&from, &to} {
			slices.Sort(*ends)
			*ends = slices.Compact(*ends)
		}
		for _, i := range from {
			for _, j := range to {
				meet[i*k+j] = true
			}
		}
	}
	return meet
}

// float32Rounding is the share by which a mean of times may be above what it should be, as
// times may come from float32, which rounds by 6e-8, and sums of shares round again.
const float32Rounding = 1e-6

// hierarchical makes the auxiliary graph and holds it against the reference.
func (c *comparer) hierarchical() []LinkCheck {
	g, k := c.reference, c.reference.Hosts()
	weights := c.weights()
	finder := topology.NewPaths(g, weights)
	meet := c.meet()
	time, paths := make([]float64, g.NumArcs()), make([]int, g.NumArcs())
	for i := range k {
		if len(c.members[i]) == 0 {
			continue
		}
		t := finder.Tree(i)
		for j := range k {
			tau := c.mean[i*k+j]
			if i == j || !meet[i*k+j] || math.IsNaN(tau) || math.IsInf(t.Distance[j], 1) || t.Distance[j] == 0 {
				continue
			}
			for v := j; v != i; v = g.Arcs()[t.Arc[v]].From {
				a := t.Arc[v]
				time[a] += tau * weights[a] / t.Distance[j] // the distance is the sum of the path's weights
				paths[a]++
			}
		}
	}
	var links []LinkCheck
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			continue
		}
		l := LinkCheck{U: min(a.From, a.To), V: max(a.From, a.To), Verdict: LinkUnused, Measured: math.NaN(), Ideal: c.ideal(a.From, a.To), Paths: paths[i]}
		sum := time[i]
		if back >= 0 {
			l.Paths += paths[back]
			sum += time[back]
		}
		if l.Paths > 0 {
			l.Measured = sum / float64(l.Paths)
			// One equal to the specified one is not slower.
			switch {
			case math.IsNaN(l.Ideal):
				l.Verdict = LinkFound
			case l.Measured > l.Ideal*(1+float32Rounding):
				l.Verdict = LinkSlow
			default:
				l.Verdict = LinkFast
			}
		}
		links = append(links, l)
	}
	slices.SortFunc(links, func(a, b LinkCheck) int { return cmp.Or(a.U-b.U, a.V-b.V) })
	return links
}
