package model

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/topology"
)

// ring is a network of so many hosts of one rank, that slow down as slow says at each
// distance.
func ring(t *testing.T, hosts int, d *Degradation) *Network {
	t.Helper()
	var arcs []topology.Arc
	var at []Location
	for i := range hosts {
		arcs = topology.AppendLink(arcs, i, hosts, 1e-6, 1e9)
		at = append(at, Location{Host: fmt.Sprint("h", i), Core: -1})
	}
	g, err := topology.NewGraph(hosts, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(hosts, nil, nil, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h}, &Settings{Locations: at, Degradation: d})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// By hand, for a ring of 8 in which distance d slows down d times, so that a pair has the
// bandwidth 1/d:
//   - hosts 0 2 4 6: at 1 all are 2 apart, bandwidth 1/2; at 2 all are 4, 1/4: twice as slow;
//   - hosts 0 4 1 5: at 1 the pairs 0-4, 4-1, 1-5, 5-0 are 4 3 4 3 apart, bandwidth (1/4+1/3)/2 =
//     7/24; at 2 all are 1 apart, bandwidth 1: a ratio of 7/24;
//   - hosts 1 0, in another order: one pair, at 1;
//   - hosts 0 1 2 x of which x was not in the ring: at 1 the pairs 0-1 and 1-2, bandwidth 1; at
//     2 the pair 0-2 both ways, 1/2.
func TestViewOfDistances(t *testing.T) {
	d := &Degradation{Distance: []float64{nan, 1, 2, 3, 4}, Access: []float64{nan, 1, 3}, Hosts: 8}
	n := ring(t, 10, d) // the ring had the first 8
	for _, c := range []struct {
		hosts []int
		want  []float64
	}{
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, []float64{1, 2, 3, 4}},
		{[]int{7, 6, 5, 4, 3, 2, 1, 0}, []float64{1, 2, 3, 4}},
		{[]int{0, 2, 4, 6}, []float64{1, 2}},
		{[]int{0, 4, 1, 5}, []float64{1, 7. / 24}},
		{[]int{1, 0}, []float64{1}},
		{[]int{0, 1, 2, 9}, []float64{1, 2}},
		{[]int{8, 9}, []float64{nan}},
		{[]int{3}, nil},
	} {
		var at []Location
		for _, h := range c.hosts {
			at = append(at, n.Location(h))
		}
		view, err := n.View(at)
		if err != nil {
			t.Fatal(err)
		}
		got := view.Settings().Degradation
		if got.Hosts != len(c.hosts) || len(got.Distance) > len(c.want)+1 {
			t.Errorf("hosts %v: ring of %d with ratios %v", c.hosts, got.Hosts, got.Distance)
		}
		for i, want := range c.want {
			if r := got.DistanceRatio(i + 1); !near(r, want, 1e-12) {
				t.Errorf("hosts %v: ratio at %d is %g, want %g", c.hosts, i+1, r, want)
			}
		}
		if r := got.AccessRatio(2); r != 3 {
			t.Errorf("hosts %v: access ratio %g, want 3: it is each host's own", c.hosts, r)
		}
	}
	unknown := ring(t, 4, &Degradation{Distance: []float64{nan, 1, 5}})
	view, err := unknown.View(unknown.s.Locations[1:])
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Settings().Degradation.DistanceRatio(2); got != 5 {
		t.Errorf("ratio of a ring of unknown hosts = %g, want 5 as it was", got)
	}
}

func TestDegradationIsChecked(t *testing.T) {
	for _, d := range []Degradation{
		{Hosts: -1},
		{Hosts: 5, Distance: []float64{nan, 1, 2, 3}},
		{Access: []float64{nan, -1}},
	} {
		if err := d.check(); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
	if err := (&Degradation{Hosts: 5, Distance: []float64{nan, 1, 2}}).check(); err != nil {
		t.Error(err)
	}
}
