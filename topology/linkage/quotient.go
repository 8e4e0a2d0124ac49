package linkage

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
)

// A quotient is a machine of switches that carry blocks of hosts, seen as the
// matrix of the distances between its switches: switch a is block a.
type quotient struct {
	blocks   [][]int
	latency  []float32       // K*K: s between switches, leaf links taken out; NaN: not measured
	leaf     []float64       // s of the usual link between a host and its switch, per block
	own      map[int]float64 // s by which the link of a host is longer than usual; 0 of most
	off      float64         // s, standard error of a distance
	assumed  []int           // blocks of one host: their leaf link is assumed to be the median of the others
	unlinked int             // pairs of blocks without a measurement
}

// Hosts per block of which measurements are looked at: 256 per pair of blocks, whose median has a
// thirteenth of the noise of one.
const blockSample = 16

// newQuotient works out how far the switches of given leaf blocks are from each
// other, by block medians. at is the measurement between two hosts in s, the same in both
// directions and called concurrently; NaN is not measured. The blocks are disjoint
// and not empty; hosts in none are left out. More hosts per block average more
// noise away.
//
// The distance between switches is the lower median of the measurements between
// their blocks less half the level of each block, which is the lower median
// inside it. What the link of a host is longer than those of its block is found first, and taken out of its measurements:
// of a block of two hosts it would be half of the level. O(n K) for n hosts in K blocks; memory of 8 K^2 bytes.
func newQuotient(at func(i, j int) float64, blocks [][]int) *quotient {
	k := len(blocks)
	q := &quotient{blocks: blocks, latency: make([]float32, k*k), leaf: make([]float64, k)}
	some := make([][]int, k)
	for a, hosts := range blocks {
		for x := range min(blockSample, len(hosts)) {
			some[a] = append(some[a], hosts[x*len(hosts)/min(blockSample, len(hosts))])
		}
	}
	middle, off := blockMedians(at, some)
	if q.own = ownLinks(at, blocks, some, middle); len(q.own) > 0 {
		middle, off = blockMedians(func(i, j int) float64 { return at(i, j) - q.own[i] - q.own[j] }, some)
	}
	q.off = off
	var known []float64
	for a := range k {
		if level := middle[a*k+a]; !math.IsNaN(level) {
			known = append(known, level)
		}
	}
	usual := stats.Median(known)
	for a := range k {
		level := middle[a*k+a]
		if math.IsNaN(level) {
			q.assumed = append(q.assumed, a)
			level = usual
		}
		q.leaf[a] = level / 2
	}
	for a := range k {
		for b := range a {
			between := middle[a*k+b]
			if math.IsNaN(between) {
				q.unlinked++
			}
			d := float32(max(0, between-q.leaf[a]-q.leaf[b])) // max keeps NaN
			q.latency[a*k+b], q.latency[b*k+a] = d, d
		}
	}
	return q
}

// blockMedians are the lower medians of the measurements between the hosts of each two blocks and, on the diagonal, inside
// each, and the standard error of one. NaN where nothing was measured.
func blockMedians(at func(i, j int) float64, blocks [][]int) (middle []float64, off float64) {
	k := len(blocks)
	middle = make([]float64, k*k)
	errors := make([][]float64, k)
	const most = 128 // pairs of blocks per block whose spread is looked at
	skip := k/most + 1
	parallel.Rows(k, func(a int) {
		var between []float64
		for b := a; b < k; b++ {
			between = between[:0]
			for x, i := range blocks[a] {
				to := blocks[b]
				if a == b {
					to = to[x+1:]
				}
				for _, j := range to {
					if v := at(i, j); !math.IsNaN(v) {
						between = append(between, v)
					}
				}
			}
			mid := stats.Median(between)
			middle[a*k+b], middle[b*k+a] = mid, mid
			if len(between) >= 3 && (b-a)%skip == 0 {
				errors[a] = append(errors[a], stats.ErrorOfMedian(stats.SigmaAbout(mid, between), len(between)))
			}
		}
	})
	if off = stats.Median(slices.Concat(errors...)); !(off > 0) {
		off = 0
	}
	return middle, off
}

