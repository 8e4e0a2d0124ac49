package throughput

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// measureOn runs Measure on a simulated machine, told by the settings that it is
// this or another one.
func measureOn(t testing.TB, machine *topology.Graph, sim *simnet.Settings, s *Settings) *Result {
	t.Helper()
	hollow := simnet.Settings{}
	if sim != nil {
		hollow = *sim
	}
	hollow.HollowAbove = 200 << 10 // nobody looks into long messages
	if s.Size == 0 {
		s.Size = 256 << 10
	}
	var r *Result
	err := simnet.Run(machine, nil, &hollow, func(comm mpi.Communicator) error {
		if comm.Rank() != 0 {
			_, err := Measure(context.Background(), comm, nil)
			return err
		}
		found, err := Measure(context.Background(), comm, s)
		r = found
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func resultOf(c *gen.Cluster) *topology.Result {
	return &topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy}
}

// withRates is the graph with other bandwidths, in B/s, of some arcs.
func withRates(t testing.TB, g *topology.Graph, rate map[[2]int]float64) *topology.Graph {
	t.Helper()
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		if r, ok := rate[[2]int{arcs[i].From, arcs[i].To}]; ok {
			arcs[i].Bandwidth = r
		}
	}
	changed, err := g.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// isUplink tells whether a link is between two switches.
func isUplink(g *topology.Graph, l Link) bool { return g.IsSwitch(l.From) && g.IsSwitch(l.To) }

// checkLinks holds every link to the rate of the machine.
func checkLinks(t *testing.T, what string, r *Result, truth *topology.Graph, tolerance float64) {
	t.Helper()
	for i, l := range r.Links {
		if off := l.Rate/truth.Arcs()[i].Bandwidth - 1; !(math.Abs(off) <= tolerance) || l.AtLeast {
			t.Errorf("%s: %d->%d: %.4g B/s, want %.4g within %g %%, at least: %v", what, l.From, l.To, l.Rate, truth.Arcs()[i].Bandwidth, 100*tolerance, l.AtLeast)
		}
	}
}

// TestRatesAreThoseOfTheMachine: all three kinds of links, in every mode, within a
// percent where one message follows the other, also with noise. An answered message
// brings its latencies: of 256 KiB at 10 Gbit/s, which take 210 us, with consent
// 6 us. Where several answered pairs load one link, some are on their way back
// while others are on their way out, so that it comes out faster.
func TestRatesAreThoseOfTheMachine(t *testing.T) {
	for _, tt := range []struct {
		spec      string
		s         Settings
		noise     float64
		tolerance float64
	}{
		{"tree:3x3x4 rate=4Gbps,8Gbps,10Gbps latency=3us,2us,1us", Settings{}, 0, 0.01},
		{"tree:3x3x4 rate=4Gbps,8Gbps,10Gbps latency=3us,2us,1us", Settings{ByLatency: true}, 0.03, 0.02},
		{"tree:[3,5,4] rate=10Gbps,10Gbps", Settings{}, 0, 0.01},
		{"ring:5 rate-spread=40% seed=3", Settings{}, 0, 0.01},
		{"torus:3x3 rate-spread=40% seed=3", Settings{}, 0.03, 0.02},
		{"ring:5 hosts=3 rate=15Gbps,10Gbps", Settings{}, 0, 0.01},
	} {
		if testing.Short() && tt.noise > 0 {
			continue
		}
		c := parse(t, tt.spec)
		s := tt.s
		s.Topology = resultOf(c)
		r := measureOn(t, c.Graph, &simnet.Settings{Noise: simnet.Noise{Sigma: tt.noise}, Seed: 1}, &s)
		checkLinks(t, tt.spec, r, c.Graph, tt.tolerance)
		if len(r.Warnings) > 0 {
			t.Errorf("%s: warnings %q", tt.spec, r.Warnings)
		}
	}
}

// TestNearAndFarPairsTogether: below the middle of three levels, pairs of ranks near to each other and far
// from each other load a link at once, and their latencies differ by a quarter of a message's time. All
// links have the rate of the machine within 2 %; those that ranks below cannot fill are bounded by
// what these send.
func TestNearAndFarPairsTogether(t *testing.T) {
	for _, tt := range []struct {
		spec       string
		root, rack float64 // B/s that comes through a link of the first or second level that is not filled; 0: it is
	}{
		{"tree:2x3x4 latency=20us,8us,2us rate=10Gbps", 0, 0},
		{"tree:2x3x4 latency=40us,4us,1us rate=10Gbps,5Gbps,10Gbps", 0, 0},
		{"tree:3x2x4 latency=20us,8us,2us rate=4Gbps,8Gbps,10Gbps", 0, 0},
		{"tree:2x4x8 latency=20us,8us,2us rate=20Gbps,5Gbps,10Gbps", 4 * 0.625e9, 0},            // of four racks
		{"tree:2x3x4 latency=20us,8us,2us rate=100Gbps,100Gbps,10Gbps", 8 * 1.25e9, 4 * 1.25e9}, // of eight pairs, of four hosts
	} {
		c := parse(t, tt.spec)
		r := measureOn(t, c.Graph, nil, Uplinks(resultOf(c), harness.Control{}))
		for i, l := range r.Links {
			carried := 0.0
			if isUplink(c.Graph, l) {
				if carried = tt.rack; min(l.From, l.To) == c.Graph.Hosts() {
					carried = tt.root
				}
			}
			truth := c.Graph.Arcs()[i].Bandwidth
			right := math.Abs(l.Rate/truth-1) <= 0.02 && !l.AtLeast
			if carried > 0 {
				right = l.Rate <= 1.02*carried && l.AtLeast
			}
			if !right {
				t.Errorf("%s: %d->%d: %.4g B/s, at least: %v; want %.4g, unfilled %.4g", tt.spec, l.From, l.To, l.Rate, l.AtLeast, truth, carried)
			}
		}
	}
}

// TestFastestHostIsOnlyBoundedBelow: links of 1, 2, 3, 5 and 8 GB/s on one switch
// (Bufe's figure 2.19 with other numbers): min(e_i, e_j) shows all but the fastest, of which it is seen
// that it carries as much as the second. Which of the two is the faster one nothing tells, so both are
// marked. By latency, where the order of the latencies is that of the rates, in 2 rounds the same;
// where it is not, slower neighbours hide some.
func TestFastestHostIsOnlyBoundedBelow(t *testing.T) {
	c := parse(t, "star:5")
	rate := map[[2]int]float64{}
	seen := []float64{3e9, 1e9, 5e9, 2e9, 5e9}
	for h, r := range []float64{3e9, 1e9, 8e9, 2e9, 5e9} {
		rate[[2]int{h, 5}], rate[[2]int{5, h}] = r, r
	}
	machine := withRates(t, c.Graph, rate)
	arcs := slices.Clone(machine.Arcs())
	for i := range arcs {
		arcs[i].Latency = 1e3 / arcs[i].Bandwidth
	}
	sorted, err := machine.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		g         *topology.Graph
		byLatency bool
	}{{machine, false}, {sorted, true}} {
		r := measureOn(t, tt.g, nil, &Settings{Topology: &topology.Result{Graph: tt.g, Hierarchy: c.Hierarchy}, ByLatency: tt.byLatency})
		for _, l := range r.Links {
			h := min(l.From, l.To)
			if math.Abs(l.Rate/seen[h]-1) > 0.01 || l.AtLeast != (h == 2 || h == 4) {
				t.Errorf("by latency %t: link %d->%d: %.3g B/s, at least: %v; want %.3g", tt.byLatency, l.From, l.To, l.Rate, l.AtLeast, seen[h])
			}
		}
		if len(r.Warnings) != 1 {
			t.Errorf("by latency %t: warnings %q, want one of the fastest", tt.byLatency, r.Warnings)
		}
	}
}

// TestSlightlySlowerHostIsExact: three hosts are alike, and what passes from the fourth to them, 7 % less, is what its own link
// carries.
func TestSlightlySlowerHostIsExact(t *testing.T) {
	c := parse(t, "star:4")
	machine := withRates(t, c.Graph, map[[2]int]float64{{3, 4}: 0.93 * 1.25e9, {4, 3}: 0.93 * 1.25e9})
	r := measureOn(t, machine, nil, &Settings{Topology: resultOf(c)})
	checkLinks(t, "a host 7 % slower", r, machine, 0.01)
}

// TestOneSlowDirection: a host that sends at a fifth, and an uplink that is slower one way and
// faster the other: nothing else changes.
func TestOneSlowDirection(t *testing.T) {
	c := parse(t, "tree:3x4")
	machine := withRates(t, c.Graph, map[[2]int]float64{{1, 13}: 0.25e9, {13, 12}: 0.5e9, {12, 13}: 2e9})
	if c.Graph.ArcIndex(1, 13) < 0 || c.Graph.ArcIndex(12, 13) < 0 {
		t.Fatal("the machine has other switches")
	}
	r := measureOn(t, machine, nil, &Settings{Topology: resultOf(c)})
	checkLinks(t, "one way", r, machine, 0.01)
}

// TestUplinkWiderThanItsHosts: what nothing fills is a lower bound, and says so.
func TestUplinkWiderThanItsHosts(t *testing.T) {
	c := parse(t, "tree:3x3 rate=100Gbps,10Gbps")
	r := measureOn(t, c.Graph, nil, &Settings{Topology: resultOf(c)})
	for _, l := range r.Links {
		want, bounded := 1.25e9, false
		if isUplink(c.Graph, l) {
			want, bounded = 3.75e9, true // of three hosts
		}
		if math.Abs(l.Rate/want-1) > 0.02 || l.AtLeast != bounded {
			t.Errorf("%d->%d: %.4g B/s, at least: %v; want %.4g, %v", l.From, l.To, l.Rate, l.AtLeast, want, bounded)
		}
	}
}

// TestTwoHostsOnASwitch: of two links nothing tells which is the faster one.
func TestTwoHostsOnASwitch(t *testing.T) {
	c := parse(t, "tree:[2,5,3]")
	r := measureOn(t, c.Graph, nil, &Settings{Topology: resultOf(c)})
	for _, l := range r.Links {
		if math.Abs(l.Rate/1.25e9-1) > 0.01 || l.AtLeast != (min(l.From, l.To) < 2) {
			t.Errorf("%d->%d: %.4g B/s, at least: %v", l.From, l.To, l.Rate, l.AtLeast)
		}
	}
}

// TestHostAloneOnItsSwitch: its link is measured with another host's, and its uplink by two
// pairs, of which one avoids a slow rack.
func TestHostAloneOnItsSwitch(t *testing.T) {
	arcs := topology.AppendLink(nil, 0, 5, 1e-6, 1e9) // alone
	arcs = topology.AppendLink(arcs, 1, 6, 1e-6, 2e9)
	arcs = topology.AppendLink(arcs, 2, 6, 1e-6, 2e9)
	arcs = topology.AppendLink(arcs, 3, 7, 1e-6, 2e9)
	arcs = topology.AppendLink(arcs, 4, 7, 1e-6, 2e9)
	arcs = topology.AppendLink(arcs, 5, 8, 2e-6, 1.5e9)
	arcs = topology.AppendLink(arcs, 6, 8, 2e-6, 0.5e9)
	arcs = topology.AppendLink(arcs, 7, 8, 2e-6, 4e9)
	g, err := topology.NewGraph(5, 4, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(5, nil, nil, 6e-6)
	if err != nil {
		t.Fatal(err)
	}
	r := measureOn(t, g, nil, &Settings{Topology: &topology.Result{Graph: g, Hierarchy: h}})
	for _, tt := range []struct {
		from, to int
		want     float64
		bounded  bool
	}{
		{5, 8, 1e9, true}, // what its host sends
		{6, 8, 0.5e9, false},
		{8, 6, 0.5e9, false},
	} {
		l := r.Links[g.ArcIndex(tt.from, tt.to)]
		if math.Abs(l.Rate/tt.want-1) > 0.01 || l.AtLeast != tt.bounded {
			t.Errorf("%d->%d: %.4g B/s, at least: %v; want %.4g, %v", tt.from, tt.to, l.Rate, l.AtLeast, tt.want, tt.bounded)
		}
	}
	if l := r.Links[g.ArcIndex(0, 5)]; !(l.Rate > 0.49e9) || len(l.measurements) == 0 {
		t.Errorf("the link of the host alone: %+v", l)
	}
}

// halves is a switch that is two inside, with a link of the given rate between
// the even and the odd hosts: a switch that does not carry all.
func halves(t *testing.T, hosts int, rate float64) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for h := range hosts {
		arcs = topology.AppendLink(arcs, h, hosts+h%2, 1e-6, 1e9)
	}
	arcs = topology.AppendLink(arcs, hosts, hosts+1, 0, rate)
	g, err := topology.NewGraph(hosts, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestThreeMeasurementsTellABlockingSwitch: between its halves a switch carries as
// much as one host, or as three. The pairs (0,1), (2,3), (4,5), (6,7) all cross: two hosts come to
// 1 GB/s, and so do the others of the first; then its pairs are measured one by one,
// and are right.
func TestThreeMeasurementsTellABlockingSwitch(t *testing.T) {
	c := parse(t, "star:8 rate=8Gbps")
	for _, tt := range []struct {
		inside   float64
		parallel bool
		maximum  float64
		bounded  bool
	}{
		{1e9, false, 1e9, false},
		{4e9, true, 4e9, true},
	} {
		r := measureOn(t, halves(t, 8, tt.inside), nil, &Settings{Topology: resultOf(c), Switches: true})
		s := r.Switches[0]
		if s.Parallel != tt.parallel || math.Abs(s.Alone/1e9-1) > 0.01 || math.Abs(s.Rest/min(3e9, tt.inside)-1) > 0.02 {
			t.Errorf("inside %g: %+v, want parallel %v", tt.inside, s, tt.parallel)
		}
		for direction, rate := range s.Maximum {
			// Left and right are 0 to 3 and 4 to 7: all pairs are on one side inside, so
			// that nothing shows but the hosts.
			if s.AtLeast[direction] != true || math.Abs(rate/4e9-1) > 0.02 {
				t.Errorf("inside %g: maximum %g at least %v", tt.inside, rate, s.AtLeast[direction])
			}
		}
		checkLinks(t, "halves", r, c.Graph, 0.01)
	}
}

// TestMaximumOfASwitch: four racks of 4 hosts, whose root is two switches inside, with two
// racks each and a link of 2 GB/s: the sides are two racks each. Each rack's uplink is
// measured to all three others at once, of which one is on its side, so it does not show there.
func TestMaximumOfASwitch(t *testing.T) {
	c := parse(t, "tree:4x4 rate=32Gbps,8Gbps")
	arcs := slices.Clone(c.Graph.Arcs())
	for i, a := range arcs {
		switch {
		case a.From == 16 && a.To >= 19:
			arcs[i].From = 21
		case a.To == 16 && a.From >= 19:
			arcs[i].To = 21
		}
	}
	arcs = topology.AppendLink(arcs, 16, 21, 0, 2.5e9)
	machine, err := topology.NewGraph(16, 6, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	r := measureOn(t, machine, nil, &Settings{Topology: resultOf(c), Switches: true})
	// The hosts of the outer racks are on two sides of the same limit.
	if want := "from one side to the other of s0, s3, s4 pass down to 2."; !strings.HasPrefix(r.Warnings[0], want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
	for _, s := range r.Switches {
		if s.Vertex != 16 {
			continue
		}
		for direction, rate := range s.Maximum {
			if s.AtLeast[direction] || math.Abs(rate/2.5e9-1) > 0.02 {
				t.Errorf("direction %d: %.4g B/s, at least %v; want 2.5e9", direction, rate, s.AtLeast[direction])
			}
		}
		return
	}
	t.Error("the root was not measured")
}

// TestHealthySwitchesAreNoLimit: messages from one side of a switch of a fat tree to the other share links that no pair tells
// of, and ways that nobody knows. So they do in a torus, of which latencies that were measured seem to tell the shortest way.
func TestHealthySwitchesAreNoLimit(t *testing.T) {
	for _, spec := range []string{"fattree:4", "fattree:4,8", "torus:4x4 hosts=1"} {
		c := parse(t, spec)
		arcs := slices.Clone(c.Graph.Arcs())
		rng := rand.New(rand.NewPCG(2, 1))
		for i, a := range arcs {
			if back := c.Graph.ArcIndex(a.To, a.From); back < i {
				arcs[i].Latency = arcs[back].Latency
			} else {
				arcs[i].Latency *= 1 + 0.02*rng.NormFloat64()
			}
		}
		seen, err := c.Graph.WithArcs(arcs)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*topology.Graph{c.Graph, seen} {
			r := measureOn(t, c.Graph, nil, &Settings{Topology: &topology.Result{Graph: g, Hierarchy: c.Hierarchy}, Switches: true})
			if strings.Contains(strings.Join(r.Warnings, "\n"), "limit") {
				t.Errorf("%s: warnings %q of healthy switches", spec, r.Warnings)
			}
			for i, l := range r.Links {
				if truth := c.Graph.Arcs()[i].Bandwidth; l.Rate > 1.02*truth || !l.AtLeast && l.Rate < 0.98*truth {
					t.Errorf("%s: %d->%d: %.4g B/s, want %.4g", spec, l.From, l.To, l.Rate, truth)
				}
			}
		}
	}
}

// TestAHostBetweenSlowOnes: by latency, a host is measured with two hosts of slow links. These explain what was seen, so that
// nothing is known of its own link but a bound.
func TestAHostBetweenSlowOnes(t *testing.T) {
	c := parse(t, "star:7")
	rate := map[[2]int]float64{{2, 7}: 1e8, {7, 2}: 1e8, {4, 7}: 1e8, {7, 4}: 1e8}
	machine := withRates(t, c.Graph, rate)
	arcs := slices.Clone(machine.Arcs())
	for i := range arcs {
		arcs[i].Latency = 1e-6 * float64(1+min(arcs[i].From, arcs[i].To))
	}
	sorted, err := machine.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	r := measureOn(t, sorted, nil, &Settings{Topology: &topology.Result{Graph: sorted, Hierarchy: c.Hierarchy}, ByLatency: true})
	for _, l := range r.Links {
		h := min(l.From, l.To)
		isSlow := h >= 2 && h <= 4
		if isSlow != (l.Rate < 1.1e8) || (h == 2 || h == 4) && l.AtLeast || h == 3 && !l.AtLeast {
			t.Errorf("%d->%d: %.4g B/s, at least: %v", l.From, l.To, l.Rate, l.AtLeast)
		}
	}
}

// TestLinksInARowAreBounds: the link of a host alone in its rack is no slower than its uplink lets it show, nor is an uplink
// slower than the next one on its way that other messages pass, too.
func TestLinksInARowAreBounds(t *testing.T) {
	tree, fat := parse(t, "tree:[1,3,3]"), parse(t, "fattree:4 rate-spread=50% spread=20% seed=1")
	slow := withRates(t, tree.Graph, map[[2]int]float64{{7, 8}: 0.5e9, {8, 7}: 0.5e9})
	for _, tt := range []struct {
		machine  *topology.Graph
		c        *gen.Cluster
		from, to int
	}{{slow, tree, 0, 8}, {fat.Graph, fat, 16 + 7, 16 + 15}} {
		r := measureOn(t, tt.machine, nil, &Settings{Topology: resultOf(tt.c)})
		i := tt.machine.ArcIndex(tt.from, tt.to)
		if l, truth := r.Links[i], tt.machine.Arcs()[i].Bandwidth; !(l.Rate < 0.9*truth) || !l.AtLeast {
			t.Errorf("%d->%d: %.4g B/s, at least: %v; want a bound below %.4g", l.From, l.To, l.Rate, l.AtLeast, truth)
		}
	}
}

// TestBlockingTellsDirectLinks: on a line of five hosts with a chord between the ends
// whose latency is that of the whole line, the chord shows by its rate alone; the line
// itself, of which the graph is made, has none between its second and last host.
func TestBlockingTellsDirectLinks(t *testing.T) {
	line := parse(t, "line:5 latency=5us")
	arcs := topology.AppendLink(slices.Clone(line.Graph.Arcs()), 0, 4, 20e-6, 1.25e9)
	chord, err := line.Graph.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	roomy := withRates(t, line.Graph, map[[2]int]float64{{1, 2}: 2.5e9, {2, 1}: 2.5e9, {2, 3}: 2.5e9, {3, 2}: 2.5e9})
	for _, tt := range []struct {
		machine *topology.Graph
		wired   [2]bool
	}{{line.Graph, [2]bool{false, false}}, {chord, [2]bool{true, false}}, {roomy, [2]bool{false, false}}} {
		r := measureOn(t, tt.machine, nil, &Settings{Topology: resultOf(line), Direct: [][2]int{{0, 4}, {1, 4}, {0, 2}}})
		if len(r.Direct) != 2 || len(r.Warnings) != 1 {
			t.Fatalf("%d pairs, warnings %q; want 2, and that 0 and 2 are too near", len(r.Direct), r.Warnings)
		}
		for i, d := range r.Direct {
			share := 0.5
			if tt.wired[i] {
				share = 1
			}
			if tt.machine == roomy {
				share = 1 // the link has room for both, and the others give way
			}
			if d.Wired != tt.wired[i] || math.Abs(d.Blocked/d.Alone-share) > 0.02 {
				t.Errorf("%+v, want wired %v", d, tt.wired[i])
			}
		}
	}
}

// TestDirectLinksThatCannotBeSeen: hosts between that send ten times as fast as the pair do not give way by what measurements
// differ by, whether the pair shares their link or has its own. Of two ways that are equally short nothing tells which to keep
// busy, also where latencies were measured.
func TestDirectLinksThatCannotBeSeen(t *testing.T) {
	seven, six := parse(t, "ring:7 latency=2us"), parse(t, "ring:6 latency=2us")
	wide := withRates(t, seven.Graph, map[[2]int]float64{{1, 2}: 12.5e9, {2, 1}: 12.5e9})
	uneven := slices.Clone(six.Graph.Arcs())
	uneven[six.Graph.ArcIndex(1, 2)].Latency *= 0.99
	seen, err := six.Graph.WithArcs(uneven)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		machine, seen *topology.Graph
		measured      int
		why           string
	}{{wide, wide, 1, "5 times as fast"}, {six.Graph, six.Graph, 0, "about as short"}, {six.Graph, seen, 0, "about as short"}} {
		found := &topology.Result{Graph: tt.seen, Hierarchy: six.Hierarchy}
		if tt.seen == wide {
			found.Hierarchy = seven.Hierarchy
		}
		r := measureOn(t, tt.machine, nil, &Settings{Topology: found, Direct: [][2]int{{0, 3}}})
		if len(r.Direct) != tt.measured || tt.measured > 0 && r.Direct[0].Wired || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], tt.why) {
			t.Errorf("%+v, warnings %q; want no link, and %q", r.Direct, r.Warnings, tt.why)
		}
	}
}

// TestPerSwitch: one link of each switch; the others have no rate.
func TestPerSwitch(t *testing.T) {
	c := parse(t, "tree:[2,5,5,5]")
	r := measureOn(t, c.Graph, nil, &Settings{Topology: resultOf(c), PerSwitch: true})
	n := 0
	for _, l := range r.Links {
		if isUplink(c.Graph, l) && l.Rate > 0 {
			n++
		}
	}
	if n != 2*4 { // each rack has one link only
		t.Errorf("%d directions, want 8", n)
	}
}

// TestBudgetAndContextEndAll: all ranks leave at the same sample with what there is.
func TestBudgetAndContextEndAll(t *testing.T) {
	c := parse(t, "tree:3x4")
	r := measureOn(t, c.Graph, nil, &Settings{Topology: resultOf(c), Control: harness.Control{Budget: 100 * time.Millisecond}})
	if r.Stopped != harness.StoppedByBudget || r.Seconds > 0.15 || len(r.measurements) == 0 || len(r.Warnings) == 0 {
		t.Errorf("stopped by %q after %g s with %d measurements, warnings %q", r.Stopped, r.Seconds, len(r.measurements), r.Warnings)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		s := &Settings{Topology: resultOf(c), Load: Load{Size: 64 << 10}, Control: harness.Control{Progress: func(p harness.Progress) {
			if p.Done == 2 {
				cancel() // seen by other ranks, too, who want it as well
			}
		}}}
		r, err := Measure(ctx, comm, s)
		if comm.Rank() == 0 && err == nil && (r.Stopped != harness.StoppedByContext || len(r.measurements) == 0) {
			t.Errorf("stopped by %q with %d measurements", r.Stopped, len(r.measurements))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
