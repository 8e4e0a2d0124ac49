package bcast

import (
	"math"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi/simnet"
)

// On a simulated cluster whose ranks ask before messages of 64 KiB, and on which Discover has measured lone
// messages of 8 and 64 KiB, 1 MiB and more, a chain takes what the prediction says: in segments that are not asked for,
// though their time is read off between two measured ones, and in longer ones, whose questions overlap with what
// is on its way, or, where a journey is long beside the bytes, hold it up. The first cluster is the two racks of the laboratory.
func TestPredictionsWhereReceiversAreAskedFirst(t *testing.T) {
	const bytes, near = 1 << 20, 0.06
	for _, c := range []struct {
		spec     string
		segments []int
	}{
		{"tree:2x4 latency=200us,100us rate=100Mbps,200Mbps", []int{4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10}},
		{"tree:2x4 latency=20us,10us rate=10Gbps,10Gbps", []int{8 << 10, 64 << 10, 128 << 10, 256 << 10}},
	} {
		spec, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		const software = 7.5e-6 // s
		s := &simnet.Settings{Send: simnet.Overhead{Seconds: software}, Recv: simnet.Overhead{Seconds: software}, EagerLimit: 64<<10 - 1, HollowAbove: 1}
		m := &simulated{graph: spec.Graph, settings: s, network: discover(t, spec.Graph, nil, s), message: make([]byte, bytes)}
		for _, segment := range c.segments {
			plan := predict.Plan{Algorithm: schedule.Chain{}, Segment: segment}
			m.time(t, &plan, bytes)
			predicted, err := predict.Predict(m.network, plan.Algorithm, m.problem(bytes, segment))
			if err != nil {
				t.Fatal(err)
			}
			if off := predicted/plan.Measured - 1; !(math.Abs(off) <= near) {
				t.Errorf("%s, segments of %d bytes: predicted %.4g s, simulated %.4g: %+.0f %%", c.spec, segment, predicted, plan.Measured, 100*off)
			}
		}
	}
}
