package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// checkView compares the times between the ranks of a view with those of the
// ranks of n that they are.
func checkView(t *testing.T, n, view *Network, old []int) {
	t.Helper()
	if view.Ranks() != len(old) {
		t.Fatalf("a view of %d ranks, want %d", view.Ranks(), len(old))
	}
	for i, a := range old {
		if view.Location(i) != n.Location(a) {
			t.Errorf("Location(%d) = %v, want %v", i, view.Location(i), n.Location(a))
		}
		for j, b := range old {
			for _, bytes := range []int64{0, 8, 1000, 1e7} {
				if got, want := view.Time(i, j, bytes), n.Time(a, b, bytes); !near(got, want, 1e-6) {
					t.Fatalf("Time(%d, %d, %d) in the view = %g, want %g as of %d, %d", i, j, bytes, got, want, a, b)
				}
			}
		}
	}
}

func TestViewKeepsTimes(t *testing.T) {
	networks := map[string]*Network{}
	s := fullSettings()
	s.Levels = nil
	s.LevelBandwidth = []float64{1e9, 1e8}
	networks["two racks"] = twoRacks(t, 4, s)
	for _, spec := range []string{"tree:2x2x4 latency=30us,12us,5us", "fattree:4", "torus:4x4", "ring:4 hosts=4", "core:2 socket:2 host:2 rack:2"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		bandwidth := make([]float64, len(c.Hierarchy.Levels())+1)
		for i := range bandwidth {
			bandwidth[i] = 1e9 / float64(i+1)
		}
		for _, family := range []topology.Family{topology.FamilyTree, ""} {
			n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: family}},
				&Settings{Locations: locations(c.Graph.Hosts()), LevelBandwidth: bandwidth})
			if err != nil {
				t.Fatal(err)
			}
			networks[fmt.Sprintf("%s, family %q", spec, family)] = n
		}
	}
	for name, n := range networks {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 5))
			for _, count := range []int{n.Ranks(), n.Ranks() / 2, 3, 2, 1} {
				old := r.Perm(n.Ranks())[:count]
				ranks := make([]Location, count)
				for i, a := range old {
					ranks[i] = n.Location(a)
				}
				view, err := n.View(ranks)
				if err != nil {
					t.Fatal(err)
				}
				checkView(t, n, view, old)
			}
		})
	}
}

func TestViewOfOneRackForgetsTheOther(t *testing.T) {
	n := twoRacks(t, 4, &Settings{LevelBandwidth: []float64{1e9, 1e8}, Locations: locations(8)})
	view, err := n.View(n.s.Locations[4:6])
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Graph().Vertices(); got != 3 {
		t.Errorf("%d vertices, want 2 hosts and their switch", got)
	}
	if got := len(view.Hierarchy().Levels()); got != 0 {
		t.Errorf("%d levels, want none: one rack", got)
	}
	if got := view.Time(0, 1, 0); !near(got, 14e-6, 1e-9) {
		t.Errorf("Time(0, 1, 0) = %g, want 14e-6, the slow rack's", got)
	}
}

