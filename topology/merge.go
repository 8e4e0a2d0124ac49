package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Merge makes one graph of local topologies, which are graphs of the same
// vertices found for one message length each. The probability of an arc is the
// share of the graphs that have it (Bannikov and Salnikov 2014, section 2.1); an
// arc's own probability counts. Latency, bandwidth and names are those of the
// first graph that has them: give the shortest message first. O(a log a) for a arcs
// in all.
func Merge(local ...*Graph) (*Graph, error) {
	if len(local) == 0 {
		return nil, fmt.Errorf("topology: merge: no graph given")
	}
	first := local[0]
	index := map[[2]int]int{}
	var arcs []Arc
	for k, g := range local {
		if g.hosts != first.hosts || g.vertices != first.vertices {
			return nil, fmt.Errorf("topology: merge: graph %d has %d hosts and %d vertices, the first %d and %d: want the same", k, g.hosts, g.vertices, first.hosts, first.vertices)
		}
		for _, a := range g.arcs {
			p := [2]int{a.From, a.To}
			i, seen := index[p]
			if !seen {
				i = len(arcs)
				index[p] = i
				arcs = append(arcs, Arc{From: a.From, To: a.To, Latency: a.Latency, Bandwidth: a.Bandwidth})
			}
			if math.IsNaN(arcs[i].Latency) {
				arcs[i].Latency = a.Latency
			}
			if math.IsNaN(arcs[i].Bandwidth) {
				arcs[i].Bandwidth = a.Bandwidth
			}
			arcs[i].Probability += a.Probability
		}
	}
	for i := range arcs {
		arcs[i].Probability = min(1, arcs[i].Probability/float64(len(local)))
	}
	return NewGraph(first.hosts, first.vertices-first.hosts, first.names, arcs)
}

// A Channel is what joins two vertices in either direction, as it is drawn.
type Channel struct {
	U, V        int     // U < V
	Length      float64 // relative to the shortest channel; NaN if no latency is known
	Probability float64 // sum of the directions' probabilities, in (0, 2]
	Shade       float64 // between the lesser and the greater of the two probabilities
}

// Channels joins the two directions of each link, as Bannikov and Salnikov
// 2014, section 2.2, do to draw a graph: the length is the mean of the
// latencies weighted by probability (equation 2), divided by the least above 0;
// the shade is (p^2+q^2)/(p+q) for the probabilities p and q of the
// directions. They are sorted by U, then V. (The text we have lost the squares;
// without them the bounds that the paper states for the shade do not hold.)
func (g *Graph) Channels() []Channel {
	var all []Channel
	least := math.Inf(1)
	for _, a := range g.arcs {
		back := Arc{}
		if i := g.ArcIndex(a.To, a.From); i >= 0 {
			if a.To < a.From {
				continue
			}
			back = g.arcs[i]
		}
		p, q := a.Probability, back.Probability
		c := Channel{U: min(a.From, a.To), V: max(a.From, a.To), Probability: p + q, Shade: (p*p + q*q) / (p + q)}
		switch {
		case q == 0 || math.IsNaN(back.Latency):
			c.Length = a.Latency
		case math.IsNaN(a.Latency):
			c.Length = back.Latency
		default:
			c.Length = (a.Latency*p + back.Latency*q) / (p + q)
		}
		if c.Length > 0 {
			least = min(least, c.Length)
		}
		all = append(all, c)
	}
	if !math.IsInf(least, 1) {
		for i := range all {
			all[i].Length /= least
		}
	}
	slices.SortFunc(all, func(a, b Channel) int { return cmp.Or(a.U-b.U, a.V-b.V) })
	return all
}
