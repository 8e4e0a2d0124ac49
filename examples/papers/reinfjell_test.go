package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology/cluster"
)

// TestReinfjell: on a machine whose latencies are two and four times apart most methods of the thesis see nodes and sockets in RTT(0)
// of 32 repetitions, whatever the noise; and the decision is never slower than the library.
func TestReinfjell(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const spec = "core:3 socket:2 host:2 latency=1us,250ns,75ns rate=10GBps"
	s := newStage()
	run, err := simulatedRun(t.Context(), s, reinfjellMachine{name: "small", spec: spec, figure: "7.1"}, []int{8, 32})
	if err != nil {
		t.Fatal(err)
	}
	if err := accuracies(t.Context(), s.out, []*reinfjellRun{run}); err != nil {
		t.Fatal(err)
	}
	if err := simulatedBroadcasts(t.Context(), s, []broadcastMachine{{name: "small", spec: spec}}); err != nil {
		t.Fatal(err)
	}
	got := printed(t, s.out)
	sure := []string{"kmedoids", "average", "components", "ssstree", "dbscan"}
	rows := 0
	for _, row := range got.table(t, "figure-7.1").Rows {
		if !slices.Contains(sure, row[0].(string)) {
			continue
		}
		rows++
		for k, share := range row[1:] {
			if k%2 == 1 && share.(float64) != 1 { // machine, node, socket with R = 32
				t.Errorf("%v: column %d is %v, want 1", row, k+1, share)
			}
		}
	}
	if rows != len(sure) {
		t.Errorf("%d of the methods %v", rows, sure)
	}
	spread := got.table(t, "figure-5.2").Rows
	if few, many := spread[0][2].(float64), spread[1][2].(float64); !(many < few) {
		t.Errorf("variance of %g %% with R = 8 and of %g %% with 32", few, many)
	}
	for _, row := range got.table(t, "decision-1").Rows {
		if row[7].(float64) < 1 {
			t.Errorf("the decision is slower than the library: %v", row)
		}
	}
}

// TestReinfjellOnRanks: the ranks of a job, here simulated ones, which know their hosts but not their sockets.
func TestReinfjellOnRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	status, out, stderr := papers("reinfjell", "--sim", "core:2 host:2 latency=1us,75ns rate=10GBps", "--reps", "4", "--here", "--ranks", "4")
	words := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"4 ranks on 2 hosts", "| this job | as it is | 2 | 2 | 4 | 2 | 1 |", "| kmedoids | 1.00 | 1 |"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q", want)
		}
	}
	if status != 0 || t.Failed() {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if status, _, stderr := papers("reinfjell", "--here", "--ranks", "2"); status != 2 || !strings.Contains(stderr, "2 ranks: want 3 at least") {
		t.Errorf("two ranks: status %d, %s", status, stderr)
	}
	if status, _, stderr := papers("reinfjell", "--reps", "none"); status != 2 || !strings.Contains(stderr, "--reps none: want numbers") {
		t.Errorf("no repetitions: status %d, %s", status, stderr)
	}
}

// TestReinfjellShortBudget: where links are slow, in virtual time, repetitions that take longer than their share are left out.
func TestReinfjellShortBudget(t *testing.T) {
	c, err := simnet.ParseCluster("core:2 host:2 latency=1ms,100us rate=100Mbps")
	if err != nil {
		t.Fatal(err)
	}
	for list, left := range map[string]int{"4,16": 0, "4,512": 1} {
		o, out := &reinfjellOptions{list: list}, new(outcome.Outcome)
		err := simnet.Run(c.Graph, nil, c.Settings(), func(comm mpi.Communicator) error {
			return o.measure(t.Context(), comm, &stage{out: out, budget: allow(comm, time.Minute, 1)})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(strings.Join(out.Warnings, "\n"), "left out"); got != left {
			t.Errorf("R = %s: %d of them are left out, want %d: %q", list, got, left, out.Warnings)
		}
	}
}

// TestReinfjellMachines: the simulated machines have the nodes of table 3.1, and the latencies that the text
// prints: BETZY's RTT(0) of 0.6, 0.8 and 1.8 us (5.6), of FRAM's nodes of one core 0.45 and 0.65 us one way (5.4), and
// FRAM's ratios of 2 between sockets, 2 between nodes and 1.5 between their groups (5.2, 5.3).
func TestReinfjellMachines(t *testing.T) {
	const overhead = 2 * reinfjellOverhead
	for _, m := range reinfjellMachines() {
		for _, spec := range []string{m.spec, m.full} {
			if spec == "" {
				continue
			}
			c, err := simnet.ParseCluster(spec)
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			nodes := cluster.Labels(c.Node).Clusters()
			if c.Node == nil {
				nodes = c.Graph.Hosts()
			}
			if nodes != m.nodes {
				t.Errorf("%s %d/%d: %d nodes simulated", m.name, m.nodes, m.cores, nodes)
			}
			var way []float64 // one way, from fine to coarse
			for _, l := range c.Hierarchy.Levels() {
				way = append(way, 1e6*(l.Latency+overhead))
			}
			way = append(way, 1e6*(c.Hierarchy.Groups()[0].Latency+overhead))
			var want []float64
			switch {
			case m.name == "BETZY":
				want = []float64{0.3, 0.4, 0.9}
			case m.name == "FRAM" && m.cores == 1:
				want = []float64{0.45, 0.65}
			case m.name == "FRAM":
				want = []float64{0.25, 0.5, 1, 1.5}[:len(way)]
			default:
				continue
			}
			if !slices.EqualFunc(way, want, func(a, b float64) bool { return a > 0.99*b && a < 1.01*b }) {
				t.Errorf("%s: %v us one way, want %v", spec, way, want)
			}
		}
	}
}
