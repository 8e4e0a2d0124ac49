package topology

import (
	"cmp"
	"math"
	"slices"
)

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

// A LocalTopology is what was found for messages of one length (Bannikov and Salnikov 2014, section
// 2.1).
type LocalTopology struct {
	Bytes int64
	Arcs  []Arc // sorted by From, then To, with the latencies in s that messages of this length have
	// Absent are the arcs that were found for other lengths only, sorted and with the latencies of this length, too.
	Absent []Arc
}

// MeanGraph returns the graph with latencies that are means over all message lengths, which is how long channels are drawn
// (Bannikov and Salnikov 2014, section 2.2). A length of which an arc was not measured does not count for it. It
// returns the graph itself if it was not merged of several lengths.
func (r *Result) MeanGraph() (*Graph, error) {
	if len(r.Local) == 0 {
		return r.Graph, nil
	}
	sum, count := make([]float64, r.Graph.NumArcs()), make([]float64, r.Graph.NumArcs())
	for _, local := range r.Local {
		for _, a := range slices.Concat(local.Arcs, local.Absent) {
			if i := r.Graph.ArcIndex(a.From, a.To); i >= 0 && !math.IsNaN(a.Latency) {
				sum[i] += a.Latency
				count[i]++
			}
		}
	}
	arcs := slices.Clone(r.Graph.Arcs())
	for i := range arcs {
		arcs[i].Latency = sum[i] / count[i] // NaN without any
	}
	return r.Graph.WithArcs(arcs)
}
