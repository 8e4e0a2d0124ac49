package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
)

// modelled are latencies of which a model is made.
type modelled struct {
	what      string
	latencies mat.Matrix
}

// tolerances are those with which models are made: by how much equal latencies may differ (equation 1.9).
func tolerances() []float64 { return []float64{0.02, 0.05, 0.1, 0.2} }

// chosen is the tolerance that counts, and widest the largest one.
const chosen, widest = 2, 3

// models makes models of latencies with all tolerances: a list for each.
func models(s *outcome.Section, name string, all []modelled) ([][]*topology.Result, error) {
	t := s.Table(name, outcome.Text("latencies"), outcome.Text("hosts on switches"), outcome.Number("eps", "%"), outcome.Number("switches", ""), outcome.Number("links", ""), outcome.Number("R2", "%"))
	found := make([][]*topology.Result, len(all))
	for i, x := range all {
		for _, eps := range tolerances() {
			r, err := (&clique.Switches{Epsilon: eps}).Reconstruct(x.latencies)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.what, err)
			}
			t.Row(x.what, hostsOnSwitches(r.Graph), 100*eps, switchesOf(r.Graph), r.Graph.NumArcs()/2, 100*r.Fit.R2)
			found[i] = append(found[i], r)
		}
	}
	return found, nil
}

func switchesOf(g *topology.Graph) int { return g.Vertices() - g.Hosts() }

// onSwitches are the numbers of hosts that switches have, if they have some, the largest first, and how many switches have
// each of them.
func onSwitches(g *topology.Graph) (sizes []int, count map[int]int) {
	count = map[int]int{}
	for v := g.Hosts(); v < g.Vertices(); v++ {
		hosts := 0
		for _, a := range g.Out(v) {
			if !g.IsSwitch(a.To) {
				hosts++
			}
		}
		if hosts > 0 {
			count[hosts]++
		}
	}
	sizes = slices.Sorted(maps.Keys(count))
	slices.Reverse(sizes)
	return sizes, count
}

// hostsOnSwitches says the same: "2 x 6".
func hostsOnSwitches(g *topology.Graph) string {
	sizes, count := onSwitches(g)
	if len(sizes) == 0 {
		return "none"
	}
	var texts []string
	for i, size := range sizes {
		if i == 2 {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, fmt.Sprintf("%d x %d", count[size], size))
	}
	return strings.Join(texts, ", ")
}

// switches are the models of the ranks of a job.
func (w *bufeWays) switches(s *outcome.Section) error {
	latencies := stats.MedianCells(w.batched[:])
	if math.IsNaN(middleOf(latencies)) {
		s.Say("No pair was measured in the time that there was: want a larger --budget.")
		return nil
	}
	s.Say("Switches that cliques of equal latency give (section 2.2), by tolerance. Measurements further apart than that make switches that there are not.")
	found, err := models(s, "models", []modelled{{"all pairs", latencies}})
	if err != nil {
		return err
	}
	return drawWiring(s, "figure-3.4", "Computed topology, as figure 3.4", found[0][chosen].Graph)
}
