package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/queue"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Bound is a time in s below which no schedule broadcasts the bytes from the root, by what the
// network knows. It is the larger of two times:
//
//   - for the rank that is worst off, the latency from the root, and the bytes over the slowest
//     link on their way. The first byte takes the latency. The last one comes as much later as the link is
//     busy with all of them. In a graph that is no tree there may be several ways, and only the links of the two ranks count.
//   - the time of the postal model (Bar-Noy & Kipnis 1992, https://doi.org/10.1145/140901.140933). Each rank that has the
//     message sends it to another one every o seconds, and each message takes the least latency of the network. o is the least
//     overhead of a send that was measured.
//
// The latency is that of n.Time, with the overhead of one send and one receive. The rate is that of the
// links of the graph. Where the graph knows none, it is that of a lone stream between the two ranks. The bound is NaN if
// no latency is known. O(links + ranks log ranks).
func Bound(n *model.Network, bytes, root int) (float64, error) {
	p := schedule.Problem{Ranks: n.Ranks(), Root: root, Bytes: bytes}
	if err := p.Validate(); err != nil {
		return 0, fmt.Errorf("predict: bound: %w", err)
	}
	if bytes == 0 || p.Ranks == 1 {
		return 0, nil
	}
	rates := ratesFrom(n, root)
	bound := math.NaN()
	for r := range p.Ranks {
		t := n.Time(root, r, 0)
		if r == root || math.IsNaN(t) {
			continue
		}
		if !math.IsInf(rates[r], 0) {
			t += float64(bytes) / rates[r]
		} else if whole := n.Time(root, r, int64(bytes)); whole > t {
			t = whole
		}
		if !(bound >= t) {
			bound = t
		}
	}
	return max(bound, postal(n)), nil
}

// ratesFrom is, for each rank, the rate in B/s of the slowest link between it and the root that
// cannot be avoided; +Inf where none is known.
func ratesFrom(n *model.Network, root int) []float64 {
	g := n.Graph()
	rates := slices.Repeat([]float64{math.Inf(1)}, g.Vertices())
	if g.NumArcs() > 2*(g.Vertices()-1) {
		out := 0.0
		for _, a := range g.Out(root) {
			out += known(a.Bandwidth)
		}
		for r := range n.Ranks() {
			in := 0.0
			for _, i := range g.In(r) {
				in += known(g.Arcs()[i].Bandwidth)
			}
			if rates[r] = min(out, in); rates[r] == 0 { // without links
				rates[r] = math.Inf(1)
			}
		}
		return rates
	}
	tree := topology.NewPaths(g, make([]float64, g.NumArcs())).Tree(root) // there is one way to each
	for _, v := range tree.Order[1:] {
		last := g.Arcs()[tree.Arc[v]]
		rates[v] = min(rates[last.From], known(last.Bandwidth))
	}
	return rates
}

// known is a bandwidth, +Inf for one that is not known.
func known(bandwidth float64) float64 {
	if math.IsNaN(bandwidth) {
		return math.Inf(1)
	}
	return bandwidth
}

// nearest is the latency in s between the two hosts of a graph that are nearest to each other, +Inf if none is known. A level's own time is
// that of its typical pair. Each vertex is reached from its nearest host, and the least way leads over an arc between vertices that
// different hosts reach. O(arcs log arcs).
func nearest(g *topology.Graph) float64 {
	host, far := make([]int, g.Vertices()), make([]float64, g.Vertices())
	var waiting queue.Min
	for v := range far {
		if host[v], far[v] = v, math.Inf(1); v < g.Hosts() {
			far[v] = 0
			waiting.Push(queue.Item{Key: 0, ID: int64(v)})
		}
	}
	for len(waiting) > 0 {
		at := waiting.Pop()
		v := int(at.ID)
		if at.Key > far[v] {
			continue
		}
		for _, a := range g.Out(v) {
			if t := at.Key + a.Latency; t < far[a.To] {
				host[a.To], far[a.To] = host[v], t
				waiting.Push(queue.Item{Key: t, ID: int64(a.To)})
			}
		}
	}
	least := math.Inf(1)
	for _, a := range g.Arcs() {
		if t := far[a.From] + a.Latency + far[a.To]; host[a.From] != host[a.To] && t < least {
			least = t
		}
	}
	return least
}

// postal is the time in s in which all ranks are reached if all pairs are as near as the nearest and
// sending costs as little as anywhere. 0, below which nothing is, if latencies or the overhead are not known.
func postal(n *model.Network) float64 {
	latency, overhead := math.Inf(1), math.Inf(1)
	if t := nearest(n.Graph()) + n.Reconstruction().Fit.Overhead; t > 0 {
		latency = t
	}
	for _, l := range n.Levels() {
		if t := l.Time(0); t > 0 {
			latency = min(latency, t)
		}
		if len(l.Send) > 0 && l.Send[0] > 0 {
			overhead = min(overhead, l.Send[0])
		}
	}
	if math.IsInf(latency, 0) || math.IsInf(overhead, 0) {
		return 0
	}
	arrivals := queue.Min{{Key: latency}} // of each rank that has the message, that of its next one
	last := 0.0
	for range n.Ranks() - 1 {
		last = arrivals.Pop().Key
		arrivals.Push(queue.Item{Key: last + overhead})
		arrivals.Push(queue.Item{Key: last + latency})
	}
	return last
}
