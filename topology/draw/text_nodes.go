package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/stats"
)

// A textNode is a group, or a host that stands in none of the groups of its parent.
type textNode struct {
	group         int     // -1: a host
	level         int     // of the group; -1: a host
	hosts         []int   // ascending
	inside        float64 // s, between the parts
	latency, rate float64 // of the link up, in s and B/s
	estimated     bool    // the rate was not measured
	mark          string
	times         float64 // how many times slower the link is than those like it; 0: it is not
	children      []*textNode
	key           string // alike are those of equal keys

	classes [3]int // of the figures, within the level
}

// figures are what is said of a node, in numbers.
func figures() [3]func(*textNode) float64 {
	return [3]func(*textNode) float64{betweenOf, latencyOf, rateOf}
}

// node is the tree below a group.
func (t *textTree) node(group int) *textNode {
	g := t.hierarchy.Groups()[group]
	x := &textNode{group: group, level: g.Level, hosts: g.Hosts, inside: g.Latency, latency: math.NaN(), rate: math.NaN()}
	if up := t.links.group[group]; up >= 0 {
		a := t.graph.Arcs()[up]
		x.latency, x.rate, x.estimated = a.Latency, a.Bandwidth, a.Estimated
	}
	if group > 0 && !g.Firm() {
		x.mark = fmt.Sprintf("?%.2f", g.Support)
	}
	children := childrenByFirst(t.hierarchy, &g)
	for _, host := range g.Hosts {
		if child, is := children[host]; is {
			x.children = append(x.children, t.node(child))
			continue
		}
		if t.hierarchy.Smallest(host) != group {
			continue
		}
		leaf := &textNode{group: -1, level: -1, hosts: []int{host}, inside: math.NaN(), latency: math.NaN(), rate: math.NaN()}
		if up := t.links.host[host]; up >= 0 {
			a := t.graph.Arcs()[up]
			leaf.latency, leaf.rate, leaf.estimated = a.Latency, a.Bandwidth, a.Estimated
		}
		x.children = append(x.children, leaf)
	}
	return x
}

func betweenOf(x *textNode) float64 { return x.inside }
func latencyOf(x *textNode) float64 { return x.latency }
func rateOf(x *textNode) float64    { return x.rate }

// judge marks slow links, and sorts the figures of each level into classes. Links of uncertain groups and inside of
// them are not judged: if the groups are others, so are the links.
func (t *textTree) judge(root *textNode) {
	levels := make(map[int][]*textNode)
	var walk func(x *textNode)
	walk = func(x *textNode) {
		levels[x.level] = append(levels[x.level], x)
		var hosts []*textNode
		for _, c := range x.children {
			if c.group < 0 {
				hosts = append(hosts, c)
			}
			walk(c)
		}
		if t.confident(x) {
			markSlow(hosts, x.inside)
		}
	}
	walk(root)
	for level, xs := range levels {
		if level >= 0 && level < len(t.hierarchy.Levels()) {
			above := t.hierarchy.Groups()[0].Latency
			if level+1 < len(t.hierarchy.Levels()) {
				above = t.hierarchy.Levels()[level+1].Latency
			}
			markSlow(slices.DeleteFunc(slices.Clone(xs), func(x *textNode) bool { return !t.confident(x) }), above)
		}
		for f, of := range figures() {
			for i, k := range figureClasses(xs, of) {
				xs[i].classes[f] = k
			}
		}
	}
}

// confident tells whether a node is the root or a confident group.
func (t *textTree) confident(x *textNode) bool {
	return x.group == 0 || x.group > 0 && t.hierarchy.Groups()[x.group].Firm()
}

// markSlow marks those whose link is slow for its like. above is the latency in s between the parts of what the
// links lead to.
func markSlow(xs []*textNode, above float64) {
	var latencies, rates []float64
	for _, x := range xs {
		if !math.IsNaN(x.latency) {
			latencies = append(latencies, x.latency)
		}
		if !math.IsNaN(x.rate) && !x.estimated {
			rates = append(rates, x.rate)
		}
	}
	latency, rate := math.NaN(), math.NaN()
	if len(latencies) >= slowOf {
		latency = stats.LowerMedian(latencies)
	}
	if len(rates) >= slowOf {
		rate = stats.LowerMedian(rates)
	}
	for _, x := range xs {
		times := 0.0
		if latency > 0 && !(x.latency-latency < slowShare*above) {
			times = x.latency / latency
		}
		if rate > 0 && !x.estimated && rate/x.rate > times {
			times = rate / x.rate
		}
		if times >= slowTimes {
			x.times = times
			x.mark = strings.TrimLeft(fmt.Sprintf("%s !%.1fx", x.mark, times), " ")
		}
	}
}

// figureClasses numbers the classes of values: sorted, they are cut where one is 20 % above the one before.
func figureClasses(xs []*textNode, of func(*textNode) float64) []int {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of(xs[a]), of(xs[b])) }) // NaN first
	classes := make([]int, len(xs))
	k := 0
	for i, at := range order {
		if i > 0 {
			if before, v := of(xs[order[i-1]]), of(xs[at]); v > figureGap*before || math.IsNaN(before) != math.IsNaN(v) {
				k++
			}
		}
		classes[at] = k
	}
	return classes
}

// sign sets the keys by which nodes are alike: hosts by their links and marks, groups, if they
// are to be folded, by what is inside them, too, and else by their number.
func (x *textNode) sign(fold bool) {
	for _, c := range x.children {
		c.sign(fold)
	}
	if x.group >= 0 && !fold {
		x.key = fmt.Sprint("group ", x.group)
		return
	}
	var keys []string
	for _, c := range x.children {
		keys = append(keys, c.key)
	}
	slices.Sort(keys)
	// Equal keys next to each other become a count, or keys of thousands of hosts would be long.
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %d %d %q", x.level, len(x.hosts), x.classes[1], slow(x.mark))
	if x.group >= 0 { // rates of single hosts are seldom known that well
		fmt.Fprintf(&b, " %d %d", x.classes[0], x.classes[2])
	}
	for i := 0; i < len(keys); {
		j := i
		for j < len(keys) && keys[j] == keys[i] {
			j++
		}
		fmt.Fprintf(&b, " %d%s", j-i, keys[i])
		i = j
	}
	b.WriteByte(')')
	x.key = b.String()
}

// slow is the part of a mark that sets a node apart from its like: supports may differ.
func slow(mark string) string {
	weak, times, _ := strings.Cut(mark, "!")
	if strings.HasPrefix(weak, "?") {
		weak = "?"
	}
	return weak + times
}

// lines is how many lines the tree takes.
func (x *textNode) lines() int {
	sum := 1
	for _, b := range (bundle{x}).children() {
		sum += b[0].lines()
	}
	return sum
}

// A bundle is nodes that are alike.
type bundle []*textNode

// children are those of all the nodes, in bundles, by their lowest host.
func (b bundle) children() []bundle {
	index := make(map[string]int)
	var all []bundle
	for _, x := range b {
		for _, c := range x.children {
			k, seen := index[c.key]
			if !seen {
				k = len(all)
				index[c.key] = k
				all = append(all, nil)
			}
			all[k] = append(all[k], c)
		}
	}
	return all
}

// mark is the mark with the least support.
func (b bundle) mark() string {
	least := b[0].mark
	for _, x := range b {
		least = min(least, x.mark)
	}
	return least
}

// median is that of a figure that is known.
func (b bundle) median(of func(*textNode) float64) float64 {
	var known []float64
	for _, x := range b {
		if v := of(x); !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return math.NaN()
	}
	return stats.LowerMedian(known)
}
