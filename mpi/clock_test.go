package mpi

import (
	"runtime"
	"testing"
	"time"
)

// Two measurements of the epoch, as two processes would take them, agree. The
// bound is loose, since the scheduler may step in between; what it excludes is
// an epoch of the process, which would differ by the time between the calls,
// and an epoch in the future.
func TestHostEpochIsThatOfTheHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells its monotonic clock")
	}
	first, second := hostEpoch(), hostEpoch()
	if off := first.Sub(second).Abs(); off > time.Second {
		t.Errorf("epochs %v and %v differ by %v", first, second, off)
	}
	if up := time.Since(first); up <= 0 {
		t.Errorf("the clock stands at %v, want above 0", up)
	}
}
