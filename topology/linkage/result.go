package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// result turns the judged tree into a Result: groups below the least support
// are dropped, levels measured on the original readings, classes of levels
// named, switches and links drawn.
func (g *judge) result(r *readings.Symmetric, note *combination, least, sigma float64, unequal bool) (*topology.Result, error) {
	t := g.t
	for _, v := range t.Groups() {
		if v != t.Root && g.support[int(v)-t.N] < least {
			t.Splice(v)
		}
	}
	remeasure(t, r)
	f := nested.NewFit(t)
	if unequal {
		f = contract(t, r.InOrder(t.Order, nil), unequalEdge)
		remeasure(t, r)
	} else {
		f.Robust(r)
	}
	class := levelClasses(t)
	hierarchy, err := g.hierarchy(class)
	if err != nil {
		return nil, err
	}
	graph, warnings, err := treeGraph(f)
	if err != nil {
		return nil, err
	}
	fit, off := fitOfTree(f, r, hierarchy, class)
	fit.Noise = sigma
	if !math.IsNaN(note.Noise) {
		fit.Noise = note.Noise
	}
	fit.TreeLikeness = fourPoints(r, note.Noise)
	noTree := fit.TreeLikeness < treeLike
	if root := fit.Levels[len(fit.Levels)-1].Residual; noTree || root > min(max(badRoot, noisyRoot*fit.Noise), badHub) {
		search := &meshSearch{r: r, f: f}
		w, err := search.best(note.Noise, (noTree || root > badHub) && !g.mostFirm())
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, search.given...)
		if w != nil {
			fit.Family = w.family
			fit.Residual, fit.R2 = w.fit.residual, w.fit.r2
			graph, warnings = w.graph, w.warnings
			if w.family == topology.FamilyMesh {
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
			"no graph of switches explains the latencies: the one given fits the readings badly, by %.0f %% in the median", 100*fit.Residual))
	case (fit.Family == topology.FamilyFlat || fit.Family == topology.FamilyTree) && off > badMean && fit.R2 < badR2:
		warnings = append(warnings, fmt.Sprintf(
			"the graph explains the latencies badly: it is off by %.0f %% in the mean; the hosts may be wired to each other", 100*off))
	}
	return &topology.Result{
		Graph: graph, Hierarchy: hierarchy, Fit: fit,
		Warnings: slices.Concat(note.warnings(t.N), warnings, weakGroups(hierarchy)),
	}, nil
}

// mostFirm tells whether firm groups hold most hosts. Of hosts wired to each other accidents may
// make some firm.
func (g *judge) mostFirm() bool {
	t := g.t
	held := 0
	for _, h := range t.Order {
		for v := t.Parent[h]; v != t.Root; v = t.Parent[v] {
			if g.support[int(v)-t.N] >= topology.FirmSupport {
				held++
				break
			}
		}
	}
	return 2*held > t.N
}

// remeasure sets the levels of the groups to the lower medians of the measured
// readings between their children; a group without any keeps its level.
func remeasure(t *nested.Tree, r *readings.Symmetric) {
	reader := &judge{t: t, r: r}
	for _, v := range t.Groups() {
		if within := reader.readWithin(v); len(within) > 0 {
			t.Level[int(v)-t.N] = math.Log(float64(stats.LowerMedian(within)))
		}
	}
}

// badRoot is the median relative residual of the readings that the root joins
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

// badHub is the median relative residual of the readings that the root joins above
// which hosts wired to each other are looked for even if the readings are those of a
// tree: a line of hosts is one, but its inner vertices are hosts.
const badHub = 0.1

// A graph of switches that leaves more than this in the mean, relative to the reading, and
// explains less of the variance than this is warned of. The mean sees the third of the
// readings that a ring of four leaves unexplained; the median does not. 5 % of noise
// with 2 % of outliers leave 6 %.
const (
	badMean = 0.1
	badR2   = 0.5
)

