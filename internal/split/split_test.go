package split

import (
	"math"
	"reflect"
	"testing"
)

// The expected groups follow from the text of MPI_Comm_split (MPI 4.0, section 7.4.2).
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name         string
		colors, keys []int
		want         [][]int
	}{
		{"equal keys keep the order of ranks", []int{0, 0, 0}, []int{7, 7, 7}, [][]int{{0, 1, 2}}},
		{"keys decide before ranks", []int{0, 0, 0}, []int{-1, -2, math.MinInt}, [][]int{{2, 1, 0}}},
		{"extreme keys do not overflow", []int{0, 0}, []int{math.MaxInt, math.MinInt}, [][]int{{1, 0}}},
		{"groups come by color", []int{math.MaxInt, 0, math.MaxInt, 0}, []int{0, 1, 0, 0}, [][]int{{3, 1}, {0, 2}}},
		{"a negative color is in no group", []int{-1, 3, math.MinInt}, []int{0, 0, 0}, [][]int{{1}}},
		{"nobody is in a group", []int{-1, -1}, []int{0, 0}, nil},
	} {
		if got := Groups(c.colors, c.keys); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: Groups(%v, %v) = %v, want %v", c.name, c.colors, c.keys, got, c.want)
		}
	}
}
