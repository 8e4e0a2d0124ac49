//go:build linux

package labtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A castCell is a row with where it was measured. Jobs append theirs to a file, of which
// the tables are made.
type castCell struct {
	Cluster string  `json:"cluster"`
	MPI     string  `json:"mpi"`
	Order   string  `json:"order"`   // of the ranks
	Forced  string  `json:"forced"`  // what the library was forced to; "": its default
	Bound   float64 `json:"bound_s"` // least time, without software

	Allreduce bool `json:"allreduce,omitempty"` // a broadcast otherwise

	castRow
}

// name of what is measured: cells of one name are merged.
func (c *castCell) name() string {
	if c.Allreduce {
		return fmt.Sprintf("%s %s %s allreduce %s", c.Cluster, c.MPI, c.Order, quantity.Bytes(c.Bytes))
	}
	return fmt.Sprintf("%s %s %s root %d %s", c.Cluster, c.MPI, c.Order, c.Root, quantity.Bytes(c.Bytes))
}

// castBound is the least time in s in which all hosts can have the bytes of a root: each of
// the links to the farthest host delays the first bit, and all bits pass the slowest of the
// links which have to be crossed.
func castBound(c *netlab.Cluster, root, bytes int) (float64, error) {
	routes, err := topology.NewRoutes(c.Graph, c.Routing)
	if err != nil {
		return 0, err
	}
	farthest, slowest := 0.0, math.Inf(1)
	for dst := range c.Graph.Hosts() {
		if dst == root {
			continue
		}
		path, err := routes.AppendRoute(nil, root, dst)
		if err != nil {
			return 0, err
		}
		latency := 0.0
		for _, i := range path {
			arc := c.Graph.Arcs()[i]
			latency += arc.Latency
			slowest = min(slowest, arc.Bandwidth)
		}
		farthest = max(farthest, latency)
	}
	return farthest + float64(bytes)/slowest, nil
}

// allreduceBound is the least time in s of an Allreduce. The values of each host have to reach all others. And however
// values are combined, each of them crosses the borders of k groups of hosts 2 (k - 1) times: k - 1 times until those of all groups are in
// one sum, and k - 1 times until that is in all groups.
func allreduceBound(c *netlab.Cluster, bytes int) (bound float64, err error) {
	for root := range c.Graph.Hosts() {
		x, err := castBound(c, root, bytes)
		if err != nil {
			return 0, err
		}
		bound = max(bound, x)
	}
	hosts, racks, above := 0.0, 0.0, make(map[int]bool) // B/s out of all hosts, and out of the switches above them
	for _, a := range c.Graph.Arcs() {
		if a.From < c.Graph.Hosts() {
			hosts += a.Bandwidth
			above[a.To] = true
		}
	}
	for _, a := range c.Graph.Arcs() {
		if above[a.From] && a.To >= c.Graph.Hosts() {
			racks += a.Bandwidth
		}
	}
	crossing := func(groups int, out float64) float64 { return 2 * float64(groups-1) * float64(bytes) / out }
	return max(bound, crossing(c.Graph.Hosts(), hosts), crossing(len(above), racks)), nil
}

// The files of a directory of figures.
const castFile = "cells.jsonl"

