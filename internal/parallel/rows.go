// Package parallel runs loops over the rows of a matrix on all processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Rows calls f for 0..n-1 from as many goroutines as there are processors, and
// returns when all calls have. f writes only what belongs to its row, so the
// outcome has no order.
func Rows(n int, f func(i int)) {
	const chunk = 8
	workers := min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				first := int(next.Add(chunk)) - chunk
				if first >= n {
					return
				}
				for i := first; i < min(first+chunk, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}
