package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
)

func reportCommand(shared *cli.Flags) *cobra.Command {
	var measurements, specification string
	var output *cli.Output
	c := &cobra.Command{
		Use:   "report NET",
		Short: "Make an HTML page of a network: wiring to turn, times, doubts",
		Long: `Report writes one HTML page that any browser opens and that needs no network: the
wiring to move and zoom (rings, tori and meshes in three dimensions), with what is known of each link; the
latencies of all pairs; groups, links and warnings; and how it was measured. NET is
a network of topocast discover, or a platform file. Where topocast reconstruct merged it
of several message lengths, sliders hide what is less probable or another length's.

Latencies are those that the network keeps, or with --measurements those of a file of
topocast measure or a matrix, of the same ranks in the same order. With
--against the page also shows that network or platform file, its links coloured
by what was measured on them, and lists what differs, as topocast compare does.`,
		Example: `  topocast report network.json
  topocast report network.json --measurements readings.json -o cluster.html
  topocast report network.json --against planned.json -o compared.html`,
		Args: cli.Args(0, wantNetwork),
		RunE: cli.OnNetwork(func(c *cobra.Command, n *model.Network, args []string) error {
			r, err := reportOf(args[0], n)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			if measurements != "" {
				if err := addMeasurements(r, n, measurements); err != nil {
					return err
				}
			}
			if specification != "" {
				if err := addSpecification(r, args[0], n, specification); err != nil {
					return err
				}
			}
			return output.SaveAndSay("page", func(w io.Writer) error { return draw.WriteReport(w, r) })
		}),
	}
	f := c.Flags()
	output = shared.Output(c, "output", "o", "report.html", "file for the page")
	f.StringVar(&measurements, "measurements", "", "file of the latencies to show, in place of those that the network keeps")
	f.StringVar(&specification, "against", "", "network or platform file to compare with")
	return c
}

// reportOf fills a report from a network alone, whose ranks are not called by their hosts only.
func reportOf(file string, n *model.Network) (*draw.Report, error) {
	var err error
	graph := n.Graph()
	noun, names := rankNames(n)
	if names != nil {
		if graph, err = graph.WithHostNames(names); err != nil {
			return nil, err
		}
	}
	r := &draw.Report{
		Noun: noun, Graph: graph, Sizes: n.Reconstruction().Local, Warnings: n.Warnings(),
		Latencies: predicted{n}, Source: "as the network predicts them, for messages of " + quantity.Bytes(n.Measured().Bytes), Bytes: n.Measured().Bytes,
	}
	if r.Noun == "rank" {
		r.Places = ranksOf(n).Places
	}
	if r.Hierarchy, err = shownGroups(n, r.Graph); err != nil {
		return nil, err
	}
	if curves := bandwidthCurves(n); len(curves) > 0 {
		rates, err := drawBySize("Bandwidth over message size", rateAxis(), curves, "Size over the time of one message between two that are joined at each level.")
		if err != nil {
			return nil, err
		}
		r.Figures = append(r.Figures, rates)
	}
	r.How = measuredSections(file, n)
	r.Tables, err = broadcastTables(n)
	return r, err
}

// predicted are the latencies that a network keeps, as a matrix.
type predicted struct{ network *model.Network }

func (p predicted) Dims() (rows, columns int) { return p.network.Ranks(), p.network.Ranks() }
func (p predicted) At(i, j int) float64       { return p.network.Time(i, j, p.network.Measured().Bytes) }
func (p predicted) T() mat.Matrix             { return mat.Transpose{Matrix: p} }

// rankNames says what the ranks are, and what to call each: the host where each has one of its
// own, and where hosts have several, the host with the core or the rank.
func rankNames(n *model.Network) (noun string, names []string) {
	hosts := n.Hosts()
	known := len(hosts) > 1 || len(hosts) == 1 && hosts[0] != ""
	if !known {
		return "host", nil
	}
	if len(hosts) == n.Ranks() {
		return "host", hostsOf(n)
	}
	for rank := range n.Ranks() {
		at := n.Location(rank)
		name := fmt.Sprintf("rank %d", rank)
		if len(hosts) > 1 {
			name = fmt.Sprintf("%s rank %d", at.Host, rank)
		}
		if at.Core >= 0 {
			name += fmt.Sprintf(" (core %d)", at.Core)
		}
		names = append(names, name)
	}
	return "rank", names
}

// hostsOf are the hosts of the ranks; none: not known.
func hostsOf(n *model.Network) []string {
	return each(n.Settings().Locations, func(at model.Location) string { return at.Host })
}

// bandwidthCurves are the predicted rates of single messages from 64 B to 16 MiB, of the levels of which the bandwidth is known.
func bandwidthCurves(n *model.Network) []draw.Series {
	var curves []draw.Series
	for i := range n.Levels() {
		l := &n.Levels()[i]
		if math.IsNaN(l.Bandwidth()) {
			continue
		}
		c := draw.Series{Name: n.Hierarchy().LevelName(i)}
		for size := int64(64); size <= 16<<20; size *= 4 {
			c.X, c.Y = append(c.X, float64(size)), append(c.Y, float64(size)/l.Time(size))
		}
		curves = append(curves, c)
	}
	return curves
}

