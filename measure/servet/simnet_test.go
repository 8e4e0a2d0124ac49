package servet

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

type measurement func(context.Context, mpi.Communicator, *Settings) (*Result, error)

// simulated measures on a simulated cluster; only rank 0 has the settings.
func simulated(t *testing.T, spec string, of measurement, s *Settings, wrap func(mpi.Communicator) mpi.Communicator) (*Result, *gen.Cluster) {
	t.Helper()
	cluster, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var result *Result
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Node: cluster.Node, Routing: cluster.Choice, HollowAbove: 1 << 15}, func(c mpi.Communicator) error {
		var own *Settings
		if c.Rank() == 0 {
			own = s
		}
		if wrap != nil {
			c = wrap(c)
		}
		r, err := of(context.Background(), c, own)
		if r != nil {
			if c.Rank() != 0 {
				return fmt.Errorf("rank %d has a result", c.Rank())
			}
			result = r
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, cluster
}

func checkRatios(t *testing.T, spec string, got, want []float64) {
	t.Helper()
	if len(got) != len(want)+1 {
		t.Fatalf("%s: ratios %v, want %v from 1 on", spec, got, want)
	}
	for i, w := range want {
		if g := got[i+1]; math.Abs(g-w) > 0.02*w && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: ratio at %d is %g, want %g", spec, i+1, g, w)
		}
	}
}

// By hand. On a ring of 9 hosts each link carries, one way, the messages of d hosts at distance d: bandwidth 1/d.
// Hosts behind the switches of a ring, with links of their own that are not faster: the same. On a star nobody
// disturbs anybody. Two racks of four with an uplink as fast as a host's link: of the messages from the first rack d
// cross at distance d, so that at 1 all have the host's rate; at 2 two of four share the uplink, at half
// the rate: a mean of 3/4; at 3 one at full rate and three at a third: 1/2; at 4 all at a quarter.
func TestDistanceOnSimulatedClusters(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []float64
	}{
		{"ring:9 latency=1us", []float64{1, 2, 3, 4}},
		{"ring:9 hosts=1 latency=1us rate=1Gbps,1Gbps", []float64{1, 2, 3, 4}},
		{"star:8 latency=1us", []float64{1, 1, 1, 1}},
		{"tree:2x4 latency=1us", []float64{1, 4. / 3, 2, 4}},
		{"core:2 host:5", []float64{1, 1}},
	} {
		r, cluster := simulated(t, c.spec, Distance, &Settings{Bytes: 2 << 20, Repetitions: 2}, nil)
		d, err := Degradation(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkRatios(t, c.spec, d.Distance, c.want)
		if r.Stopped != "" || len(r.Warnings) > 0 || d.Hosts != len(r.Hosts) || r.Took <= 0 {
			t.Errorf("%s: %d hosts, stopped by %q after %g s, warnings %q", c.spec, d.Hosts, r.Stopped, r.Took, r.Warnings)
		}
		checkObservations(t, r, cluster)
		const rate = 1.25e9 // B/s; 10 Gbit/s, the generator's default between hosts
		if b := r.Steps[0].Bandwidth(); c.spec == "star:8 latency=1us" && math.Abs(b-rate) > 0.02*rate {
			t.Errorf("%s: bandwidth of neighbours %g B/s, want %g", c.spec, b, rate)
		}
	}
}

// By hand: k cores of a host share its link, each way; on four hosts of two, with links for each core and none of
// the host to pass (all hosts behind one switch), k is the ratio.
func TestAccessOnSimulatedClusters(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []float64
	}{
		{"core:4 host:8 rate=1Gbps,100Gbps", []float64{1, 2, math.NaN(), 4}},
		{"core:4 host:8 rate=2Gbps,1Gbps", []float64{1, 1, math.NaN(), 2}},
		{"core:2 socket:2 host:8 rate=1Gbps,100Gbps,100Gbps", []float64{1, 2, math.NaN(), 4}},
		// The way of a socket to the host's link is slower: one process on each socket, two share it.
		{"core:2 socket:2 host:8 rate=100Gbps,1Gbps,100Gbps", []float64{1, 1, math.NaN(), 2}},
	} {
		r, cluster := simulated(t, c.spec, Access, &Settings{Bytes: 2 << 20, Repetitions: 1}, nil)
		d, err := Degradation(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		checkRatios(t, c.spec, d.Access, c.want)
		if len(r.Warnings) > 0 || d.Hosts != 0 {
			t.Errorf("%s: ring of %d, warnings %q", c.spec, d.Hosts, r.Warnings)
		}
		checkObservations(t, r, cluster)
	}
}

// An observation is the transfers of a step and how long each took, in s.
type observation struct {
	Transfers []model.Transfer
	Seconds   []float64
}

