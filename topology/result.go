package topology

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// NewResult is the result of a Reconstructor that finds a graph. It says the graph's family, and the groups where it is a
// tree. It says how well the graph explains the measurements d, with an overhead in s that every message pays on
// top. Its warnings are those given, and then what cannot be told apart. d is n*n for n hosts, row by
// row, in s, as given; the diagonal is not read, NaN is not measured. noise is the relative spread of
// measurements, NaN if not known. O(n^2) on trees; on other graphs a search for paths from each host.
func NewResult(g *Graph, d []float64, overhead, noise float64, warnings []string) (*Result, error) {
	n := g.hosts
	if len(d) != n*n {
		return nil, fmt.Errorf("topology: result: %d measurements for %d hosts: want %d", len(d), n, n*n)
	}
	part := g.Parts()
	for v := range n {
		if part[v] != 0 {
			warnings = append(warnings, fmt.Sprintf("hosts 0 and %d are not connected: nothing was measured between their parts", v))
			break
		}
	}
	h, isTree, err := g.treeHierarchy(part, d)
	if err != nil {
		return nil, err
	}
	r := &Result{Graph: g, Hierarchy: h}
	r.Fit = NewFit(g, h, d, overhead)
	r.Fit.Noise = noise
	switches := g.vertices - g.hosts
	switch {
	case switches == 0 && n > 2:
		r.Fit.Family = FamilyMesh
	case !isTree:
		r.Fit.Family = FamilyQuotient
	case len(h.Groups()) > 1:
		r.Fit.Family = FamilyTree
	default:
		r.Fit.Family = FamilyFlat
	}
	r.Warnings = append(warnings, g.alike()...)
	return r, nil
}

// alike names what latencies cannot tell apart from what was found.
func (g *Graph) alike() []string {
	var full []string
	for s := g.hosts; s < g.vertices; s++ {
		only := len(g.Out(s)) > 2
		for _, a := range g.Out(s) {
			only = only && g.IsSwitch(a.To)
		}
		if only {
			full = append(full, g.Name(s))
		}
	}
	if len(full) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("a switch between switches cannot be told from a full mesh of its neighbours: %s", words.List(full))}
}

// NewFit tells how well the shortest paths of a graph explain the measurements d, as NewResult takes them. Every message
// pays an overhead in s on top. The hierarchy, of the same hosts, gives the
// levels; nil: all pairs are of one.
func NewFit(g *Graph, h *Hierarchy, d []float64, overhead float64) Fit {
	n := g.hosts
	if h == nil {
		h = &Hierarchy{hosts: n, smallest: make([]int, n), groups: []Group{{}}}
	}
	fitted := g.HostDistances()
	e := stats.NewExplained(len(h.Levels()) + 1)
	for i := range n {
		for j := range n {
			model := fitted[i*n+j] + overhead
			if v := d[i*n+j]; i != j && !math.IsNaN(v) && !math.IsInf(model, 1) {
				e.Add(v, model)
				e.AddResidual(h.Groups()[h.Common(i, j)].Level, v, model)
			}
		}
	}
	f := Fit{R2: e.R2(), TreeLikeness: math.NaN(), Noise: math.NaN(), Overhead: overhead}
	f.Residual, f.Levels = e.Medians()
	return f
}
