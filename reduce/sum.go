package reduce

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// A sum of integers is the same in any order. So numbers are rounded to a common grid before they are added (J. Demmel and
// H. D. Nguyen, Fast reproducible floating-point summation, ARITH 2013, and Parallel reproducible summation, IEEE Transactions on
// Computers 64, 2015). Here the grid is that of a block of elements, and its multiples are integers as long as the numbers:
//
//  1. The ranks find the largest magnitude of each block. It sets a grid so fine that the integers of all ranks just cannot
//     overflow.
//  2. They add the integers. Rounding loses at most half a step of the grid per rank.
//  3. An element whose sum may have lost too much stays open: what rounding left of it is summed in the same way.
//
// # Error
//
// Let u be half an ulp of 1, n the number of ranks and S the sum of an element's magnitudes. The usual bound for sums in an
// unknown order is (n-1) u S (N. Higham, Accuracy and stability of numerical algorithms, 2002, section 4.2). An element is done if
// rounding to grids has lost at most (n-2) u S. The conversion of its sum adds u S. Let share be 1/(2u (n-2)) steps, rounded up: as
// a rank loses half a step, the element is done if S is at least share steps for each rank that has lost something. There are two
// witnesses. Either the element's own sum is at least n share steps. Or the block's count is: every rank adds its smallest magnitude of
// the block to it, and at least share if it has lost nothing.

// float are the numbers that are summed, and word the integers of the same length.
type (
	float interface{ float32 | float64 }
	word  interface{ int32 | int64 }
)

// A format describes a type of floating-point numbers.
type format struct {
	word      int // bits
	precision int // bits of the significand
	bias      int // of the exponent
	fraction  int // bits of the significand in a code
}

func formatOf[F float]() format {
	if unsafe.Sizeof(F(0)) == 4 {
		return format{word: 32, precision: 24, bias: 127, fraction: 7}
	}
	return format{word: 64, precision: 53, bias: 1023, fraction: 4}
}

// code is the magnitude of the largest number: its first 16 bits. Greater magnitudes have no smaller codes, and numbers that are not
// finite have the greatest.
func code[F float, W word](x []F) int16 {
	shift := 8*unsafe.Sizeof(W(0)) - 16
	magnitude := ^(W(-1) << (shift + 15))
	var largest W
	for _, bits := range reinterpret[W](x) {
		largest = max(largest, bits&magnitude)
	}
	return int16(largest >> shift)
}

// isFinite tells whether all numbers of a code are finite.
func (f format) isFinite(code int16) bool { return int(code) < (2*f.bias+1)<<f.fraction }

// A grid has the multiples of a power of two. Its reciprocal has two factors, either of which is a normal number.
type grid struct{ step, perStep1, perStep2 float64 }

// grid is the finest one that suits numbers of at most this code: the sum of their multiples, one per rank, is a word. No grid is
// finer than the numbers themselves.
func (f format) grid(code int16, ranks int) grid {
	exponent, above := int(code)>>f.fraction, int(code)&(1<<f.fraction-1)+1
	if exponent == 0 {
		exponent = 1
	} else {
		above += 1 << f.fraction
	}
	// Magnitudes are below above * 2^(exponent-bias-fraction).
	step := bits.Len(uint(ranks*above)) + exponent - f.bias - f.fraction - (f.word - 1)
	step = max(step, 2-f.bias-f.precision)
	half := step / 2
	return grid{powerOf2(half) * powerOf2(step-half), powerOf2(-half), powerOf2(half - step)}
}

// powerOf2 is 2^n, a normal number.
func powerOf2(n int) float64 { return math.Float64frombits(uint64(1023+n) << 52) }

// steps is the multiple nearest to x, in steps.
func (g grid) steps(x float64) float64 { return math.RoundToEven(x * g.perStep1 * g.perStep2) }

// rest is x without its nearest multiple: exactly, as it has no more bits than x.
func (g grid) rest(x float64) float64 { return math.FMA(-g.steps(x), g.step, x) }

// round sets words to the multiples nearest to the numbers, and returns what this rank adds to the block's count.
func round[F float, W word](words []W, x []F, g grid, share W) W {
	words = words[:len(x)]
	least, lost := uint64(math.MaxUint64), uint64(0) // bits of numbers
	for i, v := range x {
		v := float64(v)
		steps := g.steps(v)
		words[i] = W(steps)
		least = min(least, math.Float64bits(steps)&math.MaxInt64)
		lost |= math.Float64bits(v) ^ math.Float64bits(steps*g.step)
	}
	count := W(math.Float64frombits(least))
	if lost == 0 {
		return max(count, share)
	}
	return count
}

// doubt has a bit for each word that is no witness.
func doubt[W word](words []W, enough W) (mask W) {
	for i, x := range words {
		if -enough < x && x < enough {
			mask |= 1 << i
		}
	}
	return mask
}

// convert sets values to what words stand for, with one rounding.
func convert[F float, W word](values []F, words []W, g grid) {
	values = values[:len(words)]
	for i, x := range words {
		values[i] = F(float64(x) * g.step)
	}
}

// An element is one that is open: its value so far is high + low.
type element struct {
	index     int
	high, low float64
}

