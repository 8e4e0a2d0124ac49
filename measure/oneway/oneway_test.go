package oneway_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
	"github.com/topocast/topocast/topology/spanner"
)

// apart are clocks that differ by up to two seconds, and drift as quartzes do.
var apart = simnet.Clocks{Apart: 1, Drift: 5e-5}

const links = " latency=1us rate=10Gbps"

// A machine is a simulated one: overheads of 300 ns at each end, and noise of 2 % unless it says another.
type machine struct {
	cluster string
	faults  []string
	clocks  simnet.Clocks
	noise   float64
	seed    uint64
	outlier float64 // share of messages that take 1.5 to 10 times as long
}

// run calls work on all ranks of the machine.
func (m *machine) run(t testing.TB, work func(mpi.Communicator) error) {
	t.Helper()
	c, err := simnet.ParseCluster(m.cluster)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Settings()
	s.Send.Seconds, s.Recv.Seconds, s.Seed, s.Clocks, s.Noise.Sigma = 300e-9, 300e-9, m.seed, m.clocks, 0.02
	s.Noise.Outliers = m.outlier
	if m.noise > 0 {
		s.Noise.Sigma = m.noise
	}
	for _, f := range m.faults {
		if _, err := scenario.AddFault(s, f, c.Graph); err != nil {
			t.Fatal(err)
		}
	}
	if err := simnet.Run(c.Graph, nil, s, work); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) measure(t testing.TB, s *oneway.Settings) *oneway.Result {
	t.Helper()
	var r *oneway.Result
	m.run(t, func(comm mpi.Communicator) error {
		found, err := oneway.Measure(context.Background(), comm, s)
		if comm.Rank() == 0 {
			r = found
		}
		return err
	})
	return r
}

// latencies are what measure.Run finds on the machine.
func (m *machine) latencies(t testing.TB) []mat.Matrix {
	t.Helper()
	var r *measure.Result
	m.run(t, func(comm mpi.Communicator) error {
		found, err := measure.Run(context.Background(), comm, nil)
		if comm.Rank() == 0 {
			r = found
		}
		return err
	})
	return r.Matrices()
}

// A link of 1 us, 3 us in its slow direction, and the overheads of both ends, by hand.
const slow, fast = 3.6e-6, 1.6e-6

// sharing is a simulated rank that has to share one CPU with all others of its host.
type sharing struct{ *simnet.Comm }

func (s sharing) Place() mpi.Place {
	p := s.Comm.Place()
	p.Host, p.CPUs = "node7", []int{0}
	return p
}

func (s sharing) Split(color, key int) (mpi.Communicator, error) {
	part, err := s.Comm.Split(color, key)
	if c, ok := part.(*simnet.Comm); ok {
		return sharing{c}, err
	}
	return part, err
}

