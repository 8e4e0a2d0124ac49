//go:build unix

package linkage_test

import (
	"math"
	"syscall"
)

// userSeconds is the processor time that the program has taken.
func userSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
}
