package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/support"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

const (
	// Hosts from which all others are read. Hosts of one block see them alike; of other hosts chance makes that of one
	// pivot, not of many.
	pivots = 16
	// Hosts that see the pivots most alike, which are read directly.
	lookalikes = 3
	// Fewer hosts than this are hardly more than the pivots; more have too many pairs of profiles to compare: some seconds' work.
	fewestForBlocks, mostForBlocks = 4 * pivots, 16384
	// Of fewer hosts per block, in the mean, the pairs of one host of each are no small part of all.
	leastPerBlock = 2.5
)

// blocks finds what is no tree and too large for all pairs. A block is hosts that are next to each other and see all others
// alike, as the hosts of one switch do in any network. All pairs of one host of each tell how the blocks are wired. Bufe 2014
// works on switches of hosts in the same way. It takes
// about pivots+lookalikes readings per host, in some n rounds, and those of the representatives.
func (r *Result) blocks(l *ledger, rng *rand.Rand) error {
	r.Method = MethodBlocks
	if l.hosts < fewestForBlocks || l.hosts > mostForBlocks {
		return fmt.Errorf("adaptive: %d hosts that are no nested groups of equal links: blocks are looked for among %d to %d: %w",
			l.hosts, fewestForBlocks, mostForBlocks, errNoTree)
	}
	profile, err := readPivots(l, rng)
	if err != nil {
		return fmt.Errorf("adaptive: pivots: %w", err)
	}
	of, level, err := joinAlike(l, profile)
	if err != nil {
		return fmt.Errorf("adaptive: blocks: %w", err)
	}
	if float64(len(of))*leastPerBlock > float64(l.hosts) {
		return fmt.Errorf("adaptive: %d hosts that are no nested groups of equal links, and not on switches either (%d blocks): only all pairs tell, see Settings.MostAllPairs: %w", l.hosts, len(of), errNoTree)
	}
	first := make([]int32, len(of))
	for k, b := range of {
		first[k] = b[rng.IntN(len(b))]
	}
	values, err := readAll(l, first, allRepetitions, rng)
	if err != nil {
		return fmt.Errorf("adaptive: one host of each block: %w", err)
	}
	between, err := linkage.Reconstruct(betweenSwitches(values, of, level)...)
	if err != nil {
		return err
	}
	if r.Topology, err = expand(between, of, level, l.hosts); err != nil {
		return err
	}
	r.Topology.Warnings = append(r.Topology.Warnings, fmt.Sprintf(
		"the hosts are no nested groups of equal links: %d blocks were told by %d hosts each, and what is between them by one host of each block; blocks are uncertain at best",
		len(of), pivots))
	return nil
}

// readPivots reads random pivots and all hosts: ln of s at host*pivots+pivot, NaN where there is none.
func readPivots(l *ledger, rng *rand.Rand) ([]float64, error) {
	n := l.hosts
	order := shuffled(n, rng)
	profile := slices.Repeat([]float64{math.NaN()}, n*pivots)
	each, err := readAll(l, order[:pivots], 1, rng) // in the rounds below they are busy
	if err != nil {
		return nil, err
	}
	for k, p := range order[:pivots] {
		copy(profile[int(p)*pivots:][:pivots], each[0][k*pivots:])
	}
	for round := range n {
		l.open()
		var places [][2]int
		for k := range pivots {
			p, h := order[k], order[(round+k*(n/pivots))%n]
			if p != h && l.free(p) && l.free(h) {
				l.add(p, h)
				places = append(places, [2]int{int(h), k})
			}
		}
		z, err := l.read()
		if err != nil {
			return nil, err
		}
		for i, at := range places {
			profile[at[0]*pivots+at[1]] = z[i]
		}
	}
	return profile, nil
}

// joinAlike reads each host and those most like it, and joins those that are as near as hosts of one block:
// of the lowest level of all that was read. Blocks are in order of their lowest host; level is in s.
func joinAlike(l *ledger, profile []float64) (blocks [][]int32, level float64, err error) {
	n := l.hosts
	type edge struct{ a, b int32 }
	seen := make(map[edge]bool)
	var open []edge
	for h := range int32(n) {
		for _, g := range alike(profile, n, h) {
			if e := (edge{min(h, g), max(h, g)}); !seen[e] {
				seen[e] = true
				open = append(open, e)
			}
		}
	}
	read := make(map[edge]float64)
	for range coreRepetitions {
		todo := slices.Clone(open)
		for len(todo) > 0 {
			l.open()
			var now []edge
			left := todo[:0]
			for _, e := range todo {
				if l.free(e.a) && l.free(e.b) {
					l.add(e.a, e.b)
					now = append(now, e)
				} else {
					left = append(left, e)
				}
			}
			todo = left
			z, err := l.read()
			if err != nil {
				return nil, 0, err
			}
			for k, e := range now {
				if old, ok := read[e]; !ok || !(old <= z[k]) {
					read[e] = z[k]
				}
			}
		}
	}
	values := make([]float64, 0, len(open))
	for _, e := range open {
		if z := read[e]; !math.IsNaN(z) {
			values = append(values, z)
		}
	}
	if len(values) == 0 {
		return nil, 0, ErrStop
	}
	// The lowest tenth is inside blocks if there are any: what is within a step of it is as near.
	low := stats.Quantile(slices.Clone(values), 0.1)
	limit := low + blockStep
	parent := make([]int32, n)
	for h := range parent {
		parent[h] = int32(h)
	}
	find := func(h int32) int32 {
		for parent[h] != h {
			parent[h] = parent[parent[h]]
			h = parent[h]
		}
		return h
	}
	var inside []float64
	for _, e := range open {
		if z := read[e]; z <= limit {
			inside = append(inside, z)
			a, b := find(e.a), find(e.b)
			parent[max(a, b)] = min(a, b)
		}
	}
	at := make(map[int32]int)
	for h := range int32(n) {
		root := find(h)
		if _, ok := at[root]; !ok {
			at[root] = len(blocks)
			blocks = append(blocks, nil)
		}
		blocks[at[root]] = append(blocks[at[root]], h)
	}
	return blocks, math.Exp(stats.Median(inside)), nil
}

