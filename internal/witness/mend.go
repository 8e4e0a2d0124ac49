package witness

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/stats"
)

// Mended is Links for measurements of which a few are far too high or missing.
// One such cell hides its link, and pairs that go over the link look like links of their own.
// Most of these links are found here. With the link i-j lost, i keeps a false link to
// each vertex k behind j, and this witness says M_ij = M_ik - M_jk.
//
// To mend a pair is to overwrite its cell of m with the median of what its witnesses say.
// A pair is mended if all of these hold:
//
//   - At least two of its witnesses agree, and they are most of them.
//   - With the new value the triangle inequality holds for nine in ten of all other vertices.
//   - Its value is missing, or above the shortest path over a third vertex. Against the
//     strongest evidence, a value that fits a path is mended too. One that is below all paths may well be a link.
//
// Then the spanner is computed again, until nothing is left to mend. Mended pairs are
// returned apart, sorted; not all of them need be links.
//
// Dense results are left alone: there is nothing to gain and the search costs
// the sum of the squared degrees.
func Mended[F stats.Float](n int, m []F, test Test) (links, mended []Pair) {
	for range mendRounds {
		full, filled := fillPaths(n, m)
		search := newWitnessSearch(n, full, test)
		links = slices.DeleteFunc(search.pairs(), func(p Pair) bool { return math.IsNaN(float64(m[p.From*n+p.To])) })
		columns := search.in
		if filled {
			columns = Transposed(n, m)
		}
		more := mend(n, m, columns, full, search.in, links, test)
		if len(more) == 0 {
			break
		}
		for p, w := range more {
			m[p.From*n+p.To] = F(w)
			if !test.Directed {
				m[p.To*n+p.From] = F(w)
			}
			mended = append(mended, p)
		}
		test.Bound.restart()
	}
	slices.SortFunc(mended, func(a, b Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return links, slices.Compact(mended)
}

// fillPaths replaces what was not measured by the shortest way over a third
// vertex, so that it can serve as a leg. It returns m itself, and false, if nothing is missing.
func fillPaths[F stats.Float](n int, m []F) (full []F, filled bool) {
	missing := false
	for i, v := range m {
		missing = missing || v != v && i%(n+1) != 0
	}
	if !missing {
		return m, false
	}
	columns := Transposed(n, m)
	full = slices.Clone(m)
	parallel.Rows(n, func(i int) {
		row := m[i*n : (i+1)*n]
		for j, v := range row {
			if i == j || v == v {
				continue
			}
			if least := shortestSum(row, columns[j*n:(j+1)*n], i, j); !math.IsInf(least, 1) {
				full[i*n+j] = F(least)
			}
		}
	})
	return full, true
}

// What mending goes by.
const (
	mendRounds = 10   // each may lay bare a few more
	mendExcess = 1.3  // a measurement that is not above what witnesses say by this is none of an outlier
	mendAgree  = 2    // witnesses that agree
	mendBroken = 0.1  // share of other vertices that a true measurement may break the triangle inequality with: outliers
	mendSlack  = 0.25 // of the measurement, within which the others' measurements differ by it

	// A measurement that fits a path is mended only among hosts enough to tell, if next to none speaks against it
	// and a fourth for it: of a link between neighbours in a torus of two dimensions half of all are behind it.
	mendHosts     = 16
	mendBrokenFit = 0.01
	mendTight     = 0.25

	// Bounds the pairs and legs that mend looks at: a few seconds. A result is dense if the squares of the
	// degrees add up to mendDense n^2: if each vertex has four links for each unit of the root of n.
	mendWork  = 1 << 30
	mendDense = 16
)

// mend finds the pairs to mend, and what they are mended to. columns and in are the transposes of m
// and of full, which is m with nothing missing.
func mend[F stats.Float](n int, m, columns, full, in []F, links []Pair, test Test) map[Pair]float64 {
	into, outOf := make([][]int, n), make([][]int, n)
	for _, p := range links {
		outOf[p.From] = append(outOf[p.From], p.To)
		into[p.To] = append(into[p.To], p.From)
		if !test.Directed {
			outOf[p.To] = append(outOf[p.To], p.From)
			into[p.From] = append(into[p.From], p.To)
		}
	}
	work := 0
	for v := range n {
		work += len(into[v])*len(into[v]) + len(outOf[v])*len(outOf[v])
	}
	if work > min(mendDense*n*n, mendWork/mendDense) {
		return nil
	}
	if test.Bound != nil {
		defer func() { test.Bound.aside += int64(work) }()
	}
	tolerance := func(w float64) float64 { return test.Relative*w + test.Absolute }
	said := map[Pair][]float64{} // s that probably false links say
	ways := map[Pair]float64{}   // s of the shortest path over a third vertex
	hear := func(i, j int, long, short float64) {
		w := long - short
		if i == j || !(w > 2*tolerance(long)) || !test.Directed && i > j {
			return
		}
		// Cheap tests first: most pairs end here.
		v := float64(m[i*n+j])
		if v < mendExcess*w {
			return
		}
		p := Pair{i, j}
		way, known := ways[p]
		if !known {
			work += n
			way = shortestSum(full[i*n:(i+1)*n], in[j*n:(j+1)*n], i, j)
			ways[p] = way
		}
		if v < way-tolerance(v) { // below all paths
			return
		}
		said[p] = append(said[p], w)
	}
	for k := range n {
		if work > mendWork || test.Bound != nil && int64(work) > test.Bound.Legs {
			return nil
		}
		for _, i := range into[k] {
			for _, j := range into[k] {
				hear(i, j, float64(m[i*n+k]), float64(m[j*n+k]))
				if !test.Directed {
					hear(j, i, float64(m[i*n+k]), float64(m[j*n+k]))
				}
			}
		}
		if test.Directed {
			for _, j := range outOf[k] {
				for _, i := range outOf[k] {
					hear(i, j, float64(m[k*n+j]), float64(m[k*n+i]))
				}
			}
		}
	}
	mended := map[Pair]float64{}
	for p, all := range said {
		w := stats.LowerMedian(all)
		agree := 0
		for _, x := range all {
			if math.Abs(x-w) <= 2*tolerance(w) {
				agree++
			}
		}
		if agree < mendAgree || 2*agree <= len(all) {
			continue
		}
		work += 4 * n
		broken, tight := triangles(n, m, columns, p, w, tolerance)
		certain := broken <= mendBroken
		if v := float64(m[p.From*n+p.To]); v <= ways[p]+tolerance(v) { // it fits a path
			certain = n >= mendHosts && broken <= mendBrokenFit && tight >= mendTight
		}
		if certain {
			mended[p] = w
		}
	}
	return mended
}

// shortestSum is the least sum of the cells of row i and column j at a third
// vertex, +Inf if there is none.
func shortestSum[F stats.Float](rowI, colJ []F, i, j int) float64 {
	least := F(math.Inf(1))
	colJ = colJ[:len(rowI)]
	for k, w := range rowI {
		if s := colJ[k] + w; s < least && k != i && k != j {
			least = s
		}
	}
	return float64(least)
}

// triangles looks at what a latency w from i to j says of the other vertices'
// latencies to both: by the triangle inequality they differ by w at most.
// broken is the share that differ by more, tight the share that differ by w.
func triangles[F stats.Float](n int, m, columns []F, p Pair, w float64, tolerance func(float64) float64) (broken, tight float64) {
	seen := 0
	look := func(longs, shorts []F) {
		for x, v := range longs {
			long, short := float64(v), float64(shorts[x])
			if x == p.From || x == p.To || math.IsNaN(long) || math.IsNaN(short) {
				continue
			}
			seen++
			switch more := long - short - w; {
			case more > 2*tolerance(long):
				broken++
			case more >= -mendSlack*w:
				tight++
			}
		}
	}
	from, to := p.From*n, p.To*n
	look(m[from:from+n], m[to:to+n])
	look(columns[to:to+n], columns[from:from+n])
	if seen == 0 {
		return 1, 0
	}
	return broken / float64(seen), tight / float64(seen)
}
