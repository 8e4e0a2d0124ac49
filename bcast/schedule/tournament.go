package schedule

import "math"

// A tournament knows the least of numbers that change one at a time: a binary
// tree of minima over them. Of equal ones the first wins.
type tournament struct {
	width int     // a power of two
	least []int64 // least[1] of all; least[width+i] is number i
}

// never is a number that loses to all others.
const never = math.MaxInt64

func newTournament(n int) tournament {
	t := tournament{width: 1}
	for t.width < n {
		t.width *= 2
	}
	t.least = make([]int64, 2*t.width)
	for i := range t.least {
		t.least[i] = never
	}
	return t
}

// min is the least number.
func (t *tournament) min() int64 { return t.least[1] }

// set changes number i. O(log n).
func (t *tournament) set(i int, x int64) {
	i += t.width
	t.least[i] = x
	for i /= 2; i > 0; i /= 2 {
		x = min(t.least[2*i], t.least[2*i+1])
		if t.least[i] == x {
			return
		}
		t.least[i] = x
	}
}

// first is the index of the least number. O(log n).
func (t *tournament) first() int {
	i := 1
	for i < t.width {
		i *= 2
		if t.least[i+1] < t.least[i] {
			i++
		}
	}
	return i - t.width
}
