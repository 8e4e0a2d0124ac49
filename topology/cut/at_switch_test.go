package cut_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology/cut"
)

// Reference: Bufe 2014, section 2.3.4, figure 2.21: parts of 2, 3, 3, 4 and 6
// hosts make (2, 3, 4) and (3, 6), or any other two nines.
func TestAtSwitch(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:[2,3,3,4,6]")
	root := -1
	for s := c.Graph.Hosts(); s < c.Graph.Vertices(); s++ {
		if len(c.Graph.Out(s)) == 5 && c.Graph.IsSwitch(c.Graph.Out(s)[0].To) {
			root = s
		}
	}
	left, right, err := cut.AtSwitch(c.Graph, root)
	if err != nil || len(left) != 9 || len(right) != 9 {
		t.Errorf("groups %v and %v, %v, want nine hosts each", left, right, err)
	}
	for _, g := range c.Hierarchy.GroupsAt(0) {
		in := 0
		for _, h := range g.Hosts {
			if slices.Contains(left, h) {
				in++
			}
		}
		if in != 0 && in != len(g.Hosts) {
			t.Errorf("group %v is split by %v", g.Hosts, left)
		}
	}
}

// By hand: in a ring of six switches the two hosts of switch 0 and the two each of
// its neighbours see one another through it; the next ones have a second path,
// as short, to the far neighbour. That makes three hosts on either side.
func TestAtSwitchOfARing(t *testing.T) {
	c, d := topotest.Generate(t, "ring:6 hosts=2 latency=1us")
	s := c.Graph.Out(0)[0].To
	left, right, err := cut.AtSwitch(c.Graph, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 3 || len(right) != 3 {
		t.Errorf("groups %v and %v, want three hosts each", left, right)
	}
	for _, x := range left {
		for _, y := range right {
			// Over s: what it is from each to host 0, less host 0's own link.
			toS := func(h int) float64 {
				if h == 0 {
					return 1e-6
				}
				return d.At(h, 0) - 1e-6
			}
			if math.Abs(toS(x)+toS(y)-d.At(x, y)) > 1e-12 {
				t.Errorf("the path from %d to %d does not pass the switch", x, y)
			}
		}
	}
	if _, _, err := cut.AtSwitch(c.Graph, 0); err == nil {
		t.Error("a host for a switch: no error")
	}
}

// The ring of above, measured: links differ by up to 1 % at random, and so do ways that are equally long. None of them is the
// only one for that.
func TestAtSwitchOfAMeasuredRing(t *testing.T) {
	for seed := range 20 {
		c, _ := topotest.Generate(t, fmt.Sprintf("ring:6 hosts=2 latency=1us spread=0.01 seed=%d", seed))
		left, right, err := cut.AtSwitch(c.Graph, c.Graph.Out(0)[0].To)
		if err != nil || len(left) != 3 || len(right) != 3 {
			t.Errorf("seed %d: groups %v and %v, %v, want three hosts each", seed, left, right, err)
		}
	}
}
