package model

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/model/contention"
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

func (q labelQueue) Len() int      { return len(q) }
func (q labelQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *labelQueue) Push(x any)   { *q = append(*q, x.(queuedLabel)) }

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

// estimate gives arcs without a bandwidth that of their level in B/s, and marks
// them. A level of unknown bandwidth takes that of the next coarser one that
// has one, or of the next finer one: what has to carry more is seldom slower
// than the links above. It returns how many links (an arc and its opposite are
// one) are estimated in all.
func estimate(arcs []topology.Arc, level []int, bandwidth []float64) (links int) {
	rate := slices.Clone(bandwidth)
	for i := len(rate) - 2; i >= 0; i-- {
		if math.IsNaN(rate[i]) {
			rate[i] = rate[i+1]
		}
	}
	for i := 1; i < len(rate); i++ {
		if math.IsNaN(rate[i]) {
			rate[i] = rate[i-1]
		}
	}
	seen := make(map[[2]int]bool)
	for i := range arcs {
		a := &arcs[i]
		if math.IsNaN(a.Bandwidth) && !math.IsNaN(rate[level[i]]) {
			a.Bandwidth, a.Estimated = rate[level[i]], true
		}
		if a.Estimated {
			seen[[2]int{min(a.From, a.To), max(a.From, a.To)}] = true
		}
	}
	return len(seen)
}

// estimateWarning says how many links are estimated; "" if none is.
func estimateWarning(estimated, links int) string {
	if estimated == 0 {
		return ""
	}
	return fmt.Sprintf("the bandwidths of %d of %d links were not measured: each is taken to be typical of its level", estimated, links)
}

// withEstimates is a network of which some links were measured with all of
// them: those that were not get the bandwidth of their level. One warning takes
// the place of those per link that files of version 1 have.
func (n *Network) withEstimates(s *Settings) (*Network, error) {
	arcs := slices.Clone(n.graph.Arcs())
	measured := func(a topology.Arc) bool { return !math.IsNaN(a.Bandwidth) }
	rates := make([]float64, len(n.levels))
	for i := range rates {
		if rates[i] = n.levels[i].Bandwidth(); math.IsInf(rates[i], 0) {
			rates[i] = math.NaN()
		}
	}
	if !slices.ContainsFunc(arcs, measured) {
		return n, nil
	}
	estimated := estimate(arcs, n.linkLevels(), rates)
	if estimated == 0 {
		return n, nil
	}
	graph, err := rebuild(n.graph, arcs)
	if err != nil {
		return nil, err
	}
	warnings := slices.DeleteFunc(slices.Clone(n.warnings), func(w string) bool {
		return strings.HasPrefix(w, "link ") && strings.Contains(w, "no transfer crosses it")
	})
	settings := *s
	settings.Links = n.links
	return newNetwork(&topology.Result{
		Graph: graph, Hierarchy: n.reported, Fit: n.fit,
		Warnings: append(warnings, estimateWarning(estimated, len(arcs)/2)),
	}, &settings)
}

// fill gives bandwidths to the links of which the transfers say nothing, those
// typical of their level, and returns the arcs and how many links were filled.
//
// Where all transfers over a link were slow, it is kept if it is one of the links
// blamed for that. Typical is the median of the links that were determined, or crossed by a
// transfer that needs no coarser link. Of a link that only longer ways crossed
// the fit knows a bound, which the other links of those ways may have set: where
// these ways were as fast as is usual between their levels, nothing speaks against the
// link, and it is filled, too, if its level has more.
func (f *fitter) fill() (arcs []topology.Arc, estimated int) {
	level := f.n.linkLevels()
	own := make([]bool, len(f.links))           // crossed by a transfer of the link's level
	usual := make([]bool, len(f.links))         // crossed by one as fast as is usual
	rates := make([][]float64, len(f.n.levels)) // of transfers alone
	alone := func(visit func(j *contention.Flow, joined int, rate float64)) {
		for i := range f.patterns {
			if p := &f.patterns[i]; len(p.flows) == 1 {
				j := &p.flows[0]
				visit(j, p.level[0], j.Bytes/max(p.seconds[0]-(j.Start-p.begin[0]), leastMoving*p.seconds[0]))
			}
		}
	}
	alone(func(_ *contention.Flow, joined int, rate float64) { rates[joined] = append(rates[joined], rate) })
	typical := quantiles(rates, fastShare)
	fastest := make([]float64, len(f.links)) // B/s of a transfer alone; 0: none
	var slow []*contention.Flow
	var slowRates []float64
	alone(func(j *contention.Flow, joined int, rate float64) {
		isUsual := rate >= usualShare*typical[joined]
		for _, c := range j.Data {
			l := f.linkOf[c]
			usual[l], fastest[l] = usual[l] || isUsual, max(fastest[l], rate)
		}
		if !isUsual {
			slow, slowRates = append(slow, j), append(slowRates, rate)
		}
	})
	blamed := f.blamed(slow, slowRates, fastest, level)
	for i := range f.patterns {
		p := &f.patterns[i]
		for k, j := range p.flows {
			for _, c := range j.Data {
				own[f.linkOf[c]] = own[f.linkOf[c]] || level[c] == p.level[k]
			}
		}
	}
	rates, counted := make([][]float64, len(f.n.levels)), make([]bool, len(f.links))
	for arc, l := range f.linkOf {
		if link := &f.links[l]; !counted[l] && !math.IsNaN(link.Bandwidth) && (own[l] || link.Determined) {
			counted[l] = true
			rates[level[arc]] = append(rates[level[arc]], link.Bandwidth)
		}
	}
	typical = quantiles(rates, 0.5)
	arcs = slices.Clone(f.n.graph.Arcs())
	for i := range arcs {
		l := f.linkOf[i]
		link := &f.links[l]
		explained := link.Determined || own[l] || !usual[l]
		if fastest[l] > 0 && !usual[l] {
			explained = blamed[l]
		}
		if !math.IsNaN(link.Bandwidth) && (explained || !(link.Bandwidth < typical[level[i]])) {
			arcs[i].Bandwidth = link.Bandwidth
		}
	}
	return arcs, estimate(arcs, level, typical)
}

// leastMoving is the share of a transfer's time that its bytes take at least: where the latency
// of the path is as long as the whole, the rate is high, and not infinite.
const leastMoving = 1e-3

// usualShare of the rate of the fastShare-quantile of its level makes a transfer one of
// usual speed. The median will not do: of three racks one slow uplink slows down two
// pairs of three.
const (
	usualShare = 0.8
	fastShare  = 0.9
)

// quantiles are those of lists, NaN of empty ones.
func quantiles(lists [][]float64, q float64) []float64 {
	out := make([]float64, len(lists))
	for i, list := range lists {
		if out[i] = math.NaN(); len(list) > 0 {
			out[i] = quantile(list, q)
		}
	}
	return out
}
