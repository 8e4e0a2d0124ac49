package linkage

import (
	"math"
	"math/bits"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/stats"
)

// singleLinkage is a minimum spanning tree: the order in which Prim's algorithm
// takes the hosts in, and the lengths of the edges by which it does.
// Between two hosts the largest length after the first up to the second is the
// subdominant ultrametric: the height at which single linkage joins them.
type singleLinkage struct {
	order  []int32     // position -> host
	pos    []int32     // host -> position
	height [][]float32 // height[k][p] = largest of the 2^k lengths from position p on
}

// prim grows the spanning tree from host 0 over the matrix w; ties go to the lowest host. O(n^2).
func prim(w *nnchain.Square) *singleLinkage {
	n := w.N()
	s := &singleLinkage{order: make([]int32, 1, n), pos: make([]int32, n)}
	length := make([]float32, 1, n)
	nnchain.Prim(n, w.Row, func(_, to int, x float32) {
		s.pos[to] = int32(len(s.order))
		s.order = append(s.order, int32(to))
		length = append(length, x)
	})
	s.height = [][]float32{length}
	for width := 1; 2*width <= n; width *= 2 {
		below := s.height[len(s.height)-1]
		row := make([]float32, n-2*width+1)
		for p := range row {
			row[p] = max(below[p], below[p+width])
		}
		s.height = append(s.height, row)
	}
	return s
}

// ultrametric is the subdominant ultrametric of two different hosts. O(1).
func (s *singleLinkage) ultrametric(i, j int) float32 {
	p, q := s.pos[i]+1, s.pos[j]+1
	if p > q {
		p, q = q, p
	}
	k := bits.Len32(uint32(q-p)) - 1 // lengths p..q-1
	row := s.height[k]
	return max(row[p], row[q-1<<k])
}

// capRow cuts the distances of host i at kappa times the ultrametric. An outlier upwards is cut to what the chain of
// good measurements around it allows.
func (s *singleLinkage) capRow(row []float32, i int, kappa float32) {
	p, length := int(s.pos[i]), s.height[0]
	var u float32
	for q := p + 1; q < len(s.order); q++ {
		u = max(u, length[q])
		j := s.order[q]
		row[j] = min(row[j], kappa*u)
	}
	u = 0
	for q := p; q > 0; q-- {
		u = max(u, length[q])
		j := s.order[q-1]
		row[j] = min(row[j], kappa*u)
	}
}

// noiseFloor keeps exact data from being taken for infinitely precise.
const noiseFloor = 0.002

// spread estimates the relative noise sigma of the measurements in w. The nearest to a host sees all
// others as the host does but for the noise, unless both are ranks of a host on different
// rails. So of the four nearest another takes its place if it differs by less than a quarter as
// much; of few hosts, of the nearer half. sigma is 1.4826 times the median of |ln d_ij/d_kj| over sqrt 2, taken over 256
// hosts i. Structure counts as noise where neighbours see others differently, as in a ring.
func spread(w *nnchain.Square) float64 {
	const rows, perRow, near, clearly = 256, 256, 4, 0.25
	n := w.N()
	step, skip := (n-1)/rows+1, (n-1)/perRow+1
	var ratios []float64 // of float32s they are finite
	for i := 0; i < n; i += step {
		row := w.Row(i)
		var chosen []float64
		least := math.Inf(1)
		row[i] = float32(math.NaN())
		for _, k := range stats.Smallest(row, min(near, (n-1)/2)) {
			other := w.Row(int(k))
			var seen []float64
			for j := i % skip; j < n; j += skip {
				if j != i && j != int(k) {
					seen = append(seen, float64(max(row[j], other[j]))/float64(min(row[j], other[j])))
				}
			}
			if len(seen) == 0 {
				continue
			}
			if m := math.Log(stats.LowerMedian(seen)); m < clearly*least {
				chosen, least = seen, m
			}
		}
		ratios = append(ratios, chosen...)
	}
	if len(ratios) == 0 {
		return noiseFloor
	}
	median := stats.LowerMedian(ratios) // ln is monotone
	return max(noiseFloor, stats.SigmaPerMAD*math.Log(median)/math.Sqrt2)
}