// add adds so many steps, and keeps what the addition rounds off (O. Møller 1965, D. Knuth). A sum of words is at most 2^63-1024, so
// that the nearest float64 is a word, too.
func (e *element) add(steps int64, step float64) {
	nearest := float64(steps)
	more, off := nearest*step, float64(steps-int64(nearest))*step
	sum := e.high + more
	part := sum - e.high
	e.low += (e.high - (sum - part)) + (more - part) + off
	e.high = sum
}

// value is finite unless it is too large for a float64.
func (e *element) value() float64 {
	if math.IsInf(e.high, 0) {
		return e.high
	}
	return e.high + e.low
}

// sumMemory is what sums keep.
type sumMemory struct {
	codes, words, masks, rests, special memory

	open []element
}

// A sum is that of one vector per rank, seen from one of them. What it has made is reduced over all ranks before the next
// call: codes by Max, words by Sum.
type sum[F float, W word] struct {
	format
	ranks  int
	share  W
	memory *sumMemory

	x     []F       // what is left to add: the vector, or rests of the elements that are open
	later bool      // x are rests
	open  []element // of x, later
	codes []int16   // per block of x
	words []W       // of x, and the count of each block
	masks []W       // per block: a bit for each element that stays open
}

// newSum is for at least 3 ranks.
func newSum[F float, W word](m *sumMemory, x []F, ranks int) sum[F, W] {
	f := formatOf[F]()
	return sum[F, W]{format: f, ranks: ranks, share: W(1)<<(f.precision-1)/W(ranks-2) + 2, memory: m, x: x, open: m.open[:0]}
}

// sizes are those of what is reduced in a sum, in bytes. Counts of blocks do not count: decisions for words are those for the vector.
type sizes struct{ codes, words, masks int }

func (f format) sizes(elements int) sizes {
	blocks := (elements + f.word - 1) / f.word
	return sizes{codes: 2 * blocks, words: elements * f.word / 8, masks: blocks * f.word / 8}
}

func (s *sum[F, W]) sizes() sizes { return s.format.sizes(len(s.x)) }

// block returns the elements of a block, of which a mask has one bit each.
func (s *sum[F, W]) block(b int) (from, to int) { return b * s.word, min((b+1)*s.word, len(s.x)) }

// measure makes the codes.
func (s *sum[F, W]) measure() {
	s.codes = room[int16](&s.memory.codes, (len(s.x)+s.word-1)/s.word)
	for b := range s.codes {
		from, to := s.block(b)
		s.codes[b] = code[F, W](s.x[from:to])
	}
}

// isFinite tells whether all numbers of all ranks are.
func (s *sum[F, W]) isFinite() bool { return s.format.isFinite(slices.Max(s.codes)) }

// separate takes the numbers that are not finite out of x, and returns them, with zeros between. Sums of these are the same in any
// order.
func (s *sum[F, W]) separate() []F {
	special, finite := room[F](&s.memory.special, len(s.x)), room[F](&s.memory.rests, len(s.x))
	for i, x := range s.x {
		special[i], finite[i] = 0, x
		if x-x != 0 {
			special[i], finite[i] = x, 0
		}
	}
	s.x = finite
	return special
}

// round makes the words.
func (s *sum[F, W]) round() {
	n := len(s.x)
	s.words = room[W](&s.memory.words, n+len(s.codes))
	for b, code := range s.codes {
		from, to := s.block(b)
		s.words[n+b] = round(s.words[from:to], s.x[from:to], s.grid(code, s.ranks), s.share)
	}
}

// settle sets the values of all elements but those that stay open, and makes the masks. Where the result is not wanted, values are nil,
// and masks have to come from elsewhere.
func (s *sum[F, W]) settle(values []F) {
	s.masks = room[W](&s.memory.masks, len(s.codes))
	clear(s.masks)
	if values == nil {
		return
	}
	kept, enough := s.open[:0], W(s.ranks)*s.share
	for b, code := range s.codes {
		from, to := s.block(b)
		words, g := s.words[from:to], s.grid(code, s.ranks)
		if s.words[len(s.x)+b] < enough {
			s.masks[b] = doubt(words, enough)
		}
		if s.masks[b] == 0 && !s.later {
			convert(values[from:to], words, g)
			continue
		}
		for i, x := range words {
			e := element{index: from + i}
			if s.later {
				e = s.open[from+i]
			}
			e.add(int64(x), g.step)
			if s.masks[b]>>i&1 != 0 {
				kept = append(kept, e)
			} else {
				values[e.index] = F(e.value())
			}
		}
	}
	s.open, s.memory.open = kept, kept
}

// takeRests goes on with what rounding has left of the elements that are open.
func (s *sum[F, W]) takeRests() {
	open := 0
	for _, mask := range s.masks {
		open += bits.OnesCount64(uint64(mask) << (64 - s.word))
	}
	rests := room[F](&s.memory.rests, open)[:0]
	for b, mask := range s.masks {
		if mask == 0 {
			continue
		}
		from, to := s.block(b)
		g := s.grid(s.codes[b], s.ranks)
		for i, x := range s.x[from:to] {
			if mask>>i&1 != 0 {
				rests = append(rests, F(g.rest(float64(x))))
			}
		}
	}
	s.x, s.later = rests, true
}

// orderOf maps between numbers and integers of the same order, in both directions: -0 comes before +0.
func orderOf[W word](bits W) W {
	sign := 8*unsafe.Sizeof(bits) - 1
	return bits ^ bits>>sign&^(W(-1)<<sign)
}
