package topology

import (
	"container/heap"
	"math"
)

// shortestFrom writes into dist the length of the shortest path from src to
// every vertex, +Inf where there is none, for arcs of the given lengths, which
// are at least 0; an arc of length +Inf or NaN does not exist. It returns the
// vertices that were reached, nearest first. Hosts forward. O(m log m) (Dijkstra 1959).
func (g *Graph) shortestFrom(src int, lengths, dist []float64) []int {
	for v := range dist {
		dist[v] = math.Inf(1)
	}
	dist[src] = 0
	var order []int
	queue := distanceQueue{{src, 0}}
	for len(queue) > 0 {
		it := heap.Pop(&queue).(distanceItem)
		if it.distance > dist[it.vertex] {
			continue
		}
		order = append(order, it.vertex)
		for i := g.start[it.vertex]; i < g.start[it.vertex+1]; i++ {
			to := g.arcs[i].To
			if d := it.distance + lengths[i]; d < dist[to] {
				dist[to] = d
				heap.Push(&queue, distanceItem{to, d})
			}
		}
	}
	return order
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
	n, lengths := g.hosts, g.latencies()
	d := make([]float64, n*n)
	eachRow(n, func(i int) {
		dist := make([]float64, g.vertices)
		g.shortestFrom(i, lengths, dist)
		copy(d[i*n:(i+1)*n], dist)
	})
	return d
}

type distanceItem struct {
	vertex   int
	distance float64
}

// distanceQueue is a binary heap by distance, then by vertex. A vertex whose
// distance falls is put in again.
type distanceQueue []distanceItem

func (q distanceQueue) Len() int { return len(q) }

func (q distanceQueue) Less(i, j int) bool {
	if q[i].distance != q[j].distance {
		return q[i].distance < q[j].distance
	}
	return q[i].vertex < q[j].vertex
}

func (q distanceQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *distanceQueue) Push(x any) { *q = append(*q, x.(distanceItem)) }

func (q *distanceQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
