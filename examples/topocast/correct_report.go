package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// mostCorrected is how many links are printed; --json has all.
const mostCorrected = 100

// writeText writes for people: how well links explain the readings, by correction and by level, and the links.
func (r *correction) writeText(w io.Writer) error {
	found := r.fits[r.chosen]
	g, h := found.Graph, r.network.ReportedHierarchy()
	fmt.Fprintf(w, "%s, %s; %s", words.Count(g.Hosts(), "rank"), words.Count(g.NumArcs()/2, "link"), words.Count(found.Used, "measurement"))
	if r.bytes > 0 {
		fmt.Fprintf(w, " of %s", quantity.Bytes(r.bytes))
	}
	if found.Ambiguous > 0 {
		fmt.Fprintf(w, "; %d left out, which may have gone either of two ways", found.Ambiguous)
	}
	fmt.Fprint(w, "\n\n")

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "taken out\tR2\tmedian residual\t")
	for way, f := range r.fits {
		if f != nil {
			mark := ""
			if correctionWay(way) == r.chosen {
				mark = "shown below"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", forwardings()[way], ratio(f.Fit.R2), quantity.Percent(f.Fit.Residual), mark)
		}
	}
	fmt.Fprintln(t)
	if levels := found.Fit.Levels; len(levels) > 1 {
		fmt.Fprintln(t, "level\tmedian residual")
		for i, l := range levels {
			fmt.Fprintf(t, "%s\t%s\n", h.LevelName(i), quantity.Percent(l.Residual))
		}
		fmt.Fprintln(t)
	}
	t.Flush()

	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "link\tbefore\tlatency\t")
	links := r.links()
	for i, l := range links {
		if i == mostCorrected {
			break
		}
		note := ""
		if !l.Determined {
			note = "only sums with others are known"
		}
		fmt.Fprintf(t, "%s - %s\t%s\t%s\t%s\n", l.Ends[0], l.Ends[1], quantity.Seconds(jsonfile.Value(l.Before)), quantity.Seconds(l.Latency), note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(links) - mostCorrected; more > 0 {
		fmt.Fprintf(w, "and %d more; --json lists all\n", more)
	}
	for _, warning := range r.warnings {
		if _, err := fmt.Fprintf(w, "warning: %s\n", warning); err != nil {
			return err
		}
	}
	return nil
}

// A correctedLink is a link of the wiring; both its directions have one latency.
type correctedLink struct {
	Ends       [2]string `json:"ends"`
	Vertices   [2]int    `json:"vertices"`
	Before     *float64  `json:"before_s"` // null: not known
	Latency    float64   `json:"latency_s"`
	Determined bool      `json:"determined"` // false: the readings give only sums with others
}

// links are those of the fit, by their vertices.
func (r *correction) links() []correctedLink {
	found := r.fits[r.chosen]
	links := []correctedLink{}
	for i, a := range found.Graph.Arcs() {
		if a.To < a.From && found.Graph.ArcIndex(a.To, a.From) >= 0 {
			continue
		}
		links = append(links, correctedLink{
			Ends: [2]string{r.names[a.From], r.names[a.To]}, Vertices: [2]int{a.From, a.To},
			Before: jsonfile.Known(r.network.Graph().Arcs()[i].Latency), Latency: a.Latency,
			Determined: !slices.Contains(found.Undetermined, i),
		})
	}
	return links
}

// writeJSON writes the same for programs.
func (r *correction) writeJSON(w io.Writer) error {
	type quality struct {
		Forwarding string   `json:"forwarding"`
		R2         *float64 `json:"r2"`              // null: not known
		Residual   *float64 `json:"median_residual"` // a share
	}
	type level struct {
		Name     string   `json:"name"`
		Residual *float64 `json:"median_residual"`
	}
	found := r.fits[r.chosen]
	out := struct {
		Format     string          `json:"format"`
		Version    int             `json:"version"`
		Bytes      int64           `json:"bytes"`
		Forwarding string          `json:"forwarding"`
		Used       int             `json:"readings"`
		Ambiguous  int             `json:"readings_left_out"`
		Fits       []quality       `json:"fits"`
		Levels     []level         `json:"levels"`
		Links      []correctedLink `json:"links"`
		Warnings   []string        `json:"warnings"`
	}{
		Format: "topocast/correction", Version: 1, Bytes: r.bytes, Forwarding: forwardings()[r.chosen],
		Used: found.Used, Ambiguous: found.Ambiguous, Links: r.links(), Warnings: list(r.warnings), Levels: []level{},
	}
	for way, f := range r.fits {
		if f != nil {
			out.Fits = append(out.Fits, quality{forwardings()[way], jsonfile.Known(f.Fit.R2), jsonfile.Known(f.Fit.Residual)})
		}
	}
	for i, l := range found.Fit.Levels {
		out.Levels = append(out.Levels, level{r.network.ReportedHierarchy().LevelName(i), jsonfile.Known(l.Residual)})
	}
	return json.NewEncoder(w).Encode(out)
}
