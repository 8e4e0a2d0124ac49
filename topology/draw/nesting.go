package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// flatHierarchy has no group but that of all hosts.
func flatHierarchy(hosts int) *topology.Hierarchy {
	h, err := topology.NewHierarchy(hosts, nil, nil, math.NaN())
	if err != nil {
		panic(fmt.Sprintf("draw: %d hosts without groups: %v", hosts, err))
	}
	return h
}

// groupOrder is the hosts as a walk through the groups meets them, and where the hosts of each group begin among them.
func groupOrder(h *topology.Hierarchy) (order, first []int) {
	order, first = make([]int, 0, h.Hosts()), make([]int, len(h.Groups()))
	var walk func(group int)
	walk = func(group int) {
		first[group] = len(order)
		eachBelow(h, group, walk, func(host int) { order = append(order, host) })
	}
	walk(0)
	return order, first
}

// eachBelow calls for the groups directly below a group, and for the hosts in none of these, by their lowest hosts. Children
// of several levels are not in this order.
func eachBelow(h *topology.Hierarchy, group int, onGroup, onHost func(int)) {
	g := &h.Groups()[group]
	children := make(map[int]int, len(g.Children)) // by their first hosts
	for _, child := range g.Children {
		children[h.Groups()[child].Hosts[0]] = child
	}
	for _, host := range g.Hosts {
		if child, is := children[host]; is {
			onGroup(child)
		} else if h.Smallest(host) == group {
			onHost(host)
		}
	}
}

// insideOf tells of each vertex the smallest group that it lies in: of a host its own, of a switch
// that of all that it joins from below, seen from the hosts. A switch without hosts below is in the root.
func insideOf(g *topology.Graph, h *topology.Hierarchy) []int {
	const unseen = -1
	inside, height := make([]int, g.Vertices()), slices.Repeat([]int{unseen}, g.Vertices())
	queue := make([]int, 0, g.Vertices())
	for host := range g.Hosts() {
		inside[host], height[host] = h.Smallest(host), 0
		queue = append(queue, host)
	}
	for k := 0; k < len(queue); k++ {
		u := queue[k]
		for _, v := range g.Neighbours(u) {
			if height[v] == unseen {
				inside[v], height[v] = inside[u], height[u]+1
				queue = append(queue, v)
			}
			if height[v] == height[u]+1 {
				// The smallest group that holds both. Parents come before children: of two that nest it is the lower one.
				common := h.Common(h.Groups()[inside[v]].Hosts[0], h.Groups()[inside[u]].Hosts[0])
				inside[v] = min(common, inside[v], inside[u])
			}
		}
	}
	return inside
}

// switchesOf are the switches of the groups.
func switchesOf(g *topology.Graph, h *topology.Hierarchy) []int {
	const none, several = -1, -2
	switches := slices.Repeat([]int{none}, len(h.Groups()))
	for v, group := range insideOf(g, h) {
		switch {
		case !g.IsSwitch(v):
		case switches[group] == none:
			switches[group] = v
		default:
			switches[group] = several
		}
	}
	return switches
}

// A LevelRow is a row of the table of levels.
type LevelRow struct {
	Level, Groups, Each, Latency string // Each: hosts of a group
	Confidence                   string // from the least confident group to the most
	Uncertain                    bool
}

// Levels is a table of the levels of a hierarchy, fine to coarse, and of all hosts.
func Levels(h *topology.Hierarchy) []LevelRow {
	var rows []LevelRow
	for l, level := range h.Levels() {
		hosts, confidence := emptySpan(), emptySpan()
		groups := h.GroupsAt(l)
		for _, g := range groups {
			hosts.add(float64(len(g.Hosts)))
			if !math.IsNaN(g.Confidence) {
				confidence.add(g.Confidence)
			}
		}
		rows = append(rows, LevelRow{
			Level: h.LevelName(l), Groups: fmt.Sprint(len(groups)), Latency: quantity.Seconds(level.Latency),
			Each: hosts.text(wholeNumber, "-"), Confidence: confidence.text(twoDigits, "-"), Uncertain: level.Confidence < topology.ConfidentFrom,
		})
	}
	return append(rows, LevelRow{Level: "all", Groups: "1", Each: fmt.Sprint(h.Hosts()), Latency: quantity.Seconds(h.Groups()[0].Latency)})
}
