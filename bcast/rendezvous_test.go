package bcast_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi/simnet"
)

// On simulated clusters whose ranks ask before messages of more than some size, and on which Discover has measured lone
// messages, a chain takes what the prediction says in segments of any size: in those that are not asked for, and in longer ones,
// whose handshakes overlap with the messages before them, or hold them up where the latency is long beside the bytes. The
// first cluster is the two racks of the emulated one. Sizes of no power of two lie apart from the limit or within an eighth of it.
func TestPredictionsWhereReceiversAreAskedFirst(t *testing.T) {
	const bytes, near = 1 << 20, 0.06
	for _, c := range []struct {
		spec     string
		overhead float64 // s
	}{
		{"tree:2x4 latency=200us,100us rate=100Mbps,200Mbps", 7.5e-6},
		{"tree:2x4 latency=20us,10us rate=10Gbps,10Gbps", 7.5e-6},
		{"tree:2x4 latency=5us,2us rate=40Gbps,100Gbps", 0.5e-6},
	} {
		spec, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		overhead := simnet.Overhead{Seconds: c.overhead}
		for _, limit := range []int{4<<10 - 1, 12 << 10, 64<<10 - 1, 200 << 10} {
			s := &simnet.Settings{Send: overhead, Recv: overhead, EagerLimit: limit, HollowAbove: 1}
			m := &simulated{graph: spec.Graph, settings: s, network: discover(t, spec.Graph, nil, s), message: make([]byte, bytes)}
			for _, segment := range []int{1 << 10, 2 << 10, 4 << 10, 8 << 10, 9 << 10, 14 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 128 << 10, 256 << 10} {
				plan := predict.Plan{Algorithm: schedule.Chain{}, Segment: segment}
				m.time(t, &plan, bytes)
				predicted, err := predict.Predict(m.network, plan.Algorithm, m.problem(bytes, segment))
				if err != nil {
					t.Fatal(err)
				}
				if off := predicted/plan.Measured - 1; !(math.Abs(off) <= near) {
					t.Errorf("%s, asking above %d bytes, segments of %d: predicted %.4g s, simulated %.4g: %+.0f %%", c.spec, limit, segment, predicted, plan.Measured, 100*off)
				}
			}
		}
	}
}
