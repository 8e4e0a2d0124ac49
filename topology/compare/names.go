package compare

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/topology"
)

// heightsOf are the numbers of links from each vertex to the nearest host.
func heightsOf(g *topology.Graph) []int {
	height := make([]int, g.Vertices())
	var queue []int
	for v := range height {
		if height[v] = -1; v < g.Hosts() {
			height[v] = 0
			queue = append(queue, v)
		}
	}
	for at := 0; at < len(queue); at++ {
		v := queue[at]
		for _, i := range g.In(v) {
			if u := g.Arcs()[i].From; height[u] < 0 {
				height[u] = height[v] + 1
				queue = append(queue, u)
			}
		}
	}
	return height
}

// addToClass counts a link to the class of that name and returns its number.
func (c *linkComparer) addToClass(name string) int {
	k := slices.IndexFunc(c.out.Classes, func(class LinkClass) bool { return class.Name == name })
	if k < 0 {
		k = len(c.out.Classes)
		c.out.Classes = append(c.out.Classes, LinkClass{Name: name})
	}
	c.out.Classes[k].Links++
	return k
}

// className is the class of a link by the heights of its ends above the hosts.
func className(low, high int) string {
	if low == 0 && high == 0 {
		return "links between hosts"
	}
	if low == 0 {
		return "links of hosts"
	}
	level := "hosts"
	if low != 1 {
		level = fmt.Sprint("level ", low)
	}
	if low == high {
		return "links between switches of " + level
	}
	return "uplinks of switches of " + level
}

// namesOn are the hosts linked to a vertex, or the vertex itself if it is a host.
func (c *linkComparer) namesOn(v int) []string {
	g := c.reference.graph
	if v < g.Hosts() {
		return []string{c.out.Hosts[v]}
	}
	var names []string
	for _, a := range g.Out(v) {
		if a.To < g.Hosts() {
			names = append(names, c.out.Hosts[a.To])
		}
	}
	return names
}
