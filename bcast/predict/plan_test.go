package predict

import (
	"math"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
)

func TestPlanInWords(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		plan Plan
		name string
		want string
	}{
		{Plan{Predicted: nan, Measured: nan, MeasuredNative: nan}, "native", "native"},
		{Plan{Predicted: nan, Measured: 2e-6, MeasuredNative: 2e-6}, "native", "native, measured 2 us, native 2 us"},
		{Plan{Algorithm: schedule.Chain{}, Segment: 8 << 10, Predicted: 1.5e-3, Measured: nan, MeasuredNative: nan}, "chain", "chain, segments of 8 KiB, predicted 1.5 ms"},
		{Plan{Algorithm: schedule.Flat{}, Segment: 3 << 20, Predicted: 2, Measured: 999e-6, MeasuredNative: 999e-3}, "flat", "flat, segments of 3 MiB, predicted 2 s, measured 999 us, native 999 ms"},
		{Plan{Algorithm: schedule.Binomial{}, Segment: 1025, Predicted: nan, Measured: nan, MeasuredNative: 1}, "binomial", "binomial, segments of 1025 B, native 1 s"},
		{Plan{Algorithm: schedule.MultiLevel{}, Predicted: 0, Measured: nan, MeasuredNative: nan}, "multilevel", "multilevel[binomial], whole message, predicted 0 s"},
		{Plan{Algorithm: schedule.MultiLevel{Shapes: []schedule.Shape{schedule.ShapeFlat, schedule.ShapeChain, schedule.ShapeBinomial}}, Predicted: nan, Measured: nan, MeasuredNative: nan}, "multilevel", "multilevel[flat chain binomial], whole message"},
	} {
		if got := c.plan.String(); got != c.want || c.plan.Name() != c.name {
			t.Errorf("%s: %q, want %s: %q", c.plan.Name(), got, c.name, c.want)
		}
	}
}
