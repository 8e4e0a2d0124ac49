// Package topotest holds what the tests of topology's packages share: machines made from
// a line of text, results written so that they can be compared, and the data that may
// only lie beside the repository.
package topotest

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
	"gonum.org/v1/gonum/mat"
)

// Generate is the machine of a line of package gen, and the latencies between its hosts.
func Generate(t testing.TB, spec string) (*gen.Cluster, *mat.Dense) {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

// Star is hosts on one switch, by links of the given latency in s.
func Star(t testing.TB, hosts int, latency float64) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for h := range hosts {
		arcs = topology.AppendLink(arcs, h, hosts, latency, math.NaN())
	}
	g, err := topology.NewGraph(hosts, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Graph makes a graph of undirected links {u, v, bandwidth in B/s} whose latencies are not known. Names may be nil.
func Graph(t testing.TB, hosts, switches int, names []string, links ...[3]float64) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for _, l := range links {
		arcs = topology.AppendLink(arcs, int(l[0]), int(l[1]), math.NaN(), l[2])
	}
	g, err := topology.NewGraph(hosts, switches, names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Reconstruct is what the method makes of the matrices.
func Reconstruct(t testing.TB, method topology.Reconstructor, repetitions ...mat.Matrix) *topology.Result {
	t.Helper()
	r, err := method.Reconstruct(repetitions...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Groups lists the groups below the root as "[0 1 2]", sorted, levels aside.
func Groups(h *topology.Hierarchy) []string {
	var all []string
	for _, g := range h.Groups()[1:] {
		all = append(all, fmt.Sprint(g.Hosts))
	}
	slices.Sort(all)
	return all
}

// Links lists the links of a graph as "0-4:1", latencies in us to three digits,
// ordered by their ends.
func Links(g *topology.Graph) string {
	var s []string
	for _, a := range g.Arcs() {
		if a.From < a.To {
			s = append(s, fmt.Sprintf("%d-%d:%.3g", a.From, a.To, a.Latency*1e6))
		}
	}
	return strings.Join(s, " ")
}

// OnlyBeside is the directory of data that may not enter the repository, for a test of
// nothing else: it is skipped without them, and the test named does with what there is.
func OnlyBeside(t testing.TB, counterpart string) string {
	t.Helper()
	data, ok := published.Beside()
	if !ok {
		t.Skipf("the data of this test may not enter the repository, and are not beside it; %s does without", counterpart)
	}
	return data
}

// ReadMatrix reads a matrix, gunzipping by name. The unit does not matter to
// groups; all are read as microseconds.
func ReadMatrix(t testing.TB, file string) *mat.Dense {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	l, err := encode.ReadMatrix(r, encode.Microsecond)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return l.Matrix
}
