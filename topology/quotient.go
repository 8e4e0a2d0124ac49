package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A quotient is a machine of switches that carry blocks of hosts, seen as the
// graph of its switches: switch a is block a.
type quotient struct {
	blocks   [][]int
	links    []pair    // between switches, from < to, sorted
	latency  []float64 // K*K: s between switches, leaf links taken out
	leaf     []float64 // s of the link between a host and its switch, per block
	spread   float64   // relative spread of readings inside a pair of blocks
	assumed  []int     // blocks of one host: their leaf link is assumed to be the median of the others
	unlinked int       // pairs of blocks without a reading

	// Where the distances are those of a tree the links above are a full mesh
	// of what hangs on switches without hosts; these are found by cliques, and
	// hidden holds the switches of the blocks, then the hidden ones.
	hidden *cliqueModel
}

// newQuotient works out how the switches of given leaf blocks are linked, by
// the quotient of block medians and the witness spanner. d is n*n row-major and
// symmetric, in s; NaN is not measured. The blocks are disjoint and not empty;
// hosts in none are left out. More hosts per block average more noise away.
//
// The distance between switches is the lower median of the readings between
// their blocks less half the level of each block, which is the lower median
// inside it. A link is dropped if a third switch explains it within four
// standard errors: of the medians, by the spread of the readings, which all
// pairs of blocks share, and their number; and of the level of the third
// switch - those of the two ends cancel. On top come 2 % for what is not noise.
// O(n^2 + K^3) for K blocks.
func newQuotient(n int, d []float64, blocks [][]int) quotient {
	k := len(blocks)
	q := quotient{blocks: blocks, latency: make([]float64, k*k), leaf: make([]float64, k)}
	between := make([]float64, k*k) // medians with the leaf links in
	spreads := make([][]float64, k)
	eachRow(k, func(a int) {
		var readings []float64
		for b := a; b < k; b++ {
			readings = blockReadings(readings[:0], n, d, blocks[a], blocks[b], a == b)
			mid, mad := medianSpread(readings)
			between[a*k+b], between[b*k+a] = mid, mid
			if mid > 0 && len(readings) >= 3 {
				spreads[a] = append(spreads[a], mad/mid)
			}
		}
	})
	q.spread, _ = medianSpread(slices.Concat(spreads...))
	if math.IsNaN(q.spread) {
		q.spread = 0
	}

	var known []float64
	for a := range k {
		if l := between[a*k+a]; !math.IsNaN(l) {
			known = append(known, l)
		}
	}
	usual, _ := medianSpread(known)
	if math.IsNaN(usual) {
		usual = 0 // blocks of one host each: the hosts are the switches
	}
	variance := make([]float64, k*k) // of between; on the diagonal of the level
	for a := range k {
		level := between[a*k+a]
		if math.IsNaN(level) {
			q.assumed = append(q.assumed, a)
			level = usual
		}
		q.leaf[a] = level / 2
		size := len(blocks[a])
		variance[a*k+a] = medianVariance(q.spread*level, size*(size-1)/2)
	}
	for a := range k {
		for b := range k {
			if a == b {
				continue
			}
			mid := between[a*k+b]
			if math.IsNaN(mid) && a < b {
				q.unlinked++
			}
			q.latency[a*k+b] = max(0, mid-q.leaf[a]-q.leaf[b]) // max keeps NaN
			variance[a*k+b] = medianVariance(q.spread*mid, len(blocks[a])*len(blocks[b]))
		}
	}
	q.links = witnessSpanner(k, q.latency, spannerTest{
		relative: 0.5,
		accept: func(a, c, b int) bool {
			slack := q.latency[a*k+c] + q.latency[c*k+b] - q.latency[a*k+b]
			v := variance[a*k+c] + variance[c*k+b] + variance[a*k+b] + variance[c*k+c]
			return slack <= 4*math.Sqrt(v)+0.02*q.latency[a*k+b]
		},
	})
	if len(q.links) >= k && q.isTree(variance) {
		q.findHidden(variance)
	}
	return q
}

