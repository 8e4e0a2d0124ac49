package throughput

import "slices"

// colorEdges puts edges between the vertices 0..vertices-1 in rounds of disjoint
// ones, so that all edges of a round can be measured at once: at most one round
// more than the highest degree, where no schedule needs fewer than the degree. The
// edges are simple: no loops, no two between the same vertices. It is the
// edge colouring of Misra and Gries 1992 (A constructive proof of Vizing's theorem),
// O(edges * vertices). Rounds keep the order of the edges; empty ones are left out.
func colorEdges(vertices int, edges [][2]int) [][][2]int {
	c := newColoring(vertices, edges)
	for _, e := range edges {
		c.add(e[0], e[1])
	}
	rounds := make([][][2]int, c.colors)
	for _, e := range edges {
		k := c.colorOf(e[0], e[1])
		rounds[k] = append(rounds[k], e)
	}
	return slices.DeleteFunc(rounds, func(r [][2]int) bool { return len(r) == 0 })
}

// A coloring gives colours to edges, so that edges which meet differ.
type coloring struct {
	colors int     // highest degree + 1
	at     [][]int // vertex, colour -> the other end; -1 if the colour is free there
}

func newColoring(vertices int, edges [][2]int) *coloring {
	degree := make([]int, vertices)
	most := 0
	for _, e := range edges {
		for _, v := range e {
			degree[v]++
			most = max(most, degree[v])
		}
	}
	c := &coloring{colors: most + 1, at: make([][]int, vertices)}
	for v := range c.at {
		c.at[v] = slices.Repeat([]int{-1}, c.colors)
	}
	return c
}

// free is the lowest colour that no edge at v has: there is one, as there are
// more colours than edges.
func (c *coloring) free(v int) int { return slices.Index(c.at[v], -1) }

func (c *coloring) isFree(v, color int) bool { return c.at[v][color] < 0 }

func (c *coloring) colorOf(u, v int) int { return slices.Index(c.at[u], v) }

func (c *coloring) set(u, v, color int) { c.at[u][color], c.at[v][color] = v, u }

func (c *coloring) clear(u, v, color int) { c.at[u][color], c.at[v][color] = -1, -1 }

// add colours one more edge, for which others may change their colour.
func (c *coloring) add(u, v int) {
	fan := c.fan(u, v)
	last := fan[len(fan)-1]
	ofU, ofLast := c.free(u), c.free(last)
	if ofU != ofLast {
		c.invert(u, ofU, ofLast)
	}
	// The theorem: up to the first vertex at which the second colour is free now,
	// the fan is still one.
	k := slices.IndexFunc(fan, func(w int) bool { return c.isFree(w, ofLast) })
	for i := range k {
		color := c.colorOf(u, fan[i+1])
		c.clear(u, fan[i+1], color)
		c.set(u, fan[i], color)
	}
	c.set(u, fan[k], ofLast)
}

// fan is a longest list of neighbours of u, from v on, of which each hangs on u by a
// colour that is free at the one before.
func (c *coloring) fan(u, v int) []int {
	fan := []int{v}
	for {
		last := fan[len(fan)-1]
		next := -1
		for color, w := range c.at[u] {
			if w >= 0 && c.isFree(last, color) && !slices.Contains(fan, w) {
				next = w
				break
			}
		}
		if next < 0 {
			return fan
		}
		fan = append(fan, next)
	}
}

// invert exchanges two colours along the path of them that begins at u, where the
// first is free.
func (c *coloring) invert(u, first, second int) {
	path := []int{u}
	for color, v := second, u; c.at[v][color] >= 0; color = first + second - color {
		v = c.at[v][color]
		path = append(path, v)
	}
	color := second
	for i := range len(path) - 1 {
		c.clear(path[i], path[i+1], color)
		color = first + second - color
	}
	color = first
	for i := range len(path) - 1 {
		c.set(path[i], path[i+1], color)
		color = first + second - color
	}
}
