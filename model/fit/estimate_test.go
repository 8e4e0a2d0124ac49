package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// Two pods of two racks of two hosts: links of hosts are of the racks' level,
// those of racks of the pods', those of pods of the root's, in either direction.
func TestLinkLevelsOfATree(t *testing.T) {
	c, err := gen.Parse("tree:2x2x2 latency=30us,10us,2us")
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[float64]int{2e-6: 0, 10e-6: 1, 30e-6: 2}
	level := linkLevels(n)
	for i, a := range c.Graph.Arcs() {
		if level[i] != want[a.Latency] {
			t.Errorf("link %d->%d of %g s is of level %d, want %d", a.From, a.To, a.Latency, level[i], want[a.Latency])
		}
	}
}

// A ring of four switches with a host each, of which 0 and 1 are a group, and 2 and 3.
// A link of which one end leads nowhere is of the coarsest level.
func TestLinkLevelsOfARing(t *testing.T) {
	c, err := gen.Parse("ring:4 hosts=1")
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, []topology.Level{{}}, []topology.Group{{Hosts: []int{0, 1}, Confidence: nan}, {Hosts: []int{2, 3}, Confidence: nan}}, nan)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 9)
	g, err := topology.NewGraph(4, 5, names, topology.AppendLink(append([]topology.Arc{}, c.Graph.Arcs()...), 4, 8, nan, nan))
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h}, nil)
	if err != nil {
		t.Fatal(err)
	}
	level := linkLevels(n)
	// By hand: switches 4 to 7 are those of hosts 0 to 3, in a ring. Host 0 and its
	// nearest neighbour 1 are of one group, as are 2 and 3; of 3's neighbours 0 is
	// as near as 2, and the lower.
	for _, c := range []struct{ u, v, want int }{
		{4, 5, 0}, {6, 7, 0}, {5, 6, 1}, {4, 7, 1}, {0, 4, 0}, {1, 5, 0}, {4, 8, 1},
	} {
		for _, arc := range []int{g.ArcIndex(c.u, c.v), g.ArcIndex(c.v, c.u)} {
			if arc < 0 || level[arc] != c.want {
				t.Errorf("link %d-%d is of another level than %d: %v", c.u, c.v, c.want, level)
			}
		}
	}
}