func appendCells(dir string, cells []castCell) error {
	f, err := os.OpenFile(filepath.Join(dir, castFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	for i := range cells {
		if err := e.Encode(&cells[i]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// readCells reads the cells of all runs into a directory and merges those of one name and
// one forcing, in the order of their first appearance.
func readCells(dir string) ([]castCell, error) {
	f, err := os.Open(filepath.Join(dir, castFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cells []castCell
	at := make(map[string]int)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c castCell
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, err
		}
		key := c.name() + " " + c.Forced
		i, known := at[key]
		if !known {
			at[key] = len(cells)
			cells = append(cells, c)
			continue
		}
		old := &cells[i]
		old.Ours, old.Native = append(old.Ours, c.Ours...), append(old.Native, c.Native...)
		old.Reproducible = append(old.Reproducible, c.Reproducible...)
		old.Wrong += c.Wrong
		old.Plan, old.Tune = c.Plan, c.Tune
	}
	return cells, lines.Err()
}

// ratio is the median of ours / native, round by round, and its 95 % interval: NaN if there
// are too few.
func (c *castCell) ratio() (median, low, high float64) { return ratio(c.Ours, c.Native) }

func ratio(a, b []float64) (median, low, high float64) {
	ratios := make([]float64, len(a))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	low, high, _ = stats.MedianInterval(ratios, 0.95)
	return stats.MiddleMedian(ratios), low, high
}

// slower tells whether ours is slower than native beyond doubt: by more than 3 %, with 95 %.
func (c *castCell) slower() bool {
	_, low, _ := c.ratio()
	return low > 1/0.97
}

// line describes the cell.
func (c *castCell) line() string {
	median, low, high := c.ratio()
	ours, native := stats.MiddleMedian(c.Ours), stats.MiddleMedian(c.Native)
	line := fmt.Sprintf("%s: ours %s (%.2f of the bound), native %s (%.2f), ours / native %.3f [%.3f, %.3f], %d rounds, tuned in %s: %s", c.name(),
		quantity.Seconds(ours), ours/c.Bound, quantity.Seconds(native), native/c.Bound, median, low, high, len(c.Native), quantity.Seconds(c.Tune), c.Plan)
	if len(c.Reproducible) > 0 {
		median, low, high := ratio(c.Reproducible, c.Ours)
		line += fmt.Sprintf("; reproducible %s, reproducible / ours %.3f [%.3f, %.3f]", quantity.Seconds(stats.MiddleMedian(c.Reproducible)), median, low, high)
	}
	return line
}

func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// writeTable writes gain, ours / bound and native / bound, geometric means over clusters and
// roots, and then the cells in which ours is slower.
func writeTable(w io.Writer, all []castCell) error {
	var cells []castCell // of the libraries' defaults
	for _, c := range all {
		if c.Forced == "" && len(c.Ours) > 0 {
			cells = append(cells, c)
		}
	}
	sizes := make([]int, 0, 8)
	for _, c := range cells {
		if !slices.Contains(sizes, c.Bytes) {
			sizes = append(sizes, c.Bytes)
		}
	}
	slices.Sort(sizes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "gain (ours / bound, native / bound)")
	for _, s := range sizes {
		fmt.Fprintf(t, "\t%s", quantity.Bytes(s))
	}
	fmt.Fprintln(t)
	for _, mpi := range []string{netlab.OpenMPI, netlab.MPICH} {
		for _, order := range append(castOrders(), "all orders") {
			fmt.Fprintf(t, "%s %s", mpi, order)
			for _, s := range sizes {
				fmt.Fprint(t, "\t", summary(cells, func(c *castCell) bool {
					return c.MPI == mpi && c.Bytes == s && (c.Order == order || order == "all orders")
				}))
			}
			fmt.Fprintln(t)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	slower, wrong, few := 0, 0, 0
	for i := range cells {
		c := &cells[i]
		median, low, high := c.ratio()
		if math.IsNaN(low) {
			few++
		}
		if c.slower() {
			slower++
			fmt.Fprintf(w, "SLOWER: %s: ours / native %.3f [%.3f, %.3f], %d rounds: %s\n", c.name(), median, low, high, len(c.Ours), c.Plan)
		}
		if c.Wrong > 0 {
			wrong++
			fmt.Fprintf(w, "WRONG: %s: %d broadcasts\n", c.name(), c.Wrong)
		}
	}
	_, err := fmt.Fprintf(w, "%d cells: %d slower than native, %d with wrong bytes, %d with too few rounds to tell\n", len(cells), slower, wrong, few)
	return err
}

// summary is a field of the table.
func summary(cells []castCell, of func(c *castCell) bool) string {
	var gain, ours, native []float64
	for i := range cells {
		c := &cells[i]
		if !of(c) {
			continue
		}
		r, _, _ := c.ratio()
		gain = append(gain, 1/r)
		ours = append(ours, stats.MiddleMedian(c.Ours)/c.Bound)
		native = append(native, stats.MiddleMedian(c.Native)/c.Bound)
	}
	if len(gain) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f, %.2f)", geometricMean(gain), geometricMean(ours), geometricMean(native))
}

// TestCastBound: of two racks with uplinks of 10 MB/s the farthest host is 0.6 ms away, and
// 1 MB takes 100 ms; with one rack that has one host, and this the root, the uplinks count as well.
func TestCastBound(t *testing.T) {
	c, err := netlab.DecodeCluster(strings.NewReader(`{"format":"topocast/netlab","version":1,"spec":"tree:[1,3] latency=200us,100us rate=80Mbps,160Mbps"}`), "", "x")
	if err != nil {
		t.Fatal(err)
	}
	for root := range 4 {
		// NIC 100 us, uplink 200 us, uplink 200 us, NIC 100 us.
		got, err := castBound(c, root, 1e6)
		if want := 600e-6 + 0.1; err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("castBound(root %d) = %g, %v, want %g", root, got, err, want)
		}
	}
}

// TestAllreduceBound: 1 MB takes 80 ms over an uplink of two racks, and 0.6 ms of latency. Over those of three racks it takes 2 * 2 MB at
// 3 * 12.5 MB/s, 106.7 ms.
func TestAllreduceBound(t *testing.T) {
	for spec, want := range map[string]float64{"tree:2x4": 80.6e-3, "tree:[2,5,5]": 4e6 / 37.5e6} {
		c, err := netlab.DecodeCluster(strings.NewReader(fmt.Sprintf(`{"format":"topocast/netlab","version":1,"spec":"%s latency=200us,100us rate=100Mbps,200Mbps"}`, spec)), "", "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := allreduceBound(c, 1e6); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s, %v, want %g", spec, got, err, want)
		}
	}
}

func TestCellsOfSeveralRunsAreMerged(t *testing.T) {
	dir := t.TempDir()
	cell := func(forced string, ours, native float64) castCell {
		c := castCell{Cluster: "x", MPI: netlab.MPICH, Order: "block", Forced: forced, Bound: 1, castRow: castRow{Bytes: 8, Wrong: 1}}
		for range 4 {
			c.Ours, c.Native = append(c.Ours, ours), append(c.Native, native)
		}
		return c
	}
	for _, c := range []castCell{cell("", 2, 4), cell("chain", 1, 1), cell("", 2, 4)} {
		if err := appendCells(dir, []castCell{c}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readCells(dir)
	if err != nil || len(got) != 2 || len(got[0].Ours) != 8 || len(got[0].Native) != 8 || got[0].Wrong != 2 || got[1].Forced != "chain" {
		t.Fatalf("cells = %+v, %v", got, err)
	}
	var table strings.Builder
	if err := writeTable(&table, got[:1]); err != nil {
		t.Fatal(err)
	}
	// Twice as fast as native, which takes four times the bound.
	for _, want := range []string{"2.00 (2.00, 4.00)", "WRONG: x mpich block root 0 8 B: 2 broadcasts", "1 cells: 0 slower than native, 1 with wrong bytes, 0 with too few"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("table %s, want it to contain %q", &table, want)
		}
	}
}

// TestSlower: the median of 51 rounds lies from the 19th to the 33rd with 95 %, as 18 or fewer of 51
// coins show heads with 2.44 %, and 19 or fewer with 4.6 %. So 33 ratios of 1.04, above
// 1/0.97 = 1.0309, are beyond doubt, and 32 are not.
func TestSlower(t *testing.T) {
	for above, want := range map[int]bool{32: false, 33: true, 51: true, 0: false} {
		c := castCell{}
		for i := range 51 {
			ours := 1.02
			if i < above {
				ours = 1.04
			}
			c.Ours, c.Native = append(c.Ours, ours), append(c.Native, 1)
		}
		if got := c.slower(); got != want {
			t.Errorf("%d of 51 rounds above: slower = %v, want %v", above, got, want)
		}
	}
}
