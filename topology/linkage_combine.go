package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/mat"
)

// ErrDisconnected says that the readings leave the hosts in parts between which
// nothing was measured, so that nothing can be said of how they are joined.
// Reconstructors return it, wrapped with a host of each part.
var ErrDisconnected = errors.New("nothing was measured between parts of the hosts")

// readings holds one latency per pair of hosts, as a triangle of float32: two
// of these and the square matrix of the clustering are all that 16384 hosts
// need. A reading is always above zero in size; a negative one was not
// measured, and its absolute value is an estimate (see fill).
type readings struct {
	n int
	d []float32 // of the pair i > j at i(i-1)/2+j
}

func (r *readings) row(i int) []float32 { return r.d[i*(i-1)/2:][:i] }

// at is the reading of i != j, negative where it was not measured.
func (r *readings) at(i, j int) float32 {
	if i < j {
		i, j = j, i
	}
	return r.d[i*(i-1)/2+j]
}

// square writes the sizes of all readings into a matrix of nnchain's layout.
func (r *readings) square(w []float32) {
	const tile = 64
	stride := nnchain.Stride(r.n)
	for i0 := 0; i0 < r.n; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, r.n); i++ {
				row := r.row(i)
				for j := j0; j < min(j0+tile, i); j++ {
					v := max(row[j], -row[j])
					w[i*stride+j], w[j*stride+i] = v, v
				}
			}
		}
	}
}

// source reads cells of a matrix, without an interface call where the matrix
// gives its memory away.
type source struct {
	data   []float64
	stride int
	m      mat.Matrix
}

func (s *source) at(i, j int) float64 {
	if s.data != nil {
		return s.data[i*s.stride+j]
	}
	return s.m.At(i, j)
}

// combination is what combine found out besides the readings.
type combination struct {
	holes      int    // pairs never measured
	firm       int    // groups that are firm in spite of them
	doubtful   int    // groups that would be firm if no pair were missing
	zeros      int    // pairs at or below zero
	negative   int    // pairs below zero
	asymmetric int    // pairs whose directions differ beyond tolerance
	worst      [2]int // the pair that differs most
	worstRatio float64
	noise      float64 // relative standard deviation of one reading, from pairs of repetitions; NaN of one
}

// asymmetryTolerance is the ratio of the two directions of a pair above which
// it is reported. Readings with 5 % of noise reach 1.25 in one pair of ten
// thousand; routes that differ by a hop, or a bad cable, reach it easily.
const asymmetryTolerance = 1.25