// Host 0 is 5 us from switch 2, and that at an unknown latency, which counts as 0, from
// switch 3, from which host 1 is 2 us: to switch 3 host 1 is nearer.
func TestNearestHostsAddNothingForALatencyThatIsNotKnown(t *testing.T) {
	var arcs []topology.Arc
	for _, l := range []struct {
		u, v    int
		latency float64
	}{{0, 2, 5e-6}, {2, 3, nan}, {3, 1, 2e-6}} {
		arcs = topology.AppendLink(arcs, l.u, l.v, l.latency, nan)
	}
	g, err := topology.NewGraph(2, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	near := nearestHosts(g)
	if got := near[3][0]; got.host != 1 || got.latency != 2e-6 {
		t.Errorf("nearest to switch 3: host %d at %g s, want host 1 at 2e-06 s", got.host, got.latency)
	}
	if got := near[3][1]; got.host != 0 || got.latency != 5e-6 {
		t.Errorf("over switch 2: host %d at %g s, want host 0 at 5e-06 s", got.host, got.latency)
	}
}

// What is not known is that of the next coarser level, and beyond the
// coarsest that of the next finer one. Arcs both ways are one link.
func TestEstimate(t *testing.T) {
	for _, c := range []struct{ bandwidth, want []float64 }{
		{[]float64{nan, 2, nan, 5, nan}, []float64{2, 2, 5, 5, 5}},
		{[]float64{1, nan, nan, 5, 6}, []float64{1, 5, 5, 5, 6}},
		{[]float64{1, nan, 4, nan, 6}, []float64{1, 4, 4, 6, 6}},
		{[]float64{nan, nan, 3, nan, nan}, []float64{3, 3, 3, 3, 3}},
		{[]float64{nan, nan, nan, nan, nan}, []float64{nan, nan, nan, nan, nan}},
	} {
		var arcs []topology.Arc
		var level []int
		for i := range c.want {
			arcs, level = topology.AppendLink(arcs, i, i+1, nan, nan), append(level, i, i)
		}
		arcs = topology.AppendLink(arcs, 7, 8, nan, 9) // measured
		// In an earlier fit:
		before := topology.Arc{From: 8, To: 9, Latency: nan, Bandwidth: 7, Probability: 1, Estimated: true}
		arcs, level = append(arcs, before), append(level, 0, 0, 0)
		want := 6
		if math.IsNaN(c.want[0]) {
			want = 1
		}
		estimate(arcs, level, c.bandwidth)
		if got, want := warningOf(t, 10, 0, arcs), fmt.Sprintf("the bandwidths of %d of 7 links", want); !strings.HasPrefix(got, want) {
			t.Errorf("bandwidths %v: warning %q, want one of %q", c.bandwidth, got, want)
		}
		for i, a := range arcs[:10] {
			if x := c.want[level[i]]; !near(a.Bandwidth, x, 0) || a.Estimated == math.IsNaN(x) {
				t.Errorf("bandwidths %v: link of level %d has %g B/s, estimated %v, want %g", c.bandwidth, level[i], a.Bandwidth, a.Estimated, x)
			}
		}
		if arcs[10].Bandwidth != 9 || arcs[10].Estimated || arcs[12].Bandwidth != 7 {
			t.Errorf("bandwidths %v: links that were known became %+v", c.bandwidth, arcs[10:])
		}
	}
}

// warningOf is what estimateWarning says of a graph of these arcs.
func warningOf(t *testing.T, hosts, switches int, arcs []topology.Arc) string {
	t.Helper()
	g, err := topology.NewGraph(hosts, switches, nil, slices.Clone(arcs))
	if err != nil {
		t.Fatal(err)
	}
	return estimateWarning(g)
}

// twoRacksOf is two racks of hosts on links of 5 us, 18 us apart; the bandwidth of each level is 1 GB/s, and of no link
// it is known.
func twoRacksOf(t testing.TB, perRack int) *model.Network {
	t.Helper()
	var groups []topology.Group
	var arcs []topology.Arc
	for rack := range 2 {
		g := topology.Group{Latency: 10e-6, Confidence: nan}
		for host := rack * perRack; host < (rack+1)*perRack; host++ {
			g.Hosts = append(g.Hosts, host)
			arcs = topology.AppendLink(arcs, host, 2*perRack+rack, 5e-6, nan)
		}
		groups = append(groups, g)
	}
	g, err := topology.NewGraph(2*perRack, 2, nil, topology.AppendLink(arcs, 2*perRack, 2*perRack+1, 18e-6, nan))
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(2*perRack, []topology.Level{{Latency: 10e-6, Confidence: nan}}, groups, 28e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{LevelBandwidth: []float64{1e9, 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What the fit says of a link is kept where transfers speak for it. Two racks, of
// hosts 0 to 7 and 8 to 15; messages of 1 MB, alone but for two; and bandwidths as a
// fit may leave them. All is by hand from the rules at fill. Lower bounds are marked as estimated: host 10 was seen to carry
// 1.2 GB/s, which is more than is typical, and the fit's 1.5 GB/s are more than any message had.
func TestFillKeepsWhatTransfersShow(t *testing.T) {
	n := twoRacksOf(t, 8)
	var observations []Observation
	alone := func(src, dst int, rate float64) {
		observations = append(observations, Observation{Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: 1e6}}, Seconds: []float64{n.Time(src, dst, 0) + 1e6/rate}})
	}
	alone(0, 1, 1e9)
	for range 10 {
		alone(0, 8, 1e9)
		alone(8, 0, 1e9)
	}
	alone(10, 1, 1.2e9) // one of more than ten: what is usual is not the fastest
	alone(9, 2, 0.85e9)
	alone(11, 3, 0.3e9)
	alone(11, 4, 0.33e9)
	alone(12, 5, 0.75e9)
	alone(14, 15, 1e9)
	observations = append(observations, Observation{Transfers: []model.Transfer{{Src: 13, Dst: 6, Bytes: 1e6}, {Src: 0, Dst: 1, Bytes: 1e6}}, Seconds: []float64{2e-3, 2e-3}})
	f, err := newFitter(n, observations, nil)
	if err != nil {
		t.Fatal(err)
	}
	const typical = 1e9 // median of hosts 0 and 1, and of those that are determined
	links := []struct {
		name       string
		host       int
		fitted     float64
		determined bool
		want       float64
		isBound    bool // want is seen, but a lower bound
	}{
		{"as fast as is usual", 0, 1e9, false, 1e9, false},
		{"slower, but crossed within its rack", 1, 0.7e9, false, 0.7e9, false},
		{"determined", 2, 0.95e9, true, 0.95e9, false},
		{"slow for the fault of host 11", 3, 0.31e9, false, typical, false},
		{"the same again", 4, 0.32e9, false, typical, false},
		{"slow, or host 12", 5, 0.75e9, false, 0.75e9, false},
		{"a bound, while others were under way", 6, 0.5e9, false, typical, false},
		{"not crossed", 7, nan, false, typical, false},
		{"determined", 8, 1e9, true, 1e9, false},
		{"cleared by a transfer of usual speed", 9, 0.85e9, false, typical, false},
		{"a bound above what is typical", 10, 1.5e9, false, 1.2e9, true},
		{"to blame for two", 11, 0.3e9, false, 0.3e9, false},
		{"slow, or host 5", 12, 0.75e9, false, 0.75e9, false},
		{"held one up that was not alone", 13, 0.5e9, false, 0.5e9, true},
		{"found faster than any message", 14, 1.3e9, false, 1e9, true},
		{"determined", 15, 1e9, true, 1e9, false},
	}
	linkOf := func(host int) int { return f.linkOf[n.Graph().ArcIndex(host, 16+host/8)] }
	for _, l := range links {
		f.links[linkOf(l.host)].Bandwidth, f.links[linkOf(l.host)].Determined = l.fitted, l.determined
	}
	f.links[linkOf(6)].isIdle = true
	f.links[f.linkOf[n.Graph().ArcIndex(16, 17)]].Bandwidth = 1.2e9
	arcs := f.fill()
	if got, want := warningOf(t, 16, 2, arcs), "the bandwidths of 9 of 17 links"; !strings.HasPrefix(got, want) {
		t.Errorf("warning %q, want one of %q", got, want)
	}
	for _, l := range links {
		a := arcs[n.Graph().ArcIndex(l.host, 16+l.host/8)]
		if back := arcs[n.Graph().ArcIndex(a.To, a.From)]; a.Bandwidth != l.want || back.Bandwidth != l.want || a.Estimated != (l.isBound || l.want != l.fitted) {
			t.Errorf("host %d (%s) has %g and %g B/s, estimated %v, want %g", l.host, l.name, a.Bandwidth, back.Bandwidth, a.Estimated, l.want)
		}
	}
	if a := arcs[n.Graph().ArcIndex(17, 16)]; a.Bandwidth != 1.2e9 || !a.Estimated {
		t.Errorf("the link of racks has %g B/s, estimated %v, want 1.2e9 as a lower bound", a.Bandwidth, a.Estimated)
	}
}

// Uplinks of 4 GB/s over hosts of 1 GB/s. Single pairs cross each of them, which the links of hosts hold up. One was measured by
// itself. Nothing was measured of the others: they get what is typical of their level. By hand: all transfers over
// uplinks show 1 GB/s.
func TestUplinksThatSinglePairsCrossAreEstimated(t *testing.T) {
	c, err := gen.Parse("tree:4x3 latency=5us,2us rate=4GBps,1GBps")
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.FromGraph(c.Graph, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	arcs := slices.Clone(c.Graph.Arcs())
	for i := range arcs {
		arcs[i].Bandwidth = nan
	}
	blank, err := c.Graph.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	var patterns [][]model.Transfer
	for src := range 12 {
		for dst := range 12 {
			if src != dst {
				patterns = append(patterns, []model.Transfer{{Src: src, Dst: dst, Bytes: 8}}, []model.Transfer{{Src: src, Dst: dst, Bytes: 10e6}})
			}
		}
	}
	rack := c.Graph.Out(0)[0].To
	up := c.Graph.Out(rack)[slices.IndexFunc(c.Graph.Out(rack), func(a topology.Arc) bool { return c.Graph.IsSwitch(a.To) })]
	given := []topology.Arc{up, {From: up.To, To: up.From, Bandwidth: up.Bandwidth}}
	fitted, err := Network(&topology.Result{Graph: blank, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
		observe(t, truth, rand.New(rand.NewPCG(4, 4)), 0.01, patterns), &Settings{Arcs: given})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range fitted.Network.Graph().Arcs() {
		if !blank.IsSwitch(a.From) || !blank.IsSwitch(a.To) {
			continue
		}
		isGiven := min(a.From, a.To) == min(up.From, up.To) && max(a.From, a.To) == max(up.From, up.To)
		if a.Bandwidth != up.Bandwidth || a.Estimated == isGiven {
			t.Errorf("uplink %d->%d has %g B/s, estimated %v, want %g, %v", a.From, a.To, a.Bandwidth, a.Estimated, up.Bandwidth, !isGiven)
		}
	}
}
