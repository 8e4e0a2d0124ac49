package main

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/spanner"
)

// bannikovSection writes what the algorithm finds on one machine: a row for each length, one for all of them merged, and drawings.
// The specification is nil where it is not known.
func bannikovSection(out *outcome.Outcome, name, title string, measured *measure.Result, specified *topology.Graph) error {
	s := out.Section("Topologies by message length: " + title + " (sections 2.1 to 2.3)")
	if len(out.Sections) == 1 {
		s.Say("Specified are arcs between hosts. Similarity is the mean of the probabilities with which these are found, in per cent (section 2.3); it does not mind arcs that are too many. Of machines with switches, which link no two hosts, it is 0, and the algorithm should find all n (n - 1) arcs: the share of all is the similarity to a specification in which all hosts are wired to each other, as in figure 3.")
	}
	var sized []spanner.Sized
	for i, bytes := range measured.Sizes {
		m, err := typical(measured, func(x *measure.Reading) float64 { return x.Q1 }, i)
		if err != nil {
			return err
		}
		sized = append(sized, spanner.Sized{Bytes: int64(bytes), Repetitions: []mat.Matrix{m}})
	}
	merged, err := (&spanner.GreedyCycle{SharedSpread: bannikovSpread, DuplexSpread: bannikovSpread}).ReconstructSizes(sized...)
	if err != nil {
		return err
	}
	wired := math.NaN() // arcs between hosts that are specified
	if specified != nil {
		wired = 0
		for _, a := range specified.Arcs() {
			if a.From < specified.Hosts() && a.To < specified.Hosts() {
				wired++
			}
		}
	}
	n := merged.Graph.Hosts()
	all := n * (n - 1)
	s.Say("With %d processes there are %d arcs that could be.", n, all)
	t := s.Table(name, outcome.Text("length"), outcome.Number("specified", ""), outcome.Number("found", ""), outcome.Number("of all", "%"), outcome.Number("similarity", "%"))
	row := func(label string, g *topology.Graph) error {
		similarity := math.NaN()
		if specified != nil {
			named, err := g.WithHostNames(specified.Names()[:specified.Hosts()])
			if err != nil {
				return err
			}
			if similarity = compare.Similarity(named, specified); math.IsNaN(similarity) {
				similarity = 0 // no two hosts are linked
			}
		}
		t.Row(label, wired, g.NumArcs(), 100*float64(g.NumArcs())/float64(all), similarity)
		return nil
	}
	var shortest *topology.Graph
	for i, local := range merged.Local {
		g, err := merged.Graph.WithArcs(local.Arcs)
		if err != nil {
			return err
		}
		if i == 0 {
			shortest = g
		}
		if err := row(quantity.Bytes(local.Bytes), g); err != nil {
			return err
		}
	}
	if err := row("merged", merged.Graph); err != nil {
		return err
	}
	if wired == 0 {
		s.Compare(outcome.About, "arcs found, of all: \"a complete graph\"", "%", 100, 100*float64(merged.Graph.NumArcs())/float64(all))
		err = drawWiring(s, name+"-figure-4", title+": as specified, like figure 4", specified)
	} else {
		err = drawWiring(s, name+"-figure-1", title+": as found with messages of "+quantity.Bytes(measured.Sizes[0])+", like figure 1", shortest)
	}
	if err != nil {
		return err
	}
	mean, err := merged.MeanGraph()
	if err != nil {
		return err
	}
	return drawMerged(s, name+"-figure-2", title+": all lengths merged, arcs of at least 30 %, like figure 2", mean)
}

// leastDrawn is the probability of arcs from which they are drawn, as in figure 2.
const leastDrawn = 0.3

// drawMerged draws a merged topology.
func drawMerged(s *outcome.Section, name, title string, merged *topology.Graph) error {
	var likely []topology.Arc
	certain := 0
	for _, a := range merged.Arcs() {
		if a.Probability >= leastDrawn {
			likely = append(likely, a)
		}
		if a.Probability == 1 {
			certain++
		}
	}
	s.Say("Of the %d arcs of the merged topology %d have probability 1: they are found with all lengths.", merged.NumArcs(), certain)
	drawn, err := merged.WithArcs(likely)
	if err != nil {
		return err
	}
	return drawWiring(s, name, title, drawn)
}

// greedyTimes is the paper's table: how long the algorithm takes for one matrix.
func greedyTimes(out *outcome.Outcome) error {
	s := out.Section("Time of the algorithm for one matrix (the table of section 3)")
	s.Say("Our times are the shortest of some runs, and differ from run to run. Matrices are those of tori for BlueGene/P, and of trees of switches as large as the others, whose wiring the paper does not print; all without noise.")
	t := s.Table("times", outcome.Text("cluster"), outcome.Text("like"), outcome.Number("hosts", ""), outcome.Number("time", "s"))
	took := make(map[int]float64) // of BlueGene/P
	for _, m := range []struct {
		name, spec string
		hosts      int
		printed    float64 // s
	}{
		{"BlueGene/P", "torus:4x4x8", 128, 10e-3},
		{"BlueGene/P", "torus:4x8x8", 256, 80e-3},
		{"BlueGene/P", "torus:8x8x16", 1024, 760e-3},
		{"Lomonosov", "tree:20x25", 500, 90e-3},
		{"Chebyshev", "tree:8x8", 64, 5e-3},
		{"Chebyshev", "tree:8x16", 128, 9e-3},
		{"MVS-50k", "tree:12x25", 300, 40e-3},
		{"unknown switch", "star:38", 38, 0.04e-3},
	} {
		c, err := gen.Parse(m.spec)
		if err != nil {
			return err
		}
		d, err := c.Latencies()
		if err != nil {
			return err
		}
		const runs, least = 5, 20 * time.Millisecond // at least, and in all
		seconds := math.Inf(1)                       // the shortest: what else the machine does can only make it longer
		first := time.Now()
		for run := 0; run < runs || time.Since(first) < least; run++ {
			start := time.Now()
			if _, err := (&spanner.GreedyCycle{}).Reconstruct(d); err != nil {
				return err
			}
			seconds = min(seconds, time.Since(start).Seconds())
		}
		if m.name == "BlueGene/P" {
			took[m.hosts] = seconds
		}
		t.Row(m.name, m.spec, m.hosts, seconds)
		s.Compare(outcome.AtMost, fmt.Sprintf("%s, %d hosts", m.name, m.hosts), "s", m.printed, seconds)
	}
	s.Say("The paper sees time grow with the cube of the hosts on BlueGene/P. So it does in its table from 128 to 256, by 8 times; to 1024 its times grow by 9.5 times, where the cube would be 64.")
	s.Compare(outcome.Otherwise, "BlueGene/P, 256 over 128 hosts", "", 8, took[256]/took[128])
	s.Compare(outcome.Otherwise, "BlueGene/P, 1024 over 256 hosts", "", 9.5, took[1024]/took[256])
	s.Because("Times are bounds: the paper's are of one core of an AMD Phenom II, ours of one of this machine.")
	s.Because("Ours hold the result as well: its graph with all shortest paths and how well it fits, half to three quarters of the time, most where all arcs are found. What else the machine does comes on top, and the two quotients are of these times.")
	return nil
}
