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
	group      int     // -1: a host
	level      int     // of the group; -1: a host
	hosts      []int   // ascending
	figures    figures // NaN: not known
	estimated  bool    // the rate was not measured
	confidence float64 // of an uncertain group; NaN: it is none
	times      float64 // how many times slower the link is than those like it; 0: it is not
	children   []*textNode
	classes    [3]int // of the figures, within the level
	key        string // alike are those of equal keys
}

// figures are what is said of a node in numbers: the latency in s between its parts, and latency in s and
// rate in B/s of the link up.
type figures [3]float64

const (
	inside = iota
	latency
	rate
)

// addNode adds the tree below a group to the nodes, parents first.
func (t *textTree) addNode(group int) *textNode {
	g := &t.hierarchy.Groups()[group]
	x := t.newNode(group, g.Level, g.Hosts, g.Latency)
	if group > 0 && !g.Confident() {
		x.confidence = g.Confidence
	}
	eachBelow(t.hierarchy, group, func(child int) {
		x.children = append(x.children, t.addNode(child))
	}, func(host int) {
		x.children = append(x.children, t.newNode(-1, -1, []int{host}, math.NaN()))
	})
	return x
}

func (t *textTree) newNode(group, level int, hosts []int, between float64) *textNode {
	x := &textNode{group: group, level: level, hosts: hosts, figures: figures{between, math.NaN(), math.NaN()}, confidence: math.NaN()}
	if up := t.linkUp(x); up >= 0 {
		a := t.graph.Arcs()[up]
		x.figures[latency], x.figures[rate], x.estimated = a.Latency, a.Bandwidth, a.Estimated
	}
	t.nodes = append(t.nodes, x)
	if group >= 0 {
		t.groups[group] = x
	}
	return x
}

// judge marks slow links, and sorts the figures of each level into classes. Links of uncertain groups and inside of
// them are not judged: if the groups are others, so are the links. Links are alike that lead from groups of one level to groups of
// one level: the uplink of a rack that is alone in its pod is two links. Of hosts those of one group are.
func (t *textTree) judge() {
	levels := make(map[int][]*textNode)
	alike := make(map[[2]int][]*textNode)
	above := make(map[[2]int]float64) // s between the parts of what they lead to
	for _, parent := range t.nodes {
		levels[parent.level] = append(levels[parent.level], parent)
		for _, x := range parent.children {
			key, latency := [2]int{x.level, parent.level}, t.hierarchy.Groups()[0].Latency
			switch {
			case x.group < 0:
				key[1], latency = parent.group, parent.figures[inside]
			case parent.level < len(t.hierarchy.Levels()):
				latency = t.hierarchy.Levels()[parent.level].Latency
			}
			if x.group < 0 && math.IsNaN(parent.confidence) || x.group >= 0 && math.IsNaN(x.confidence) {
				alike[key], above[key] = append(alike[key], x), latency
			}
		}
	}
	for key, xs := range alike {
		markSlow(xs, above[key])
	}
	for _, xs := range levels {
		for figure := range len(figures{}) {
			classify(xs, figure)
		}
	}
}

// markSlow marks those whose link is slow for its like. above is the latency in s between the parts of what the
// links lead to.
func markSlow(xs []*textNode, above float64) {
	typical := func(figure int) float64 {
		var known []float64
		for _, x := range xs {
			if v := x.figures[figure]; !math.IsNaN(v) && (figure != rate || !x.estimated) {
				known = append(known, v)
			}
		}
		if len(known) < slowOf {
			return math.NaN()
		}
		return stats.LowerMedian(known)
	}
	usualLatency, usualRate := typical(latency), typical(rate)
	for _, x := range xs {
		times := 0.0
		isWorth := usualLatency > 0 && !(x.figures[latency]-usualLatency < slowShare*above) // above may be NaN
		if by := x.figures[latency] / usualLatency; isWorth && by > times {
			times = by
		}
		if by := usualRate / x.figures[rate]; !x.estimated && by > times {
			times = by
		}
		if times >= slowTimes {
			x.times = times
		}
	}
}

// classify numbers the classes of a figure: sorted, values are cut where one is 20 % above the one before.
func classify(xs []*textNode, figure int) {
	order := slices.Clone(xs)
	slices.SortStableFunc(order, func(a, b *textNode) int { return cmp.Compare(a.figures[figure], b.figures[figure]) }) // NaN first
	for i, x := range order[1:] {
		before, v := order[i].figures[figure], x.figures[figure]
		x.classes[figure] = order[i].classes[figure]
		if v > figureGap*before || math.IsNaN(before) != math.IsNaN(v) {
			x.classes[figure]++
		}
	}
}

// sign sets the keys by which nodes are alike: hosts by their links and marks, groups that fold
// by what is inside them, too, and else by their number.
func (t *textTree) sign() {
	for _, x := range slices.Backward(t.nodes) {
		if x.group >= 0 && !t.folds {
			x.key = fmt.Sprint("group ", x.group)
			continue
		}
		// Equal keys become a count, or keys of thousands of hosts would be long.
		count := make(map[string]int)
		for _, c := range x.children {
			count[c.key]++
		}
		classes := x.classes
		if x.group < 0 { // rates of single hosts are seldom known that well
			classes[rate] = 0
		}
		// Confidences may differ.
		x.key = fmt.Sprintf("(%d %d %v %t %.1f %v)", x.level, len(x.hosts), classes, math.IsNaN(x.confidence), x.times, count)
	}
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

// mark is the least confidence, and how many times slower the links are.
func (b bundle) mark() string {
	confidences := emptySpan()
	for _, x := range b {
		if !math.IsNaN(x.confidence) {
			confidences.add(x.confidence)
		}
	}
	var marks []string
	if confidences.low <= confidences.high {
		marks = append(marks, fmt.Sprintf("?%.2f", confidences.low))
	}
	if times := b[0].times; times > 0 {
		marks = append(marks, fmt.Sprintf("!%.1fx", times))
	}
	return strings.Join(marks, " ")
}

// median is that of a figure that is known, else NaN.
func (b bundle) median(figure int) float64 {
	var known []float64
	for _, x := range b {
		if v := x.figures[figure]; !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	return stats.Median(known)
}
