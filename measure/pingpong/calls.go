package pingpong

import (
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
)

// callShare is how small a part of a reading the calls of the library may be, before a warning.
const callShare = 0.1

// OneWayCalls are the calls whose price is in a one-way time: of a message, the send and the receive.
const OneWayCalls = 2

// CallWarning tells of readings in s of which so many calls from Go, of the given cost in s each, are more than a
// tenth; "" if there are none. What names the readings, in the plural.
func CallWarning(readings []float64, what string, calls int, cost float64) string {
	added := float64(calls) * cost
	least := added / callShare
	few := 0
	for _, x := range readings {
		if x < least {
			few++
		}
	}
	if few == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d %s are below %s: calls from Go, which add about %s to each, are more than a tenth of them",
		few, len(readings), what, quantity.Seconds(least), quantity.Seconds(added))
}

// WithoutCalls is what a CallWarning of a Timed communicator is to be followed by: there the loops are in C.
const WithoutCalls = "; CC=mpicc go build -tags mpi measures without"
