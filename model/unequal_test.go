package model

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// unequal is two racks of three hosts, switches 6 to 8, links of hosts of 2 us and 1 GB/s, uplinks of 6 us and
// 2 GB/s; but the link of host 2 has 5 us more and a tenth of the rate, and hosts 3 to 5 have 4 GB/s.
func unequal(t testing.TB, s *Settings) *Network {
	t.Helper()
	var arcs []topology.Arc
	for h := range 6 {
		latency, bandwidth := 2e-6, 1e9
		switch {
		case h == 2:
			latency, bandwidth = 7e-6, 1e8
		case h > 2:
			bandwidth = 4e9
		}
		arcs = topology.AppendLink(arcs, h, 7+h/3, latency, bandwidth)
	}
	arcs = topology.AppendLink(arcs, 6, 7, 6e-6, 2e9)
	arcs = topology.AppendLink(arcs, 6, 8, 6e-6, 2e9)
	g, err := topology.NewGraph(6, 3, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(6, []topology.Level{{Name: "rack", Latency: 4e-6, Confidence: 1}}, []topology.Group{
		{Hosts: []int{0, 1, 2}, Latency: 4e-6, Confidence: 1}, {Hosts: []int{3, 4, 5}, Latency: 4e-6, Confidence: 1},
	}, 16e-6)
	if err != nil {
		t.Fatal(err)
	}
	s.Measured.Bytes = 8
	s.Locations = locations(6)
	for i := range s.Locations {
		s.Locations[i] = Location{Host: fmt.Sprint("n", i), Core: 0}
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// By hand: the sum of the links' latencies, and the bytes beyond the eight measured over the slowest link.
func TestTimeKnowsLinksThatAreNotAlike(t *testing.T) {
	typical := &Settings{LevelBandwidth: []float64{1e9, 1e9}} // of racks and between them
	for _, c := range []struct {
		name     string
		s        *Settings
		src, dst int
		bytes    int64
		want     float64
	}{
		{"typical, short", typical, 0, 1, 8, 4e-6},
		{"typical, long", typical, 0, 1, 1000008, 4e-6 + 1e-3},
		{"the slow host, short", typical, 2, 0, 8, 9e-6},
		{"to the slow host, short", typical, 0, 2, 8, 9e-6},
		{"the slow host, long", typical, 2, 0, 1000008, 9e-6 + 1e-2},
		{"the slow host across, long", typical, 2, 5, 1000008, 21e-6 + 1e-2},
		{"the fast rack, long", typical, 3, 4, 1000008, 4e-6 + 0.25e-3},
		{"across, long", typical, 1, 5, 1000008, 16e-6 + 1e-3},
		// A lone message takes 20 ns/B between racks: links do not limit it, but those of the slow host do not help.
		{"no message fills the links", &Settings{LevelBandwidth: []float64{1e9, 5e7}}, 1, 5, 1000008, 16e-6 + 2e-2},
		{"nor those of the slow host", &Settings{LevelBandwidth: []float64{1e9, 5e7}}, 2, 5, 1000008, 21e-6 + 2e-2},
		{"a tenth slower than typical", &Settings{LevelBandwidth: []float64{1.1e9, 1.1e9}}, 0, 1, 1000008, 4e-6 + 1e-3},
		{"latencies alone", &Settings{LevelBandwidth: []float64{nan, nan}}, 2, 0, 8, 9e-6},
	} {
		n := unequal(t, c.s)
		if got := n.Time(c.src, c.dst, c.bytes); !near(got, c.want, 1e-6) {
			t.Errorf("%s: Time(%d, %d, %d) = %g, want %g", c.name, c.src, c.dst, c.bytes, got, c.want)
		}
		if p, err := n.Predict(nil, []Transfer{{Src: c.src, Dst: c.dst, Bytes: c.bytes}}); c.s == typical && (err != nil || math.Abs(p[0]/c.want-1) > 0.01) {
			t.Errorf("%s: Predict = %g, %v, Time %g", c.name, p, err, c.want)
		}
	}
}

// Jobs of which all hosts are slow, or all fast, see the same times as the whole, from a file, too.
func TestViewsKnowWhatIsTypicalOfTheWhole(t *testing.T) {
	n := unequal(t, &Settings{LevelBandwidth: []float64{1e9, 1e9}})
	for _, old := range [][]int{{2, 0}, {4, 3}, {5, 2}, {3, 5, 4}, {2, 1, 4}} {
		var at []Location
		for _, r := range old {
			at = append(at, n.Location(r))
		}
		view, err := n.View(at)
		if err != nil {
			t.Fatal(err)
		}
		checkView(t, n, view, old)
		back := reread(t, view)
		checkView(t, n, back, old)
	}
}

// reread is the network as its file tells it.
func reread(t *testing.T, n *Network) *Network {
	t.Helper()
	var file bytes.Buffer
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// What every message pays at its ends is in the times of groups, and not in the lengths of paths: a slow host shows all the same.
func TestTimeKnowsSlowHostsBesideAnOverhead(t *testing.T) {
	n := unequal(t, &Settings{LevelBandwidth: []float64{1e9, 1e9}})
	const overhead = 3e-6
	groups := append([]topology.Group(nil), n.Hierarchy().Groups()[1:]...)
	for i := range groups {
		groups[i].Latency += overhead
	}
	h, err := topology.NewHierarchy(6, []topology.Level{{Name: "rack", Latency: 4e-6 + overhead, Confidence: 1}}, groups, 16e-6+overhead)
	if err != nil {
		t.Fatal(err)
	}
	paying, err := New(&topology.Result{Graph: n.Graph(), Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree, Overhead: overhead}}, &Settings{
		Measured: Metadata{Bytes: 8}, LevelBandwidth: []float64{1e9, 1e9},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, dst int
		want     float64
	}{{0, 1, 4e-6 + overhead}, {0, 2, 9e-6 + overhead}, {2, 5, 21e-6 + overhead}} {
		if got := paying.Time(c.src, c.dst, 8); !near(got, c.want, 1e-6) {
			t.Errorf("Time(%d, %d, 8) = %g, want %g", c.src, c.dst, got, c.want)
		}
		if p, err := paying.Predict(nil, []Transfer{{Src: c.src, Dst: c.dst, Bytes: 8}}); err != nil || !near(p[0], c.want, 0.01) {
			t.Errorf("Predict(%d, %d, 8 B) = %g, %v, want %g", c.src, c.dst, p, err, c.want)
		}
	}
}

// Hosts that were not measured are as far from all others, and from each other, as is typical of the machine: 16 us by the
// links above. Predict says so too, and a file tells the same.
func TestHostsThatWereNotMeasuredAreTypical(t *testing.T) {
	n := unequal(t, &Settings{LevelBandwidth: []float64{1e9, 1e9}})
	view, _, err := n.OfJob([]Location{n.Location(0), n.Location(2), {Host: "x", Core: 0}, {Host: "y", Core: 0}})
	if err != nil {
		t.Fatal(err)
	}
	back := reread(t, view)
	for _, c := range []struct {
		src, dst int
		want     float64
	}{{0, 2, 16e-6 + 1e-3}, {2, 3, 16e-6 + 1e-3}, {1, 3, 21e-6 + 1e-2}, {0, 1, 9e-6 + 1e-2}} {
		const bytes = 1000008
		p, err := view.Predict(nil, []Transfer{{Src: c.src, Dst: c.dst, Bytes: bytes}})
		if err != nil || !near(p[0], c.want, 0.01) {
			t.Errorf("Predict(%d, %d) = %g, %v, want %g", c.src, c.dst, p, err, c.want)
		}
		if got := view.Time(c.src, c.dst, bytes); !near(got, c.want, 1e-6) {
			t.Errorf("Time(%d, %d) = %g, want %g", c.src, c.dst, got, c.want)
		}
		if got := back.Time(c.src, c.dst, bytes); !near(got, c.want, 1e-6) {
			t.Errorf("from its file Time(%d, %d) = %g, want %g", c.src, c.dst, got, c.want)
		}
	}
}

// With other parameters of the levels the pairs that are typical of them are others, too: here a message has 50 MB/s,
// which no link limits.
func TestWithFollowsOtherLevels(t *testing.T) {
	n := unequal(t, &Settings{LevelBandwidth: []float64{1e9, 1e9}})
	slow := unequal(t, &Settings{LevelBandwidth: []float64{5e7, 5e7}})
	with, err := n.With(func(s *Settings) { s.Levels = slow.Levels() })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := with.Time(3, 4, 1000008), slow.Time(3, 4, 1000008); got != want {
		t.Errorf("Time in the fast rack = %g, want %g as of a new network", got, want)
	}
}

// Links that do not add up to what their groups need, as after levels alone were measured anew, say nothing of pairs.
func TestTimeIgnoresLinksThatTellAnotherStory(t *testing.T) {
	n := unequal(t, &Settings{LevelBandwidth: []float64{1e9, 1e9}})
	groups := append([]topology.Group(nil), n.Hierarchy().Groups()[1:]...)
	for i := range groups {
		groups[i].Latency = 40e-6
	}
	h, err := topology.NewHierarchy(6, []topology.Level{{Name: "rack", Latency: 40e-6, Confidence: 1}}, groups, 160e-6)
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(&topology.Result{Graph: n.Graph(), Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &Settings{Measured: Metadata{Bytes: 8}})
	if err != nil {
		t.Fatal(err)
	}
	if got := other.Time(2, 0, 8); !near(got, 40e-6, 1e-9) {
		t.Errorf("Time(2, 0, 8) = %g, want 40e-6", got)
	}
}

// A ring of four, of which the links of host 3 have half the rate. By hand: the bytes beyond the eight measured over the slowest
// link of the route, where the level's typical message has links of the full rate.
func TestTimeOnAMeshKnowsLinksThatAreNotAlike(t *testing.T) {
	var arcs []topology.Arc
	for h := range 4 {
		rate := 1e9
		if h >= 2 {
			rate = 5e8
		}
		arcs = topology.AppendLink(arcs, h, (h+1)%4, 2e-6, rate)
	}
	g, err := topology.NewGraph(4, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, nil, nil, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyMesh}}, &Settings{LevelBandwidth: []float64{1e9}, Measured: Metadata{Bytes: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, dst int
		want     float64
	}{{0, 1, 2e-6 + 1e-3}, {3, 0, 2e-6 + 2e-3}, {1, 3, 4e-6 + 2e-3}} {
		if got := n.Time(c.src, c.dst, 1000008); !near(got, c.want, 1e-6) {
			t.Errorf("Time(%d, %d) = %g, want %g", c.src, c.dst, got, c.want)
		}
	}
}

// A host that was not measured is as far from all others as the farthest are from each other, by its links, too: twice the way from
// a host to the root. A root of two pods is the middle of the link between them. Pods of four racks have more links than
// the root of three.
func TestHostsThatWereNotMeasuredHangOnTheRoot(t *testing.T) {
	for spec, want := range map[string]float64{
		"tree:2x3x5 latency=17us,7us,2us": 52e-6,
		"tree:3x4x2 latency=17us,7us,2us": 52e-6,
		"tree:3x4 latency=7us,2us":        18e-6,
		"star:4 latency=2us":              4e-6,
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		at := locations(c.Graph.Hosts())
		for i := range at {
			at[i] = Location{Host: fmt.Sprint("n", i), Core: -1}
		}
		n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}, &Settings{Locations: at})
		if err != nil {
			t.Fatal(err)
		}
		view, _, err := n.OfJob(append(slices.Clone(at), Location{Host: "new", Core: -1}))
		if err != nil {
			t.Fatal(err)
		}
		for rank := range at {
			if got := pathLatency(t, view, len(at), rank); !near(got, want, 1e-9) {
				t.Errorf("%s: rank %d is %g s from the new host, want %g s", spec, rank, got, want)
			}
			for other := range at {
				if got, was := pathLatency(t, view, other, rank), pathLatency(t, n, other, rank); !near(got, was, 1e-9) {
					t.Errorf("%s: ranks %d and %d are %g s apart, want %g s as measured", spec, other, rank, got, was)
				}
			}
		}
	}
}
