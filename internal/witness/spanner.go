package witness

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/stats"
)

// A Pair is an ordered pair of vertices; of an undirected method from < to.
type Pair struct{ From, To int }

// A Test says when a third vertex k explains the measurement w from i to j:
// both legs i-k and k-j must be strictly shorter than w, and their sum must be at
// most (1+Relative)*w + Absolute.
type Test struct {
	Relative float64
	Absolute float64
	Directed bool
	Bound    *Bound // nil: none
}

// A path explains a measurement that it is not longer than by pathDeviations of the measurement's noise and
// pathShare, by which links of one kind vary.
const (
	pathShare      = 0.02
	pathDeviations = 3
)

// PathTolerance is by which share of a measurement a path may be longer, noise being the relative standard
// deviation of the measurement.
func PathTolerance(noise float64) float64 { return pathShare + pathDeviations*noise }

// A Bound ends a search that is not worth its work: when it has found more
// links than a sparse graph has, or looked at more legs than that. Whether it does
// is the same on every run, as both only grow.
type Bound struct {
	Links, Legs   int64 // at most
	found, looked atomic.Int64
	aside         int64 // legs looked at besides, which do not count against the bound: of the sample, and when mending
}

// NewBound allows as many links per vertex as the densest regular mesh that is no full one
// has: of two dimensions, each line of them fully connected, 2(sqrt n - 1). Graphs of
// diameter two have fewer; of four vertices a ring has as many, of five too. Beyond that a graph says
// hardly less than all its pairs: a full mesh of links explains everything, and cannot be told from one
// switch. legsPerPair legs per pair may be looked at.
func NewBound(n int) *Bound {
	pairs := float64(n) * float64(n-1) / 2
	return &Bound{Links: int64(float64(n) * (math.Sqrt(float64(n)) - 1)), Legs: legsLeast + int64(legsPerPair*pairs)}
}

// Legs that a search looks at, at most. Dragonflies of switches need up to 4 per pair, tori and
// rings of hosts 2 to 16 with 5 % of noise; a full mesh, where every leg is looked at,
// as many as there are vertices. A few dozen machines need no more than legsLeast.
const (
	legsPerPair = 32
	legsLeast   = 1 << 20
)

// restart begins to count anew, for another search after some measurements changed.
func (b *Bound) restart() {
	if b != nil {
		b.aside += b.looked.Swap(0)
		b.found.Store(0)
	}
}

// Work is how many legs were looked at in all.
func (b *Bound) Work() int64 { return b.aside + b.looked.Load() }

// Dense tells whether more links were found than are allowed.
func (b *Bound) Dense() bool { return b != nil && b.found.Load() > b.Links }

// Spent tells whether more legs were looked at than are allowed.
func (b *Bound) Spent() bool { return b != nil && b.looked.Load() > b.Legs }

// Links returns the pairs of a matrix of latencies that no third
// vertex explains: the links of the machine if hosts forward for each other.
// m is n*n row-major with m[i*n+j] the latency from i to j, at least 0; NaN and
// +Inf are not measured, and neither link nor leg; the diagonal is not read.
// Undirected, m must be symmetric and each pair is returned once.
//
// It is stage 2 of Bannikov and Salnikov 2014 and Algorithms 1 and 3 of Bufe
// 2014 made independent of order: both keep a pair if the shortest path over
// pairs kept before is longer, which for metric measurements is to say that no
// witness exists. The condition that both legs are strictly shorter is ours.
// Without it, within a tolerance, two close vertices explain each other's links
// to a third and both are lost; with it every dropped pair is joined by
// shorter ones, so what was connected stays connected.
//
// The pairs are sorted. One of two legs is at most half of the sum, so only the
// nearest few of row i and column j are scanned first. Where these do not tell, all vertices are. That is O(n^2) on tori, at worst O(n^3); Test.Bound may end it earlier, with nil.
// Columns run in parallel; the result does not depend on their number.
func Links[F stats.Float](n int, m []F, test Test) []Pair {
	return newWitnessSearch(n, m, test).pairs()
}

// newWitnessSearch finds the pairs that nothing explains.
func newWitnessSearch[F stats.Float](n int, m []F, test Test) *witnessSearch[F] {
	s := &witnessSearch[F]{n: n, out: m, in: m, test: test, into: make([][]int32, n)}
	if test.Directed {
		s.in = Transposed(n, m)
	}
	if s.sampleIsDense() {
		return s
	}
	s.nearOut = make([][]int32, n)
	s.nearIn = s.nearOut
	if test.Directed {
		s.nearIn = make([][]int32, n)
	}
	parallel.Rows(n, s.findNearest)
	// The column stays in the cache, and of the rows only their beginnings are looked at.
	parallel.Rows(n, func(j int) {
		if test.Bound.Dense() || test.Bound.Spent() {
			return
		}
		last := j
		if test.Directed {
			last = n
		}
		looked := 0
		for i := range last {
			if i == j {
				continue
			}
			link, legs := s.isLink(i, j)
			if looked += legs; link {
				s.into[j] = append(s.into[j], int32(i))
			}
		}
		if b := test.Bound; b != nil {
			b.found.Add(int64(len(s.into[j])))
			b.looked.Add(int64(looked))
		}
	})
	return s
}

