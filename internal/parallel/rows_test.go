package parallel_test

import (
	"runtime"
	"testing"

	"github.com/topocast/topocast/internal/parallel"
)

func TestRowsVisitsEachRowOnce(t *testing.T) {
	for _, processors := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(processors)
		for _, n := range []int{0, 1, 7, 8, 9, 1000} {
			visits := make([]int, n)
			parallel.Rows(n, func(i int) { visits[i]++ })
			for i, v := range visits {
				if v != 1 {
					t.Errorf("Rows(%d) on %d processors visited row %d %d times, want once", n, processors, i, v)
				}
			}
		}
		runtime.GOMAXPROCS(before)
	}
}
