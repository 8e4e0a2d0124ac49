package schedule

import (
	"math"
	"math/bits"
	"slices"
)

// Circulant broadcasts n pieces in n-1+ceil(log2 ranks) rounds, the least that is
// possible where each rank sends one piece and receives one in a round. All
// ranks do alike: in round k each sends to the one skips[k mod q] places on and
// receives from the one as far behind, with q = ceil(log2 ranks). skips[q] is the
// number of ranks, and each skip is half of the next, rounded up. A schedule of q
// numbers tells what is received in a round: Traeff 2024 (Optimal broadcast schedules
// in logarithmic time, arXiv 2407.18004, algorithms 4 to 6) searches it for the path of
// a piece from the root. What is sent is what the other one receives. A rank in place r works it out in O(log^2 ranks).
type Circulant struct{}

// Name returns "circulant".
func (Circulant) Name() string { return "circulant" }

// Prepare implements Algorithm. O(ranks log ranks); O(log^2 ranks) for a part, or O(log ranks) on average for all.
func (Circulant) Prepare(p Problem) Parts {
	ranks := Line(p)
	s := skips(p.Ranks)
	known := make([][]int, p.Ranks)                    // by place
	known[0] = slices.Repeat([]int{nothing}, len(s)-1) // the root has all
	receivedAt := func(place int) []int {
		if known[place] == nil {
			known[place] = received(s, place)
		}
		return known[place]
	}
	return ByPlace(ranks, func(place int) Part {
		got := receivedAt(place)
		x := make(circulantPart, len(s)-1)
		for k := range x {
			to, from := (place+s[k])%p.Ranks, (place-s[k]+p.Ranks)%p.Ranks
			x[k] = circulantRound{to: ranks[to], from: ranks[from], sent: receivedAt(to)[k], got: got[k]}
		}
		return x.ops
	})
}

// nothing is far below all pieces.
const nothing = math.MinInt / 2

// A circulantRound is what a rank does in rounds k, k+q, k+2q, ...
type circulantRound struct {
	to, from  int // ranks
	sent, got int // pieces, in the first of those rounds; q more in the next; none below 0
}

// circulantPart is the part of one rank.
type circulantPart []circulantRound

// ops appends the steps.
func (x circulantPart) ops(dst []Op, p Problem) []Op {
	pieces, q := p.Pieces(), len(x)
	if pieces == 0 || q == 0 {
		return dst
	}
	piece := func(i int) Span {
		if i < 0 {
			return Span{}
		}
		return p.piece(p.whole(), min(i, pieces-1)) // what would come after the last piece is the last
	}
	// The rounds end with k = q-1; the ones left out at the start would carry nothing.
	out := (q - (pieces-1)%q) % q
	for i := out; i < pieces-1+q+out; i++ {
		r, later := x[i%q], i/q*q-out
		dst = Swap(dst, r.to, piece(r.sent+later), r.from, piece(r.got+later))
	}
	return dst
}

// skips are the distances of the rounds, and last the number of ranks.
func skips(ranks int) []int {
	q := bits.Len(uint(ranks - 1))
	s := make([]int, q+1)
	s[q] = ranks
	for k := q; k > 0; k-- {
		s[k-1] = (s[k] + 1) / 2
	}
	return s
}

// received returns the number of the piece, relative to the phase of q rounds,
// that the place receives in each round of one: below 0 but for one.
func received(s []int, place int) []int {
	q := len(s) - 1
	search := circulantSearch{skips: s, place: s[q] + place, got: make([]int, q+1), used: make([]bool, q+1)}
	first := baseBlock(s, place)
	search.used[first] = true
	search.all(0, 2*s[q], q, 0)
	for k := range q {
		if search.got[k] == q {
			search.got[k] = first
		} else {
			search.got[k] -= q
		}
	}
	return search.got[:q]
}

// baseBlock is the smallest skip of the way from the root to the place that takes
// the largest skips; q for the root.
func baseBlock(s []int, place int) int {
	k := len(s) - 1
	for rest := place; rest > 0; {
		k--
		if s[k] <= rest {
			rest -= s[k]
		}
	}
	return k
}

// A circulantSearch looks for ways from the root to a place, depth first.
type circulantSearch struct {
	skips []int
	place int // one turn on
	got   []int
	used  []bool // per skip
}

// all goes on from the place at with skips from e down that are not used yet. It finds pieces for rounds from k on, of
// places before before. It returns the first round for which it found none.
func (c *circulantSearch) all(at, before, e, k int) int {
	for q := len(c.skips) - 1; e >= 0 && k < q; e-- {
		to := at + c.skips[e]
		if c.used[e] || to > c.place-c.skips[k] || to >= before {
			continue
		}
		if to <= c.place-c.skips[k+1] {
			k = c.all(to, before, e, k)
		}
		if k == q || at > c.place-c.skips[k+1] {
			return k
		}
		before = to
		c.got[k] = e
		k++
		c.used[e] = true
	}
	return k
}
