package topology

import "math"

// A LocalTopology is what was found for messages of one length (Bannikov and Salnikov 2014, section
// 2.1). Several make a Result by [Merge].
type LocalTopology struct {
	Bytes int64
	Arcs  []Arc // sorted by From, then To, with the latencies in s that messages of this length have
}

// Channels joins the two directions of each link of the result's graph: see [Graph.Channels]. Where it
// was merged of several message lengths, an arc is as long as it is in the mean over those that have it.
func (r *Result) Channels() ([]Channel, error) {
	if len(r.Local) == 0 {
		return r.Graph.Channels(), nil
	}
	sum, count := make([]float64, r.Graph.NumArcs()), make([]float64, r.Graph.NumArcs())
	for _, local := range r.Local {
		for _, a := range local.Arcs {
			if i := r.Graph.ArcIndex(a.From, a.To); i >= 0 && !math.IsNaN(a.Latency) {
				sum[i] += a.Latency
				count[i]++
			}
		}
	}
	arcs := append([]Arc(nil), r.Graph.Arcs()...)
	for i := range arcs {
		arcs[i].Latency = sum[i] / count[i] // NaN without any
	}
	g, err := r.Graph.WithArcs(arcs)
	if err != nil {
		return nil, err
	}
	return g.Channels(), nil
}
