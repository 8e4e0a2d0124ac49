package linkage

import (
	"fmt"
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
	latency  []float32 // K*K: s between switches, leaf links taken out; NaN: not measured
	leaf     []float64 // s of the link between a host and its switch, per block
	off      float64   // s, standard error of a distance
	assumed  []int     // blocks of one host: their leaf link is assumed to be the median of the others
	unlinked int       // pairs of blocks without a reading
}

// newQuotient works out how far the switches of given leaf blocks are from each
// other, by block medians. at is the reading between two hosts in s, the same in both
// directions and called concurrently; NaN is not measured. The blocks are disjoint
// and not empty; hosts in none are left out. More hosts per block average more
// noise away.
//
// The distance between switches is the lower median of the readings between
// their blocks less half the level of each block, which is the lower median
// inside it. O(n^2) for n hosts in the blocks; memory of 8 K^2 bytes for K blocks.
func newQuotient(at func(i, j int) float64, blocks [][]int) *quotient {
	k := len(blocks)
	q := &quotient{blocks: blocks, latency: make([]float32, k*k), leaf: make([]float64, k)}
	middle := make([]float64, k*k)
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
	if off := stats.Median(slices.Concat(errors...)); off > 0 {
		q.off = off
	}
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

// By how much a path over a third switch may be longer than the direct one and be equal.
const (
	detourErrors = 8    // standard errors of a distance: four of the sum of four
	detourShare  = 0.02 // of the direct one in addition: links of one kind vary
)

// links finds the links between the switches by the witness spanner; the bound may be nil.
func (q *quotient) links(bound *witness.Bound) []witness.Pair {
	return witness.Links(len(q.blocks), q.latency, witness.Test{Relative: detourShare, Absolute: detourErrors * q.off, Bound: bound})
}

// graph is the machine: the n hosts, and switch n+a for block a. A switch without hosts is a full mesh of
// its neighbours: latencies do not tell the two apart.
func (q *quotient) graph(n int, links []witness.Pair) (*topology.Graph, error) {
	var arcs []topology.Arc
	for a, block := range q.blocks {
		for _, h := range block {
			arcs = topology.AppendLink(arcs, h, n+a, q.leaf[a], math.NaN())
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
