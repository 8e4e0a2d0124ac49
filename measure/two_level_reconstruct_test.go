package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// inTwoLevels finds clusters of the given nodes, each of its own kind.
func inTwoLevels(ranks [][]int) *twoLevels {
	n := &nodes{ranks: ranks}
	for i := range ranks {
		n.like, n.names = append(n.like, i), append(n.names, fmt.Sprintf("n%d", i+1))
	}
	return &twoLevels{n, &linkage.Robust{}}
}

// groupsOf are the groups of one level of a cluster, in the order of their first host.
func groupsOf(h *topology.Hierarchy, level int) (nodes [][]int) {
	for _, g := range h.Groups() {
		if g.Level == level {
			nodes = append(nodes, g.Hosts)
		}
	}
	return nodes
}

// neededOf leaves of a matrix what two levels need: inside nodes, between their
// first hosts, and from all hosts of a node to the first one of the next.
func neededOf(m *mat.Dense, nodes [][]int) *mat.Dense {
	n, _ := m.Dims()
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			out.Set(i, j, math.NaN())
		}
	}
	take := func(a, b int) {
		out.Set(a, b, m.At(a, b))
		out.Set(b, a, m.At(b, a))
	}
	for i, members := range nodes {
		next := nodes[(i+1)%len(nodes)][0]
		for _, a := range members {
			for _, b := range members {
				take(a, b)
			}
			if len(nodes) > 1 {
				take(a, next)
			}
			for _, other := range nodes {
				take(members[0], other[0])
			}
		}
	}
	return out
}

// TestTwoLevelsOfClusters: the groups are those of the cluster, and every two hosts
// are as far apart in the graph as in the truth, although most pairs were not
// read.
func TestTwoLevelsOfClusters(t *testing.T) {
	for _, c := range []struct {
		spec  string
		level int // that of the nodes
	}{
		{"tree:3x2x4 latency=20us,2us,0.5us", 1},
		{"tree:4x3x2x3 latency=50us,20us,2us,0.5us", 1},
		{"tree:3x2x4 latency=20us,2us,0.5us seed=5 shuffle", 1},
		{"tree:5x3 latency=20us,1us", 0},
	} {
		t.Run(c.spec, func(t *testing.T) {
			cluster, m := topotest.Generate(t, c.spec)
			nodes := groupsOf(cluster.Hierarchy, c.level)
			r, err := inTwoLevels(nodes).Reconstruct(neededOf(m, nodes))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
				t.Errorf("groups = %v, want %v", got, want)
			}
			n := r.Graph.Hosts()
			dist := make([]float64, r.Graph.Vertices())
			finder := topology.NewPaths(r.Graph, r.Graph.Latencies())
			for i := range n {
				finder.From(i, dist)
				for j := range n {
					if i != j && math.Abs(dist[j]-m.At(i, j)) > 1e-3*m.At(i, j) {
						t.Fatalf("hosts %d and %d are %g s apart, want %g", i, j, dist[j], m.At(i, j))
					}
				}
			}
		})
	}
}

// TestTwoLevelsOfNodesOfOneKind: with the inside of one node alone, all nodes of its kind
// have it.
func TestTwoLevelsOfNodesOfOneKind(t *testing.T) {
	cluster, m := topotest.Generate(t, "tree:4x2x4 latency=20us,2us,0.5us")
	nodes := groupsOf(cluster.Hierarchy, 1)
	partial := neededOf(m, nodes)
	for _, members := range nodes[1:] {
		for _, a := range members {
			for b := range 32 {
				if a != members[0] || !slices.ContainsFunc(nodes, func(other []int) bool { return other[0] == b }) {
					partial.Set(a, b, math.NaN())
					partial.Set(b, a, math.NaN())
				}
			}
		}
	}
	// The first node's way outside is measured to the second node's first host.
	for _, a := range nodes[0] {
		partial.Set(a, nodes[1][0], m.At(a, nodes[1][0]))
	}
	method := inTwoLevels(nodes)
	method.nodes.like = []int{0, 0, 0, 0}
	r, err := method.Reconstruct(partial)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
	if got := r.Graph.Name(nodes[2][3]); got != "n3.h3" {
		t.Errorf("fourth host of the third node is %q, want n3.h3", got)
	}
}

// TestTwoLevelsWithNoiseBetweenNodes: the inside is found as well as if there were no
// outside, whose noise is larger than all that is inside.
func TestTwoLevelsWithNoiseBetweenNodes(t *testing.T) {
	cluster, m := topotest.Generate(t, "tree:8x2x4 latency=50us,1us,0.5us")
	nodes := groupsOf(cluster.Hierarchy, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	var repetitions []mat.Matrix
	for range 3 {
		noisy := mat.NewDense(64, 64, nil)
		noisy.Apply(func(_, _ int, d float64) float64 { return d * (1 + 0.03*rng.NormFloat64()) }, neededOf(m, nodes))
		repetitions = append(repetitions, noisy)
	}
	r, err := inTwoLevels(nodes).Reconstruct(repetitions...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
}

// TestTwoLevelsOfFewRanks: what has no two levels is found all the same.
func TestTwoLevelsOfFewRanks(t *testing.T) {
	_, m := topotest.Generate(t, "tree:2x4 latency=20us,2us")
	for _, c := range []struct {
		name   string
		nodes  [][]int
		groups int
	}{
		{"one node", [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, 2},
		{"nodes of one host", [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}, 2},
		{"unequal nodes", [][]int{{0, 1, 2, 3}, {4}, {5, 6, 7}}, 3}, // 4 and 5 to 7 are one switch's, too
	} {
		r, err := inTwoLevels(c.nodes).Reconstruct(m)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := topotest.Groups(r.Hierarchy); len(got) != c.groups {
			t.Errorf("%s: groups %v, want %d", c.name, got, c.groups)
		}
	}
	one := mat.NewDense(1, 1, []float64{math.NaN()})
	if r, err := inTwoLevels([][]int{{0}}).Reconstruct(one); err != nil || r.Graph.Hosts() != 1 {
		t.Errorf("one host: %v, %v", r, err)
	}
}

// TestTwoLevelsOfOneRankTellNothing: of one host alone nothing was measured, so how well the result fits is not known.
func TestTwoLevelsOfOneRankTellNothing(t *testing.T) {
	r, err := inTwoLevels([][]int{{0}}).Reconstruct(mat.NewDense(1, 1, nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]float64{"R2": r.Fit.R2, "residual": r.Fit.Residual, "tree-likeness": r.Fit.TreeLikeness, "noise": r.Fit.Noise} {
		if !math.IsNaN(value) {
			t.Errorf("%s is %g, want NaN", name, value)
		}
	}
}