// TestOversubscribedRanksAccuseNobody: the direction is three times as slow, and found where each rank has a core. Where
// ranks share one, the same stamps name no direction, also when they are read from the file.
func TestOversubscribedRanksAccuseNobody(t *testing.T) {
	m := machine{"mesh:3x3" + links, []string{"direction h4>h1 latency=3x"}, apart, 0, 1, 0}
	var r *oneway.Result
	m.run(t, func(comm mpi.Communicator) error {
		found, err := oneway.Measure(context.Background(), sharing{comm.(*simnet.Comm)}, nil)
		if comm.Rank() == 0 {
			r = found
		}
		return err
	})
	again, err := oneway.FromSection(r.Section(), r.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*oneway.Result{r, again} {
		if w := strings.Join(x.Warnings, "; "); len(x.Directions)+len(x.Undecided) > 0 || !strings.Contains(w, "ranks outnumber the cores on node7") || strings.Contains(w, "slow in one direction") {
			t.Errorf("directions %v, undecided %v, warnings %q: want none named, and why", x.Directions, x.Undecided, w)
		}
	}
}

// TestSlowDirectionsAreFound: among clocks that differ and drift.
func TestSlowDirectionsAreFound(t *testing.T) {
	for _, c := range []struct {
		cluster  string
		from, to int
	}{
		{"mesh:4x4", 0, 1}, // of a corner
		{"mesh:4x4", 5, 6},
		{"mesh:3x3", 4, 1},
		{"torus:4x4", 0, 1},
		{"torus:4x4", 1, 0},
		{"torus:3x4", 2, 6},
		{"ring:8", 0, 1},
		{"ring:12", 6, 5},
	} {
		for seed := range uint64(3) {
			m := machine{c.cluster + links, []string{fmt.Sprintf("direction h%d>h%d latency=3x", c.from, c.to)}, apart, 0, seed, 0}
			r := m.measure(t, nil)
			if len(r.Directions) != 1 || r.Directions[0].From != c.from || r.Directions[0].To != c.to {
				t.Errorf("%s, seed %d: directions %v, undecided %v, want %d > %d", c.cluster, seed, r.Directions, r.Undecided, c.from, c.to)
				continue
			}
			// Lower quartiles of times with 2 % noise are 1.3 % below their middle.
			if d := r.Directions[0]; math.Abs(d.Slow-slow) > d.Doubt+0.02*slow || math.Abs(d.Fast-fast) > d.Doubt+0.02*fast || d.Doubt > 0.05*slow {
				t.Errorf("%s, seed %d: %+v, want %g and %g s", c.cluster, seed, d, slow, fast)
			}
			if !slices.ContainsFunc(r.Warnings, func(w string) bool {
				return strings.HasPrefix(w, fmt.Sprintf("slow in one direction: %d > %d takes 3.", c.from, c.to))
			}) {
				t.Errorf("%s, seed %d: warnings %q", c.cluster, seed, r.Warnings)
			}
		}
	}
}

// TestSmallBudgetsTakeFewerSamples: before repetitions are so few that they tell nothing.
func TestSmallBudgetsTakeFewerSamples(t *testing.T) {
	m := machine{cluster: "torus:4x4" + links, faults: []string{"direction h0>h1 latency=3x"}}
	var whole float64 // s
	m.run(t, func(comm mpi.Communicator) error {
		_, err := oneway.Measure(t.Context(), comm, nil)
		if comm.Rank() == 0 {
			whole = comm.(mpi.Clock).Now()
		}
		return err
	})
	r := m.measure(t, &oneway.Settings{Control: harness.Control{Budget: time.Duration(0.45 * whole * 1e9)}})
	if len(r.Directions) != 1 || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "taking 3 repetitions of 1") {
		t.Errorf("directions %v, %q: want the one, of 3 repetitions of 10 to 19 samples", r.Directions, r.Notes)
	}
}

// TestNothingIsNamedWithoutSlowDirections: on 200 seeds, with hosts and links that are slow both ways.
func TestNothingIsNamedWithoutSlowDirections(t *testing.T) {
	seeds := 200
	machines := []machine{
		{cluster: "ring:8" + links},
		{cluster: "mesh:3x3" + links},
		{cluster: "torus:3x3" + links},
		{cluster: "star:8" + links},
		{cluster: "tree:2x4 latency=5us,1us rate=10Gbps"},
		{cluster: "mesh:3x3" + links, faults: []string{"link h0-h1 3x"}},
		{cluster: "torus:3x3" + links, faults: []string{"host h4 2x"}},
		{cluster: "tree:2x4 latency=5us,1us rate=10Gbps", faults: []string{"link h0-s1 3x"}},
		{cluster: "mesh:3x3" + links, faults: []string{"direction h4>h5 latency=1.06x"}}, // too little to matter
	}
	if tooltest.Long() {
		seeds = 2000
	}
	for seed := range seeds {
		m := machines[seed%len(machines)]
		m.seed, m.clocks = uint64(seed), apart
		s := &oneway.Settings{Seed: uint64(seed), Samples: 10}
		if seed/len(machines)%2 == 1 {
			m.clocks, s.OneClock = simnet.Clocks{}, true
		}
		if r := m.measure(t, s); len(r.Directions)+len(r.Undecided) > 0 {
			t.Errorf("%s, faults %q, seed %d: directions %v, undecided %v, want none", m.cluster, m.faults, seed, r.Directions, r.Undecided)
		}
	}
}

// TestDisturbedPairsAreNotNamed: one message in thirty is late, and nothing is taken again.
func TestDisturbedPairsAreNotNamed(t *testing.T) {
	for seed := range uint64(200) {
		m := machine{cluster: "mesh:3x3" + links, clocks: apart, seed: seed, outlier: 0.03}
		if r := m.measure(t, &oneway.Settings{Samples: 1, Seed: seed}); len(r.Directions)+len(r.Undecided) > 0 {
			t.Errorf("seed %d: directions %v, undecided %v, want none", seed, r.Directions, r.Undecided)
		}
	}
}

