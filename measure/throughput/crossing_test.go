package throughput

import (
	"reflect"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
)

func parse(t testing.TB, spec string) *gen.Cluster {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCrossingsOfATree: each uplink of three racks of 2, 5 and 5 hosts, with as
// many pairs as the smaller side has, and those in the other racks in turn.
// Vertices: hosts 0-11, s0 = 12 the root, s1..s3 = 13..15 the racks.
func TestCrossingsOfATree(t *testing.T) {
	c := parse(t, "tree:[2,5,5]")
	got := findCrossings(c.Graph, 100)
	want := []crossing{
		{12, 13, 2, [][2]int{{2, 0}, {7, 1}}, nil},
		{12, 14, 5, [][2]int{{0, 2}, {7, 3}, {1, 4}, {8, 5}, {9, 6}}, nil},
		{12, 15, 5, [][2]int{{0, 7}, {2, 8}, {1, 9}, {3, 10}, {4, 11}}, nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Crossings = %v, want %v", got, want)
	}
	// One pair, and another one for it, over another rack.
	if got, want := findCrossings(c.Graph, 1)[1], (crossing{12, 14, 5, [][2]int{{0, 2}}, [][2]int{{7, 3}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("Crossings of one pair each: second = %v, want %v", got, want)
	}
}

// TestCrossingsOnlyWhereOneWayLeads: Bufe's figure 2.20 in small, a ring of five
// switches with two hosts each. A link has its own four hosts, nobody else: from
// the next switches another way is as near, or the way leads over two links. In a
// ring of four, hosts that are two links apart have two ways, neighbours one.
func TestCrossingsOnlyWhereOneWayLeads(t *testing.T) {
	for _, spec := range []string{"ring:5 hosts=2", "ring:4 hosts=2", "torus:4x4 hosts=2"} {
		g := parse(t, spec).Graph
		finder := topology.NewPaths(g, nil)
		for _, c := range findCrossings(g, 100) {
			if c.Hosts > 0 || len(c.Pairs) < 2 {
				t.Errorf("%s: %v, want no bridge and the hosts of both switches", spec, c)
			}
			for _, p := range c.Pairs {
				tree := finder.Tree(p[0])
				var path []int
				for v := p[1]; v != p[0]; v = g.Arcs()[tree.Arc[v]].From {
					path = append(path, v)
				}
				if !slices.Contains(path, c.U) || !slices.Contains(path, c.V) || !tree.Only(p[1]) {
					t.Errorf("%s: link %d-%d: the path of %v is %v", spec, c.U, c.V, p, path)
				}
			}
		}
	}
	// All ways between leaves of a fat tree are as short as others.
	for _, c := range findCrossings(parse(t, "fattree:4,3").Graph, 100) {
		if len(c.Pairs) > 0 {
			t.Errorf("fat tree: link %d-%d is measured by %v, want by nothing", c.U, c.V, c.Pairs)
		}
	}
}

// TestOnePerSwitch: of a chain of switches with 1, 2, 4 and 4 hosts the middle links
// have sides of 1 and 10, 3 and 8, 7 and 4. Switch 1 has its only link, switch
// 2 the second and switches 3 and 4 the last: all three; in the tree the root takes
// the first of two racks of five.
func TestOnePerSwitch(t *testing.T) {
	ends := func(cs []crossing) (all [][2]int) {
		for _, c := range cs {
			all = append(all, [2]int{c.U, c.V})
		}
		return all
	}
	pairs := func(n int) [][2]int { return make([][2]int, n) }
	chain := []crossing{{U: 10, V: 11, Pairs: pairs(1)}, {U: 11, V: 12, Pairs: pairs(3)}, {U: 12, V: 13, Pairs: pairs(4)}}
	if got, want := ends(onePerSwitch(chain)), [][2]int{{10, 11}, {11, 12}, {12, 13}}; !reflect.DeepEqual(got, want) {
		t.Errorf("chain: %v, want %v", got, want)
	}
	// A switch in the middle of four: its best link is also that of the second.
	star := []crossing{{U: 10, V: 11, Pairs: pairs(1)}, {U: 10, V: 12, Pairs: pairs(5)}, {U: 10, V: 13, Pairs: pairs(5)}, {U: 11, V: 14, Pairs: pairs(2)}, {U: 12, V: 13}}
	if got, want := ends(onePerSwitch(star)), [][2]int{{10, 12}, {10, 13}, {11, 14}}; !reflect.DeepEqual(got, want) {
		t.Errorf("star: %v, want %v", got, want)
	}
}

func TestGreedySteps(t *testing.T) {
	got := harness.Greedy([][]int{{1, 2}, {2, 3}, {3, 4}, {5}, {1, 3}}, func(needs []int) []int { return needs })
	want := [][][]int{{{1, 2}, {3, 4}, {5}}, {{2, 3}}, {{1, 3}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Greedy = %v, want %v", got, want)
	}
}
