package contention

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// treePlay has flows of 10 to 100 bytes that begin at once in a tree.
type treePlay struct {
	capacity []float64
	flows    []Flow
}

func newTreePlay(racks, hosts, count int, uplink float64, seed uint64) *treePlay {
	p := &treePlay{treeCapacity(racks, hosts, uplink), make([]Flow, count)}
	r := rand.New(rand.NewPCG(1, seed))
	for i := range p.flows {
		f := treeFlow(r, racks, hosts)
		p.flows[i] = Flow{Data: f.data, Reverse: f.reverse, Bytes: 10 + 90*r.Float64()}
	}
	return p
}

// times are those in s at which the first count flows are complete.
func (p *treePlay) times(t *testing.T, count int, tolerance float64) []float64 {
	t.Helper()
	s, err := NewSolver(p.capacity, &Sharing{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	times, err := s.Times(nil, p.flows[:count])
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// A tolerance moves the times of fair playback by as little as the doc of Sharing says. 2,500 flows begin at once on 128
// hosts in 16 racks, whose uplinks carry half of what the hosts do.
func TestToleranceMovesTimesLittle(t *testing.T) {
	const racks, hosts, count = 16, 8, 2500
	play := newTreePlay(racks, hosts, count, 100*hosts/2, 23)
	exact := play.times(t, count, 0)
	for _, tolerance := range []float64{0.001, 0.01} {
		worst, sum := 0.0, 0.0
		for i, got := range play.times(t, count, tolerance) {
			off := got/exact[i] - 1
			worst, sum = max(worst, math.Abs(off)), sum+off
		}
		t.Logf("tolerance %g: worst %.2g, mean %.2g", tolerance, worst, sum/count)
		if worst > 10*tolerance || math.Abs(sum/count) > tolerance/4 {
			t.Errorf("tolerance %g: the worst time is off by %.2g, the mean by %.2g", tolerance, worst, sum/count)
		}
	}
}

// A crowd of 12,000 flows that begin at once on 128 hosts is played with a tolerance of 0.001. 10,000 of them, or 2,000 in the
// short form, are no crowd.
func TestACrowdIsPlayedWithATolerance(t *testing.T) {
	few := 2000
	if tooltest.Long() {
		few = crowd
	}
	play := newTreePlay(16, 8, 12000, 100, 24)
	worst := func(count int) (worst float64) {
		exact := play.times(t, count, 1e-12)
		for i, got := range play.times(t, count, 0) {
			worst = max(worst, math.Abs(got/exact[i]-1))
		}
		return worst
	}
	if worst := worst(12000); worst == 0 || worst > 0.01 {
		t.Errorf("in a crowd, the worst time is off by %.2g: want above 0, at most 0.01", worst)
	}
	if worst := worst(few); worst > 1e-9 {
		t.Errorf("without a crowd, the worst time is off by %.2g", worst)
	}
}
