package pingpong

import (
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
)

// callShare is how small a part of a reading the calls of the library may be, before a warning.
const callShare = 0.1

// oneWayCalls are the calls whose price is in a one-way time: of a message, the send and the receive.
const oneWayCalls = 2

// CallWarning tells of times in s of which so many calls from Go, of the given cost in s each, are more than a
// tenth; "" if there are none. What names the times, in the plural.
func CallWarning(times []float64, what string, calls int, cost float64) string {
	return warning(times, what, float64(calls)*cost, "calls from Go, which add about %s to each, are")
}

// LoopWarning is CallWarning of one-way times by a Timed communicator, whose loop adds the given cost in s to each call: see CallCosts of
// mpi.Timed.
func LoopWarning(times []float64, what string, cost float64) string {
	return warning(times, what, oneWayCalls*cost, "the loop around the calls, which adds about %s to each, is")
}

// warning counts the times that are too short for what is added to them, in s.
func warning(times []float64, what string, added float64, why string) string {
	least := added / callShare
	few := 0
	for _, x := range times {
		if x < least {
			few++
		}
	}
	if few == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d %s are below %s: "+why+" more than a tenth of them", few, len(times), what, quantity.Seconds(least), quantity.Seconds(added))
}
