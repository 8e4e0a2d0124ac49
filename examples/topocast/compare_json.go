package main

import (
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/compare"
)

// result is all of it for programs; figures that are not known are left out.
func (r networkComparison) result() *results.Comparison {
	c := r.Links
	out := &results.Comparison{
		Status: r.status(),
		Hosts:  len(c.Hosts), HostsMissing: list(c.Missing), HostsExtra: list(c.Extra),
		Latency: jsonfile.Known(c.Latency), Bandwidth: jsonfile.Known(c.Bandwidth), Similarity: jsonfile.Known(c.Similarity), Misfit: jsonfile.Known(c.Misfit),
		Judged: c.Judged, Unknown: c.Unknown, Warnings: c.Warnings, Differences: []results.Difference{}, Links: []results.Link{}, Levels: []results.Level{},
	}
	for _, k := range c.Classes {
		out.Levels = append(out.Levels, results.Level{
			Name: k.Name, Links: k.Links, Latency: jsonfile.Known(k.Latency.Slower), LatencySpread: jsonfile.Known(k.Latency.Spread),
			Bandwidth: jsonfile.Known(k.Bandwidth.Slower), BandwidthSpread: jsonfile.Known(k.Bandwidth.Spread),
		})
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		d := results.Difference{What: f.What, Kind: f.Kind, Hosts: list(f.Hosts), From: f.From, To: f.To, Times: jsonfile.Known(f.Times), Reason: f.Reason}
		if f.Link >= 0 {
			d.Link = &f.Link
		}
		out.Differences = append(out.Differences, d)
	}
	for i := range c.Links {
		l := &c.Links[i]
		f := results.Link{
			Name: l.Name, Level: c.Classes[l.Class].Name, Verdict: l.Verdict, Below: l.Below,
			Latency: results.Latency{
				Measured: jsonfile.Known(l.Latency.Measured), Reference: jsonfile.Known(l.Latency.Reference),
				Slower: jsonfile.Known(l.Latency.Slower), Verdict: l.Latency.Verdict,
			},
		}
		if l.Below == nil {
			f.Ends = [][]string{list(l.Ends[0]), list(l.Ends[1])}
		}
		for way, q := range l.Bandwidth {
			f.Bandwidth[way] = results.Rate{
				Measured: jsonfile.Known(q.Measured), Reference: jsonfile.Known(q.Reference), Slower: jsonfile.Known(q.Slower), Verdict: q.Verdict,
			}
		}
		out.Links = append(out.Links, f)
	}
	if g := c.Groups; g != nil {
		named := groupsResult(c.Hosts, g)
		out.Groups = &named
	}
	return out
}

// groupsResult are groups by the names of their hosts.
func groupsResult(hosts []string, g *compare.GroupComparison) results.Groups {
	names := func(groups [][]int) [][]string {
		return each(groups, func(group []int) []string { return namesOf(hosts, group) })
	}
	return results.Groups{Same: len(g.Same), Missing: names(g.Missing), Extra: names(g.Extra)}
}

// list is never null in JSON.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
