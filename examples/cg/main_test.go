package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// small returns the options of a small job. rows 0 leaves the grid to the program.
func small(rows, cols int, out *strings.Builder) *options {
	o := &options{n: 23, tolerance: 1e-11, Options: gridjob.Options{Repeat: 1, Rate: 1e9, Ranks: 1, Out: out}}
	if rows > 0 {
		o.Grid = fmt.Sprintf("%dx%d", rows, cols)
	}
	return o
}

// Each run compares its result with the known solution.
func TestPlateIsSolvedOnAnyGrid(t *testing.T) {
	for _, grid := range [][2]int{{1, 1}, {1, 3}, {2, 2}, {3, 2}} {
		for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
			var out strings.Builder
			err := local.Run(grid[0]*grid[1], &local.Settings{Mode: mode}, func(comm mpi.Communicator) error {
				return work(comm, small(grid[0], grid[1], &out))
			})
			if err != nil {
				t.Errorf("grid %v: %v", grid, err)
			}
			if !strings.Contains(out.String(), "there is no -network") {
				t.Errorf("grid %v: nothing can be predicted, but\n%s", grid, out.String())
			}
		}
	}
}

// Five racks of three hosts are simulated, with a grid of 3 x 5 ranks. By columns each column of the grid is a rack, and edges between
// rows stay inside racks. By rows these edges cross racks, so that the exchange of edges takes longer, as predicted.
func TestOrderOfRanksIsPredicted(t *testing.T) {
	var out strings.Builder
	o := &options{n: 30, tolerance: 1e-6, Options: gridjob.Options{
		Grid: "3x5", Sim: "tree:5x3 latency=20us,2us rate=1Gbps,10Gbps", Repeat: 1, Rate: 1e9, Out: &out,
	}}
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	type times struct{ iterations, total, edges, allreduce, computation, predicted float64 }
	found := make(map[string]times)
	for _, l := range strings.Split(out.String(), "\n") {
		if len(l) > 80 {
			t.Errorf("line of %d columns: %s", len(l), l)
		}
		const name, numbers = len("by rows along the wiring"), 6
		if words := strings.Fields(l); len(words) > numbers && words[0] == "by" {
			var x times
			if _, err := fmt.Sscan(l[name:], &x.iterations, &x.total, &x.edges, &x.allreduce, &x.computation, &x.predicted); err != nil {
				t.Errorf("%q: %v", l, err)
			}
			found[strings.TrimSpace(l[:name])] = x
		}
	}
	rows, cols := found["by rows along the wiring"], found["by cols along the wiring"]
	if !(cols.predicted < rows.predicted) || !(cols.total < rows.total) || !strings.Contains(out.String(), "along the wiring by cols, right") {
		t.Errorf("columns in racks are not faster, or were not predicted to be, in\n%s", out.String())
	}
	if cols.iterations != rows.iterations || !(cols.allreduce > 0) {
		t.Errorf("the orders do not do the same work in\n%s", out.String())
	}
}

// Two rows and two columns of ranks on 5 x 5 points: edges of 2 and 3 points, 8 bytes each.
func TestTrafficIsThatOfTheEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.csv")
	if err := newPlate(0, 5, gridjob.Grid{Rows: 2, Cols: 2, ByRows: true}).writeTraffic(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if want := "0,16,16,0\n16,0,0,24\n16,0,0,24\n0,24,24,0\n"; err != nil || string(text) != want {
		t.Errorf("traffic\n%s, %v, want\n%s", text, err, want)
	}
}

func TestWrongOptions(t *testing.T) {
	var out strings.Builder
	for _, x := range []struct {
		o               *options
		grid, file, sim string
		want            string
	}{
		{small(0, 0, &out), "2*8", "", "star:4", "want rows and columns"},
		{small(0, 0, &out), "2x3", "", "star:4", "grid of 2 x 3: want one of 4 ranks"},
		{small(0, 0, &out), "", "there-is-none.json", "", "there-is-none.json"},
		{small(0, 0, &out), "", "there-is-none.json", "star:4", "there-is-none.json"},
		{small(0, 0, &out), "", "", "star", "no cluster such as"},
		{&options{n: 1, tolerance: 1, Options: gridjob.Options{Repeat: 1, Rate: 1, Out: &out}}, "", "", "star:4", "1 points, 1 times, tolerance 1, 1 flop/s: want at least 2"},
		{&options{n: 9, tolerance: 1e-300, Options: gridjob.Options{Repeat: 1, Rate: 1e9, Out: &out}}, "", "", "star:4", "no solution after 90 iterations"},
	} {
		x.o.Grid, x.o.File, x.o.Sim = x.grid, x.file, x.sim
		if err := x.o.start(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("grid %q, file %q, simulated %q: error %v, want %q", x.grid, x.file, x.sim, err, x.want)
		}
	}
}
