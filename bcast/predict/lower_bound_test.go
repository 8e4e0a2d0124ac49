package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
)

// On random machines, uneven and with slow links inside, no broadcast takes less than its floor, and a limit
// changes nothing but that what is above it is told to be so.
func TestWithinIsPredict(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for i, spec := range clusters(4) {
		e := New(simulate(t, spec, []float64{30e-6, 1e-6}[i%2]).network)
		for _, bytes := range []int{8, 5000, 300 << 10} {
			p := schedule.Problem{Ranks: e.ranks, Root: rng.IntN(e.ranks), Bytes: bytes, Segment: []int{0, 1 << 10, 8 << 10}[rng.IntN(3)], Tree: e.tree, Costs: e.costs}
			for _, a := range everything() {
				want := e.Predict(a, p)
				e.schedule(a, p)
				least, busy := e.lowerBound(math.Inf(1))
				played, _, whole := e.evaluate(0, math.Inf(1))
				if !whole || least > played*aboveRounding || math.Abs(busy/e.busiest()-1) > 1e-9 || least < played/50 {
					t.Errorf("%s, %s, %+v: played in %g s, busy for %g; floor %g, %g", spec, schedule.Text(a), p, played, e.busiest(), least, busy)
				}
				for _, times := range []float64{0.01, 0.1, 0.3, 0.9, 0.999, 1.001, 3} {
					limit := times * want
					switch got, all := e.within(a, p, limit); {
					case all != (times > 1) && !(all && got > limit): // what is played to its end may be above
						t.Errorf("%s, %s, %+v: within %g of %g s: %g, %v", spec, schedule.Text(a), p, limit, want, got, all)
					case all && got != want, !all && (got <= limit || got > want*aboveRounding):
						t.Errorf("%s, %s, %+v: within %g of %g s: %g, %v", spec, schedule.Text(a), p, limit, want, got, all)
					}
				}
			}
		}
	}
}

// Where a search among many ranks stops at limits it finds what it finds without them.
func TestLimitsLoseNothing(t *testing.T) {
	e := New(simulate(t, "tree:[40,7,120,33,260,90] latency=20us,5us rate=1Gbps,10Gbps shuffle seed=3", 1e-6).network)
	for _, bytes := range []int{8, 64 << 10, 8 << 20} {
		p := schedule.Problem{Ranks: e.ranks, Root: 99, Bytes: bytes, Tree: e.tree, Costs: e.costs}
		list := schedule.Variants([]schedule.Algorithm{schedule.Binomial{}, schedule.Chain{}, schedule.KNomial{}, classic.TwoTree{}, schedule.Circulant{}, classic.ScatterDoubling{}, schedule.Earliest{}, schedule.Paced{}, schedule.Leaders{}}, p)
		got := e.Candidates(list, bytes, p.Root)
		s := newSearch(e, list, bytes, p.Root, math.Inf(1), math.Inf(1))
		want := s.all()
		order(want)
		if got[0].Index != want[0].Index || got[0].Segment != want[0].Segment || got[0].Predicted != want[0].Predicted {
			t.Errorf("%d bytes: %v, without limits %v", bytes, got[0].Plan, want[0].Plan)
		}
		for _, c := range got[1:] { // those that were cut short come after it all the same
			if c.Predicted < want[0].Predicted {
				t.Errorf("%d bytes: %v before %v", bytes, c.Plan, want[0].Plan)
			}
		}
	}
}