// observations are those of the steps that were measured, with median times.
func observations(r *Result) (all []observation) {
	for _, s := range r.Steps {
		if len(s.Bandwidths) == 0 {
			continue
		}
		o := observation{Transfers: s.Transfers}
		for _, times := range s.times {
			o.Seconds = append(o.Seconds, stats.MiddleMedian(stats.SortedFinite(times)))
		}
		all = append(all, o)
	}
	return all
}

// checkObservations compares what was seen with what the true network and the solver of model/contention say of the
// same transfers.
func checkObservations(t *testing.T, r *Result, cluster *gen.Cluster) {
	t.Helper()
	truth, err := model.FromGraph(cluster.Graph, cluster.Choice)
	if err != nil {
		t.Fatal(err)
	}
	all := observations(r)
	if len(all) != len(r.Steps) {
		t.Errorf("%d observations of %d steps", len(all), len(r.Steps))
	}
	for _, o := range all {
		want, err := truth.Predict(nil, o.Transfers)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range o.Seconds {
			if math.Abs(got-want[i]) > 0.02*want[i] {
				t.Errorf("transfer %+v of %d took %g s, want %g", o.Transfers[i], len(o.Transfers), got, want[i])
			}
		}
	}
}

// bare hides all optional abilities of a communicator but where it runs.
type bare struct{ mpi.Communicator }

func (b bare) Place() mpi.Place { return b.Communicator.(mpi.Placed).Place() }
func (b bare) Now() float64     { return b.Communicator.(mpi.Clock).Now() }

// Without requests nobody waits for ever, at any distance, and the result says what it is.
func TestBlockingCommunicators(t *testing.T) {
	for hosts := 2; hosts <= 9; hosts++ {
		r, _ := simulated(t, fmt.Sprintf("star:%d latency=1us", hosts), Distance, &Settings{Bytes: 1 << 20, Repetitions: 1}, func(c mpi.Communicator) mpi.Communicator { return bare{c} })
		if len(r.Steps) != hosts/2 || len(r.Warnings) == 0 || !strings.Contains(strings.Join(r.Warnings, " "), "one at a time") {
			t.Errorf("%d hosts: %d distances, warnings %q", hosts, len(r.Steps), r.Warnings)
		}
		for _, s := range r.Steps {
			if b := s.Bandwidth(); !(b > 0) {
				t.Errorf("%d hosts: %g B/s at %d", hosts, b, s.At)
			}
		}
	}
}

// A budget of some steps: the reference and the farthest distance are among them, and what is missing is said.
func TestBudgetEndsAllRanks(t *testing.T) {
	var notes []string
	steps := 0
	r, _ := simulated(t, "star:20 latency=1us rate=800Mbps", Distance, &Settings{
		Bytes: 1_000_000,
		Control: harness.Control{
			Budget:   60 * time.Millisecond, // a step takes 10 ms, and short messages before it 2.6
			Notify:   func(note string) { notes = append(notes, note) },
			Progress: func(p harness.Progress) { steps = p.Done },
		},
	}, nil)
	measured := ""
	for _, s := range r.Steps {
		if len(s.Bandwidths) > 0 {
			measured += fmt.Sprint(s.At, " ")
		}
	}
	if want := "1 3 5 9 10 "; measured != want || steps != 5 || r.Stopped != harness.StoppedByBudget {
		t.Errorf("%d steps, stopped by %q, at distances %s, want 5, the budget, %s", steps, r.Stopped, measured, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "too small") {
		t.Errorf("notes %q, want one of a budget that is too small", notes)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "5 of 10 values") {
		t.Errorf("warnings %q, want one of 5 values that are missing", r.Warnings)
	}
	if b := r.bandwidths(); !math.IsNaN(b[2]) || len(b) != 11 || len(observations(r)) != 5 {
		t.Errorf("bandwidths %v of %d observations", b, len(observations(r)))
	}
	r, _ = simulated(t, "star:20 latency=1us rate=800Mbps", Access, &Settings{Bytes: 1_000_000, Control: harness.Control{Budget: 30 * time.Millisecond}}, nil)
	if n := len(r.Steps[0].Bandwidths); n == 0 || n >= r.Repetitions || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "1 of 1 values rest on fewer than the 5") }) {
		t.Errorf("%d of %d repetitions, warnings %q: want some, and one of those that are missing", n, r.Repetitions, r.Warnings)
	}
}