// blockSupport is that of blocks: what puts hosts together is that they are near and see some others alike, and nothing was
// read that could have refuted all of it.
const blockSupport = support.WeakCeiling

// blockStep is by how much, in ln units, a reading inside a block may exceed the lowest tenth: half a step of a third, and
// more than noise of 5 % makes of the lesser of two.
const blockStep = 0.15

// alike are the hosts whose readings to the pivots differ least from those of h, in the median.
func alike(profile []float64, n int, h int32) []int32 {
	var best [lookalikes]int32
	var off [lookalikes]float64
	found := 0
	own := profile[int(h)*pivots:][:pivots]
	var differ [pivots]float64
	for g := range int32(n) {
		if g == h {
			continue
		}
		count := 0
		for k, z := range profile[int(g)*pivots:][:pivots] {
			if d := math.Abs(z - own[k]); !math.IsNaN(d) {
				differ[count] = d
				count++
			}
		}
		if count == 0 {
			continue
		}
		// Three quarters: pivots that are near one of both are few.
		d := stats.Quantile(differ[:count], 0.75)
		if found == lookalikes && d >= off[found-1] {
			continue
		}
		if found < lookalikes {
			found++
		}
		k := found - 1
		for ; k > 0 && off[k-1] > d; k-- {
			off[k], best[k] = off[k-1], best[k-1]
		}
		off[k], best[k] = d, g
	}
	return best[:found]
}

// betweenSwitches are the readings between one host of each block without the ways from the hosts to their switches, half
// the level of the block each.
func betweenSwitches(values [][]float64, blocks [][]int32, level float64) []mat.Matrix {
	const least = 1e-3 // of a reading that is hardly more than those ways
	n := len(blocks)
	all := make([]mat.Matrix, len(values))
	for k, value := range values {
		m := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				d := math.Exp(value[i*n+j])
				rest := d
				for _, b := range [][]int32{blocks[i], blocks[j]} {
					if len(b) > 1 {
						rest -= level / 2
					}
				}
				m.Set(i, j, max(rest, least*d))
			}
		}
		all[k] = m
	}
	return all
}

// expand puts the hosts of each block on a switch of their own in place of the one host that was read.
func expand(between *topology.Result, blocks [][]int32, level float64, hosts int) (*topology.Result, error) {
	old := between.Hierarchy
	levels := []topology.Level{{Name: "block", Latency: level, Support: blockSupport}}
	for _, l := range old.Levels() {
		l.Latency += level
		levels = append(levels, l)
	}
	var groups []topology.Group
	number := make([]int, len(blocks)) // of what stands for the block: its switch, or its only host
	switches := 0
	var arcs []topology.Arc
	for k, b := range blocks {
		number[k] = int(b[0])
		if len(b) == 1 {
			continue
		}
		number[k] = hosts + switches
		switches++
		g := topology.Group{Latency: level, Support: blockSupport}
		for _, h := range b {
			g.Hosts = append(g.Hosts, int(h))
			arcs = topology.AppendLink(arcs, int(h), number[k], level/2, math.NaN())
		}
		groups = append(groups, g)
	}
	for _, of := range old.Groups()[1:] {
		g := topology.Group{Level: of.Level + 1, Latency: of.Latency + level, Support: of.Support}
		for _, k := range of.Hosts {
			for _, h := range blocks[k] {
				g.Hosts = append(g.Hosts, int(h))
			}
		}
		groups = append(groups, g)
	}
	vertex := func(v int) int {
		if between.Graph.IsSwitch(v) {
			return v - len(blocks) + hosts + switches
		}
		return number[v]
	}
	for _, a := range between.Graph.Arcs() {
		a.From, a.To = vertex(a.From), vertex(a.To)
		arcs = append(arcs, a)
	}
	graph, err := topology.NewGraph(hosts, switches+between.Graph.Vertices()-len(blocks), nil, arcs)
	if err != nil {
		return nil, err
	}
	h, err := topology.NewHierarchy(hosts, levels, groups, old.Groups()[0].Latency+level)
	if err != nil {
		return nil, err
	}
	fit := between.Fit
	if fit.Family == topology.FamilyMesh {
		fit.Family = topology.FamilyQuotient
	}
	fit.Levels = append([]topology.LevelFit{{Separation: math.NaN(), Residual: math.NaN()}}, fit.Levels...)
	return &topology.Result{Graph: graph, Hierarchy: h, Fit: fit, Warnings: between.Warnings}, nil
}
