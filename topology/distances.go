package topology

import "math"

// A pathFinder finds shortest paths over arcs of given lengths, at least 0; an
// arc of length +Inf or NaN does not exist. Hosts forward. In a forest there
// is one path, so a walk finds it; else it is Dijkstra's algorithm.
type pathFinder struct {
	g       *Graph
	lengths []float64
	forest  bool
}

func newPathFinder(g *Graph, lengths []float64) *pathFinder {
	return &pathFinder{g: g, lengths: lengths, forest: g.isForest()}
}

// from writes into dist the length of the shortest path from src to every
// vertex, +Inf where there is none, and returns the vertices that were reached,
// each after those on its path. O(m log m), in a forest O(m).
func (f *pathFinder) from(src int, dist []float64) []int {
	for v := range dist {
		dist[v] = math.Inf(1)
	}
	dist[src] = 0
	order := make([]int, 0, len(dist))
	if f.forest {
		order = append(order, src)
		for x := 0; x < len(order); x++ {
			v := order[x]
			for i := f.g.start[v]; i < f.g.start[v+1]; i++ {
				to := f.g.arcs[i].To
				if d := dist[v] + f.lengths[i]; math.IsInf(dist[to], 1) && d < math.Inf(1) {
					dist[to] = d
					order = append(order, to)
				}
			}
		}
		return order
	}
	queue := routeQueue{{0, int32(src)}}
	for len(queue) > 0 {
		it := queue.pop()
		v := int(it.v)
		if it.latency > dist[v] {
			continue
		}
		order = append(order, v)
		for i := f.g.start[v]; i < f.g.start[v+1]; i++ {
			to := f.g.arcs[i].To
			if d := it.latency + f.lengths[i]; d < dist[to] {
				dist[to] = d
				queue.push(routeItem{d, int32(to)})
			}
		}
	}
	return order
}

// isForest tells whether no two vertices have two paths, directions aside.
func (g *Graph) isForest() bool {
	links, parts := 0, 0
	for _, a := range g.arcs {
		if a.From < a.To || g.ArcIndex(a.To, a.From) < 0 {
			links++
		}
	}
	for _, p := range g.parts() {
		parts = max(parts, p+1)
	}
	return links == g.vertices-parts
}

// latencies are the latencies of all arcs, to serve as lengths.
func (g *Graph) latencies() []float64 {
	l := make([]float64, len(g.arcs))
	for i, a := range g.arcs {
		l[i] = a.Latency
	}
	return l
}

// hostDistances is the n*n matrix of shortest latencies between the hosts.
func (g *Graph) hostDistances() []float64 {
	n, f := g.hosts, newPathFinder(g, g.latencies())
	d := make([]float64, n*n)
	eachRow(n, func(i int) {
		dist := make([]float64, g.vertices)
		f.from(i, dist)
		copy(d[i*n:(i+1)*n], dist)
	})
	return d
}
