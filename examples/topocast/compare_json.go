package main

import (
	"encoding/json"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology/compare"
)

// writeJSON writes all for programs; figures that are not known are left out.
func (r *comparison) writeJSON(w io.Writer) error {
	c := r.result
	out := comparisonFile{
		Format: "topocast/comparison", Version: 2, Status: r.status(),
		Hosts: len(c.Hosts), HostsMissing: list(c.Missing), HostsExtra: list(c.Extra),
		Latency: jsonfile.Known(c.Latency), Bandwidth: jsonfile.Known(c.Bandwidth), Similarity: jsonfile.Known(c.Similarity), Misfit: jsonfile.Known(c.Misfit),
		Judged: c.Judged, Unknown: c.Unknown, Warnings: c.Warnings, Differences: []differenceFile{}, Links: []linkFile{}, Levels: []levelFile{},
	}
	for _, k := range c.Classes {
		out.Levels = append(out.Levels, levelFile{k.Name, k.Links, jsonfile.Known(k.Latency), jsonfile.Known(k.LatencySpread), jsonfile.Known(k.Bandwidth), jsonfile.Known(k.BandwidthSpread)})
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		d := differenceFile{What: r.findingName(f), Kind: f.Kind, Hosts: list(f.Hosts), From: f.From, To: f.To, Times: jsonfile.Known(f.Times), Reason: r.reason(f)}
		if f.Link >= 0 {
			d.Link = &f.Link
		}
		out.Differences = append(out.Differences, d)
	}
	for i := range c.Links {
		l := &c.Links[i]
		f := linkFile{
			Name: r.linkName(l), Level: c.Classes[l.Class].Name, Verdict: l.Verdict, Below: l.Below,
			Latency: quantityFile{jsonfile.Known(l.Latency.Measured), jsonfile.Known(l.Latency.Reference), jsonfile.Known(l.Latency.Slower), l.Latency.Verdict},
		}
		if l.Below == nil {
			f.Ends = [][]string{list(l.Ends[0]), list(l.Ends[1])}
		}
		for way, q := range l.Bandwidth {
			f.Bandwidth[way] = rateFile{jsonfile.Known(q.Measured), jsonfile.Known(q.Reference), jsonfile.Known(q.Slower), q.Verdict}
		}
		out.Links = append(out.Links, f)
	}
	if g := r.groups; g != nil {
		name := func(groups [][]int) [][]string {
			all := [][]string{}
			for _, hosts := range groups {
				var names []string
				for _, h := range hosts {
					names = append(names, c.Hosts[h])
				}
				all = append(all, names)
			}
			return all
		}
		out.Groups = &groupsFile{len(g.Same), name(g.Missing), name(g.Extra)}
	}
	return json.NewEncoder(w).Encode(out)
}

// comparisonFile is the layout of a comparison in JSON, version 2. Figures that
// are not known are left out.
type comparisonFile struct {
	Format       string           `json:"format"`
	Version      int              `json:"version"`
	Status       int              `json:"status"` // the exit status
	Hosts        int              `json:"hosts"`  // that both have
	HostsMissing []string         `json:"hosts_missing"`
	HostsExtra   []string         `json:"hosts_extra"`
	Latency      *float64         `json:"latency_times,omitempty"` // the middle link is so many times as slow
	Bandwidth    *float64         `json:"bandwidth_times,omitempty"`
	Similarity   *float64         `json:"similarity_percent,omitempty"`
	Misfit       *float64         `json:"misfit,omitempty"`
	Judged       int              `json:"links_judged"`
	Unknown      string           `json:"unknown,omitempty"` // why latencies could not be compared
	Warnings     []string         `json:"warnings,omitempty"`
	Levels       []levelFile      `json:"levels"`
	Differences  []differenceFile `json:"differences"` // the worst first
	Links        []linkFile       `json:"links"`       // the worst first
	Groups       *groupsFile      `json:"groups,omitempty"`
}

type levelFile struct {
	Name            string   `json:"name"`
	Links           int      `json:"links"`
	Latency         *float64 `json:"latency_times,omitempty"`
	LatencySpread   *float64 `json:"latency_spread,omitempty"`
	Bandwidth       *float64 `json:"bandwidth_times,omitempty"`
	BandwidthSpread *float64 `json:"bandwidth_spread,omitempty"`
}

type differenceFile struct {
	What   string              `json:"what"`
	Kind   compare.FindingKind `json:"kind"`
	Link   *int                `json:"link,omitempty"` // index into links
	Hosts  []string            `json:"hosts"`
	From   []string            `json:"from,omitempty"`
	To     []string            `json:"to,omitempty"`
	Times  *float64            `json:"times,omitempty"`
	Reason string              `json:"reason"`
}

type linkFile struct {
	Name      string          `json:"name"`
	Level     string          `json:"level"`
	Verdict   compare.Verdict `json:"verdict"`
	Below     []string        `json:"below,omitempty"`
	Ends      [][]string      `json:"ends,omitempty"`
	Latency   quantityFile    `json:"latency"`
	Bandwidth [2]rateFile     `json:"bandwidth"` // towards the hosts below (the second end), and from them
}

type quantityFile struct {
	Measured  *float64        `json:"measured_s,omitempty"`
	Reference *float64        `json:"reference_s,omitempty"`
	Slower    *float64        `json:"times,omitempty"`
	Verdict   compare.Verdict `json:"verdict"`
}

type rateFile struct {
	Measured  *float64        `json:"measured_Bps,omitempty"`
	Reference *float64        `json:"reference_Bps,omitempty"`
	Slower    *float64        `json:"times,omitempty"`
	Verdict   compare.Verdict `json:"verdict"`
}

type groupsFile struct {
	Same    int        `json:"same"`
	Missing [][]string `json:"missing"`
	Extra   [][]string `json:"extra"`
}

// list is never null in JSON.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
