package main

import (
	"math"
	"path/filepath"
	"slices"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
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
	for i := range c.Links.Findings {
		f := &c.Links.Findings[i]
		s := draw.Suspect{Name: c.FindingName(f), Reason: c.Reason(f), Uplink: f.Link >= 0}
		for _, host := range c.HostsOf(f) {
			s.Hosts = append(s.Hosts, ranks[host]...)
		}
		r.Suspects = append(r.Suspects, s)
	}
	if c.Links.Judged == 0 {
		r.Warnings = append(slices.Clip(r.Warnings), "nothing can be said of the specification's links: none was measured on both sides")
	}
	r.Specification = &draw.Specification{Name: filepath.Base(reference.Name), Graph: reference.Graph}
	links, err := compare.Graphs(named, r.Latencies, reference.Graph, &compare.Settings{Bytes: float64(r.Bytes)})
	if err != nil {
		r.Warnings = append(slices.Clip(r.Warnings), "the specification's links have no colours: "+err.Error())
		return nil
	}
	r.Specification.Links = specifiedLinks(c.Links, links)
	return nil
}

// specifiedLinks are the colours of the specification's links. Which links nothing takes, and the times of bundles,
// are Bannikov and Salnikov's. Where the latency of a link by itself can be fitted to all of its
// paths, that one is held against the specified one: their mean over the paths spreads what one slow link costs
// over all the links beside it.
func specifiedLinks(fitted *compare.LinkComparison, paths *compare.Comparison) []draw.SpecifiedLink {
	of := map[[2]int]*compare.LinkState{}
	for i := range fitted.Links {
		if l := &fitted.Links[i]; l.U >= 0 && l.V >= 0 && l.U != l.V {
			of[[2]int{min(l.U, l.V), max(l.U, l.V)}] = l
		}
	}
	var links []draw.SpecifiedLink
	for _, l := range paths.Links {
		if l.Verdict == compare.LinkExtra {
			continue // not a link of the specification
		}
		x := draw.SpecifiedLink{U: l.U, V: l.V, Specified: l.Ideal, Measured: l.Measured, Unused: l.Verdict == compare.LinkUnused || l.Verdict == compare.LinkMissing}
		if state := of[[2]int{l.U, l.V}]; state != nil {
			if q := state.Latency; !math.IsNaN(q.Measured) && !math.IsNaN(q.Reference) {
				x.Specified, x.Measured = q.Reference, q.Measured
			}
			x.Unused = x.Unused || state.Verdict == compare.LinkMissing
		}
		links = append(links, x)
	}
	return links
}
