package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A Verdict is what a comparison says of one link.
type Verdict string

// The verdicts. Links gives the first five, and Graphs all but LinkSame and LinkUnknown.
const (
	LinkMissing Verdict = "missing"      // specified, but not found
	LinkSlow    Verdict = "slow"         // slower than specified; blue in the paper's figures
	LinkFast    Verdict = "fast"         // faster; of Graphs as fast or faster, red
	LinkSame    Verdict = "same"         // within the tolerance
	LinkUnknown Verdict = "not measured" // on one side, or both
	LinkFound   Verdict = "found"        // in both directions; of hierarchical machines: on a path, and no time is specified
	LinkSimplex Verdict = "simplex"      // in one direction only
	LinkExtra   Verdict = "extra"        // found, but not specified
	LinkUnused  Verdict = "unused"       // on no shortest path between hosts that were found joined; white
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
// Of regular machines each specified link is looked up. Hierarchical ones take two
// steps. The mean time between two nodes that the measured graph joins (equation 3) is
// spread over the arcs of the shortest path between them in the reference, in proportion
// to 1/bandwidth (equation 4). Then an arc's mean over all paths is compared with
// the time specified for it. Where the reference gives latencies the proportion is that
// of the specified times, of which the paper's is the case without latencies. O(n^2) paths.
//
// What is wrong with the machine is for Links to say.
func Graphs(measured *topology.Graph, times mat.Matrix, reference *topology.Graph, s *Settings) (*Comparison, error) {
	if s == nil {
		s = &Settings{}
	}
	if !(s.Bytes >= 0) || math.IsInf(s.Bytes, 0) {
		return nil, fmt.Errorf("compare: Bytes %g: want at least 0 and finite", s.Bytes)
	}
	in, err := readings.DirectedOf("compare", []mat.Matrix{times})
	if err != nil {
		return nil, err
	}
	if in.N() != measured.Hosts() {
		return nil, fmt.Errorf("compare: %d x %d times for %d hosts", in.N(), in.N(), measured.Hosts())
	}
	c := &comparer{measured: measured, reference: reference, times: in.Cells(), bytes: s.Bytes}
	if err := c.match(); err != nil {
		return nil, err
	}
	c.joinProcesses()
	out := &Comparison{Similarity: similarity(reference, c.probability), Regular: wiresHosts(reference)}
	if math.IsNaN(out.Similarity) {
		out.Similarity = 0
	}
	if out.Regular {
		out.Links = c.regular()
	} else {
		out.Links = c.hierarchical()
	}
	return out, nil
}

// wiresHosts tells whether two hosts are linked without a switch.
func wiresHosts(g *topology.Graph) bool {
	return slices.ContainsFunc(g.Arcs(), func(a topology.Arc) bool { return a.From < g.Hosts() && a.To < g.Hosts() })
}

// similarity is the paper's measure in percent: the mean of the probabilities over the reference's arcs between
// hosts. A probability is NaN for an arc that was not measured. It is NaN if there are none.
func similarity(reference *topology.Graph, probability func(u, v int) float64) float64 {
	sum, count := 0.0, 0
	for _, a := range reference.Arcs() {
		if a.From >= reference.Hosts() || a.To >= reference.Hosts() {
			continue
		}
		if p := probability(a.From, a.To); !math.IsNaN(p) {
			sum += p
			count++
		}
	}
	return 100 * sum / float64(count)
}

// A comparer holds nodes, which are hosts of the reference, against what was measured between their processes.
type comparer struct {
	measured, reference *topology.Graph
	times               []float64 // n*n of the measured hosts
	bytes               float64
	node                []int     // measured host -> host of the reference
	members             [][]int   // the reverse
	joined              []float64 // greatest probability of an arc between processes of two nodes
	mean                []float64 // equation 3: mean time between the processes of two nodes; NaN: not measured
}

// match finds each measured host in the reference by name.
func (c *comparer) match() error {
	names, specified := nodesOf(c.reference)
	for _, name := range names {
		if of := specified[name]; len(of) > 1 {
			return fmt.Errorf("compare: hosts %d and %d of the reference are both named %q", of[0], of[1], name)
		}
	}
	c.members = make([][]int, c.reference.Hosts())
	for h := range c.measured.Hosts() {
		of := specified[c.measured.Name(h)]
		if of == nil {
			return fmt.Errorf("compare: host %q is not in the reference: the two describe different machines", c.measured.Name(h))
		}
		c.node = append(c.node, of[0])
		c.members[of[0]] = append(c.members[of[0]], h)
	}
	return nil
}

// joinProcesses makes one arc, and one time, of those between the processes of two nodes.
func (c *comparer) joinProcesses() {
	k, n := c.reference.Hosts(), c.measured.Hosts()
	c.joined, c.mean = make([]float64, k*k), make([]float64, k*k)
	for _, a := range c.measured.Arcs() {
		if a.From < n && a.To < n && c.node[a.From] != c.node[a.To] {
			at := c.node[a.From]*k + c.node[a.To]
			c.joined[at] = max(c.joined[at], a.Probability)
		}
	}
	count := make([]float64, k*k)
	for i, x := range c.node {
		for j, y := range c.node {
			if v := c.times[i*n+j]; i != j && !math.IsNaN(v) {
				c.mean[x*k+y] += v
				count[x*k+y]++
			}
		}
	}
	for at := range c.mean {
		c.mean[at] /= count[at] // NaN of none
	}
}

// probability is that of an arc of the reference between two hosts, NaN if one of them was not measured.
func (c *comparer) probability(u, v int) float64 {
	if len(c.members[u]) == 0 || len(c.members[v]) == 0 {
		return math.NaN()
	}
	return c.joined[u*c.reference.Hosts()+v]
}

// regular looks up each specified link between measured hosts, and lists what
// was found besides.
func (c *comparer) regular() []LinkCheck {
	k := c.reference.Hosts()
	var links, extra []LinkCheck
	for u := range k {
		for v := u + 1; v < k; v++ {
			p, q := c.probability(u, v), c.probability(v, u)
			specified := c.reference.ArcIndex(u, v) >= 0 || c.reference.ArcIndex(v, u) >= 0
			if math.IsNaN(p) || !specified && p+q == 0 {
				continue
			}
			l := LinkCheck{U: u, V: v, Verdict: LinkFound, Probability: (p + q) / 2, Measured: (c.mean[u*k+v] + c.mean[v*k+u]) / 2, Ideal: c.ideal(u, v)}
			switch {
			case !specified:
				l.Verdict = LinkExtra
				extra = append(extra, l)
				continue
			case p == 0 && q == 0:
				l.Verdict = LinkMissing
			case p == 0 || q == 0:
				l.Verdict = LinkSimplex
			}
			links = append(links, l)
		}
	}
	return append(links, extra...)
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
		for i, a := range c.reference.Arcs() {
			w[i] = f(a)
		}
		if !slices.ContainsFunc(w, math.IsNaN) {
			break
		}
	}
	return w
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
	transfer := c.bytes / a.Bandwidth
	switch {
	case math.IsNaN(a.Bandwidth) || c.bytes == 0:
		return a.Latency
	case math.IsNaN(a.Latency):
		return transfer
	}
	return a.Latency + transfer
}

// meet tells which nodes the measured graph joins: those with an arc between processes of theirs, as in the
// paper, whose graphs have no switches, and those between which a path leads over switches alone.
func (c *comparer) meet() []bool {
	g, k := c.measured, c.reference.Hosts()
	meet := make([]bool, k*k)
	for i, p := range c.joined {
		meet[i] = p > 0
	}
	hosts := make([]int, g.Hosts())
	for h := range hosts {
		hosts[h] = h
	}
	part := g.Parts(hosts...) // of switches alone
	on := map[int][]int{}     // the nodes on each part
	for h, node := range c.node {
		for _, v := range g.Neighbours(h) {
			if g.IsSwitch(v) {
				on[part[v]] = append(on[part[v]], node)
			}
		}
	}
	for _, nodes := range on {
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		for _, i := range nodes {
			for _, j := range nodes {
				meet[i*k+j] = true
			}
		}
	}
	return meet
}