// isTree tells whether the distances between switches are those of a tree, by
// the four-point condition: of the three ways to pair four switches the two
// longer sums are equal. It looks at 2000 quadruples, of which 2 % may fail.
func (q *quotient) isTree(variance []float64) bool {
	k := len(q.blocks)
	if k < 4 { // three points are always on a tree
		return false
	}
	const samples = 2000
	rng := rand.New(rand.NewPCG(uint64(k), 2))
	failed, seen := 0, 0
	for range samples {
		a, b, c, d := rng.IntN(k), rng.IntN(k), rng.IntN(k), rng.IntN(k)
		if a == b || a == c || a == d || b == c || b == d || c == d {
			continue
		}
		sums := []float64{
			q.latency[a*k+b] + q.latency[c*k+d],
			q.latency[a*k+c] + q.latency[b*k+d],
			q.latency[a*k+d] + q.latency[b*k+c],
		}
		v := variance[a*k+b] + variance[c*k+d] + variance[a*k+c] + variance[b*k+d] + variance[a*k+d] + variance[b*k+c]
		slices.Sort(sums)
		if math.IsNaN(sums[0]) { // sorted first
			continue
		}
		seen++
		if sums[2]-sums[1] > 4*math.Sqrt(v)+0.02*sums[2] {
			failed++
		}
	}
	return seen > 0 && 50*failed <= seen
}

// findHidden runs Bufe's Algorithms 2 and 3 on the links, with six standard
// errors of a typical distance as tolerance.
func (q *quotient) findHidden(variance []float64) {
	k := len(q.blocks)
	var relative []float64
	for _, p := range q.links {
		if l := q.latency[p.from*k+p.to]; l > 0 {
			relative = append(relative, math.Sqrt(variance[p.from*k+p.to])/l)
		}
	}
	typical, _ := medianSpread(relative)
	if math.IsNaN(typical) {
		return
	}
	m := &cliqueModel{hosts: k, equal: roughly{relative: min(0.3, 0.03+6*typical)}, pairs: true}
	for range k {
		m.grow()
	}
	for _, p := range q.links {
		m.set(p.from, p.to, q.latency[p.from*k+p.to])
	}
	m.findSwitches()
	m.dropVirtual(true)
	if len(m.w) > k && !m.full && m.cut == 0 {
		q.hidden = m
	}
}

// graph is the machine: the n hosts, switch n+a for block a, then the hidden
// switches.
func (q *quotient) graph(n int) (*Graph, error) {
	var arcs []Arc
	add := func(u, v int, latency float64) {
		l := Link(u, v, latency, math.NaN())
		arcs = append(arcs, l[:]...)
	}
	for a, block := range q.blocks {
		for _, h := range block {
			add(h, n+a, q.leaf[a])
		}
	}
	switches := len(q.blocks)
	if q.hidden == nil {
		for _, p := range q.links {
			add(n+p.from, n+p.to, q.latency[p.from*len(q.blocks)+p.to])
		}
	} else {
		var number []int
		number, switches = q.hidden.number()
		for u := range q.hidden.w {
			for v := range u {
				if q.hidden.edge(u, v) {
					add(n+number[v], n+number[u], q.hidden.w[u][v])
				}
			}
		}
	}
	return NewGraph(n, switches, nil, arcs)
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
	if q.hidden != nil {
		w = append(w, "switches without hosts were found by cliques of equal latency: a switch cannot be told from a full mesh of its neighbours")
	}
	if q.unlinked > 0 {
		w = append(w, fmt.Sprintf("%d pairs of switches have no reading between their hosts: a link between them would not be seen", q.unlinked))
	}
	return w
}

// blockReadings appends the measured readings between two blocks, or inside one.
func blockReadings(dst []float64, n int, d []float64, a, b []int, same bool) []float64 {
	for x, i := range a {
		to := b
		if same {
			to = b[x+1:]
		}
		for _, j := range to {
			if v := d[i*n+j]; !math.IsNaN(v) {
				dst = append(dst, v)
			}
		}
	}
	return dst
}

// medianSpread is the lower median of values, which it reorders, and 1.4826 times
// the median absolute deviation from it: NaN if there are none.
func medianSpread(values []float64) (mid, spread float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	mid = stats.LowerMedian(values)
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = math.Abs(v - mid)
	}
	return mid, 1.4826 * stats.LowerMedian(deviations)
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
