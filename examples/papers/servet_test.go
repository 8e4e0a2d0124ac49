package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
)

// TestServetOnKnownTruth: four hosts of two processors of two cores in a torus of 2 x 2. By hand: with k processes of a host, spread
// over its processors, each has the processor's 3 GB/s alone up to k = 2, and half of it with 4.
func TestServetOnKnownTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	cluster, err := crayMachine{torus: "2x2", processors: 2, cores: 2}.cluster()
	if err != nil {
		t.Fatal(err)
	}
	g := cluster.Graph
	// 4 routers in a ring, 8 processors, 16 cores.
	if g.Hosts() != 16 || g.Vertices() != 28 || g.NumArcs() != 2*(4+8+16) || !slices.Equal(cluster.Node, []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}) {
		t.Fatalf("%d hosts, %d vertices, %d arcs, nodes %v", g.Hosts(), g.Vertices(), g.NumArcs(), cluster.Node)
	}
	o := servetOptions{sizes: []int{4 << 20}, class: "W", repetitions: 1}
	r, err := o.begin(newStage(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.on(cluster, nil, func(r *servetRun) error { return r.all(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	tables := make(map[string][][]any)
	for _, s := range r.out.Sections {
		for _, table := range s.Tables {
			tables[table.Name] = table.Rows
		}
	}
	for i, want := range []float64{1, 1, 2} { // of k = 1, 2, 4
		if got := tables["figure-4"][i]; math.Abs(got[2].(float64)-want) > 0.15 {
			t.Errorf("ratio %v, want %g", got, want)
		}
	}
	// A grid of 4 x 4 with blocks of 2 MiB: rows get three of them each, columns two and a half in the mean. Where ranks stay in a
	// host, the first round is inside processors, at 6 GB/s, and the second two messages over each processor's 3 GB/s; between hosts
	// both rounds are like the latter. By rows 6.29 MB take 1.05 and 4.19 ms, and 5.24 MB twice 3.5: 12.24 ms. By columns 6.29
	// MB take twice 4.19, and 5.24 MB 0.87 and 3.5: 12.75 ms. 4 % are saved.
	for _, row := range tables["figure-6"] {
		if row[0] == "4 x 4" && math.Abs(row[4].(float64)-4) > 0.7 {
			t.Errorf("orientation %v, want 4 %% saved by rows", row)
		}
	}
	// All kernels on 4, 8 and 16 ranks; on all of them both placements are all cores.
	if len(tables["figure-7"]) != 9 {
		t.Errorf("%d rows of figure 7, want 9", len(tables["figure-7"]))
	}
	// Servet's eight ranks are one on each processor; those of IS, which talk most, gain by it.
	for _, row := range tables["figure-7"] {
		if row[0] == "IS" && row[1] == 8.0 && !(row[4].(float64) > 1) {
			t.Errorf("%v, want a gain", row)
		}
	}
}

// TestKernelsSendWhatTheyShould: operations per iteration as the NAS benchmarks count them, and bytes by hand.
func TestKernelsSendWhatTheyShould(t *testing.T) {
	c, err := nasClassOf("c")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		total      float64 // operations of the whole benchmark, class C, in 10^9: NPB prints 143.3, 1.34 and 155.7
		iterations float64
	}{{143.3, 75 * 25}, {1.34, 10}, {155.7, 20}} {
		k := c.kernels()[i]
		// Of CG, a fiftieth of the work is outside of the inner iterations.
		if got := k.operations * want.iterations / 1e9; math.Abs(got-want.total) > 0.05*want.total {
			t.Errorf("%s: %g * 10^9 operations, want %g", k.name, got, want.total)
		}
		for _, ranks := range []int{2, 4, 8, 64} {
			for _, round := range k.rounds(ranks) {
				seen := make(map[string]int)
				for _, x := range round.transfers {
					if x.Src == x.Dst || x.Src < 0 || x.Dst < 0 || x.Src >= ranks || x.Dst >= ranks || x.Bytes < 1 {
						t.Fatalf("%s of %d ranks: %+v", k.name, ranks, x)
					}
					seen[fmt.Sprint("from ", x.Src)]++
					seen[fmt.Sprint("to ", x.Dst)]++
				}
				for rank := range ranks { // all send and receive as many
					if seen[fmt.Sprint("from ", rank)] != seen[fmt.Sprint("to ", rank)] {
						t.Fatalf("%s of %d ranks: rank %d sends %d and gets %d", k.name, ranks, rank, seen[fmt.Sprint("from ", rank)], seen[fmt.Sprint("to ", rank)])
					}
				}
			}
		}
	}
	// IS on 4 ranks: a quarter of the keys of 4 B is each rank's, and three quarters of that leave it.
	var bytes int64
	for _, round := range c.is(1).rounds(4)[3:] {
		for _, x := range round.transfers {
			bytes += x.Bytes
		}
	}
	if want := int64(4*c.keys) * 3 / 4; bytes != want {
		t.Errorf("IS sends %d B, want %d", bytes, want)
	}
	// MG on 8 ranks: blocks of 256^3 on the finest grid, whose faces of 256^2 numbers go both ways.
	if round := c.mg(1).rounds(8)[1]; len(round.transfers) != 16 || round.transfers[0] != (model.Transfer{Src: 0, Dst: 1, Bytes: 256 * 256 * 8}) {
		t.Errorf("MG: %d transfers, first %+v", len(round.transfers), round.transfers[0])
	}
}

// TestServetAveragesDays, by hand: 1 and 3 GB/s are 2 in the mean, with a deviation of the root of 2.
func TestServetAveragesDays(t *testing.T) {
	day := func(rate float64) []*servet.Result {
		return []*servet.Result{{Steps: []servet.Step{{At: 1, Bandwidths: []float64{rate}}}}}
	}
	means, deviation := averaged([][]*servet.Result{day(1e9), day(3e9)})
	if got := means[0].Steps[0].Bandwidth(); got != 2e9 || math.Abs(deviation-math.Sqrt2/2) > 1e-12 {
		t.Errorf("%g B/s, deviation %g; want 2e9 and the root of 2 over 2", got, deviation)
	}
}

func TestServetWrongInput(t *testing.T) {
	for _, c := range [][]string{{"--class", "X"}, {"--sizes", "0"}, {"--sizes", "x"}, {"--sizes", "2147483647", "--sim", "star:1000"}, {"--sim", "nothing"}} {
		if status, _, stderr := papers(append([]string{"servet"}, c...)...); status != cli.StatusInput || !strings.Contains(stderr, strings.TrimPrefix(c[0], "--sim")) {
			t.Errorf("%q: status %d, %q", c, status, stderr)
		}
	}
}
