package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

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
