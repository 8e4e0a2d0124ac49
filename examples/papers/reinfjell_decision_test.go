package main

import (
	"math"
	"testing"
)

// TestDecide, by hand: two lines that cross in the middle between two sizes; a third that is the fastest for a while.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		times [][]float64
		want  []decision
	}{
		{"one broadcast", []int{0, 8}, [][]float64{{1, 2}}, []decision{{0, 0}}},
		{"two that cross", []int{0, 8}, [][]float64{{1, 3}, {2, 2}}, []decision{{0, 0}, {4, 1}}},
		{"three, of which one is the fastest between", []int{0, 12}, [][]float64{{0, 12}, {3, 6}, {6, 3}}, []decision{{0, 0}, {4, 1}, {6, 2}}},
		{"back again", []int{0, 8, 16}, [][]float64{{1, 3, 3}, {2, 2, 4}}, []decision{{0, 0}, {4, 1}, {12, 0}}},
		{"equal ones", []int{0, 8}, [][]float64{{1, 2}, {1, 2}}, []decision{{0, 0}}},
	} {
		got := decide(c.sizes, c.times)
		same := len(got) == len(c.want)
		for i := 0; same && i < len(got); i++ {
			same = got[i].chosen == c.want[i].chosen && math.Abs(got[i].from-c.want[i].from) < 1e-9
		}
		if !same {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