// hierarchy is the tree as a Hierarchy with neutral level names.
func (g *judge) hierarchy(class []int) (*topology.Hierarchy, error) {
	t := g.t
	var (
		groups    []topology.Group
		latencies [][]float64
		supports  []float64
	)
	for _, v := range t.Groups()[1:] {
		at := int(v) - t.N
		for len(latencies) <= class[at] {
			latencies, supports = append(latencies, nil), append(supports, 1)
		}
		hosts := make([]int, 0, t.Size(v))
		for _, h := range t.Leaves(v) {
			hosts = append(hosts, int(h))
		}
		latency := math.Exp(t.Level[at])
		groups = append(groups, topology.Group{Hosts: hosts, Level: class[at], Latency: latency, Support: g.support[at]})
		latencies[class[at]] = append(latencies[class[at]], latency)
		supports[class[at]] = min(supports[class[at]], g.support[at])
	}
	levels := make([]topology.Level, len(latencies))
	for k := range levels {
		levels[k] = topology.Level{
			Name:    fmt.Sprintf("level %d", k+1),
			Latency: stats.LowerMedian(latencies[k]),
			Support: supports[k],
		}
	}
	return topology.NewHierarchy(t.N, levels, groups, math.Exp(t.LevelOf(t.Root)))
}

// treeGraph draws a switch per group. A switch with two links only cannot be seen in
// latencies: it is replaced by one link between its neighbours.
func treeGraph(f *nested.Fit) (*topology.Graph, []string, error) {
	t := f.Tree
	var warnings []string
	number := make([]int, len(t.Parent))
	for h := range t.N {
		number[h] = h
	}
	groups := t.Groups()
	// Switches are numbered by their smallest host, outer before inner; the root is the first.
	first := make([]int32, len(t.Parent))
	for _, v := range groups {
		first[v] = slices.Min(t.Leaves(v))
	}
	slices.SortStableFunc(groups[1:], func(a, b int32) int { return int(first[a] - first[b]) })
	switches := 0
	bypass := len(t.Kids(t.Root)) == 2
	for _, v := range groups {
		if v == t.Root && bypass {
			continue
		}
		number[v] = t.N + switches
		switches++
	}
	var arcs []topology.Arc
	link := func(u, v int32, latency float64) {
		arcs = topology.AppendLink(arcs, number[u], number[v], latency, math.NaN())
	}
	for _, v := range groups {
		kids := t.Kids(v)
		if v == t.Root && bypass {
			a, b := kids[0], kids[1]
			link(a, b, f.Length[a]+f.Length[b])
			warnings = append(warnings, fmt.Sprintf(
				"the link %s to %s may pass through one more switch or none: latencies give only its whole length",
				vertexName(t, a, number), vertexName(t, b, number)))
			continue
		}
		for _, c := range kids {
			link(v, c, f.Length[c])
		}
	}
	var meshes []string
	for _, v := range groups {
		if t.GroupChildren(v) >= 3 && !(v == t.Root && bypass) {
			meshes = append(meshes, vertexName(t, v, number))
		}
	}
	if len(groups) == 1 {
		warnings = append(warnings, fmt.Sprintf(
			"latencies cannot tell switch %s from direct links between all the hosts", vertexName(t, t.Root, number)))
	}
	if len(meshes) > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"latencies cannot tell switch %s from direct links between all the switches below it", words.List(meshes)))
	}
	graph, err := topology.NewGraph(t.N, switches, nil, arcs)
	return graph, warnings, err
}

func vertexName(t *nested.Tree, v int32, number []int) string {
	if t.IsGroup(v) {
		return fmt.Sprintf("s%d", number[v]-t.N)
	}
	return fmt.Sprintf("h%d", v)
}

// weakGroups warns of the groups that are not firm.
func weakGroups(h *topology.Hierarchy) []string {
	const most = 6
	var weak []string
	for _, g := range h.Groups()[1:] {
		if g.Firm() {
			continue
		}
		hosts := fmt.Sprint(g.Hosts)
		if len(g.Hosts) > most {
			hosts = fmt.Sprintf("%v and %d more", g.Hosts[:most], len(g.Hosts)-most)
		}
		weak = append(weak, fmt.Sprintf("hosts %s (%s, support %.2f)", hosts, h.Levels()[g.Level].Name, g.Support))
	}
	if weak == nil {
		return nil
	}
	return []string{"weak groups, not to be relied on: " + words.List(weak)}
}

