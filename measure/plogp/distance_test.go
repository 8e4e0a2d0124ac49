package plogp

import (
	"math"
	"testing"

	"github.com/topocast/topocast/model"
)

// By hand: the line of least squares through (0, 1), (1, 2) and (2, 6) us is 0.5 + 2.5 x, and through
// (0, 0), (1, 0), (2, 6) us it is -1 + 3 x, which is set to 0 at its beginning.
func TestParametersOnStraightLines(t *testing.T) {
	p := model.PLogP{
		Latency: 7e-6, Sizes: []int64{0, 1, 2}, Gap: []float64{1e-6, 2e-6, 6e-6},
		Send: []float64{0, 0, 6e-6}, Recv: []float64{3e-6, 3e-6, 3e-6},
	}
	line := linear(&p)
	between := model.PLogP{
		Latency: 10e-6, Sizes: []int64{1, 1000001}, Gap: []float64{4e-6, 1004e-6},
		Send: []float64{1e-6, 2e-6}, Recv: []float64{2e-6, 4e-6},
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"L", line.Latency, 7e-6},
		{"g(0)", line.GapAt(0), 0.5e-6},
		{"g(1)", line.GapAt(1), 3e-6},
		{"g(4)", line.GapAt(4), 10.5e-6},
		{"os(0)", line.SendAt(0), 0},
		{"os(1)", line.SendAt(1), 2.5e-6},
		{"os(2)", line.SendAt(2), 5e-6},
		{"or(9)", line.RecvAt(9), 3e-6},
		{"RTT(1) = 2L + g(1) + g(0)", roundTrip(line, 1), 17.5e-6},
		{"eq. 3.3 at one byte", overheadTime(&between, 1), 10e-6 + 1.5e-6 + 4e-6},
		{"eq. 3.3 between sizes", overheadTime(&between, 500001), 10e-6 + (1.5e-6+3e-6)/2 + 504e-6},
	} {
		if math.Abs(c.got-c.want) > 1e-9*c.want {
			t.Errorf("%s = %g, want %g", c.name, c.got, c.want)
		}
	}
	if err := line.Check(); err != nil {
		t.Error(err)
	}
	if same := linear(&model.PLogP{Sizes: []int64{8}, Gap: []float64{1}}); same.GapAt(8) != 1 || same.Send != nil {
		t.Errorf("one size: %+v", same)
	}
}