// ownErrors is from how many standard errors on the link of a host has a length of its own.
const ownErrors = 4

// ownLinks says by how many s the link of a host is longer than those of its block, of the hosts of which that is
// clear: by the median over what it reads to the sampled hosts of other blocks, less the medians between the blocks.
func ownLinks(at func(i, j int) float64, blocks, some [][]int, middle []float64) map[int]float64 {
	k := len(blocks)
	found := make([]map[int]float64, k)
	parallel.Rows(k, func(a int) {
		found[a] = make(map[int]float64)
		var more []float64
		for _, i := range blocks[a] {
			more = more[:0]
			for b, hosts := range some {
				if a == b {
					continue
				}
				for _, j := range hosts {
					if v := at(i, j) - middle[a*k+b]; !math.IsNaN(v) {
						more = append(more, v)
					}
				}
			}
			mid := stats.Median(more)
			if math.Abs(mid) > ownErrors*stats.ErrorOfMedian(stats.SigmaAbout(mid, more), len(more)) {
				found[a][i] = mid
			}
		}
	})
	own := make(map[int]float64)
	for _, of := range found {
		maps.Copy(own, of)
	}
	return own
}

// By how much a path over a third switch may be longer than the direct one and be equal.
const (
	detourErrors = 8    // standard errors of a distance: four of the sum of four
	detourShare  = 0.02 // of the direct one in addition: links of one kind vary
)

// links finds the links between the switches by the witness spanner; the bound may be nil.
func (q *quotient) links(bound *witness.Bound) []witness.Pair {
	return witness.Links(len(q.blocks), q.latency, witness.Test{Relative: detourShare, Absolute: detourErrors * q.off, Bound: bound})
}

// joined are the blocks with each host that is alone on a switch of a single link put on the switch at its other end: a
// longer link of the host explains as much. It is nil if there is none.
func (q *quotient) joined(links []witness.Pair) [][]int {
	degree, end := make([]int, len(q.blocks)), make([]int, len(q.blocks))
	for _, p := range links {
		degree[p.From]++
		degree[p.To]++
		end[p.From], end[p.To] = p.To, p.From
	}
	lone := func(a int) bool { return degree[a] == 1 && slices.Contains(q.assumed, a) }
	all := slices.Clone(q.blocks)
	for a, block := range q.blocks {
		if lone(a) && !lone(end[a]) {
			all[end[a]] = append(slices.Clip(all[end[a]]), block...)
			all[a] = nil
		}
	}
	all = slices.DeleteFunc(all, func(block []int) bool { return block == nil })
	if len(all) == len(q.blocks) {
		return nil
	}
	return all
}

// graph is the machine: the n hosts, and switch n+a for block a. A switch without hosts is a full mesh of
// its neighbours: latencies do not tell the two apart.
func (q *quotient) graph(n int, links []witness.Pair) (*topology.Graph, error) {
	var arcs []topology.Arc
	for a, block := range q.blocks {
		for _, h := range block {
			arcs = topology.AppendLink(arcs, h, n+a, max(0, q.leaf[a]+q.own[h]), math.NaN())
		}
	}
	for _, p := range links {
		arcs = topology.AppendLink(arcs, n+p.From, n+p.To, float64(q.latency[p.From*len(q.blocks)+p.To]), math.NaN())
	}
	return topology.NewGraph(n, len(q.blocks), nil, arcs)
}

// warnings names what the quotient had to assume.
func (q *quotient) warnings() []string {
	var w []string
	if len(q.assumed) > 0 {
		hosts := make([]int, len(q.assumed))
		for i, a := range q.assumed {
			hosts[i] = q.blocks[a][0]
		}
		w = append(w, fmt.Sprintf("hosts %v are alone on their switches: the latencies of their links are assumed to be those of the others", hosts))
	}
	if q.unlinked > 0 {
		w = append(w, fmt.Sprintf("%d pairs of switches have no measurement between their hosts: a link between them would not be seen", q.unlinked))
	}
	return w
}
