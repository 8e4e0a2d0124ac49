package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/latencyfit"
)

func correctCommand(shared *cli.Flags) *cobra.Command {
	var (
		r           correction
		unit        encode.Unit
		repetitions []string
		output      *cli.Output
	)
	c := &cobra.Command{
		Use:   "correct NET MEASUREMENTS",
		Short: "Work out the latencies of single links by regression",
		Long: `Correct works out how long each link of a network takes, which mostly cannot be measured
by itself: of all latencies of links those are chosen whose sums along the paths explain the
measurements best (Bufe 2014, section 2.4). Before, the time that the message's bytes take is taken
out, at the bandwidths of NET: over the slowest link of the path where switches cut through, or
over each of its links where they store a message and forward it.

` + wantNetworkFile("NET") + `
MEASUREMENTS is a file of topocast measure, or a matrix as reconstruct reads it, of the
same ranks: in any order if both sides name them, else in the same one. With several repetitions the
median of each pair counts.

It prints how well the links explain the measurements: R2, which is high for wrong wirings too,
and the median residual of each level, which is not; beside them those of the other corrections. Links of
which the measurements determine only sums with others are marked: of a switch with two links, of two
hosts alone on a switch, of rings with an even number of pairs. --output keeps the network with
the latencies found, without a table of broadcasts, which rests on others.`,
		Example: `  topocast network correct network.json readings.json
  topocast network correct --forwarding store-and-forward --bytes 1KiB \
      --unit us -o corrected.json wiring.tgf latencies.csv`,
		Args: cli.Args(0, wantNetwork, "MEASUREMENTS, of topocast measure or a matrix of latencies"),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := readAllLatencies(append([]string{args[1]}, repetitions...), unit, nil)
			if err != nil {
				return err
			}
			if r.network, err = cli.LoadNetwork(nil, args[0], l.distinctNames()...); err != nil {
				return err
			}
			if err := r.readSize(c.Flags().Changed("bytes"), l); err != nil {
				return err
			}
			if err := r.fit(l); err != nil {
				return cli.BadInput("%s: %w", args[1], err)
			}
			if output.Path != "" {
				corrected, err := r.corrected()
				if err != nil {
					return cli.BadInput("%w", err)
				}
				if _, err := output.Save(corrected.Write); err != nil {
					return err
				}
			}
			return show(c, shared, r.writeText, r.result())
		},
	}
	f := c.Flags()
	cli.Choice(f, &r.chosen, "forwarding", forwardings(), "what switches do with a message: "+words.Or(forwardings()))
	cli.Parse(f, &r.bytes, "bytes", "", "size of the messages, such as "+cli.SizeForms+"; default: of measurements the smallest", cli.ParseSize)
	f.BoolVar(&r.plain, "plain", false, "least squares as they are: measurements far off pull as hard as they can")
	unitFlag(f, &unit, "unit of a matrix: s, ms, us or ns")
	f.StringSliceVar(&repetitions, "reps", nil, "files of further repetitions, by commas")
	output = shared.Output(c, "output", "o", "", "file for the network with these latencies")
	return cli.PrintsJSON(c, "topocast/correction")
}

// A correctionWay is what is taken out of a measurement before links are fitted.
type correctionWay int

const (
	cutThrough correctionWay = iota
	storeAndForward
	uncorrected
	correctionWays
)

// forwardings are the values of --forwarding, by correctionWay.
func forwardings() []string { return []string{"cut-through", "store-and-forward", "none"} }

// A correction is what the command prints.
type correction struct {
	network *model.Network
	bytes   int64
	chosen  correctionWay
	plain   bool

	names    []string // of vertices
	fits     [correctionWays]*latencyfit.Result
	warnings []string
}

