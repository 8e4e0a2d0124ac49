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
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/linkage"
	"github.com/topocast/topocast/topology/twolevel"
)

// bufeBins is how many parts figures 3.3 and 3.5 have.
const bufeBins = 100

// modelled are latencies of which a model is made.
type modelled struct {
	what      string
	latencies mat.Matrix
}

// models makes models of latencies with several tolerances, and returns those with the chosen one, and with the widest.
func (o *bufeOptions) models(s *outcome.Section, name string, all []modelled) (chosen, widest []*topology.Result, err error) {
	t := s.Table(name, outcome.Text("latencies"), outcome.Text("hosts on switches"), outcome.Number("eps", "%"), outcome.Number("switches", ""), outcome.Number("links", ""), outcome.Number("R2", "%"))
	tolerances := []float64{0.02, 0.05, 0.1, 0.2}
	if !slices.Contains(tolerances, o.eps) {
		tolerances = append(tolerances, o.eps)
		slices.Sort(tolerances)
	}
	for _, x := range all {
		for _, eps := range tolerances {
			r, err := (&clique.Switches{Epsilon: eps}).Reconstruct(x.latencies)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", x.what, err)
			}
			t.Row(x.what, hostsOnSwitches(r.Graph), 100*eps, switchesOf(r.Graph), r.Graph.NumArcs()/2, percent(r.Fit.R2))
			if eps == o.eps {
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

// matrixTable prints latencies in us as the source does, one triangle.
func matrixTable(s *outcome.Section, name, title string, m *mat.Dense) {
	n, _ := m.Dims()
	columns := []outcome.Column{outcome.Text("")}
	for j := 1; j < n; j++ {
		columns = append(columns, outcome.Number(fmt.Sprint(j+1), ""))
	}
	t := s.Table(name, columns...)
	t.Title = title + ", in us"
	for i := range n - 1 {
		cells := []any{fmt.Sprint(i + 1)}
		for j := 1; j < n; j++ {
			v := math.NaN()
			if j > i {
				v = 1e6 * m.At(i, j)
			}
			cells = append(cells, v)
		}
		t.Row(cells...)
	}
}

// drawnWiring adds a wiring as a figure.
func drawnWiring(s *outcome.Section, name, title string, g *topology.Graph) error {
	at, err := draw.Layout(g, nil)
	if err != nil {
		return err
	}
	f, err := draw.Wiring(title, g, at)
	if err != nil {
		return err
	}
	s.Figure(name, f)
	return nil
}

// distribution adds a histogram of 100 parts, as figures 3.3 and 3.5.
func distribution(s *outcome.Section, name, title string, samples ...draw.Sample) error {
	f, err := draw.Distribution(title, draw.Axis{Name: "latency in us"}, samples, bufeBins)
	if err != nil {
		return err
	}
	s.Figure(name, f)
	return nil
}

// inMicroseconds are the cells above the diagonal of the first so many rows, and what both directions have in the mean.
func inMicroseconds(m *mat.Dense, rows int) []float64 {
	var all []float64
	for i := range rows {
		for j := range i {
			all = append(all, 1e6*(m.At(i, j)+m.At(j, i))/2)
		}
	}
	return all
}

// machineHere is what is found of the ranks of a job: figure 3.3, the models, and nodes and their insides joined.
func (o *bufeOptions) machineHere(found *outcome.Outcome, w *bufeWays, header *record.Header) error {
	s := found.Section("This machine (section 3.3)")
	latencies := stats.MedianCells(asMatrices(w.batched[:]))
	n, _ := latencies.Dims()
	if math.IsNaN(middleOf(latencies)) {
		s.Say("No pair was measured in the time that there was: want a larger --budget.")
		return nil
	}
	if err := distribution(s, "figure-3.3", "Latencies, as figure 3.3", draw.Sample{Name: "all pairs", Values: inMicroseconds(latencies, n)}); err != nil {
		return err
	}
	s.Say("Switches that cliques of equal latency give (section 2.2), by tolerance. Measurements further apart than that make switches that there are not.")
	chosen, _, err := o.models(s, "models", []modelled{{"all pairs", latencies}})
	if err != nil {
		return err
	}
	if err := drawnWiring(s, "figure-3.4", "Computed topology, as figure 3.4", chosen[0].Graph); err != nil {
		return err
	}
	robust, err := (&linkage.Robust{}).Reconstruct(asMatrices(w.batched[:])...)
	if err != nil {
		return err
	}
	s.Say("Package linkage, which takes noise into account, finds this many switches: %d (hosts on them: %s).", switchesOf(robust.Graph), hostsOnSwitches(robust.Graph))
	nodes, names := nodesAndNames(header.Hosts)
	if len(nodes) < 2 || len(nodes) == n {
		s.Say("There are no several hosts with several ranks each, whose models could be joined (section 2.7).")
		return nil
	}
	joined, err := (&twolevel.Reconstructor{Nodes: nodes, Names: names}).Reconstruct(asMatrices(w.batched[:])...)
	if err != nil {
		return err
	}
	s.Say("Between %d hosts and inside each, joined (section 2.7): %d switches and hosts' own vertices.", len(nodes), switchesOf(joined.Graph))
	found.Warnings = append(found.Warnings, joined.Warnings...)
	return drawnWiring(s, "figure-3.1", "Nodes and their insides, joined, as figure 3.1", joined.Graph)
}

func asMatrices(all []*mat.Dense) (out []mat.Matrix) {
	for _, m := range all {
		out = append(out, m)
	}
	return out
}

// nodesAndNames are the ranks of each host, and the hosts, in the order of their first ranks.
func nodesAndNames(hosts []string) (nodes [][]int, names []string) {
	for rank, host := range hosts {
		k := slices.Index(names, host)
		if k < 0 {
			k = len(names)
			names, nodes = append(names, host), append(nodes, nil)
		}
		nodes[k] = append(nodes[k], rank)
	}
	return nodes, names
}