// combine makes one reading per pair: the smallest of the repetitions per
// direction, of five and more the second smallest (noise only adds, but a
// clock may slip), then the smaller of the two directions. A reading of zero
// (a coarse timer) or below (an overhead subtracted) becomes half the
// smallest above zero. Pairs measured in no repetition are estimated by fill.
func combine(repetitions []mat.Matrix) (*readings, *combination, error) {
	if len(repetitions) == 0 {
		return nil, nil, fmt.Errorf("topology: linkage: no matrix given")
	}
	n, _ := repetitions[0].Dims()
	sources := make([]source, len(repetitions))
	for k, m := range repetitions {
		rows, columns := m.Dims()
		if rows != columns || rows != n {
			return nil, nil, fmt.Errorf("topology: linkage: matrix %d is %d x %d: want square and as the first, %d x %d", k, rows, columns, n, n)
		}
		sources[k].m = m
		if raw, ok := m.(mat.RawMatrixer); ok {
			sources[k].data, sources[k].stride = raw.RawMatrix().Data, raw.RawMatrix().Stride
		}
	}
	r := &readings{n: n, d: make([]float32, max(0, n*(n-1)/2))}
	note := &combination{worst: [2]int{-1, -1}}
	smallest := float32(math.Inf(1))
	var there, back [combineTile * combineTile]float64 // both triangles are read: keep the columns in cache
	t := &tileCombiner{sources: sources, values: make([]float64, 0, len(sources))}
	for i0 := 0; i0 < n; i0 += combineTile {
		i1 := min(i0+combineTile, n)
		for j0 := 0; j0 <= i0; j0 += combineTile {
			j1 := min(j0+combineTile, n)
			t.combine(&there, i0, i1, j0, j1)
			t.combine(&back, j0, j1, i0, i1)
			for i := i0; i < i1; i++ {
				row := r.row(i)
				for j := j0; j < min(j1, i); j++ {
					a, b := there[(i-i0)*combineTile+j-j0], back[(j-j0)*combineTile+i-i0]
					v := leastMeasured(a, b)
					if math.IsInf(a, 0) || math.IsInf(b, 0) || math.Abs(v) > math.MaxFloat32 {
						return nil, nil, fmt.Errorf("topology: linkage: latency between hosts %d and %d is %g s, %g s: want finite", j, i, a, b)
					}
					if (a > asymmetryTolerance*b || b > asymmetryTolerance*a) && a > 0 && b > 0 {
						note.asymmetric++
						if ratio := max(a, b) / min(a, b); ratio > note.worstRatio {
							note.worst, note.worstRatio = [2]int{j, i}, ratio
						}
					}
					switch f := float32(v); {
					case math.IsNaN(v):
						note.holes++
						row[j] = float32(math.NaN())
					case f <= 0:
						note.zeros++
						if v < 0 {
							note.negative++
						}
						row[j] = 0
					default:
						row[j] = f
						smallest = min(smallest, f)
					}
				}
			}
		}
	}
	if note.zeros > 0 {
		half := smallest / 2
		switch {
		case math.IsInf(float64(half), 1):
			half = math.SmallestNonzeroFloat32 // nothing but zeros: all pairs are alike
		case half == 0:
			half = smallest // the least number there is
		}
		for k, v := range r.d {
			if v == 0 {
				r.d[k] = half
			}
		}
	}
	note.noise = repetitionNoise(sources, n)
	if note.holes > 0 {
		if err := r.fill(); err != nil {
			return nil, nil, err
		}
	}
	return r, note, nil
}

// combineTile is the side of the squares of cells that are combined together: two of them, of
// float64, fit into 16 KiB.
const combineTile = 32

// A tileCombiner makes one reading of the repetitions of each cell.
type tileCombiner struct {
	sources []source
	values  []float64 // scratch
}

// combine writes the cells of the given rows and columns into dst, row by row.
func (t *tileCombiner) combine(dst *[combineTile * combineTile]float64, i0, i1, j0, j1 int) {
	raw := len(t.sources) < 5
	for _, s := range t.sources {
		raw = raw && s.data != nil
	}
	for i := i0; i < i1; i++ {
		row := dst[(i-i0)*combineTile:][:j1-j0]
		if !raw {
			for j := j0; j < j1; j++ {
				if i != j {
					row[j-j0] = t.cell(i, j)
				}
			}
			continue
		}
		for k, s := range t.sources {
			cells := s.data[i*s.stride+j0:][:len(row)]
			if k == 0 {
				copy(row, cells)
				continue
			}
			for x, v := range cells {
				row[x] = leastMeasured(row[x], v)
			}
		}
	}
}

// cell is the reading of one cell; NaN if it was never measured.
func (t *tileCombiner) cell(i, j int) float64 {
	t.values = t.values[:0]
	for k := range t.sources {
		if v := t.sources[k].at(i, j); !math.IsNaN(v) {
			t.values = append(t.values, v)
		}
	}
	switch len(t.values) {
	case 0:
		return math.NaN()
	case 1, 2, 3, 4:
		return slices.Min(t.values)
	}
	return stats.Select(t.values, 1)
}

// leastMeasured is the smaller of two readings, of which either may be missing. Which is the smaller is
// an even chance, so it is found without a branch.
func leastMeasured(a, b float64) float64 {
	least := min(a, b)
	switch {
	case least == least:
		return least
	case a == a:
		return a
	}
	return b
}

