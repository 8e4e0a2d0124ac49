package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

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

// wiresHosts tells whether two hosts are linked without a switch.
func wiresHosts(g *topology.Graph) bool {
	return slices.ContainsFunc(g.Arcs(), func(a topology.Arc) bool { return a.From < g.Hosts() && a.To < g.Hosts() })
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