// pairs returns the links, sorted; nil if the bound ended the search.
func (s *witnessSearch[F]) pairs() []Pair {
	if s.test.Bound.Dense() || s.test.Bound.Spent() {
		return nil
	}
	at := make([]int, s.n+1) // of the first pair from a vertex
	for _, from := range s.into {
		for _, i := range from {
			at[i+1]++
		}
	}
	for i := range s.n {
		at[i+1] += at[i]
	}
	list := make([]Pair, at[s.n])
	for j, from := range s.into {
		for _, i := range from {
			list[at[i]] = Pair{int(i), j}
			at[i]++
		}
	}
	return list
}

// sampleIsDense tells whether a sample of the pairs has more links than the bound
// allows, beyond chance, so that there is no point in looking at the others. In a
// full mesh each pair takes a look at all legs.
func (s *witnessSearch[F]) sampleIsDense() bool {
	const (
		samples = 2048 // a thousandth of the legs of a thousand hosts
		sure    = 3    // standard deviations
	)
	b, n := s.test.Bound, s.n
	if b == nil || n*(n-1)/2 < 2*samples {
		return false
	}
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	found, all := 0, 0
	for range samples {
		i, j := rng.IntN(n), rng.IntN(n)
		w := float64(s.out[i*n+j])
		if i == j || !(w < math.Inf(1)) {
			continue
		}
		all++
		if !s.explained(i, j, w) {
			found++
		}
	}
	b.aside += int64(all) * int64(n)
	allowed := float64(b.Links) / (float64(n) * float64(n-1) / 2) * float64(all)
	if float64(found) <= allowed+sure*math.Sqrt(allowed) {
		return false
	}
	b.found.Store(b.Links + 1)
	return true
}

type witnessSearch[F stats.Float] struct {
	n               int
	out, in         []F       // the matrix and its transpose
	nearOut, nearIn [][]int32 // the vertices nearest to each, and those to which it is nearest, nearest first
	test            Test
	into            [][]int32 // per vertex those that it has a link from, ascending; undirected the lower ones
}

// mostNear is how many of the nearest vertices are looked at first: nearly all witnesses are among them. A torus of
// three dimensions has 26 within a cube.
const mostNear = 32

// findNearest finds the vertices nearest to i, and those to which i is nearest.
func (s *witnessSearch[F]) findNearest(i int) {
	others := func(row []F) []int32 {
		near := stats.Smallest(row, mostNear+1)
		return slices.DeleteFunc(near, func(k int32) bool { return int(k) == i })
	}
	s.nearOut[i] = others(s.out[i*s.n : (i+1)*s.n])
	if s.test.Directed {
		s.nearIn[i] = others(s.in[i*s.n : (i+1)*s.n])
	}
}

func (s *witnessSearch[F]) threshold(w float64) float64 {
	return (1+s.test.Relative)*w + s.test.Absolute
}

// explains tells whether vertex k explains the measurement w from i to j.
func (s *witnessSearch[F]) explains(i, k, j int, w float64) bool {
	a, b := float64(s.out[i*s.n+k]), float64(s.in[j*s.n+k])
	return a+b <= s.threshold(w) && a < w && b < w && k != i && k != j
}

// explained tells whether any vertex explains the measurement w from i to j. O(n).
func (s *witnessSearch[F]) explained(i, j int, w float64) bool {
	limit := s.threshold(w)
	colJ := s.in[j*s.n : (j+1)*s.n]
	for k, a := range s.out[i*s.n : (i+1)*s.n] {
		if float64(a)+float64(colJ[k]) <= limit && s.explains(i, k, j, w) {
			return true
		}
	}
	return false
}

// isLink tells whether there is a measurement from i to j that no third vertex explains, and how
// many legs it looked at. One of two legs is at most half of their sum. So nothing is left to look at where all legs at both
// ends that are as short were.
func (s *witnessSearch[F]) isLink(i, j int) (yes bool, looked int) {
	n := s.n
	w := float64(s.in[j*n+i])
	if !(w < math.Inf(1)) {
		return false, 0
	}
	limit := s.threshold(w)
	rowI, colJ := s.out[i*n:(i+1)*n], s.in[j*n:(j+1)*n]
	// scan looks for a witness among those near to one end, and tells whether no other can be the shorter leg there.
	scan := func(near []int32, own, other []F) (found, all bool) {
		for _, k := range near {
			if 2*float64(own[k]) > limit {
				return false, true
			}
			looked++
			if float64(own[k])+float64(other[k]) <= limit && s.explains(i, int(k), j, w) {
				return true, false
			}
		}
		return false, len(near) < mostNear
	}
	found, allI := scan(s.nearOut[i], rowI, colJ)
	if found {
		return false, looked
	}
	found, allJ := scan(s.nearIn[j], colJ, rowI)
	if found || allI && allJ {
		return !found, looked
	}
	return !s.explained(i, j, w), looked + n
}

// Transposed is the transpose of an n*n matrix.
func Transposed[F stats.Float](n int, m []F) []F {
	t := make([]F, n*n)
	for i := range n {
		for j, w := range m[i*n : (i+1)*n] {
			t[j*n+i] = w
		}
	}
	return t
}
