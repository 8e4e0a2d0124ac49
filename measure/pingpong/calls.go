package pingpong

import (
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
)

// callShare is how small a part of a measurement the calls of the library may be, before a warning.
const callShare = 0.1

// CallWarning counts the times in s of which what is added to each of them, in s, is more than a tenth; "" if there are none. What names the
// times, in the plural. Why names what adds to them, for which %s stands, up to its verb.
func CallWarning(times []float64, what string, added float64, why string) string {
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
