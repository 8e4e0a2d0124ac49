package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/spanner"
)

// reconstruct applies the method: greedy to each message length that was measured, others to the shortest.
func (l *latencies) reconstruct(r topology.Reconstructor) (*topology.Result, error) {
	greedy, ok := r.(*spanner.GreedyCycle)
	if !ok || l.measured == nil || len(l.measured.Sizes) < 2 {
		found, err := r.Reconstruct(l.directed(r)...)
		if err != nil {
			return nil, err
		}
		if l.view.Distance == plogp.OneWay {
			return l.direct(found)
		}
		timed, err := cluster.Timed(found.Hierarchy, l.times) // other distances are no latencies, and profiles have no unit
		if err == nil {
			timed.Warnings = append(found.Warnings, timed.Warnings...)
		}
		return timed, err
	}
	var sizes []spanner.Sized
	for i, bytes := range l.measured.Sizes {
		var repetitions []mat.Matrix
		for k := range l.measured.Repetitions {
			m, err := l.measured.Matrix(measure.LowerQuartile, k, i)
			if err != nil {
				return nil, err
			}
			repetitions = append(repetitions, m)
		}
		if l.directions != nil {
			repetitions = l.directions.Split(repetitions)
		}
		sizes = append(sizes, spanner.Sized{Bytes: int64(bytes), Repetitions: repetitions})
	}
	return greedy.ReconstructSizes(sizes...)
}

// printMerged lists the channels of a result that was merged of several message lengths, up to
// maxChannels, with the lengths that have the one direction and the other.
func printMerged(w io.Writer, r *topology.Result) error {
	if len(r.Local) == 0 {
		return nil
	}
	const maxChannels = 100
	channels, err := r.Channels()
	if err != nil {
		return err
	}
	var sizes []string
	for _, local := range r.Local {
		sizes = append(sizes, quantity.Bytes(local.Bytes))
	}
	fmt.Fprintf(w, "\nmerged of messages of %s; a letter per length: f forward, b back, d duplex\n\n", strings.Join(sizes, ", "))
	t := columns.New(w, "channel", "length", "forward", "back", "lengths")
	for i, c := range channels {
		if i == maxChannels {
			break
		}
		t.Row(fmt.Sprintf("%d - %d", c.U, c.V), fmt.Sprintf("%.3g", c.Length),
			fraction(probability(r.Graph, c.U, c.V)), fraction(probability(r.Graph, c.V, c.U)), presence(r.Local, c.U, c.V))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(channels) - maxChannels; more > 0 {
		fmt.Fprintf(w, "and %d more; --json lists all\n", more)
	}
	return nil
}

func probability(g *topology.Graph, from, to int) float64 {
	if i := g.ArcIndex(from, to); i >= 0 {
		return g.Arcs()[i].Probability
	}
	return 0
}

// presence has a letter per message length: which directions between u and v were found.
func presence(local []topology.LocalTopology, u, v int) string {
	var letters strings.Builder
	for _, l := range local {
		has := func(from, to int) bool {
			_, found := slices.BinarySearchFunc(l.Arcs, [2]int{from, to}, func(a topology.Arc, want [2]int) int {
				return slices.Compare([]int{a.From, a.To}, want[:])
			})
			return found
		}
		switch there, back := has(u, v), has(v, u); {
		case there && back:
			letters.WriteByte('d')
		case there:
			letters.WriteByte('f')
		case back:
			letters.WriteByte('b')
		default:
			letters.WriteByte('-')
		}
	}
	return letters.String()
}
