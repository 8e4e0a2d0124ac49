package main

import (
	"encoding/json"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/check"
)

// writeChecked writes for programs.
func writeChecked(w io.Writer, r *check.Result) error {
	type findingRow struct {
		What     string   `json:"what"`
		From     string   `json:"from,omitempty"`
		To       string   `json:"to,omitempty"`
		Factor   *float64 `json:"factor"`
		Low      *float64 `json:"low"`
		High     *float64 `json:"high"`
		P        float64  `json:"p"`
		Readings int      `json:"readings"`
	}
	type suspectRow struct {
		Name     string       `json:"name"`
		Cable    string       `json:"or_cable_to,omitempty"`
		Same     []string     `json:"or,omitempty"` // what cannot be told from it
		Named    bool         `json:"named"`
		P        float64      `json:"p"`
		Findings []findingRow `json:"findings"`
	}
	out := struct {
		Format           string       `json:"format"`
		Version          int          `json:"version"`
		Hosts            int          `json:"hosts"`
		Pairs            int          `json:"pairs"`
		Rounds           int          `json:"rounds"`
		Complete         bool         `json:"complete"`
		Noise            float64      `json:"noise"`
		Links            int          `json:"links"`
		UnreadLinks      int          `json:"unread_links"`
		UnreadDirections int          `json:"unread_directions"`
		Suspects         []suspectRow `json:"suspects"`
		Warnings         []string     `json:"warnings"`
	}{
		"topocast/check", 1, r.Hosts, r.Pairs, r.Rounds, r.Complete, r.Noise,
		r.Links, r.UnreadLinks, r.UnreadDirections,
		[]suspectRow{},
		append([]string{}, r.Warnings...),
	}
	for _, s := range r.Suspects {
		row := suspectRow{Name: s.Name, Cable: s.Cable, Same: s.Same, Named: s.Named, P: s.P}
		for _, f := range s.Findings {
			row.Findings = append(row.Findings, findingRow{
				string(f.What), f.From, f.To,
				jsonfile.Known(f.Factor), jsonfile.Known(f.Low), jsonfile.Known(f.High), f.P, f.Readings,
			})
		}
		out.Suspects = append(out.Suspects, row)
	}
	return json.NewEncoder(w).Encode(out)
}
