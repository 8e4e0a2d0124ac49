package bcast

import (
	"math"
	"math/bits"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
)

// A part is as long as it has to be on any machine. 4096 segments of 1 MiB are 2^32 bytes, which an int of 32 bits takes
// for 0, and a broadcast in parts of 0 bytes never ends. No machine that runs the tests shows that from outside.
func TestPartsDoNotOverflow(t *testing.T) {
	for _, c := range []struct{ bytes, segment, want int }{
		{100, 0, 100},
		{100, 7, 100},
		{maxSegments*7 - 1, 7, maxSegments*7 - 1},
		{maxSegments * 7, 7, maxSegments * 7},
		{maxSegments*7 + 1, 7, maxSegments * 7},
		{3 << 20, 1 << 20, 3 << 20},
		{5000, 1 << (bits.UintSize - 12), 5000}, // times 4096 it is 0 in an int
		{math.MaxInt, math.MaxInt, math.MaxInt},
		{math.MaxInt, math.MaxInt / maxSegments, math.MaxInt / maxSegments * maxSegments},
	} {
		p := compiledPlan{Plan: predict.Plan{Algorithm: schedule.Chain{}, Segment: c.segment}}
		if got := p.partBytes(c.bytes); got != c.want {
			t.Errorf("partBytes(%d) = %d with segments of %d, want %d", c.bytes, got, c.segment, c.want)
		}
	}
}