// A combination is what is odd about the readings.
type combination struct {
	readings.Quality
	firm     int        // groups that are firm in spite of pairs never measured
	doubtful int        // groups that would be firm if no pair were missing
	slow     []slowHost // whose readings were corrected
}

// warnings tells what was odd about the readings.
func (c *combination) warnings(n int) []string {
	var w []string
	pairs := n * (n - 1) / 2
	if c.Holes > 0 {
		text := fmt.Sprintf("%d of %d pairs of hosts were not measured", c.Holes, pairs)
		switch {
		case c.doubtful == 1:
			text += ": too many for one group, which is weak for that"
		case c.doubtful > 1:
			text += fmt.Sprintf(": too many for %d groups, which are weak for that", c.doubtful)
		case c.firm == 0 && 10*c.Holes > 3*pairs:
			text += ": too many for groups to be sure of"
		}
		w = append(w, text)
	}
	if c.Negative > 0 {
		w = append(w, fmt.Sprintf("%d pairs of hosts have negative latencies, taken as zero", c.Negative))
	}
	if text := slowWarning(c.slow); text != "" {
		w = append(w, text)
	}
	if a := c.Asymmetry; a.Pairs > 0 {
		w = append(w, fmt.Sprintf("%d pairs of hosts differ by more than %.0f %% between their directions, most of all %d and %d by a factor of %.3g; the faster direction was used",
			a.Pairs, 100*(readings.AsymmetryTolerance-1), a.Worst[0], a.Worst[1], a.Ratio))
	}
	return w
}

// fitOfTree measures how well the tree explains the measured readings; off is the mean
// of the residuals relative to the readings. O(n^2).
func fitOfTree(f *nested.Fit, r *readings.Symmetric, h *topology.Hierarchy, class []int) (fit topology.Fit, off float64) {
	t := f.Tree
	top := len(h.Levels())
	rest := make([][]float32, top+1)
	var (
		count    int
		residual float64
		// Sums about a reading, not about zero: nothing is left of readings that are all alike.
		shift        = math.Abs(float64(r.At(1, 0)))
		sum, squares float64
		join         = make([]int32, t.N)
		skip         = t.N*(t.N-1)/2/(1<<17) + 1 // medians look at 131072 pairs
		until        = skip
	)
	for i := range t.N {
		t.Joins(i, join)
		for j, x := range r.Row(i) {
			if x < 0 {
				continue
			}
			v := float64(x)
			fit := f.Between(i, j, join[j])
			count++
			sum += v - shift
			squares += (v - shift) * (v - shift)
			residual += (v - fit) * (v - fit)
			off += math.Abs(v-fit) / v
			if until--; until == 0 {
				until = skip
				level := top
				if join[j] != t.Root {
					level = class[int(join[j])-t.N]
				}
				if fit > 0 {
					rest[level] = append(rest[level], float32(math.Abs(v-fit)/fit))
				}
			}
		}
	}
	off /= float64(count)
	fit = topology.Fit{Family: topology.FamilyTree, R2: math.NaN(), Residual: math.NaN(), TreeLikeness: math.NaN()}
	if top == 0 {
		fit.Family = topology.FamilyFlat
	}
	if m2 := squares - sum*sum/float64(count); m2 > 0 {
		fit.R2 = 1 - residual/m2
	}
	var all []float32
	for k := range rest {
		level := topology.LevelFit{Separation: math.NaN(), Residual: math.NaN()}
		all = append(all, rest[k]...)
		if len(rest[k]) > 0 {
			level.Residual = float64(stats.LowerMedian(rest[k]))
		}
		if k < top {
			var steps []float64
			for _, v := range f.Groups {
				if v != t.Root && class[int(v)-t.N] == k {
					steps = append(steps, t.LevelOf(t.Parent[v])-t.LevelOf(v))
				}
			}
			level.Separation = stats.LowerMedian(steps)
		}
		fit.Levels = append(fit.Levels, level)
	}
	if len(all) > 0 {
		fit.Residual = float64(stats.LowerMedian(all))
	}
	return fit, off
}