// measuredSections say how the network was measured, and how well it explains what was.
func measuredSections(file string, n *model.Network) []draw.Table {
	m, fit := n.Measured(), n.Reconstruction().Fit
	hosts := ""
	if count := len(n.Hosts()); count > 0 {
		hosts = fmt.Sprint(count)
	}
	how := draw.Table{Title: "Network", Rows: known(
		[]string{"file", filepath.Base(file)}, []string{"ranks", fmt.Sprint(n.Ranks())}, []string{"hosts", hosts},
		[]string{"date", m.Date}, []string{"tool", m.Tool}, []string{"library", m.Library}, []string{"messages of the latencies", quantity.Bytes(m.Bytes)})}
	for _, name := range slices.Sorted(maps.Keys(m.Notes)) {
		how.Rows = append(how.Rows, []string{name, m.Notes[name]})
	}
	found := draw.Table{Title: "Reconstruction", Rows: known([]string{"family", string(fit.Family)})}
	for _, row := range []struct {
		name  string
		value float64
	}{{"variance explained (R²)", fit.R2}, {"measurement off the fit, median", fit.Residual}, {"noise of measurements", fit.Noise}, {"quadruples as in a tree", fit.TreeLikeness}} {
		if !math.IsNaN(row.value) {
			found.Rows = append(found.Rows, []string{row.name, quantity.Percent(row.value)})
		}
	}
	if len(found.Rows) == 0 {
		return []draw.Table{how}
	}
	return []draw.Table{how, found}
}

// known are the rows of a name and a value that is not empty.
func known(rows ...[]string) [][]string {
	return slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
}

// addReadings shows the latencies of a file between the network's ranks, the cells' medians where there are repetitions.
func addMeasurements(r *draw.Report, n *model.Network, path string) error {
	l, err := readAllLatencies([]string{path}, 0, nil)
	if err != nil {
		return err
	}
	hosts := hostsOf(n)
	if rows, _ := l.matrices[0].Dims(); rows != n.Ranks() && (len(hosts) == 0 || l.hostNames() == nil) {
		return cli.BadInput("--measurements: %s: holds %s, the network %d", path, words.Count(rows, "rank"), n.Ranks())
	}
	order, matched, err := l.rowsOf(hosts)
	if err != nil {
		return cli.BadInput("--measurements: %s: measured other hosts than the network has: %w", path, err)
	}
	r.Latencies, r.Source = selected{stats.MedianCells(l.matrices), order}, "as measured"
	rows := [][]string{{"file", filepath.Base(path)}, {"hosts", matched}, {"repetitions", fmt.Sprint(len(l.matrices))}}
	if m := l.measured; m != nil {
		r.Bytes = int64(slices.Min(m.Sizes))
		r.Source += ", with messages of " + quantity.Bytes(r.Bytes)
		rows = append(rows, []string{"sizes", fmt.Sprint(each(m.Sizes, quantity.Bytes[int]))}, []string{"samples of a pair", fmt.Sprint(m.Samples)}, []string{"rounds", fmt.Sprint(m.Rounds)})
		if !m.Date.IsZero() {
			rows = append(rows, []string{"date", m.Date.Format("2006-01-02 15:04:05 MST")})
		}
		if m.Stopped != "" {
			rows = append(rows, []string{"ended early by", string(m.Stopped)})
		}
	}
	for _, warning := range l.warnings {
		if !slices.Contains(r.Warnings, warning) {
			r.Warnings = append(slices.Clip(r.Warnings), warning)
		}
	}
	r.How = append(r.How, draw.Table{Title: "Measurements", Rows: rows})
	return nil
}

// selected is a matrix with some of its rows and columns, in another order.
type selected struct {
	whole mat.Matrix
	rows  []int
}

func (m selected) Dims() (rows, columns int) { return len(m.rows), len(m.rows) }
func (m selected) At(i, j int) float64       { return m.whole.At(m.rows[i], m.rows[j]) }
func (m selected) T() mat.Matrix             { return mat.Transpose{Matrix: m} }

// broadcastTables say how a broadcast from rank 0 would be performed, and what topocast bcast tune has decided.
func broadcastTables(n *model.Network) ([]draw.Table, error) {
	if n.Ranks() < 2 {
		return nil, nil
	}
	plans := draw.Table{
		Title: "Broadcasts", Note: "From rank 0, as predicted. Native MPI_Bcast stays unless one of these is measurably faster in the job.",
		Head: []string{"size", "plan", "predicted"},
	}
	fastest, err := fastestPlans(n)
	if err != nil {
		return nil, err
	}
	for i, plan := range fastest {
		plans.Rows = append(plans.Rows, []string{quantity.Bytes(plannedSizes[i]), plan.How(), quantity.Seconds(plan.Predicted)})
	}
	tables := []draw.Table{plans}
	tuned, err := table.Of(n)
	if err != nil {
		return nil, err
	}
	for _, t := range tuned.Tunings() {
		if t.Collective != "" {
			continue
		}
		found := draw.Table{
			Title: fmt.Sprintf("Tuned for %s", words.Count(t.Ranks, "rank")), Note: t.Library + ", " + t.Date,
			Head: []string{"sizes up to", "roots of class", "fastest", "its time", "MPI_Bcast"},
		}
		for _, c := range t.Cells {
			found.Rows = append(found.Rows, []string{quantity.Bytes(int(c.Bytes)), fmt.Sprint(c.RootClass), c.Algorithm, quantity.Seconds(c.Measured), quantity.Seconds(c.Native)})
		}
		tables = append(tables, found)
	}
	return tables, nil
}
