package topology

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A pair is an ordered pair of vertices; of an undirected method from < to.
type pair struct{ from, to int }

// A spannerTest says when a third vertex k explains the reading w from i to j:
// both legs i-k and k-j must be strictly shorter than w, their sum must be at
// most (1+relative)*w + absolute, and accept, if there is one, must agree.
type spannerTest struct {
	relative float64
	absolute float64
	directed bool
	accept   func(i, k, j int) bool // called concurrently; nil: every k that passes the test
	bound    *spannerBound          // nil: none
}

// A spannerBound ends a search that is not worth its work: when it has found more
// links than a sparse graph has, or looked at more legs than that. Whether it does
// is the same on every run, as both only grow.
type spannerBound struct {
	links, legs   int64 // at most
	found, looked atomic.Int64
}

// newSpannerBound allows a share of all pairs of n vertices as links, and legsPerPair
// legs per pair.
func newSpannerBound(n int, share float64) *spannerBound {
	pairs := float64(n) * float64(n-1) / 2
	return &spannerBound{links: int64(share * pairs), legs: legsLeast + int64(legsPerPair*pairs)}
}

// Legs that a search looks at, at most. Rings, tori and dragonflies of switches need up
// to 4 per pair, tori of hosts 13 with 5 % of noise; the full meshes that the
// quotient of a tree is, where every leg is looked at, half as many as there are switches.
const (
	legsPerPair = 64
	legsLeast   = 1 << 20
)

func (b *spannerBound) dense() bool { return b != nil && b.found.Load() > b.links }
func (b *spannerBound) spent() bool { return b != nil && b.looked.Load() > b.legs }

// witnessSpanner returns the pairs of a matrix of latencies that no third
// vertex explains: the links of the machine if hosts forward for each other.
// m is n*n row-major with m[i*n+j] the latency from i to j, at least 0; NaN and
// +Inf are not measured, and neither link nor leg; the diagonal is not read.
// Undirected, m must be symmetric and each pair is returned once.
//
// It is stage 2 of Bannikov and Salnikov 2014 and Algorithms 1 and 3 of Bufe
// 2014 made independent of order: both keep a pair if the shortest path over
// pairs kept before is longer, which for metric readings is to say that no
// witness exists. The condition that both legs are strictly shorter is ours.
// Without it, within a tolerance, two close vertices explain each other's links
// to a third and both are lost; with it every dropped pair is joined by
// shorter ones, so what was connected stays connected.
//
// The pairs are sorted. One of two legs is at most half of the sum, so only the
// sorted beginnings of row i and column j are scanned, up to the first witness:
// O(n^2 log n) on tori, at worst O(n^3); test.bound may end it earlier, with nil.
// Rows run in parallel; the result does not depend on their number.
func witnessSpanner(n int, m []float64, test spannerTest) []pair {
	s := witnessSearch{n: n, out: m, in: m, test: test}
	if test.directed {
		s.in = transposed(n, m)
	}
	s.nearOut, s.minOut = s.sortRows(s.out)
	s.nearIn, s.minIn = s.nearOut, s.minOut
	if test.directed {
		s.nearIn, s.minIn = s.sortRows(s.in)
	}
	if s.sampleIsDense() {
		return nil
	}
	kept := make([][]pair, n)
	eachRow(n, func(i int) {
		if test.bound.dense() || test.bound.spent() {
			return
		}
		first := i + 1
		if test.directed {
			first = 0
		}
		legs := 0
		for j := first; j < n; j++ {
			w := m[i*n+j]
			if j == i || !(w < math.Inf(1)) {
				continue
			}
			explained, looked := s.explained(i, j, w)
			if legs += looked; !explained {
				kept[i] = append(kept[i], pair{i, j})
			}
		}
		if b := test.bound; b != nil {
			b.found.Add(int64(len(kept[i])))
			b.looked.Add(int64(legs))
		}
	})
	if test.bound.dense() || test.bound.spent() {
		return nil
	}
	return slices.Concat(kept...)
}

