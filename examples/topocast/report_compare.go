package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/draw"
)

// addSpecification compares the network with the one of a file; suspects are what topocast compare lists.
func addSpecification(r *draw.Report, name string, n *model.Network, file string) error {
	measured, err := newSide(name, n)
	if err != nil {
		return err
	}
	reference, err := loadSide(file, hostNames(measured.Graph))
	if err != nil {
		return err
	}
	c, err := comparison.Compare(measured, reference, 0)
	if err != nil {
		return cli.BadInput("%w", err)
	}
	named := c.Measured.Graph // as the specification calls the hosts
	ranks := map[string][]int{}
	for rank := range named.Hosts() {
		ranks[named.Name(rank)] = append(ranks[named.Name(rank)], rank)
	}
	for _, f := range c.Links.Findings {
		s := draw.Suspect{Name: f.What, Reason: f.Reason, Uplink: f.Link >= 0}
		for _, host := range f.Hosts {
			s.Hosts = append(s.Hosts, ranks[host]...)
		}
		r.Suspects = append(r.Suspects, s)
	}
	if c.Links.Judged == 0 {
		r.Warnings = append(slices.Clip(r.Warnings), "nothing can be said of the specification's links: none was measured on both sides")
	}
	r.Specification = &draw.Specification{Name: filepath.Base(reference.Name), Graph: reference.Graph}
	if r.Specification.Links, err = specifiedLinks(c, r.Latencies, float64(r.Bytes)); err != nil {
		r.Warnings = append(slices.Clip(r.Warnings), "the specification's links have no colours: "+err.Error())
	}
	return nil
}

// specifiedLinks are the specification's links with the times in s that messages of the given bytes spend on them. Where
// the latency of a link by itself can be fitted to all of its paths, that one is held against the specified one. The
// others have the mean over their paths, which spreads what one slow link costs over all the links beside it.
func specifiedLinks(c *comparison.Comparison, latencies mat.Matrix, bytes float64) ([]draw.SpecifiedLink, error) {
	g := c.Reference.Graph
	specified := specifiedTimes(g, bytes)
	measured, err := meanTimes(c.Measured.Graph, latencies, g, specifiedTimes(g, max(1, bytes)))
	if err != nil {
		return nil, err
	}
	fitted := map[[2]int]*compare.LinkState{}
	for i := range c.Links.Links {
		if l := &c.Links.Links[i]; l.U >= 0 && l.V >= 0 && l.U != l.V {
			fitted[[2]int{min(l.U, l.V), max(l.U, l.V)}] = l
		}
	}
	var links []draw.SpecifiedLink
	for _, x := range linksOf(g) {
		a, directions := g.Arcs()[x.there], []int{x.there}
		if x.back >= 0 {
			directions = append(directions, x.back)
		}
		l := draw.SpecifiedLink{U: min(a.From, a.To), V: max(a.From, a.To), Specified: meanOf(specified, directions), Measured: meanOf(measured, directions)}
		l.Unused = math.IsNaN(l.Measured)
		if state := fitted[[2]int{l.U, l.V}]; state != nil {
			if q := state.Latency; !math.IsNaN(q.Measured) && !math.IsNaN(q.Reference) {
				l.Specified, l.Measured = q.Reference, q.Measured
			}
			l.Unused = l.Unused || state.Verdict == compare.LinkMissing
		}
		links = append(links, l)
	}
	return links, nil
}

// meanOf is the mean of the values at some indices that are known; NaN if none is.
func meanOf(values []float64, at []int) float64 {
	sum, count := 0.0, 0
	for _, i := range at {
		if !math.IsNaN(values[i]) {
			sum += values[i]
			count++
		}
	}
	return sum / float64(count)
}

// specifiedTimes are those in s that messages of the given bytes take on each arc of a specification: the latency and
// the transfer time, as far as it says them; NaN if it says neither.
func specifiedTimes(g *topology.Graph, bytes float64) []float64 {
	times := make([]float64, g.NumArcs())
	for i, a := range g.Arcs() {
		transfer := bytes / a.Bandwidth
		switch {
		case math.IsNaN(a.Bandwidth) || bytes == 0:
			times[i] = a.Latency
		case math.IsNaN(a.Latency):
			times[i] = transfer
		default:
			times[i] = a.Latency + transfer
		}
	}
	return times
}

// meanTimes is the auxiliary graph of Bannikov and Salnikov 2014, section 2.3: the times in s that messages spend on the
// arcs of a specification, NaN where none takes the arc. The mean of the times between the ranks of two hosts is that of
// equation 3. It is spread over the arcs of the shortest path between the hosts, in proportion to the
// specified times (equation 4; the paper has no latencies, and takes 1/bandwidth). An arc has the mean over its paths.
// Hosts are matched by name. Two hosts have a path if the measured graph joins their ranks directly, or has switches.
func meanTimes(measured *topology.Graph, times mat.Matrix, specified *topology.Graph, specifiedTimes []float64) ([]float64, error) {
	n := specified.Hosts()
	names := hostNames(specified)
	for h, name := range names {
		if same := slices.Index(names[:h], name); same >= 0 {
			return nil, fmt.Errorf("its hosts %d and %d are both named %q", same, h, name)
		}
	}
	hosts := each(hostNames(measured), func(name string) int { return slices.Index(names, name) })
	sum, count, joined := make([]float64, n*n), make([]float64, n*n), make([]bool, n*n)
	for i, from := range hosts {
		for j, to := range hosts {
			if v := times.At(i, j); min(from, to) >= 0 && from != to && !math.IsNaN(v) {
				at := from*n + to
				sum[at] += v
				count[at]++
				joined[at] = joined[at] || measured.Vertices() > measured.Hosts() || measured.ArcIndex(i, j) >= 0
			}
		}
	}
	weights := specifiedTimes
	if slices.ContainsFunc(weights, math.IsNaN) {
		weights = slices.Repeat([]float64{1}, specified.NumArcs())
	}
	finder := topology.NewPaths(specified, weights)
	spent, paths := make([]float64, specified.NumArcs()), make([]float64, specified.NumArcs())
	for from := range n {
		tree := finder.Tree(from)
		for to := range n {
			at := from*n + to
			if !joined[at] || math.IsInf(tree.Distance[to], 1) || tree.Distance[to] == 0 {
				continue
			}
			for v := to; v != from; v = specified.Arcs()[tree.Arc[v]].From {
				arc := tree.Arc[v]
				spent[arc] += sum[at] / count[at] * weights[arc] / tree.Distance[to]
				paths[arc]++
			}
		}
	}
	for arc := range spent {
		spent[arc] /= paths[arc] // NaN without a path
	}
	return spent, nil
}
