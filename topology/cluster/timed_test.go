package cluster

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// nestedGroups are two nodes of two sockets of two, and host 8 alone.
func nestedGroups(t *testing.T) *topology.Hierarchy {
	t.Helper()
	nan := math.NaN()
	h, err := topology.NewHierarchy(9, []topology.Level{{Latency: 1}, {Latency: 2}}, []topology.Group{
		{Hosts: []int{0, 1}, Level: 0, Confidence: nan},
		{Hosts: []int{2, 3}, Level: 0, Confidence: nan},
		{Hosts: []int{4, 5}, Level: 0, Confidence: nan},
		{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: 2, Confidence: nan},
		{Hosts: []int{4, 5, 6, 7}, Level: 1, Latency: 2, Confidence: nan},
	}, 9)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestTimed: latencies are the medians of the times between a group's children, of both directions the mean, and the
// links of the graph half of the steps.
func TestTimed(t *testing.T) {
	h := nestedGroups(t)
	m := mat.NewDense(9, 9, nil)
	for i := range 9 {
		for j := range 9 {
			m.Set(i, j, map[int]float64{0: 10, 1: 4, 2: 4, 3: 1, 4: 1, 5: 1}[h.Common(i, j)]*1e-6)
		}
	}
	m.Set(0, 1, 1.2e-6) // 1.1 in the mean
	r, err := Timed(h, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 1, 1.1e-6}, {2, 3, 1e-6}, {0, 2, 4e-6}, {6, 7, 4e-6}, {0, 8, 10e-6}} {
		if got := r.Hierarchy.Latency(c.a, c.b); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("latency %d-%d = %g, want %g", c.a, c.b, got, c.want)
		}
	}
	if d := r.Graph.HostDistances(); math.Abs(d[0*9+8]-10e-6) > 1e-15 || math.Abs(r.Hierarchy.Levels()[0].Latency-1e-6) > 1e-15 {
		t.Errorf("way 0-8 of %g s, level 1 of %g s, want 10 and 1 us", d[8], r.Hierarchy.Levels()[0].Latency)
	}
}
