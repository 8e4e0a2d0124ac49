package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// result turns the judged tree into a Result: groups below the least confidence
// are dropped, levels measured on the original measurements, classes of levels
// named, switches and links drawn. Hosts of which most are in confident groups are not taken for wired to
// each other.
func (w *reconstruction) result(least float64) (*topology.Result, error) {
	g, r, note := w.judge, w.original, w.note
	t := g.t
	for _, v := range t.Groups() {
		if v != t.Root && g.confidence[int(v)-t.N] < least {
			t.Splice(v)
		}
	}
	remeasure(t, r.At)
	f := nested.NewFit(t)
	f.Robust(r)
	noise := w.sigma
	if !math.IsNaN(note.Noise) {
		noise = note.Noise
	}
	f.NearLinks(r, noise)
	class := levelClasses(t)
	hierarchy, err := g.hierarchy(class)
	if err != nil {
		return nil, err
	}
	graph, warnings, err := f.Graph()
	if err != nil {
		return nil, err
	}
	fit, off := fitOfTree(f, r, hierarchy, class)
	fit.Noise = noise
	fit.TreeLikeness = fourPoints(r, note.Noise, w.sigma)
	noTree := fit.TreeLikeness < treeLike
	if root := fit.Levels[len(fit.Levels)-1]; noTree || off > badMean || root > max(badRoot, noisyRoot*w.leastNoise(fit.Noise)) {
		search := &meshSearch{r: r, f: f}
		found, err := search.best(note.Noise, !w.mostConfident)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, search.given...)
		if found != nil {
			fit.Family = found.family
			fit.Residual, fit.R2, fit.Overhead = found.fit.residual, found.fit.r2, found.overhead
			graph, warnings = found.graph, found.warnings
			if found.family == topology.FamilyMesh {
				if hierarchy, err = topology.NewHierarchy(t.N, nil, nil, hierarchy.Groups()[0].Latency); err != nil {
					return nil, err
				}
				fit.Levels = fit.Levels[len(fit.Levels)-1:]
			}
		}
	}
	switch {
	case noTree && fit.Residual > badFit:
		warnings = append(warnings, fmt.Sprintf(
			"no graph of switches explains the latencies: the one given fits the measurements badly, by %.0f %% in the median", 100*fit.Residual))
	case (fit.Family == topology.FamilyFlat || fit.Family == topology.FamilyTree) && off > badMean && fit.R2 < badR2:
		warnings = append(warnings, fmt.Sprintf(
			"the graph explains the latencies badly: it is off by %.0f %% in the mean; the hosts may be wired to each other", 100*off))
	}
	return &topology.Result{
		Graph: graph, Hierarchy: hierarchy, Fit: fit,
		Warnings: slices.Concat(note.warnings(t.N), warnings, uncertainGroups(hierarchy)),
	}, nil
}

// leastNoise is the noise of a measurement, relative. Of one repetition it is estimated. The links of hosts that are wired to each
// other may be taken for it, most of all where messages have a large overhead. So the noise of triangles counts if it is less.
func (w *reconstruction) leastNoise(noise float64) float64 {
	r := w.original
	if !math.IsNaN(w.note.Noise) || w.mostConfident || r.N() > meshMost {
		return noise
	}
	d := r.Dense()
	if triangles := witness.Noise(r.N(), d, d); triangles < noise {
		return triangles
	}
	return noise
}

// mostConfident tells whether confident groups hold most hosts. Of hosts wired to each other accidents may
// make some confident.
func (g *judge) mostConfident() bool {
	t := g.t
	held := 0
	for _, h := range t.Order {
		for v := t.Parent[h]; v != t.Root; v = t.Parent[v] {
			if g.confidence[int(v)-t.N] >= topology.ConfidentFrom {
				held++
				break
			}
		}
	}
	return 2*held > t.N
}

// badRoot is the median relative residual of the measurements that the root joins
// above which, and above what the noise leaves, another graph is looked for: a line of
// switches is a tree, but not one with a switch in the middle of all. Noise leaves 0.67
// standard deviations, the median of |N(0,1)|; noisyRoot allows a quarter more.
const (
	badRoot   = 0.005
	noisyRoot = 0.85
)

// badFit is the median relative residual above which a graph that is no tree is said
// to explain little. Cores on one die differ by 7 % from their tree.
const badFit = 0.15

// A graph of switches is warned of if it leaves more than this in the mean, relative to the
// measurement, and explains less of the variance than this. The mean sees the third of the
// measurements that a ring of four leaves unexplained; the median does not. 5 % of noise
// with 2 % of outliers leave 6 %.
const (
	badMean = 0.1
	badR2   = 0.5
)

// hierarchy is the tree as a Hierarchy with neutral level names.
func (g *judge) hierarchy(class []int) (*topology.Hierarchy, error) {
	t := g.t
	var groups []topology.Group
	for _, v := range t.Groups()[1:] {
		at := int(v) - t.N
		hosts := make([]int, 0, t.Size(v))
		for _, h := range t.Leaves(v) {
			hosts = append(hosts, int(h))
		}
		groups = append(groups, topology.Group{Hosts: hosts, Level: class[at], Latency: math.Exp(t.Level[at]), Confidence: g.confidence[at]})
	}
	return topology.NewHierarchy(t.N, topology.NewLevels(groups), groups, math.Exp(t.LevelOf(t.Root)))
}

// uncertainGroups warns of the groups that are not confident.
func uncertainGroups(h *topology.Hierarchy) []string {
	const most = 6
	var uncertain []string
	for _, g := range h.Groups()[1:] {
		if g.Confident() {
			continue
		}
		hosts := fmt.Sprint(g.Hosts)
		if len(g.Hosts) > most {
			hosts = fmt.Sprintf("%v and %d more", g.Hosts[:most], len(g.Hosts)-most)
		}
		uncertain = append(uncertain, fmt.Sprintf("hosts %s (%s, confidence %.2f)", hosts, h.Levels()[g.Level].Name, g.Confidence))
	}
	if uncertain == nil {
		return nil
	}
	return []string{"uncertain groups, not to be relied on: " + words.List(uncertain)}
}
