//go:build !unix

package linkage_test

import "math"

// userSeconds is NaN: the processor time of the process is not known.
func userSeconds() float64 { return math.NaN() }
