package main

import (
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/model/results"
)

// writeChecked writes for programs.
func writeChecked(w io.Writer, r *check.Result) error {
	out := results.Check{
		Hosts: r.Hosts, Pairs: r.Pairs, Rounds: r.Rounds, Complete: r.Complete, Noise: r.Noise,
		Links: r.Links, UnreadLinks: r.UnreadLinks, UnreadDirections: r.UnreadDirections,
		Suspects: []results.Suspect{}, Warnings: append([]string{}, r.Warnings...),
	}
	for _, s := range r.Suspects {
		row := results.Suspect{Name: s.Name, Cable: s.Cable, Same: s.Same, Named: s.Named, P: jsonfile.Known(s.P)}
		for _, f := range s.Findings {
			row.Findings = append(row.Findings, results.Finding{
				What: string(f.What), From: f.From, To: f.To,
				Factor: jsonfile.Known(f.Factor), Low: jsonfile.Known(f.Low), High: jsonfile.Known(f.High),
				Often: f.Often, P: jsonfile.Known(f.P), Readings: f.Readings,
			})
		}
		out.Suspects = append(out.Suspects, row)
	}
	return results.Write(w, &out)
}
