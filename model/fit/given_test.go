package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// TestGivenArcsStay: an uplink that is slower one way is given, and all other
// bandwidths are fitted, of transfers of which each takes as long as its slowest link
// says: the two directions differ in the network, and links that were only timed across the slow
// one are not blamed for it.
func TestGivenArcsStay(t *testing.T) {
	c, err := gen.Parse("tree:3x2 latency=8us,2us")
	if err != nil {
		t.Fatal(err)
	}
	g := c.Graph
	arcs := append([]topology.Arc(nil), g.Arcs()...)
	up := g.ArcIndex(7, 6) // hosts 0 to 5, s0 = 6, racks 7 to 9
	arcs[up].Bandwidth = 0.2e9
	arcs[g.ArcIndex(6, 7)].Bandwidth = 0.9e9
	if g, err = g.WithArcs(arcs); err != nil {
		t.Fatal(err)
	}
	unknown := append([]topology.Arc(nil), arcs...)
	for i := range unknown {
		unknown[i].Bandwidth = math.NaN()
	}
	blank, err := g.WithArcs(unknown)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.FromGraph(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	var observations []Observation
	for src := range 6 {
		for dst := range 6 {
			if src == dst || src < 2 && dst < 2 {
				continue // hosts 0 and 1 are only timed across their uplink
			}
			for _, bytes := range []int64{8, 1 << 20} {
				ts := []model.Transfer{{Src: src, Dst: dst, Bytes: bytes}}
				seconds, err := truth.Predict(nil, ts)
				if err != nil {
					t.Fatal(err)
				}
				observations = append(observations, Observation{Transfers: ts, Seconds: seconds})
			}
		}
	}
	given := []topology.Arc{{From: 7, To: 6, Bandwidth: 0.2e9}, {From: 6, To: 7, Bandwidth: 0.9e9}}
	for _, what := range []struct {
		observations []Observation
		fitted       bool
	}{{observations, true}, {nil, false}} {
		fit, err := Network(&topology.Result{Graph: blank, Hierarchy: c.Hierarchy}, what.observations, &Settings{Arcs: given})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range fit.Network.Graph().Arcs() {
			host := min(a.From, a.To)
			switch {
			case host >= 6 && min(a.From, a.To) == 6 && max(a.From, a.To) == 7:
				if a.Bandwidth != arcs[i].Bandwidth || a.Estimated {
					t.Errorf("%d->%d: %g B/s, estimated: %v; want %g as given", a.From, a.To, a.Bandwidth, a.Estimated, arcs[i].Bandwidth)
				}
			case !what.fitted:
				if !math.IsNaN(a.Bandwidth) && !a.Estimated {
					t.Errorf("%d->%d: %g B/s without an observation", a.From, a.To, a.Bandwidth)
				}
			default:
				if math.Abs(a.Bandwidth/arcs[i].Bandwidth-1) > 0.02 {
					t.Errorf("%d->%d: %.4g B/s, want %.4g", a.From, a.To, a.Bandwidth, arcs[i].Bandwidth)
				}
			}
		}
		directions := 0
		for _, l := range fit.Links {
			if l.Given {
				directions++
				if !l.OneWay || !l.Determined || l.RelativeError != 0 {
					t.Errorf("%+v, want one way, determined", l)
				}
			}
		}
		if directions != 2 || len(fit.Links) != 6+3+1 {
			t.Errorf("%d of %d bandwidths are given, want 2 of 10", directions, len(fit.Links))
		}
	}
	for _, tt := range []struct {
		arcs []topology.Arc
		want string
	}{
		{[]topology.Arc{{From: 7, To: 8, Bandwidth: 1}}, "Settings.Arcs[0]: 7 to 8: the graph has no such arc"},
		{[]topology.Arc{given[0], given[0]}, "Settings.Arcs[1]: 7 to 6: given twice"},
		{[]topology.Arc{{From: 7, To: 6, Bandwidth: math.NaN()}}, "NaN B/s: want above 0"},
		{[]topology.Arc{{From: 7, To: 10, Bandwidth: 1}}, "7 to 10: want vertices in [0, 10)"},
	} {
		_, err := Network(&topology.Result{Graph: blank, Hierarchy: c.Hierarchy}, nil, &Settings{Arcs: tt.arcs})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// TestRefutedArcsAreFitted: the link of a host is given with half of its rate, as a disturbed measurement may tell it. A
// transfer over it was twice as fast, so that the link is fitted, and said to be. A rate that is 10 % low stays.
func TestRefutedArcsAreFitted(t *testing.T) {
	truth, seen := fitTruth(t, rand.New(rand.NewPCG(3, 24)), 2, &model.Settings{})
	r := rand.New(rand.NewPCG(4, 24))
	observed := observe(t, truth, r, 0.01, fitPatterns(r, 4, 12))
	arc := truth.Graph().ArcIndex(0, 4)
	rate := truth.Graph().Arcs()[arc].Bandwidth
	for _, share := range []float64{0.5, 0.9} {
		fit, err := Network(seen, observed, &Settings{Arcs: []topology.Arc{{From: 0, To: 4, Bandwidth: share * rate}}})
		if err != nil {
			t.Fatal(err)
		}
		want, isSaid := rate, strings.Contains(strings.Join(fit.Warnings, " "), "the measured rates of 1 direction are not used")
		if share > 0.8 {
			want *= share
		}
		if got := fit.Network.Graph().Arcs()[arc].Bandwidth; !near(got, want, 0.03) || isSaid != (share < 0.8) {
			t.Errorf("given %.1f of its rate, the link carries %.4g B/s, want %.4g; warnings %q", share, got, want, fit.Warnings)
		}
	}
}
