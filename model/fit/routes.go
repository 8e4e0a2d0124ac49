package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// chooseRoutes makes a network whose routes explain the patterns of several transfers best, and sets s.Routing. It tries
// the wiring as it is, and with equal latencies of links that are alike, so that routes of as many links are equally short; of
// equally short routes each choice. Another one than the first has to explain more (explainsMore). On a tree, and
// with fewer than ten patterns, there is nothing to choose.
func chooseRoutes(r *topology.Result, s *model.Settings, observations []Observation) (*model.Network, error) {
	best, err := model.New(r, s)
	if err != nil {
		return nil, err
	}
	several := slices.DeleteFunc(slices.Clone(observations), func(o Observation) bool { return len(o.Transfers) < 2 })
	if best.Graph().IsForest() || len(several) < manyPatterns {
		return best, nil
	}
	wirings := []*topology.Result{r}
	// Measured latencies of equal links differ by a per cent or so, and then one of several routes is the shortest by chance. They
	// differ by more where noise is high, or where much that messages pay at their ends was taken out of them.
	for _, share := range []float64{0.04, 0.08, 0.16} {
		alike, last := *r, wirings[len(wirings)-1]
		if alike.Graph, err = r.Graph.WithArcs(equalLatencies(r.Graph.Arcs(), share)); err != nil {
			return nil, err
		}
		if !slices.Equal(alike.Graph.Latencies(), last.Graph.Latencies()) {
			wirings = append(wirings, &alike)
		}
	}
	var least [][]float64
	for _, wiring := range wirings {
		for _, choice := range topology.RouteChoices() {
			with := *s
			with.Routing = choice
			n, err := model.New(wiring, &with)
			if err != nil {
				return nil, err
			}
			residuals, err := unexplained(n, several)
			if err != nil {
				return nil, err
			}
			if least == nil || explainsMore(residuals, least) {
				best, least, s.Routing = n, residuals, choice
			}
		}
	}
	return best, nil
}

// unexplained are the residuals of the long transfers of each pattern, if all links of a level are alike and shared fairly.
func unexplained(n *model.Network, observations []Observation) ([][]float64, error) {
	f, err := newFitter(n, observations, nil)
	if err != nil {
		return nil, err
	}
	f.alikeRates()
	out := make([][]float64, len(f.tied.patterns))
	for i := range out {
		out[i] = f.tied.residuals(nil, &f.tied.patterns[i])
	}
	return out, nil
}

// equalLatencies gives arcs whose latencies differ by a share at most their mean.
func equalLatencies(arcs []topology.Arc, share float64) []topology.Arc {
	arcs = slices.Clone(arcs)
	order := make([]int, 0, len(arcs))
	for i, a := range arcs {
		if !math.IsNaN(a.Latency) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(arcs[i].Latency, arcs[k].Latency) })
	for len(order) > 0 {
		sum, alike := 0.0, 0
		for first := arcs[order[0]].Latency; alike < len(order) && arcs[order[alike]].Latency <= first*(1+share); alike++ {
			sum += arcs[order[alike]].Latency
		}
		for _, i := range order[:alike] {
			arcs[i].Latency = sum / float64(alike)
		}
		order = order[alike:]
	}
	return arcs
}