func TestContextEndsAllRanks(t *testing.T) {
	cluster, err := gen.Parse("star:6")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if c.Rank() == 3 {
			cancel()
		}
		r, err := Distance(ctx, c, &Settings{Bytes: 1 << 16})
		if r != nil && (r.Stopped != harness.StoppedByContext || len(observations(r)) > 0) {
			return fmt.Errorf("stopped by %q with %d observations, want the context and none", r.Stopped, len(observations(r)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSettingsAreCheckedOnAllRanks(t *testing.T) {
	cluster, err := gen.Parse("star:3")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Settings{{Bytes: -1}, {Hosts: -1}, {Repetitions: -1}, {Control: harness.Control{Budget: -1}}} {
		refused := 0
		err := simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
			own := &s
			if c.Rank() != 0 {
				own = nil
			}
			if _, err := Access(context.Background(), c, own); err != nil && strings.HasPrefix(err.Error(), "servet: Settings.") {
				refused++
			}
			return nil
		})
		if err != nil || refused != 3 {
			t.Errorf("%+v: %d of 3 ranks refuse (%v)", s, refused, err)
		}
	}
}

// On a busy machine clocks of hosts may be known less well than messages last. A message that ends before it starts is not
// measured, and there are ratios of the others.
func TestMessagesThatEndBeforeTheyStart(t *testing.T) {
	step := func(at int, seconds ...float64) Step {
		transfers := []model.Transfer{{Src: 0, Dst: 1, Bytes: 1000}, {Src: 1, Dst: 0, Bytes: 1000}}
		return Step{At: at, Transfers: transfers, times: [][]float64{seconds, {1, 1, 1}}}
	}
	r := &Result{What: WhatDistance, Bytes: 1000, Steps: []Step{step(1, 1, -0.01, 1), step(2, 1./3, 1./3, 0), step(3, -1, 0, -1)}}
	r.finish()
	d, err := Degradation(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkRatios(t, "busy", d.Distance, []float64{1, 0.5, math.NaN()})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "1 of 3 values were not measured") {
		t.Errorf("warnings %q, want one of a value that was not measured", r.Warnings)
	}
}

// From a measurement to a network file to a job of other hosts.
func TestRatiosReachTheNetwork(t *testing.T) {
	distance, cluster := simulated(t, "tree:2x4 latency=1us", Distance, &Settings{Bytes: 1 << 20, Repetitions: 1}, nil)
	access, _ := simulated(t, "core:2 host:4 rate=1Gbps,100Gbps", Access, &Settings{Bytes: 1 << 20, Repetitions: 1}, nil)
	d, err := Degradation(distance, access)
	if err != nil {
		t.Fatal(err)
	}
	s := model.Settings{Degradation: d}
	for _, host := range distance.Hosts {
		s.Locations = append(s.Locations, model.Location{Host: host, Core: -1})
	}
	n, err := model.New(&topology.Result{Graph: cluster.Graph, Hierarchy: cluster.Hierarchy}, &s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	if n, err = model.Read(&b); err != nil {
		t.Fatal(err)
	}
	if a, b := n.Settings().Degradation.DistanceRatio(4), n.Settings().Degradation.AccessRatio(2); math.Abs(a-4) > 0.1 || math.Abs(b-2) > 0.1 {
		t.Errorf("ratio of hosts 0 and 4 is %g, of two processes per host %g; want 4 and 2", a, b)
	}
	// Every other host: neighbours are as far as those two apart in the whole, 0.75 of its
	// neighbours' bandwidth, and those opposite 4 apart, a quarter.
	view, err := n.View([]model.Location{s.Locations[0], s.Locations[2], s.Locations[4], s.Locations[6]})
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Settings().Degradation.DistanceRatio(2); math.Abs(got-3) > 0.1 {
		t.Errorf("ratio of the view at 2 is %g, want 3", got)
	}
}

// BenchmarkDistance is the wall time of a simulated job's run.
func BenchmarkDistance(b *testing.B) {
	cluster, err := gen.Parse("tree:8x16 latency=1us")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: 1 << 15}, func(c mpi.Communicator) error {
			_, err := Distance(context.Background(), c, &Settings{Repetitions: 1, Bytes: 1 << 16})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Simulated hosts have no memory: all ranks are told so, and nobody measures the memory of this machine in their name.
func TestSimulatedHostsHaveNoMemory(t *testing.T) {
	cluster, err := gen.Parse("star:3")
	if err != nil {
		t.Fatal(err)
	}
	for name, measure := range map[string]func(context.Context, mpi.Communicator, *InsideSettings) (*InsideResult, error){"memory": Memory, "caches": Caches} {
		refused := 0
		_ = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
			_, err := measure(context.Background(), c, nil)
			if err != nil {
				refused++
			}
			return err
		})
		if refused != 3 {
			t.Errorf("%s: %d of 3 ranks return an error", name, refused)
		}
	}
}
