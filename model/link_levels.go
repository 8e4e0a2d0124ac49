package model

import (
	"cmp"
	"container/heap"
	"math"

	"github.com/topocast/topocast/topology"
)

// linkLevels is the level of each arc, as an index into Levels: the one that
// joins the nearest hosts at its two ends, which is the finest one whose
// messages need the link. In a tree it is 0 for the links of hosts to their
// first switch, and one more per group that messages have to leave.
// O(arcs * log arcs).
func (n *Network) linkLevels() []int {
	g := n.graph
	nearest := nearestHosts(g)
	level := make([]int, g.NumArcs())
	for i, a := range g.Arcs() {
		u, v := nearest[a.From].besides(a.To), nearest[a.To].besides(a.From)
		level[i] = len(n.levels) - 1
		if u >= 0 && v >= 0 && u != v {
			level[i] = n.LevelOf(u, v)
		}
	}
	return level
}

// A hostLabel says how far the nearest host is that is reached over a neighbour.
type hostLabel struct {
	latency float64 // s
	host    int
	over    int // the neighbour; -1 of a host for itself
}

// nearHosts are up to two labels of a vertex, over different neighbours,
// nearest first.
type nearHosts []hostLabel

// besides is the nearest host that is not reached over the given neighbour, or -1.
func (h nearHosts) besides(neighbour int) int {
	for _, l := range h {
		if l.over != neighbour {
			return l.host
		}
	}
	return -1
}

// nearestHosts is Dijkstra's algorithm from all hosts at once with two labels
// per vertex, so that of a link each end knows a host on its own side. An arc
// without a latency counts as 0; ties go to the lowest host.
func nearestHosts(g *topology.Graph) []nearHosts {
	near := make([]nearHosts, g.Vertices())
	var q labelQueue
	for h := range g.Hosts() {
		q = append(q, queuedLabel{hostLabel{0, h, -1}, h})
	}
	for len(q) > 0 {
		l := heap.Pop(&q).(queuedLabel)
		known := near[l.at]
		if len(known) == 2 || len(known) == 1 && known[0].over == l.over {
			continue
		}
		near[l.at] = append(known, l.hostLabel)
		for _, a := range g.Out(l.at) {
			if a.To != l.over {
				q.add(queuedLabel{hostLabel{l.latency + max(0, a.Latency), l.host, l.at}, a.To})
			}
		}
	}
	return near
}

type queuedLabel struct {
	hostLabel
	at int
}

// labelQueue is a heap by latency, host and vertex.
type labelQueue []queuedLabel

func (q *labelQueue) add(l queuedLabel) {
	if math.IsNaN(l.latency) {
		l.latency = 0
	}
	heap.Push(q, l)
}

func (q labelQueue) Len() int { return len(q) }

func (q labelQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *labelQueue) Push(x any) { *q = append(*q, x.(queuedLabel)) }

func (q *labelQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q labelQueue) Less(i, j int) bool {
	if c := cmp.Compare(q[i].latency, q[j].latency); c != 0 {
		return c < 0
	}
	if q[i].host != q[j].host {
		return q[i].host < q[j].host
	}
	return q[i].at < q[j].at
}