func TestViewWithoutCoresTakesTheHostsRanksInOrder(t *testing.T) {
	n := twoRacks(t, 4, &Settings{LevelBandwidth: []float64{1e9, 1e8}, Locations: locations(8)})
	view, err := n.View([]Location{{"node03", -1}, {"node00", 7}, {"node03", -1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 2, 14e-6}, {0, 1, 30e-6}} {
		if got := view.Time(c.a, c.b, 0); !near(got, c.want, 1e-9) {
			t.Errorf("Time(%d, %d, 0) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
}

func TestViewNamesHosts(t *testing.T) {
	n := twoRacks(t, 4, &Settings{LevelBandwidth: []float64{1e9, 1e8}, Locations: locations(8)})
	strange := []Location{{"node00", 0}, {"node77", 0}, {"node78", 1}, {"node77", 1}}
	if _, err := n.View(strange); err == nil || !strings.Contains(err.Error(), "does not know: node77, node78") {
		t.Errorf("View = %v, want an error that names node77 and node78", err)
	}
	fuller := []Location{{"node00", 0}, {"node00", 1}, {"node00", 2}, {"node01", 0}}
	if _, err := n.View(fuller); err == nil || !strings.Contains(err.Error(), "more ranks than were measured: node00") {
		t.Errorf("View = %v, want an error that names node00", err)
	}
	if _, err := twoRacks(t, 4, nil).View(strange); err == nil || !strings.Contains(err.Error(), "does not know where") {
		t.Errorf("View = %v, want an error", err)
	}

	view, _, err := n.OfJob(strange)
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Time(0, 1, 0); !near(got, 30e-6, 1e-9) {
		t.Errorf("Time to an unknown host = %g, want 30e-6, typical of the coarsest level", got)
	}
	if last := view.Warnings()[len(view.Warnings())-1]; !strings.Contains(last, "node77, node78") {
		t.Errorf("last warning %q does not name the hosts", last)
	}
	view, _, err = n.OfJob(fuller)
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Time(2, 1, 0); !near(got, 10e-6, 1e-9) {
		t.Errorf("Time from the third rank of node00 = %g, want 10e-6 as in its rack", got)
	}
}

// Reference: Servet 3.0, section 4.3. Bandwidths by hand.
func TestDegradation(t *testing.T) {
	d, err := NewDegradation([]float64{nan, 600, 400, nan, 300}, []float64{0, 1000, 1000, 500})
	if err != nil {
		t.Fatal(err)
	}
	n := twoRacks(t, 4, &Settings{Degradation: d})
	for i, want := range []float64{nan, 1, 1.5, nan, 2, nan} {
		if got := n.Settings().Degradation.DistanceRatio(i); !near(got, want, 1e-12) {
			t.Errorf("DistanceRatio(%d) = %g, want %g", i, got, want)
		}
	}
	for i, want := range []float64{nan, 1, 1, 2, nan} {
		if got := n.Settings().Degradation.AccessRatio(i); !near(got, want, 1e-12) {
			t.Errorf("AccessRatio(%d) = %g, want %g", i, got, want)
		}
	}
	if got := n.Settings().Degradation.AccessRatio(-1); !near(got, nan, 0) {
		t.Errorf("AccessRatio(-1) = %g, want NaN", got)
	}
	var unmeasured *Degradation
	if a, b := unmeasured.DistanceRatio(1), unmeasured.AccessRatio(1); !math.IsNaN(a) || !math.IsNaN(b) {
		t.Errorf("ratios that were not measured are %g and %g, want NaN", a, b)
	}
	if _, err := NewDegradation([]float64{0, 600, 0}, nil); err == nil {
		t.Error("NewDegradation accepts a bandwidth of 0")
	}
}

func TestQueriesAreSafeForConcurrentUse(t *testing.T) {
	n := twoRacks(t, 4, fullSettings())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				n.Time(0, 7, 8)
				if _, err := n.View(n.s.Locations[:4]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Hosts that are wired to each other have no switch: a rank of an unknown host hangs on the first host of the job, and its
// times are finite.
func TestUnknownHostOfAMesh(t *testing.T) {
	for _, spec := range []string{"torus:3x3 rate=10Gbps", "line:4 rate=10Gbps"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		var at []Location
		for rank := range c.Graph.Hosts() {
			at = append(at, Location{Host: fmt.Sprint("n", rank), Core: -1})
		}
		n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyMesh}}, &Settings{Locations: at})
		if err != nil {
			t.Fatal(err)
		}
		for _, known := range [][]Location{at, at[1:2], at[:3]} {
			job := append(slices.Clone(known), Location{Host: "other", Core: -1})
			view, _, err := n.OfJob(job)
			if err != nil {
				t.Fatal(err)
			}
			last := len(job) - 1
			for rank := range last {
				for _, pair := range [][2]int{{rank, last}, {last, rank}} {
					seconds := view.Time(pair[0], pair[1], 1<<20)
					predicted, err := view.Predict(nil, []Transfer{{Src: pair[0], Dst: pair[1], Bytes: 1 << 20}})
					if err != nil || math.IsInf(seconds, 0) || !near(predicted[0], seconds, 0.01) {
						t.Errorf("%s, %d known: Time%v = %g, Predict %v, %v", spec, last, pair, seconds, predicted, err)
					}
				}
			}
		}
	}
}