// TestClocksHideWhatTheyExplain: what all messages of a host or a rack share is not seen, unless
// the clocks are known to agree.
func TestClocksHideWhatTheyExplain(t *testing.T) {
	const tree = "tree:4x4 latency=5us,1us rate=10Gbps"
	for _, c := range []struct {
		cluster, fault string
		want           string // with one clock
	}{
		{tree, "direction s1>s0 latency=3x", "slow in one direction: 0-3 > 4-15 takes 22."}, // 0.6 + 2 + 15 + 5, less the lower quartile
		{tree, "direction s0>s1 latency=3x", "slow in one direction: 4-15 > 0-3 takes 22."},
		{"star:8" + links, "direction h2>s0 latency=3x", "slow in one direction: 2 > 0,1,3-7 takes 4.5"}, // 0.6 + 3 + 1
		{"ring:8" + links, "direction h0>h1 latency=1.5x", "slow in one direction: 0 > 1 takes 2."},
	} {
		m := machine{cluster: c.cluster, faults: []string{c.fault}, clocks: apart, seed: 1}
		if r := m.measure(t, nil); len(r.Directions) > 0 {
			t.Errorf("%s, %s: directions %v by clocks that differ, want none", c.cluster, c.fault, r.Directions)
		} else if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.HasPrefix(note, "the clocks were fitted: they hide") }) {
			t.Errorf("%s, %s: notes %q", c.cluster, c.fault, r.Notes)
		}
		m.clocks = simnet.Clocks{}
		r := m.measure(t, &oneway.Settings{OneClock: true})
		if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], c.want) {
			t.Errorf("%s, %s: warnings %q with one clock, want %q", c.cluster, c.fault, r.Warnings, c.want)
		}
	}
}

// TestParallelLinksAreTold: of four spines, one carries the messages to every fourth host, and is slow from one switch.
// Clocks cannot hide what only a part of a host's messages has.
func TestParallelLinksAreTold(t *testing.T) {
	m := machine{
		cluster: "fattree:4,8;1,4 latency=2us,1us rate=10Gbps routing=modulo", faults: []string{"direction s0>s8 latency=4x"}, clocks: apart, seed: 1,
	}
	r := m.measure(t, nil)
	var want []string // the hosts of s0 are 0 to 3
	for from := range 4 {
		for to := 4; to < 32; to += 4 {
			want = append(want, fmt.Sprintf("%d>%d", from, to))
		}
	}
	var got []string
	for _, d := range r.Directions {
		got = append(got, fmt.Sprintf("%d>%d", d.From, d.To))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("directions %v, undecided %v, want %v", got, r.Undecided, want)
	}
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "slow in one direction: 0-3 > 4,8,12,16,20,24 and 1 more takes 12.") { // 0.6 + 1 + 8 + 2 + 1
		t.Errorf("warnings %q", r.Warnings)
	}
}

// TestDoubtIsTold: where another link explains the stamps as well, where noise is as large as
// directions, where there are no cycles, and where clocks do not agree. Noise hides them on 289 of 300 seeds.
func TestDoubtIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		machine
		settings oneway.Settings
		want     string
	}{
		"another link of the ring": {
			machine{cluster: "ring:12" + links, faults: []string{"direction h0>h1 latency=1.5x"}, clocks: apart},
			oneway.Settings{},
			"maybe slow in one direction, or the clocks and another link are: ",
		},
		"noise":     {machine{cluster: "ring:6" + links, noise: 0.8, clocks: apart, seed: 1}, oneway.Settings{Samples: 1, Repetitions: 3}, "one-way times are too doubtful: "},
		"no cycles": {machine{cluster: "line:6" + links, faults: []string{"direction h0>h1 latency=3x"}, clocks: apart}, oneway.Settings{}, "one-way times say nothing about directions: "},
		"clocks":    {machine{cluster: "star:4" + links, clocks: apart}, oneway.Settings{OneClock: true}, "the clocks of the ranks differ, as messages arrive before they are sent: "},
	} {
		r := c.measure(t, &c.settings)
		if len(r.Directions) > 0 || len(r.Warnings) == 0 || !strings.HasPrefix(r.Warnings[0], c.want) {
			t.Errorf("%s: directions %v, warnings %q, want none, and %q", name, r.Directions, r.Warnings, c.want)
		}
	}
}

// TestSpannersFindSimplexChannels: in halved round trips that are split, and not in those that are not.
func TestSpannersFindSimplexChannels(t *testing.T) {
	m := machine{cluster: "torus:4x4" + links, faults: []string{"direction h0>h1 latency=3x"}, clocks: apart, seed: 1}
	halves := m.latencies(t)
	split := m.measure(t, nil).Split(halves)
	for _, method := range []topology.Reconstructor{&spanner.Witness{}, &spanner.GreedyCycle{DuplexSpread: 0.2}} {
		named := func(repetitions []mat.Matrix) bool {
			found, err := method.Reconstruct(repetitions...)
			if err != nil {
				t.Fatal(err)
			}
			return found.Graph.ArcIndex(0, 1) < 0 && found.Graph.ArcIndex(1, 0) >= 0 &&
				slices.ContainsFunc(found.Warnings, func(w string) bool { return strings.HasPrefix(w, "channel 1->0 is simplex: 0->1 takes ") })
		}
		if named(halves) || !named(split) {
			t.Errorf("%T: simplex 1->0 %v in halved round trips, %v in split ones, want in the split ones only", method, named(halves), named(split))
		}
	}
	m.faults = nil
	if r := m.measure(t, nil); r.Split(halves)[0] != halves[0] {
		t.Errorf("halved round trips of a machine without slow directions are split")
	}
}

