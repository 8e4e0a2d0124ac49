package topology

import (
	"fmt"
	"math"
	"testing"
)

// A link that is slower one way than the other has a middle nevertheless: hosts 0 and 1 on switch 4, hosts 2 and 3 on switch 5.
func TestHierarchyOfUnlikeDirections(t *testing.T) {
	var arcs []Arc
	for _, link := range [][2]int{{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 5}} {
		arcs = AppendLink(arcs, link[0], link[1], 1e-6, math.NaN())
	}
	arcs[len(arcs)-2].Latency = 7e-6
	g, err := NewGraph(4, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.Hierarchy()
	if err != nil {
		t.Fatal(err)
	}
	var groups [][]int
	for _, group := range h.Groups()[1:] {
		groups = append(groups, group.Hosts)
	}
	if got, want := fmt.Sprint(groups), "[[0 1] [2 3]]"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
}
