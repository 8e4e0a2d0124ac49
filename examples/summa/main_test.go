package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// small returns the options of a small job, whose panels do not divide the matrix. Rank 0 compares the result with gonum's.
func small(rows, cols int, trsm bool, out *strings.Builder) *options {
	o := &options{n: 29, panel: 6, trsm: trsm, budget: time.Millisecond, Options: gridjob.Options{Repeat: 1, Rate: 1e9, Ranks: 1, Out: out}}
	if rows > 0 {
		o.Grid = fmt.Sprintf("%dx%d", rows, cols)
	}
	return o
}

func TestResultsAreGonums(t *testing.T) {
	for _, grid := range [][2]int{{1, 1}, {1, 3}, {2, 2}, {3, 2}} {
		for _, trsm := range []bool{false, true} {
			var out strings.Builder
			err := local.Run(grid[0]*grid[1], &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
				return work(comm, small(grid[0], grid[1], trsm, &out))
			})
			if err != nil {
				t.Errorf("grid %v, trsm %v: %v", grid, trsm, err)
			}
			if !strings.Contains(out.String(), "native") {
				t.Errorf("no line of the native broadcast in\n%s", out.String())
			}
		}
	}
}

// table returns the times in ms of each line, by order and broadcast.
func table(t *testing.T, out string) map[string][5]float64 {
	t.Helper()
	found := make(map[string][5]float64)
	for _, l := range strings.Split(out, "\n") {
		if len(l) > 80 {
			t.Errorf("line of %d columns: %s", len(l), l)
		}
		words := strings.Fields(l)
		if at := len(words) - 5; at > 2 && words[0] == "by" {
			var x [5]float64
			if _, err := fmt.Sscan(strings.Join(words[at:], " "), &x[0], &x[1], &x[2], &x[3], &x[4]); err != nil {
				t.Errorf("%q: %v", l, err)
			}
			found[strings.Join(words[:2], " ")+", "+strings.Join(words[2:at], " ")] = x
		}
	}
	return found
}

// Two racks are simulated, whose uplink has a tenth of the bandwidth of the links of hosts, with a grid of 2 x 8 ranks. By rows each row of
// the grid is one rack. By columns each row has ranks of both racks in turn, and its binomial tree crosses the uplink in every
// round. So communication takes longer, as predicted, and topology-aware broadcasts lose less. With overlap the next panels
// travel during products. X U = B sends more along rows (Servet 3.0, section 6.1).
func TestOrderOfRanksIsPredicted(t *testing.T) {
	said := regexp.MustCompile("(?m)^  binomial +by rows, right$")
	const racks = "tree:2x8 latency=20us,2us rate=1Gbps,10Gbps"
	for _, trsm := range []bool{false, true} {
		var out strings.Builder
		o := &options{n: 128, panel: 16, trsm: trsm, Options: gridjob.Options{Grid: "2x8", Sim: racks, Repeat: 1, Rate: 2e8, Out: &out}}
		if err := o.start(); err != nil {
			t.Fatal(err)
		}
		times := table(t, out.String())
		const total, communication, predicted = 0, 1, 4
		rows, cols := times["by rows, binomial"], times["by cols, binomial"]
		along := times["by cols, along the wiring"]
		if !(rows[communication] < cols[communication]) || !(rows[predicted] < cols[predicted]) || !said.MatchString(out.String()) {
			t.Errorf("rows do not communicate less, or were not predicted to, in\n%s", out.String())
		}
		if !(along[communication] < cols[communication]) || !(along[predicted] > 0) {
			t.Errorf("topology-aware broadcasts are not faster in\n%s", out.String())
		}
		if hidden := times["by rows, along the wiring, overlap"]; !trsm && !(hidden[total] < times["by rows, along the wiring"][total]) {
			t.Errorf("nothing is gained by overlap in\n%s", out.String())
		}
	}
}

func TestWrongOptions(t *testing.T) {
	var out strings.Builder
	for _, x := range []struct {
		o               *options
		grid, file, sim string
		want            string
	}{
		{small(0, 0, false, &out), "2*8", "", "star:4", "want rows and columns"},
		{small(0, 0, false, &out), "2x3", "", "star:4", "grid of 2 x 3: want one of 4 ranks"},
		{small(0, 0, false, &out), "", "there-is-none.json", "", "there-is-none.json"},
		{small(0, 0, false, &out), "", "there-is-none.json", "star:4", "there-is-none.json"},
		{small(0, 0, false, &out), "", "", "star", "no cluster such as"},
		{&options{n: 1, panel: 1, Options: gridjob.Options{Repeat: 1, Rate: 1, Out: &out}}, "", "", "star:4", "order 1, panel 1, 1 times, 1 flop/s: want at least 2"},
	} {
		x.o.Grid, x.o.File, x.o.Sim = x.grid, x.file, x.sim
		if err := x.o.start(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("grid %q, file %q, simulated %q: error %v, want %q", x.grid, x.file, x.sim, err, x.want)
		}
	}
}
