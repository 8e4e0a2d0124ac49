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
// graph of its switches: switch a is block a.
type quotient struct {
	blocks   [][]int
	links    []witness.Pair // between switches, from < to, sorted
	latency  []float64      // K*K: s between switches, leaf links taken out
	leaf     []float64      // s of the link between a host and its switch, per block
	spread   float64        // relative spread of readings inside a pair of blocks
	assumed  []int          // blocks of one host: their leaf link is assumed to be the median of the others
	unlinked int            // pairs of blocks without a reading
	work     int64          // readings looked at, besides the legs of link
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
	q := &quotient{blocks: blocks, latency: make([]float64, k*k), leaf: make([]float64, k)}
	hosts := int64(0)
	spreads := make([][]float64, k)
	const most = 128 // pairs of blocks per block whose spread is looked at
	skip := k/most + 1
	parallel.Rows(k, func(a int) {
		var readings, deviations []float64
		for b := a; b < k; b++ {
			readings = blockReadings(readings[:0], at, blocks[a], blocks[b], a == b)
			if len(readings) == 0 {
				q.latency[a*k+b], q.latency[b*k+a] = math.NaN(), math.NaN()
				continue
			}
			mid := stats.LowerMedian(readings)
			q.latency[a*k+b], q.latency[b*k+a] = mid, mid
			if mid > 0 && len(readings) >= 3 && (b-a)%skip == 0 {
				deviations = deviations[:0]
				for _, v := range readings {
					deviations = append(deviations, math.Abs(v-mid))
				}
				spreads[a] = append(spreads[a], stats.Sigma(deviations)/mid)
			}
		}
	})
	for _, block := range blocks {
		hosts += int64(len(block))
	}
	q.work = hosts * (hosts - 1) / 2
	q.spread = stats.Median(slices.Concat(spreads...))
	if math.IsNaN(q.spread) {
		q.spread = 0
	}

	var known []float64
	for a := range k {
		if l := q.latency[a*k+a]; !math.IsNaN(l) {
			known = append(known, l)
		}
	}
	usual := stats.Median(known)
	if math.IsNaN(usual) {
		usual = 0 // blocks of one host each: the hosts are the switches
	}
	for a := range k {
		level := q.latency[a*k+a]
		if math.IsNaN(level) {
			q.assumed = append(q.assumed, a)
			level = usual
		}
		q.leaf[a] = level / 2
		q.latency[a*k+a] = 0
	}
	for a := range k {
		for b := range k {
			if a == b {
				continue
			}
			mid := q.latency[a*k+b]
			if math.IsNaN(mid) && a < b {
				q.unlinked++
			}
			q.latency[a*k+b] = max(0, mid-q.leaf[a]-q.leaf[b]) // max keeps NaN
		}
	}
	return q
}

// variance is that of the distance between switches a and b; of a = b that of the
// level of a block.
func (q *quotient) variance(a, b int) float64 {
	if a == b {
		size := len(q.blocks[a])
		return medianVariance(q.spread*2*q.leaf[a], size*(size-1)/2)
	}
	mid := q.latency[a*len(q.blocks)+b] + q.leaf[a] + q.leaf[b]
	return medianVariance(q.spread*mid, len(q.blocks[a])*len(q.blocks[b]))
}

// By how much two sums of distances may differ and be equal. In percent alone it could not be said: a switch
// of three hosts and one of forty know their distances differently well.
const (
	detourSigmas = 4    // standard errors of the sums
	detourShare  = 0.02 // of the longer one in addition: links of one kind vary
)

// linkRelative is by how much of a distance two legs may be longer to be looked at closely: beyond
// that no standard error explains it.
const linkRelative = 0.5

// link finds the links between the switches by the witness spanner. A link is
// dropped if a third switch explains it within four standard errors: of the
// medians, by the spread of the readings, which all pairs of blocks share, and
// their number; and of the level of the third switch - those of the two ends
// cancel. On top come 2 % for what is not noise. It returns false, with no links, if
// the bound, which may be nil, ends it. At worst O(K^3).
func (q *quotient) link(bound *witness.Bound) bool {
	k := len(q.blocks)
	q.links = witness.Links(k, q.latency, witness.Test{
		Relative: linkRelative,
		Accept: func(a, c, b int) bool {
			slack := q.latency[a*k+c] + q.latency[c*k+b] - q.latency[a*k+b]
			v := q.variance(a, c) + q.variance(c, b) + q.variance(a, b) + q.variance(c, c)
			return slack <= detourSigmas*math.Sqrt(v)+detourShare*q.latency[a*k+b]
		},
		Bound: bound,
	})
	return !bound.Dense() && !bound.Spent()
}

// graph is the machine: the n hosts, and switch n+a for block a. A switch without hosts is a full mesh of
// its neighbours: latencies do not tell the two apart.
func (q *quotient) graph(n int) (*topology.Graph, error) {
	var arcs []topology.Arc
	add := func(u, v int, latency float64) {
		arcs = topology.AppendLink(arcs, u, v, latency, math.NaN())
	}
	for a, block := range q.blocks {
		for _, h := range block {
			add(h, n+a, q.leaf[a])
		}
	}
	for _, p := range q.links {
		add(n+p.From, n+p.To, q.latency[p.From*len(q.blocks)+p.To])
	}
	return topology.NewGraph(n, len(q.blocks), nil, arcs)
}

// warnings names what the quotient had to assume.
func (q *quotient) warnings() []string {
	var w []string
	if len(q.assumed) > 0 && len(q.assumed) < len(q.blocks) {
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

// blockReadings appends the measured readings between two blocks, or inside one.
func blockReadings(dst []float64, at func(i, j int) float64, a, b []int, same bool) []float64 {
	for x, i := range a {
		to := b
		if same {
			to = b[x+1:]
		}
		for _, j := range to {
			if v := at(i, j); !math.IsNaN(v) {
				dst = append(dst, v)
			}
		}
	}
	return dst
}

// medianVariance is the variance of the median of n normal readings of the
// given standard deviation: pi/2 of that of the mean, which for one and two
// readings is the same.
func medianVariance(deviation float64, n int) float64 {
	switch {
	case n == 0:
		return 0
	case n <= 2:
		return deviation * deviation / float64(n)
	}
	return math.Pi / 2 * deviation * deviation / float64(n)
}
