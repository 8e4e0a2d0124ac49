package compare

import (
	"fmt"

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

// classOf is the class of a link: by how far from the hosts its ends are.
func (c *linkComparer) classOf(a topology.Arc) int {
	low, high := c.heights[a.From], c.heights[a.To]
	key := [2]int{min(low, high), max(low, high)}
	class, ok := c.class[key]
	if !ok {
		class = c.addClass(className(key))
		c.class[key] = class
	}
	c.out.Classes[class].Links++
	return class
}

func (c *linkComparer) addClass(name string) int {
	c.out.Classes = append(c.out.Classes, LinkClass{Name: name})
	return len(c.out.Classes) - 1
}

func className(height [2]int) string {
	switch {
	case height == [2]int{0, 0}:
		return "links between hosts"
	case height[0] == 0:
		return "links of hosts"
	case height == [2]int{1, 1}:
		return "links between switches of hosts"
	case height[0] == 1:
		return "uplinks of switches of hosts"
	case height[0] == height[1]:
		return fmt.Sprintf("links between switches of level %d", height[0])
	}
	return fmt.Sprintf("uplinks of switches of level %d", height[0])
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