// sampleIsDense tells whether a sample of the rows has so many links, a quarter
// more than the bound allows, that there is no point in looking at the others. In a
// full mesh each pair takes a look at all legs.
func (s *witnessSearch) sampleIsDense() bool {
	const rows = 16
	b := s.test.bound
	if b == nil || s.n < 4*rows {
		return false
	}
	found, all, legs := 0, 0, 0
	for x := range rows {
		i := x * s.n / rows
		for j, w := range s.out[i*s.n : (i+1)*s.n] {
			if j == i || !(w < math.Inf(1)) {
				continue
			}
			explained, looked := s.explained(i, j, w)
			if !explained {
				found++
			}
			all++
			legs += looked
		}
	}
	b.looked.Add(int64(legs))
	allowed := float64(b.links) / (float64(s.n) * float64(s.n-1) / 2)
	if float64(found) <= 1.25*allowed*float64(all) {
		return false
	}
	b.found.Store(b.links + 1)
	return true
}

type witnessSearch struct {
	n               int
	out, in         []float64  // the matrix and its transpose
	nearOut, nearIn [][]uint64 // per row the close vertices, nearest first: float32 bits of the latency, then the vertex
	minOut, minIn   []float64  // per row the least latency
	test            spannerTest
}

// sortRows keeps of each row what can be the shorter leg of any of its pairs.
// Float32 bits of numbers from 0 sort like the numbers, and rounding keeps the
// order, so a scan that ends behind the rounded bound misses nothing.
func (s *witnessSearch) sortRows(m []float64) (near [][]uint64, least []float64) {
	near, least = make([][]uint64, s.n), make([]float64, s.n)
	eachRow(s.n, func(i int) {
		row := m[i*s.n : (i+1)*s.n]
		lo, hi := math.Inf(1), 0.0
		for j, w := range row {
			if j != i && w < math.Inf(1) {
				lo, hi = min(lo, w), max(hi, w)
			}
		}
		half := float32(s.threshold(hi) / 2)
		count := 0
		for j, w := range row {
			if j != i && float32(w) <= half {
				count++
			}
		}
		keys := make([]uint64, 0, count)
		for j, w := range row {
			if j != i && float32(w) <= half {
				keys = append(keys, uint64(math.Float32bits(float32(w)))<<32|uint64(j))
			}
		}
		slices.Sort(keys)
		near[i], least[i] = keys, lo
	})
	return near, least
}

func (s *witnessSearch) threshold(w float64) float64 {
	return (1+s.test.relative)*w + s.test.absolute
}

// explained tells whether a third vertex explains the reading, and how many legs it
// looked at.
func (s *witnessSearch) explained(i, j int, w float64) (yes bool, looked int) {
	limit := s.threshold(w)
	rowI, colJ := s.out[i*s.n:(i+1)*s.n], s.in[j*s.n:(j+1)*s.n]
	scan := func(near []uint64, otherLeast float64) bool {
		bound := min(limit/2, limit-otherLeast)
		if bound < 0 {
			return false
		}
		last := uint64(math.Float32bits(float32(bound)))<<32 | math.MaxUint32
		for x, key := range near {
			if key > last {
				looked += x
				return false
			}
			k := int(uint32(key))
			a, b := rowI[k], colJ[k]
			if a+b <= limit && a < w && b < w && k != i && k != j && (s.test.accept == nil || s.test.accept(i, k, j)) {
				looked += x
				return true
			}
		}
		looked += len(near)
		return false
	}
	yes = scan(s.nearOut[i], s.minIn[j]) || scan(s.nearIn[j], s.minOut[i])
	return yes, looked
}

func transposed(n int, m []float64) []float64 {
	t := make([]float64, n*n)
	for i := range n {
		for j, w := range m[i*n : (i+1)*n] {
			t[j*n+i] = w
		}
	}
	return t
}

// eachRow calls f for 0..n-1 from as many goroutines as there are processors.
// f writes only what belongs to its row, so the outcome has no order.
func eachRow(n int, f func(i int)) {
	const chunk = 8
	workers := min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				first := int(next.Add(chunk)) - chunk
				if first >= n {
					return
				}
				for i := first; i < min(first+chunk, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}