// readSize says of how many bytes the measurements are, by default the smallest that were measured, and keeps these alone.
func (r *correction) readSize(given bool, l *latencies) error {
	if l.measured == nil {
		if !given && r.chosen != uncorrected {
			r.warnings = append(r.warnings, "nothing is taken out for the messages' size: --bytes says it")
		}
		return nil
	}
	sizes := l.measured.Sizes
	if !given {
		r.bytes = int64(slices.Min(sizes)) // which the matrices are of
		return nil
	}
	size := slices.Index(sizes, int(r.bytes))
	if size < 0 {
		return cli.BadInput("--bytes: %d: want one of those that were measured, %s", r.bytes, words.Or(sizes))
	}
	var err error
	l.matrices, err = l.ofSize(size)
	return err
}

// fit fits the links in all ways that make a difference.
func (r *correction) fit(l *latencies) error {
	n := r.network
	r.warnings = append(r.warnings, l.warnings...)
	g, err := n.NameHosts(n.Graph())
	if err != nil {
		return err
	}
	if rows, _ := l.matrices[0].Dims(); rows != g.Hosts() {
		return fmt.Errorf("the measurements are of %s, the network of %d", words.Count(rows, "rank"), g.Hosts())
	}
	at, _, err := l.rowsOf(hostNames(g))
	if err != nil {
		return fmt.Errorf("a host of the network is not in the measurements: %w", err)
	}
	r.names = vertexNames(g)
	median := stats.MedianCells(l.matrices)
	measured := mat.DenseCopyOf(selected{median, at})
	unknown := unknownRates(g)
	if unknown > 0 && r.bytes > 0 && r.chosen != uncorrected {
		r.warnings = append(r.warnings, fmt.Sprintf("the bandwidths of %d of %d directions of links are not known: nothing is taken out for them", unknown, g.NumArcs()))
	}
	for way := range correctionWays {
		if way != r.chosen && (r.bytes == 0 || unknown == g.NumArcs()) {
			continue // the same once more
		}
		s := &latencyfit.Settings{Bytes: float64(r.bytes), StoreAndForward: way == storeAndForward, Plain: r.plain}
		if way == uncorrected {
			s.Bytes = 0
		}
		if r.fits[way], err = latencyfit.Latencies(g, n.Reconstruction().Hierarchy, measured, s); err != nil {
			return err
		}
	}
	r.warnings = append(r.warnings, r.fits[r.chosen].Warnings...)
	return nil
}

// corrected is the network with the latencies that were found.
func (r *correction) corrected() (*model.Network, error) {
	found, was := r.fits[r.chosen], r.network.Measured()
	links := slices.Clone(found.Graph.Arcs())
	for i := range links {
		links[i].Bandwidth = math.NaN() // stays
	}
	notes := map[string]string{}
	maps.Copy(notes, was.Notes)
	notes["latencies of links"] = fmt.Sprintf("by regression (%s, %s), R2 %s", forwardings()[r.chosen], quantity.Bytes(r.bytes), decimal(found.Fit.R2, 4))
	was.Notes = notes
	return fit.Update(r.network, &fit.Remeasurement{Links: links, Warnings: r.warnings, Measured: was})
}

// rowsOf finds the row of each rank by the name of its host, and says how. Where one side names no hosts, rows are
// in the order of the ranks.
func (l *latencies) rowsOf(hosts []string) (rows []int, how string, err error) {
	names := l.hostNames()
	if names == nil || len(hosts) == 0 {
		ranks, _ := l.matrices[0].Dims()
		return inOrder(ranks), "in the order of the network's ranks, as names are not known", nil
	}
	names, how = hostlist.Renamed(names, hosts)
	rows, err = hostlist.Rows(hosts, names)
	return rows, cmp.Or(how, "matched by name"), err
}

// distinctNames are the names of the rows if no two are the same; nil: not known.
func (l *latencies) distinctNames() []string {
	names := l.hostNames()
	if slices.Contains(names, "") || len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names) {
		return nil
	}
	return names
}

// unknownRates is how many arcs of a graph have no bandwidth.
func unknownRates(g *topology.Graph) int {
	return count(g.Arcs(), func(a topology.Arc) bool { return math.IsNaN(a.Bandwidth) })
}

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
			t.Row(forwardings()[way], decimal(f.Fit.R2, 4), quantity.Percent(f.Fit.Residual), mark)
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
