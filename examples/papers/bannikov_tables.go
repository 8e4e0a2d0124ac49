package main

import (
	"math"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/draw"
)

// A bannikovReport is what is written of one machine.
type bannikovReport struct {
	*bannikovOptions
	*bannikovFound
	section     *outcome.Section
	name, title string
	specified   *topology.Graph // nil: not known
	names       []string        // of the ranks, as the specification has them
	wired       int             // arcs between hosts that are specified
	first       bool            // of several machines: it explains the table
}

// section writes what was found of one machine: a row per length, one of all merged, colours and drawings.
func (o *bannikovOptions) section(out *outcome.Outcome, name, title string, measured *measure.Result, specified *topology.Graph) (*bannikovReport, error) {
	found, err := o.find(measured)
	if err != nil {
		return nil, err
	}
	r := &bannikovReport{bannikovOptions: o, bannikovFound: found, name: name, title: title, specified: specified, first: len(out.Sections) == 0}
	r.section = out.Section("Topologies by message length: " + title + " (sections 2.1 to 2.3)")
	if specified != nil {
		for _, a := range specified.Arcs() {
			if a.From < specified.Hosts() && a.To < specified.Hosts() {
				r.wired++
			}
		}
		r.names = specified.Names()[:specified.Hosts()]
	}
	if err := r.lengths(); err != nil {
		return nil, err
	}
	return r, r.drawings()
}

// against compares a topology of a length with the specification.
func (r *bannikovReport) against(g *topology.Graph, length int) (*compare.Comparison, error) {
	named, err := g.WithHostNames(r.names)
	if err != nil {
		return nil, err
	}
	c, err := compare.Graphs(named, r.times[length], r.specified, &compare.Settings{Bytes: float64(r.sizes[length])})
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	return c, nil
}

// arcShare is of how many of all arcs there could be the topology has, in percent.
func arcShare(g *topology.Graph) float64 {
	n := float64(g.Hosts())
	return 100 * float64(g.NumArcs()) / (n * (n - 1))
}

// lengths is the table of similarities.
func (r *bannikovReport) lengths() error {
	s, n := r.section, r.merged.Graph.Hosts()
	if r.first {
		s.Say("Specified are arcs between hosts. Similarity is the mean of the probabilities with which these are found, in per cent (section 2.3); it does not mind arcs that are too many. Of machines with switches, which link no two hosts, it is 0, and the algorithm should find all n (n - 1) arcs: the share of all is the similarity to a specification in which all hosts are wired to each other, as in figure 3.")
	}
	s.Say("With %d processes there are %d arcs that could be.", n, n*(n-1))
	t := s.Table(r.name, outcome.Text("length"), outcome.Number("specified", ""), outcome.Number("found", ""), outcome.Number("of all", "%"), outcome.Number("similarity", "%"))
	row := func(label string, g *topology.Graph, length int) error {
		specified, similarity := math.NaN(), math.NaN()
		if r.specified != nil {
			c, err := r.against(g, length)
			if err != nil {
				return err
			}
			specified, similarity = float64(r.wired), c.Similarity
		}
		t.Row(label, specified, g.NumArcs(), arcShare(g), similarity)
		return nil
	}
	for i, bytes := range r.sizes {
		if err := row(quantity.Bytes(bytes), r.local[i].Graph, i); err != nil {
			return err
		}
	}
	if err := row("merged", r.merged.Graph, 0); err != nil {
		return err
	}
	certain := 0
	for _, a := range r.merged.Graph.Arcs() {
		if a.Probability == 1 {
			certain++
		}
	}
	s.Say("Of the %d arcs of the merged topology %d have probability 1: they are found with all lengths.", r.merged.Graph.NumArcs(), certain)
	return nil
}

// leastDrawn is the probability of arcs from which they are drawn, as in the paper's figure 2.
const leastDrawn = 0.3

// drawings are figures 1 or 4, what was found of direct links or is specified of switches, and 2.
func (r *bannikovReport) drawings() error {
	var likely []topology.Arc
	for _, a := range r.merged.Graph.Arcs() {
		if a.Probability >= leastDrawn {
			likely = append(likely, a)
		}
	}
	names := r.merged.Graph.Names()
	merged, err := topology.NewGraph(len(names), 0, names, likely)
	if err != nil {
		return err
	}
	shortest, hierarchical := quantity.Bytes(r.sizes[0]), r.specified != nil && r.wired == 0
	pictures := []struct {
		name, title string
		g           *topology.Graph
	}{
		{"figure-1", "as found with messages of " + shortest + ", like figure 1", r.local[0].Graph},
		{"figure-2", "all lengths merged, arcs of at least 30 %, like figure 2", merged},
	}
	if hierarchical {
		pictures[0].name, pictures[0].title, pictures[0].g = "figure-4", "as specified, like figure 4", r.specified
	}
	for _, p := range pictures {
		f, err := draw.Wiring(r.title+": "+p.title, p.g, draw.Layout(p.g))
		if err != nil {
			return err
		}
		r.section.Figure(r.name+"-"+p.name, f)
	}
	return nil
}
