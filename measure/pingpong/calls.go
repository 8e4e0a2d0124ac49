package pingpong

import (
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
)

// callShare is how small a part of a reading the calls of the library may be, before a warning.
const callShare = 0.1

// oneWayCalls are the calls whose price is in a one-way time: of a message, the send and the receive.
const oneWayCalls = 2

// CallWarning tells of readings in s of which so many calls from Go, of the given cost in s each, are more than a
// tenth; "" if there are none. What names the readings, in the plural.
func CallWarning(readings []float64, what string, calls int, cost float64) string {
	text, added := below(readings, what, calls, cost)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s: calls from Go, which add about %s to each, are more than a tenth of them", text, added)
}

// LoopWarning is CallWarning of one-way times by a Timed communicator, whose loop adds the given cost in s to each call: see CallCosts of
// mpi.Timed.
func LoopWarning(readings []float64, what string, cost float64) string {
	text, added := below(readings, what, oneWayCalls, cost)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s: the loop around the calls, which adds about %s to each, is more than a tenth of them", text, added)
}

// below counts the readings that are too short for what is added to them.
func below(readings []float64, what string, calls int, cost float64) (text, added string) {
	least := float64(calls) * cost / callShare
	few := 0
	for _, x := range readings {
		if x < least {
			few++
		}
	}
	if few == 0 {
		return "", ""
	}
	return fmt.Sprintf("%d of %d %s are below %s", few, len(readings), what, quantity.Seconds(least)), quantity.Seconds(float64(calls) * cost)
}
