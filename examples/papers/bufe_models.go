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
	"github.com/topocast/topocast/topology/draw"
)

// modelled are latencies of which a model is made.
type modelled struct {
	what      string
	latencies mat.Matrix
}

// models makes models of latencies with several tolerances, and returns those with the chosen one, and with the widest.
func models(s *outcome.Section, name string, all []modelled) (chosen, widest []*topology.Result, err error) {
	t := s.Table(name, outcome.Text("latencies"), outcome.Text("hosts on switches"), outcome.Number("eps", "%"), outcome.Number("switches", ""), outcome.Number("links", ""), outcome.Number("R2", "%"))
	tolerances := []float64{0.02, 0.05, bufeEps, 0.2}
	for _, x := range all {
		for _, eps := range tolerances {
			r, err := (&clique.Switches{Epsilon: eps}).Reconstruct(x.latencies)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", x.what, err)
			}
			t.Row(x.what, hostsOnSwitches(r.Graph), 100*eps, switchesOf(r.Graph), r.Graph.NumArcs()/2, 100*r.Fit.R2)
			if eps == bufeEps {
				chosen = append(chosen, r)
			}
			if eps == tolerances[len(tolerances)-1] {
				widest = append(widest, r)
			}
		}
	}
	return chosen, widest, nil
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

// drawnWiring adds a wiring as a figure.
func drawnWiring(s *outcome.Section, name, title string, g *topology.Graph) error {
	f, err := draw.Wiring(title, g, draw.Layout(g))
	if err != nil {
		return err
	}
	s.Figure(name, f)
	return nil
}

// switches are the models of the ranks of a job.
func (w *bufeWays) switches(s *outcome.Section) error {
	latencies := stats.MedianCells(asMatrices(w.batched[:]))
	if math.IsNaN(middleOf(latencies)) {
		s.Say("No pair was measured in the time that there was: want a larger --budget.")
		return nil
	}
	s.Say("Switches that cliques of equal latency give (section 2.2), by tolerance. Measurements further apart than that make switches that there are not.")
	chosen, _, err := models(s, "models", []modelled{{"all pairs", latencies}})
	if err != nil {
		return err
	}
	return drawnWiring(s, "figure-3.4", "Computed topology, as figure 3.4", chosen[0].Graph)
}

func asMatrices(all []*mat.Dense) (out []mat.Matrix) {
	for _, m := range all {
		out = append(out, m)
	}
	return out
}