// TestTreesGetBothDirections: with one clock, the slow uplink of a rack is an arc of 15 us, and 5 us back.
func TestTreesGetBothDirections(t *testing.T) {
	m := machine{cluster: "tree:4x4 latency=5us,1us rate=10Gbps", faults: []string{"direction s1>s0 latency=3x"}, seed: 1}
	halves := m.latencies(t)
	found, err := (&linkage.Robust{}).Reconstruct(halves...)
	if err != nil {
		t.Fatal(err)
	}
	for _, oneClock := range []bool{false, true} {
		directed, err := m.measure(t, &oneway.Settings{OneClock: oneClock}).Direct(found)
		if err != nil {
			t.Fatal(err)
		}
		g := directed.Graph
		from, to, ok := g.LinkAbove([]int{0, 1, 2, 3})
		if !ok {
			t.Fatal("no link above the rack")
		}
		up, down := g.Arcs()[g.ArcIndex(from, to)].Latency, g.Arcs()[g.ArcIndex(to, from)].Latency
		wantUp, wantDown := 10e-6, 10e-6
		if oneClock {
			wantUp, wantDown = 15e-6, 5e-6
		}
		if math.Abs(up-wantUp) > 0.03*wantUp || math.Abs(down-wantDown) > 0.06*wantDown {
			t.Errorf("one clock %v: uplink %g s up, %g s down, want %g and %g", oneClock, up, down, wantUp, wantDown)
		}
		for i, a := range g.Arcs() { // all others stay
			if a.From+a.To != from+to && a.Latency != found.Graph.Arcs()[i].Latency {
				t.Errorf("one clock %v: arc %d > %d changed from %g to %g s", oneClock, a.From, a.To, found.Graph.Arcs()[i].Latency, a.Latency)
			}
		}
		if text := fmt.Sprintf("link %s > %s takes ", g.Name(from), g.Name(to)); slices.ContainsFunc(directed.Warnings, func(w string) bool { return strings.HasPrefix(w, text) }) != oneClock {
			t.Errorf("one clock %v: warnings %q, want %q with one clock", oneClock, directed.Warnings, text)
		}
	}
}

// TestFilesKeepResults: what a section says is what was measured.
func TestFilesKeepResults(t *testing.T) {
	m := machine{cluster: "torus:3x4" + links, faults: []string{"direction h2>h6 latency=3x"}, clocks: apart}
	r := m.measure(t, nil)
	again, err := oneway.FromSection(r.Section(), r.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Directions, r.Directions) || !slices.Equal(again.Warnings, r.Warnings) || again.Least != r.Least || again.Rounds != r.Rounds {
		t.Errorf("read %+v, want %+v", again, r)
	}
	for name, change := range map[string]func(row []float64){
		"from itself":     func(row []float64) { row[1] = row[2] },
		"the wrong way":   func(row []float64) { row[1], row[2] = row[2], row[1] },
		"no time":         func(row []float64) { row[4], row[5] = 1, -1 },
		"not measured":    func(row []float64) { row[4] = math.NaN() },
		"an endless time": func(row []float64) { row[3] = math.Inf(1) },
	} {
		s := r.Section()
		change(s.Row(0))
		if _, err := oneway.FromSection(s, r.Ranks); err == nil || !strings.Contains(err.Error(), "row 0") {
			t.Errorf("%s: FromSection = %v, want an error of row 0", name, err)
		}
	}
	s := r.Section()
	copy(s.Row(1), s.Row(0))
	if _, err := oneway.FromSection(s, r.Ranks); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a pair twice: FromSection = %v, want an error of row 1", err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for want, s := range map[string]oneway.Settings{
		"Settings.Repetitions: 2":  {Repetitions: 2},
		"Settings.Samples: -1":     {Samples: -1},
		"Settings.Bytes: -8":       {Bytes: -8},
		"Settings.Samples: 200000": {Samples: 200_000},
	} {
		m := machine{cluster: "star:3" + links}
		m.run(t, func(comm mpi.Communicator) error {
			if _, err := oneway.Measure(context.Background(), comm, &s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("rank %d: Measure = %v, want %q", comm.Rank(), err, want)
			}
			return nil
		})
	}
}
