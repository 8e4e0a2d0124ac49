package twolevel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// nodesOf are the groups of one level of a cluster, in the order of their first host.
func nodesOf(h *topology.Hierarchy, level int) (nodes [][]int) {
	for _, g := range h.Groups() {
		if g.Level == level {
			nodes = append(nodes, g.Hosts)
		}
	}
	return nodes
}

// needed leaves of a matrix what two levels need: inside nodes, between their
// first hosts, and from all hosts of a node to the first one of the next.
func needed(m *mat.Dense, nodes [][]int) *mat.Dense {
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

// TestClustersOfNodes: the groups are those of the cluster, and every two hosts
// are as far apart in the graph as in the truth, although most pairs were not
// read.
func TestClustersOfNodes(t *testing.T) {
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
			nodes := nodesOf(cluster.Hierarchy, c.level)
			r, err := (&Reconstructor{Nodes: nodes}).Reconstruct(needed(m, nodes))
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

// TestNodesOfOneKind: with the inside of one node alone, all nodes of its kind
// have it.
func TestNodesOfOneKind(t *testing.T) {
	cluster, m := topotest.Generate(t, "tree:4x2x4 latency=20us,2us,0.5us")
	nodes := nodesOf(cluster.Hierarchy, 1)
	partial := needed(m, nodes)
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
	r, err := (&Reconstructor{Nodes: nodes, Like: []int{0, 0, 0, 0}, Names: []string{"n1", "n2", "n3", "n4"}}).Reconstruct(partial)
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

// TestNoiseBetweenNodes: the inside is found as well as if there were no
// outside, whose noise is larger than all that is inside.
func TestNoiseBetweenNodes(t *testing.T) {
	cluster, m := topotest.Generate(t, "tree:8x2x4 latency=50us,1us,0.5us")
	nodes := nodesOf(cluster.Hierarchy, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	var repetitions []mat.Matrix
	for range 3 {
		noisy := mat.NewDense(64, 64, nil)
		noisy.Apply(func(_, _ int, d float64) float64 { return d * (1 + 0.03*rng.NormFloat64()) }, needed(m, nodes))
		repetitions = append(repetitions, noisy)
	}
	r, err := (&Reconstructor{Nodes: nodes}).Reconstruct(repetitions...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
}

// TestFewHosts: what has no two levels is found all the same.
func TestFewHosts(t *testing.T) {
	_, m := topotest.Generate(t, "tree:2x4 latency=20us,2us")
	for _, c := range []struct {
		name   string
		nodes  [][]int
		groups int
	}{
		{"one node", nil, 2},
		{"nodes of one host", [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}, 2},
		{"unequal nodes", [][]int{{0, 1, 2, 3}, {4}, {5, 6, 7}}, 3}, // 4 and 5 to 7 are one switch's, too
	} {
		r, err := (&Reconstructor{Nodes: c.nodes}).Reconstruct(m)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := topotest.Groups(r.Hierarchy); len(got) != c.groups {
			t.Errorf("%s: groups %v, want %d", c.name, got, c.groups)
		}
	}
	one := mat.NewDense(1, 1, []float64{math.NaN()})
	if r, err := (&Reconstructor{}).Reconstruct(one); err != nil || r.Graph.Hosts() != 1 {
		t.Errorf("one host: %v, %v", r, err)
	}
}

func TestWrongNodesAreRefused(t *testing.T) {
	m := mat.NewDense(4, 4, nil)
	for _, c := range []struct {
		r    Reconstructor
		want string
	}{
		{Reconstructor{Nodes: [][]int{{0, 1}, {2}}}, "host 3 is in no node"},
		{Reconstructor{Nodes: [][]int{{0, 1}, {1, 2, 3}}}, "host 1 is in nodes 0 and 1"},
		{Reconstructor{Nodes: [][]int{{0, 1}, {2, 4}}}, "host 4: want one in [0, 4)"},
		{Reconstructor{Nodes: [][]int{{0, 1, 2, 3}, {}}}, "node 1 has no host"},
		{Reconstructor{Nodes: [][]int{{0, 1}, {2, 3}}, Names: []string{"a"}}, "1 for 2 nodes"},
		{Reconstructor{Nodes: [][]int{{0, 1}, {2, 3}}, Like: []int{0}}, "1 entries for 2 nodes"},
		{Reconstructor{Nodes: [][]int{{0, 1, 2}, {3}}, Like: []int{0, 0}}, "node 1 is like 0"},
		{Reconstructor{Nodes: [][]int{{0, 1}, {2, 3}}, Like: []int{1, 0}}, "node 0 is like 1"},
	} {
		if _, err := c.r.Reconstruct(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.r, err, c.want)
		}
	}
	if _, err := (&Reconstructor{}).Reconstruct(); err == nil {
		t.Error("no matrix: want an error")
	}
	if _, err := (&Reconstructor{}).Reconstruct(m, mat.NewDense(3, 3, nil)); err == nil || !strings.Contains(err.Error(), "matrix 1 is 3 x 3") {
		t.Errorf("matrices of two sizes: %v", err)
	}
}

// TestOneHostTellsNothing: of one host alone nothing was measured, so how well the result fits is not known.
func TestOneHostTellsNothing(t *testing.T) {
	r, err := (&Reconstructor{}).Reconstruct(mat.NewDense(1, 1, nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]float64{"R2": r.Fit.R2, "residual": r.Fit.Residual, "tree-likeness": r.Fit.TreeLikeness, "noise": r.Fit.Noise} {
		if !math.IsNaN(value) {
			t.Errorf("%s is %g, want NaN", name, value)
		}
	}
}
