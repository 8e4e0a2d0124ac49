package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/results"
)

// mostCorrected is how many links are printed; --json has all.
const mostCorrected = 100

// writeText writes for people: how well links explain the measurements, by correction and by level, and the links.
func (r *correction) writeText(w io.Writer) {
	found := r.fits[r.chosen]
	g, h := found.Graph, r.network.Reconstruction().Hierarchy
	fmt.Fprintf(w, "%s, %s; %s", words.Count(g.Hosts(), "rank"), words.Count(g.NumArcs()/2, "link"), words.Count(found.Used, "measurement"))
	if r.bytes > 0 {
		fmt.Fprintf(w, " of %s", quantity.Bytes(r.bytes))
	}
	if found.Ambiguous > 0 {
		fmt.Fprintf(w, "; %d left out, which may have gone either of two ways", found.Ambiguous)
	}
	fmt.Fprint(w, "\n\n")

	t := columns.New(w, "taken out", "R2", "median residual", "")
	for way, f := range r.fits {
		if f != nil {
			mark := ""
			if correctionWay(way) == r.chosen {
				mark = "shown below"
			}
			t.Row(forwardings()[way], ratio(f.Fit.R2), quantity.Percent(f.Fit.Residual), mark)
		}
	}
	t.Flush()
	fmt.Fprintln(w)
	if levels := found.Fit.Levels; len(levels) > 1 {
		t = columns.New(w, "level", "median residual")
		for i, residual := range levels {
			t.Row(h.LevelName(i), quantity.Percent(residual))
		}
		t.Flush()
		fmt.Fprintln(w)
	}
	t = columns.New(w, "link", "before", "latency", "")
	for _, l := range r.links() {
		note := ""
		if !l.Determined {
			note = "only sums with others are known"
		}
		t.Row(l.Ends[0]+" - "+l.Ends[1], quantity.Seconds(jsonfile.Value(l.Before)), quantity.Seconds(l.Latency), note)
	}
	t.FlushFirst(mostCorrected)
	writeWarnings(w, "", r.warnings)
}

// links are those of the fit, by their vertices.
func (r *correction) links() []results.CorrectedLink {
	found := r.fits[r.chosen]
	links := []results.CorrectedLink{}
	for _, x := range linksOf(found.Graph) {
		i, a := x.there, found.Graph.Arcs()[x.there]
		links = append(links, results.CorrectedLink{
			Ends: [2]string{r.names[a.From], r.names[a.To]}, Vertices: [2]int{a.From, a.To},
			Before: jsonfile.Known(r.network.Graph().Arcs()[i].Latency), Latency: a.Latency,
			Determined: !slices.Contains(found.Undetermined, i),
		})
	}
	return links
}

// result is the same for programs.
func (r *correction) result() *results.Correction {
	found := r.fits[r.chosen]
	out := &results.Correction{
		Bytes: r.bytes, Forwarding: forwardings()[r.chosen],
		Used: found.Used, Ambiguous: found.Ambiguous, Links: r.links(), Warnings: list(r.warnings), Levels: []results.LevelFit{},
	}
	for way, f := range r.fits {
		if f != nil {
			out.Fits = append(out.Fits, results.Fit{Forwarding: forwardings()[way], R2: jsonfile.Known(f.Fit.R2), Residual: jsonfile.Known(f.Fit.Residual)})
		}
	}
	for i, residual := range found.Fit.Levels {
		out.Levels = append(out.Levels, results.LevelFit{Name: r.network.Reconstruction().Hierarchy.LevelName(i), Residual: jsonfile.Known(residual)})
	}
	return out
}
