package main

import (
	"fmt"
	"math"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/spanner"
)

// section writes what was found of one machine: a row per length, one of all merged, and drawings.
func (o *bannikovOptions) section(out *outcome.Outcome, name, title string, measured *measure.Result, specified *topology.Graph) error {
	found, err := o.find(measured)
	if err != nil {
		return err
	}
	s := out.Section("Topologies by message length: " + title + " (sections 2.1 to 2.3)")
	n := found.merged.Graph.Hosts()
	s.Say("Arcs of the specification are links between hosts, both directions. Similarity is the mean probability with which its links are found, in per cent; 0 is what the paper has for machines with switches, of which the algorithm should find all n (n - 1) = %d arcs. The measure does not mind arcs that are too many. By witness is our form of the algorithm, which has a tolerance.", n*(n-1))
	t := s.Table(name, outcome.Text("length"), outcome.Number("specified", ""), outcome.Number("found", ""), outcome.Number("of all", "%"),
		outcome.Number("similarity", "%"), outcome.Number("by witness", ""), outcome.Number("similarity", "%"))
	wired := math.NaN() // arcs between hosts that are specified
	var names []string
	if specified != nil {
		wired = 0
		for _, a := range specified.Arcs() {
			if a.From < specified.Hosts() && a.To < specified.Hosts() {
				wired++
			}
		}
		if specified.Hosts() == n {
			for v := range n {
				names = append(names, specified.Name(v))
			}
		}
	}
	if names == nil {
		names = measured.Hosts
	}
	against := func(g *topology.Graph, length int) (*compare.Comparison, error) {
		named, err := g.WithHostNames(names)
		if err != nil {
			return nil, err
		}
		c, err := compare.Graphs(named, found.times[length], specified, &compare.Settings{Bytes: float64(o.sizes[length])})
		if err != nil {
			return nil, &inputError{err}
		}
		return c, nil
	}
	similarity := func(g *topology.Graph, length int) (float64, error) {
		if specified == nil {
			return math.NaN(), nil
		}
		c, err := against(g, length)
		if err != nil {
			return 0, err
		}
		return c.Similarity, nil
	}
	row := func(label string, greedy, witness *topology.Graph, length int) error {
		a, err := similarity(greedy, length)
		if err != nil {
			return err
		}
		b, arcs := math.NaN(), math.NaN()
		if witness != nil {
			if b, err = similarity(witness, length); err != nil {
				return err
			}
			arcs = float64(witness.NumArcs())
		}
		t.Row(label, wired, greedy.NumArcs(), 100*float64(greedy.NumArcs())/float64(n*(n-1)), a, arcs, b)
		return nil
	}
	for i, bytes := range o.sizes {
		if err := row(quantity.Bytes(bytes), found.local[i].Graph, found.witness[i].Graph, i); err != nil {
			return err
		}
	}
	if err := row("merged", found.merged.Graph, nil, 0); err != nil {
		return err
	}
	certain := 0
	for _, a := range found.merged.Graph.Arcs() {
		if a.Probability == 1 {
			certain++
		}
	}
	s.Say("Of the arcs of the merged topology %d have probability 1: they are found with all lengths.", certain)
	if specified != nil && wired == 0 {
		s.Say("Colours of the specified links (figure 5), by the mean time that messages spend on them, against the specified: white are those that nothing takes, red those that are as fast or faster, blue those that are slower.")
		t := s.Table(name+"-colours", outcome.Text("length"), outcome.Number("white", ""), outcome.Number("red", ""), outcome.Number("blue", ""), outcome.Number("mean of measured over specified", ""))
		for i, bytes := range o.sizes {
			c, err := against(found.local[i].Graph, i)
			if err != nil {
				return err
			}
			white, red, blue, ratio := 0, 0, 0, 0.0
			for _, l := range c.Links {
				switch l.Verdict {
				case compare.LinkUnused:
					white++
				case compare.LinkFast:
					red++
				case compare.LinkSlow:
					blue++
				}
				if l.Verdict == compare.LinkFast || l.Verdict == compare.LinkSlow {
					ratio += l.Measured / l.Ideal
				}
			}
			t.Row(quantity.Bytes(bytes), white, red, blue, ratio/float64(red+blue))
		}
	}
	for _, picture := range []struct {
		name, title string
		g           *topology.Graph
	}{
		{"merged", "as the paper's algorithm finds it, all lengths merged", found.merged.Graph},
		{"witness", "by witness, " + quantity.Bytes(o.sizes[0]), found.witness[0].Graph},
	} {
		at, err := draw.Layout(picture.g, nil)
		if err != nil {
			return err
		}
		f, err := draw.Wiring(title+": "+picture.title, picture.g, at)
		if err != nil {
			return err
		}
		s.Figure(name+"-"+picture.name, f)
	}
	return nil
}

// speeds is the paper's table: the time of the algorithm for one matrix, of a torus without noise.
func speeds(out *outcome.Outcome, full bool) error {
	s := out.Section("Time of the algorithm for one matrix (the table of section 3)")
	s.Say("The paper's machine is one core of an AMD Phenom II, ours this one; times here differ from run to run. Matrices are those of tori as large as the paper's BlueGene/P.")
	t := s.Table("times", outcome.Text("cluster"), outcome.Number("hosts", ""), outcome.Number("time", "s"))
	machines := []struct {
		spec    string
		hosts   int
		printed float64 // s
	}{{"torus:4x4x8", 128, 10e-3}, {"torus:4x8x8", 256, 80e-3}, {"torus:8x8x16", 1024, 760e-3}}
	if !full {
		machines = machines[:2]
	}
	for _, m := range machines {
		c, err := gen.Parse(m.spec)
		if err != nil {
			return err
		}
		d, err := c.Latencies()
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := (&spanner.GreedyCycle{}).Reconstruct(d); err != nil {
			return err
		}
		took := time.Since(start).Seconds()
		t.Row(m.spec, m.hosts, took)
		s.Compare(fmt.Sprintf("BlueGene/P, %d hosts", m.hosts), "s", m.printed, took)
	}
	return nil
}