// repetitionNoise estimates the relative standard deviation of one reading
// from how two repetitions of up to 16384 pairs differ: 1.4826 times the median
// of |ln a/b| over sqrt 2, which outliers cannot move. NaN of one repetition.
func repetitionNoise(sources []source, n int) float64 {
	pairs := n * (n - 1) / 2
	if len(sources) < 2 || pairs == 0 {
		return math.NaN()
	}
	const most = 1 << 14
	stride := (pairs-1)/most + 1
	var spread []float64
	i, j := 1, 0
	for range (pairs-1)/stride + 1 {
		a, b := sources[0].at(i, j), sources[1].at(i, j)
		if a > 0 && b > 0 && !math.IsInf(max(a, b), 1) {
			spread = append(spread, math.Abs(math.Log(a)-math.Log(b))) // the ratio may be infinite
		}
		for j += stride; j >= i; {
			j -= i
			i++
		}
	}
	if len(spread) == 0 {
		return math.NaN()
	}
	return 1.4826 * stats.LowerMedian(spread) / math.Sqrt2
}

// fill estimates the pairs that were not measured, as readings of negative
// sign. Along a chain i-k-j no wiring of nested groups makes i and j farther
// apart than the longer of the two legs, and a k close to i is as far from j as
// i is. So each pair takes the longer legs over the 8 nearest measured
// neighbours of either end, and of those within 10 % of the shortest (the
// others pass through outsiders) the lower median, which noise does not pull
// down as it does the minimum. Pairs without such a neighbour in common look
// at all hosts, or wait for the next round: what was estimated then counts.
//
// Estimates serve the clustering and the fit of edges; the judgement of
// groups never reads them. O(n^2) for scattered holes.
func (r *readings) fill() error {
	const nearest = 8
	nan := func(v float32) bool { return v != v }
	if part := r.part(); part != nil {
		return fmt.Errorf("topology: linkage: hosts %d and %d: %w", 0, part[0], ErrDisconnected)
	}
	near := make([][]int32, r.n)
	for i := range r.n {
		var known []int32
		for j := range r.n {
			if j != i && !nan(r.at(i, j)) {
				known = append(known, int32(j))
			}
		}
		slices.SortFunc(known, func(a, b int32) int {
			x, y := r.at(i, int(a)), r.at(i, int(b))
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return int(a - b)
		})
		near[i] = known[:min(nearest, len(known))]
	}
	type cell struct {
		i, j int
		v    float32
	}
	var legs []float32
	estimate := func(i, j int) (float32, bool) {
		legs = legs[:0]
		try := func(k int) {
			if k == i || k == j {
				return
			}
			if a, b := r.at(i, k), r.at(k, j); !nan(a) && !nan(b) {
				legs = append(legs, max(a, -a, b, -b))
			}
		}
		for _, k := range near[i] {
			try(int(k))
		}
		for _, k := range near[j] {
			try(int(k))
		}
		if len(legs) == 0 {
			for k := range r.n {
				try(k)
			}
		}
		if len(legs) == 0 {
			return 0, false
		}
		low := slices.Min(legs)
		close := slices.DeleteFunc(legs, func(v float32) bool { return v > 1.1*low })
		return stats.LowerMedian(close), true
	}
	for left := true; left; {
		left = false
		var found []cell
		for i := range r.n {
			for j, v := range r.row(i) {
				if !nan(v) {
					continue
				}
				if e, ok := estimate(i, j); ok {
					found = append(found, cell{i, j, e})
				} else {
					left = true
				}
			}
		}
		for _, c := range found {
			r.row(c.i)[c.j] = -c.v
		}
	}
	return nil
}

// part returns the hosts that no chain of readings joins to host 0, or nil.
func (r *readings) part() []int {
	seen := make([]bool, r.n)
	queue := []int{0}
	seen[0] = true
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for j := range r.n {
			if j != i && !seen[j] {
				if v := r.at(i, j); v == v {
					seen[j] = true
					queue = append(queue, j)
				}
			}
		}
	}
	var rest []int
	for i, s := range seen {
		if !s {
			rest = append(rest, i)
		}
	}
	return rest
}
