package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMedianRanks: the classic table of 95 % confidence intervals of a median by order statistics
// (Conover 1999, table A3; ranks counted from 1 there).
func TestMedianRanks(t *testing.T) {
	for n, want := range map[int]int{6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 12: 3, 15: 4, 17: 5, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40} {
		low, high, ok := MedianRanks(n, 0.95)
		if !ok || low != want-1 || high != n-want {
			t.Errorf("MedianRanks(%d) = %d, %d, %t, want %d, %d", n, low, high, ok, want-1, n-want)
		}
	}
	for _, n := range []int{0, 1, 5} {
		if _, _, ok := MedianRanks(n, 0.95); ok {
			t.Errorf("%d values: an interval", n)
		}
		if low, high, ok := MedianInterval(make([]float64, n), 0.95); ok || !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%d values: interval %g to %g", n, low, high)
		}
	}
}

// TestMedianIntervalCovers: at least 95 % of the intervals hold the median, which is 0, of a skewed
// distribution too. Of 20 values the confidence is 1 - 2 P(B <= 5) = 95.86 %, so
// of 4,000 intervals 3,834 with a standard deviation of 12.6.
func TestMedianIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	covered := 0
	for range 4000 {
		values := make([]float64, 20)
		for i := range values {
			values[i] = rng.ExpFloat64() - math.Ln2
		}
		slices.Sort(values)
		low, high, ok := MedianInterval(values, 0.95)
		if !ok {
			t.Fatal("no interval")
		}
		if low <= 0 && high >= 0 {
			covered++
		}
	}
	if covered < 3834-50 || covered > 3834+50 {
		t.Errorf("%d of 4000 intervals hold the median, want about 3834", covered)
	}
}
