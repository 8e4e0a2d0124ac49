package topology

import (
	"cmp"
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

// means are the mean sizes of the readings of each host. O(n^2).
func (r *readings) means() []float64 {
	mean := make([]float64, r.n)
	for i := range r.n {
		for j, x := range r.row(i) {
			size := float64(max(x, -x))
			mean[i] += size
			mean[j] += size
		}
	}
	for i := range mean {
		mean[i] /= float64(r.n - 1)
	}
	return mean
}

// byMean are the hosts in ascending order of their means: an order that does not depend on how
// they are numbered.
func (r *readings) byMean() []int32 {
	mean := r.means()
	order := make([]int32, r.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(mean[a], mean[b]) })
	return order
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
	slow       []slowHost // whose readings were corrected
	quantum    float64    // tick of the clock, in s; 0: none is seen
	noise      float64    // relative standard deviation of one reading, from pairs of repetitions; NaN of one
}

// asymmetryTolerance is the ratio of the two directions of a pair above which
// it is reported. Readings with 5 % of noise reach 1.25 in one pair of ten
// thousand; routes that differ by a hop, or a bad cable, reach it easily.
const asymmetryTolerance = 1.25

// combine makes one reading per pair: the mean of the lower half of all there are, of the
// repetitions and of both directions. Where noise only adds, it is nearly as good as the
// smallest, and better where noise goes both ways: of four readings it leaves 0.30 of
// an exponential's scale (the smallest 0.25) and 0.58 of a normal's (0.70). A direction that is slower
// for good, a slow round of two and one outlier of three lie in the upper half. Of a
// direction read five times or more the smallest is left out, as a clock may slip.
//
// A reading of zero (a coarse timer) or below (an overhead subtracted) becomes half the
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
	t := newTileCombiner(sources) // both triangles are read: keep the columns in cache
	for i0 := 0; i0 < n; i0 += combineTile {
		i1 := min(i0+combineTile, n)
		for j0 := 0; j0 <= i0; j0 += combineTile {
			j1 := min(j0+combineTile, n)
			t.read(i0, i1, j0, j1)
			for i := i0; i < i1; i++ {
				row := r.row(i)
				for j := j0; j < min(j1, i); j++ {
					a, b, v := t.cell(i-i0, j-j0)
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
	note.quantum = quantum(sources, n)
	if note.holes > 0 {
		if err := r.fill(); err != nil {
			return nil, nil, err
		}
	}
	return r, note, nil
}

// combineTile is the side of the squares of cells that are combined together: two of them for each of
// two repetitions, of float64, fit into 32 KiB.
const combineTile = 32

// slipReadings is the number of readings of one direction from which on the smallest is
// left out.
const slipReadings = 5

// A tileCombiner makes one reading of the repetitions of each pair.
type tileCombiner struct {
	sources     []source
	there, back [][]float64 // by source: cells of a square, and those across the diagonal
	values      []float64   // scratch
}

func newTileCombiner(sources []source) *tileCombiner {
	t := &tileCombiner{sources: sources, values: make([]float64, 0, 2*len(sources))}
	for range sources {
		t.there = append(t.there, make([]float64, combineTile*combineTile))
		t.back = append(t.back, make([]float64, combineTile*combineTile))
	}
	return t
}

// read takes in the cells of the given rows and columns, and those across the diagonal.
func (t *tileCombiner) read(i0, i1, j0, j1 int) {
	for k := range t.sources {
		t.sources[k].tile(t.there[k], i0, i1, j0, j1)
		t.sources[k].tile(t.back[k], j0, j1, i0, i1)
	}
}

// tile writes the cells of the given rows and columns into dst, row by row.
func (s *source) tile(dst []float64, i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		row := dst[(i-i0)*combineTile:][:j1-j0]
		if s.data != nil {
			copy(row, s.data[i*s.stride+j0:])
			continue
		}
		for j := j0; j < j1; j++ {
			if i != j {
				row[j-j0] = s.m.At(i, j)
			}
		}
	}
}

// cell is the smallest reading from row i to column j of the square, the smallest back, and that of the
// pair; NaN if never measured. Which of two is the smaller is an even chance, so for up to two
// repetitions without gaps it is found without a branch.
func (t *tileCombiner) cell(i, j int) (there, back, pair float64) {
	x, y := i*combineTile+j, j*combineTile+i
	switch len(t.sources) {
	case 1:
		there, back = t.there[0][x], t.back[0][y]
		pair = min(there, back)
	case 2:
		a, b := t.there[0][x], t.there[1][x]
		c, d := t.back[0][y], t.back[1][y]
		there, back = min(a, b), min(c, d)
		pair = (min(there, back) + min(max(there, back), max(a, b), max(c, d))) / 2
	default:
		pair = math.NaN()
	}
	if pair == pair {
		return there, back, pair
	}
	t.values = t.values[:0]
	t.values, there = appendDirection(t.values, t.there, x)
	t.values, back = appendDirection(t.values, t.back, y)
	return there, back, lowerHalf(t.values)
}

// appendDirection appends cell x of each tile, without the smallest where there are
// enough. It also returns the smallest one appended, NaN if there is none.
func appendDirection(values []float64, tiles [][]float64, x int) ([]float64, float64) {
	from := len(values)
	for _, tile := range tiles {
		if v := tile[x]; v == v {
			values = append(values, v)
			if last := len(values) - 1; v < values[from] {
				values[from], values[last] = v, values[from]
			}
		}
	}
	own := values[from:]
	switch {
	case len(own) == 0:
		return values, math.NaN()
	case len(own) < slipReadings:
		return values, own[0]
	}
	own[0] = own[len(own)-1]
	values = values[:len(values)-1]
	return values, slices.Min(values[from:])
}

// lowerHalf is the mean of the lower half of the values, of an odd number with the middle one;
// NaN if there are none. It sorts that half.
func lowerHalf(values []float64) float64 {
	half := (len(values) + 1) / 2
	sum := 0.0
	for k := range half {
		least := k
		for m := k + 1; m < len(values); m++ {
			if values[m] < values[least] {
				least = m
			}
		}
		values[k], values[least] = values[least], values[k]
		sum += values[k]
	}
	return sum / float64(half) // 0/0 is NaN
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
	return stats.SigmaPerMAD * stats.LowerMedian(spread) / math.Sqrt2
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
