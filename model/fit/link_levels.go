package fit

import (
	"math"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/queue"
	"github.com/topocast/topocast/topology"
)

// linkLevels is the level of each arc, as an index into Levels: the one that
// joins the nearest hosts at its two ends, which is the finest one whose
// messages need the link. In a tree it is 0 for the links of hosts to their
// first switch, and one more per group that messages have to leave.
// O(arcs * log arcs).
func linkLevels(n *model.Network) []int {
	g := n.Graph()
	nearest := nearestHosts(g)
	level := make([]int, g.NumArcs())
	for i, a := range g.Arcs() {
		u, v := nearest[a.From].besides(a.To), nearest[a.To].besides(a.From)
		level[i] = len(n.Levels()) - 1
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
// without a latency counts as 0; ties go to the lowest host, and then to the
// lowest neighbour.
func nearestHosts(g *topology.Graph) []nearHosts {
	arcs := g.Arcs()
	first := make([]int, g.Vertices()) // number of the first arc that leaves
	for v := range first[1:] {
		first[v+1] = first[v] + len(g.Out(v))
	}
	near := make([]nearHosts, g.Vertices())
	// What waits is a host and an arc that it was reached by, counted from 1; 0 is the host itself.
	const arcBits = 32
	var waiting queue.Min
	for h := range g.Hosts() {
		waiting.Push(queue.Item{ID: int64(h) << arcBits})
	}
	for len(waiting) > 0 {
		x := waiting.Pop()
		l := hostLabel{latency: x.Key, host: int(x.ID >> arcBits), over: -1}
		at := l.host
		if arc := int(x.ID & (1<<arcBits - 1)); arc > 0 {
			l.over, at = arcs[arc-1].From, arcs[arc-1].To
		}
		known := near[at]
		if len(known) == 2 || len(known) == 1 && known[0].over == l.over {
			continue
		}
		near[at] = append(known, l)
		for k, a := range g.Out(at) {
			if a.To == l.over {
				continue
			}
			latency := l.latency
			if !math.IsNaN(a.Latency) {
				latency += a.Latency
			}
			waiting.Push(queue.Item{Key: latency, ID: int64(l.host)<<arcBits | int64(first[at]+k+1)})
		}
	}
	return near
}
