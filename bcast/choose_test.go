package bcast_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A library has a native broadcast on simulated ranks: real transfers along an algorithm, and what a test adds to them.
type library struct {
	*simnet.Comm
	algorithm schedule.Algorithm
	segment   int
	calls     int
	more      func(call, root, bytes int, idle float64) float64 // s that it takes longer, on all ranks; nil: nothing
	last      float64                                           // s, when the last one ended
}

func newLibrary(comm mpi.Communicator, a schedule.Algorithm, segment int) *library {
	return &library{Comm: comm.(*simnet.Comm), algorithm: a, segment: segment}
}

func (l *library) Bcast(buf []byte, root int) error {
	l.calls++
	if l.more != nil {
		l.Sleep(l.more(l.calls, root, len(buf), l.Now()-l.last))
	}
	p := schedule.Problem{Ranks: l.Size(), Root: root, Bytes: len(buf), Segment: l.segment}
	err := bcast.PerformOps(l.Comm, 3, l.algorithm.Prepare(p).Of(l.Rank()).Ops(nil, p), buf, false)
	l.last = l.Now()
	return err
}

// Native stays unless it is beaten, isolated and back to back, from all roots. No byte is ever wrong.
func TestNativeStaysUnlessItIsBeaten(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=1Gbps")
	for _, x := range []struct {
		name      string
		algorithm schedule.Algorithm
		more      func(call, root, bytes int, idle float64) float64
		size      int
		want      string
	}{
		{"it is a chain, and bad for short messages", schedule.Chain{}, nil, 64, "flat"},
		{"it is what we would do", schedule.Flat{}, nil, 64, "native"},
		{"it sends all to all, and is bad for long ones", schedule.Flat{}, nil, 1 << 20, "chain"},
		{"it has been slow the first times", schedule.Flat{}, func(call, _, _ int, _ float64) float64 {
			if call <= 8 {
				return 1
			}
			return 0
		}, 64, "native"},
		{"now and then it is very slow", schedule.Flat{}, func(call, _, _ int, _ float64) float64 {
			if call%50 == 0 {
				return 0.1
			}
			return 0
		}, 64, "native"},
		{"it is slow when ranks were at rest only", schedule.Flat{}, func(_, _, _ int, idle float64) float64 {
			if idle > 0 {
				return 1e-3
			}
			return 0
		}, 64, "flat"},
		{"it is slow from one root only", schedule.Flat{}, func(_, root, _ int, _ float64) float64 {
			if root == 0 {
				return 1e-3
			}
			return 0
		}, 64, "native"},
		{"it is slow only from the root of the first broadcast", schedule.Flat{}, func(_, root, _ int, _ float64) float64 {
			if root == 1 {
				return 1e-3
			}
			return 0
		}, 64, "native"},
		{"it is slow from all roots", schedule.Flat{}, func(int, int, int, float64) float64 { return 1e-3 }, 64, "flat"},
	} {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			l := newLibrary(comm, x.algorithm, 0)
			l.more = x.more
			b, err := bcast.New(l, &bcast.Settings{Network: n})
			if err != nil {
				return err
			}
			if err := verified(comm, x.size, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
				return err
			}
			for root := range comm.Size() {
				plan, err := b.Plan(x.size, root)
				if err != nil || plan.Name() != x.want || !(plan.MeasuredNative > 0) || !(plan.Measured <= plan.MeasuredNative) {
					return fmt.Errorf("from %d: %v, %v, want %s", root, plan, err, x.want)
				}
				if err := verified(comm, x.size, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// A budget is kept, over all classes of a Tune, and what it does not suffice for stays native, until there is more time.
// A table has what is decided.
func TestTuneKeepsItsBudget(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=1Gbps")
	sizes := []int{8, 1 << 10, 64 << 10, 256 << 10}
	for _, x := range []struct {
		budget      time.Duration
		least, most int // sizes that are decided
	}{
		{time.Microsecond, 0, 0},
		{100 * time.Millisecond, 0, len(sizes) - 1},
		{20 * time.Second, len(sizes), len(sizes)},
	} {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			b, err := bcast.New(newLibrary(comm, schedule.Chain{}, 0), &bcast.Settings{Network: n, Budget: x.budget})
			if err != nil {
				return err
			}
			begin := comm.(mpi.Clock).Now()
			if err := b.Tune([]int{0}, sizes...); err != nil {
				return err
			}
			// One plain broadcast of each, 12 ms for the longest, comes before its contest.
			if took := comm.(mpi.Clock).Now() - begin; took > x.budget.Seconds()+0.02 {
				return fmt.Errorf("it took %g s", took)
			}
			tuned, err := b.Table(time.Time{})
			if err != nil {
				return err
			}
			count := 0
			for _, size := range sizes {
				decided := tuned != nil && isDecided(tuned, size) // on rank 0
				plan, err := b.Plan(size, 0)
				if err != nil || tuned != nil && !decided && plan.Algorithm != nil {
					return fmt.Errorf("%d bytes: %v, %v, decided: %v", size, plan, err, decided)
				}
				if decided {
					count++
				}
			}
			if tuned != nil && (count < x.least || count > x.most) {
				return fmt.Errorf("%d sizes decided, want %d to %d", count, x.least, x.most)
			}
			b.SetBudget(math.Inf(1))
			if err := b.Tune([]int{0}, sizes...); err != nil {
				return err
			}
			if plan, err := b.Plan(sizes[3], 0); err != nil || plan.Algorithm == nil {
				return fmt.Errorf("with all the time: %v, %v", plan, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("budget %v: %v", x.budget, err)
		}
	}
}

// isDecided tells whether a job's table has a choice for a size from rank 0.
func isDecided(t *table.Table, size int) bool {
	all := t.Tunings()
	_, decided := all[len(all)-1].Choice(int64(size), 0)
	return decided
}

// Other segments than the one that is predicted to be best are tried, those of the shortlist of
// predictions and then up and down as far as that helps. The network takes a third of the latency for the
// overhead of a message, 7 us: longer segments are better where it costs far more, shorter
// ones where it costs far less.
func TestOtherSegmentsAreTried(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=1Gbps")
	for _, x := range []struct {
		overhead float64 // s
		longer   bool
	}{{60e-6, true}, {1e-7, false}} {
		o := simnet.Overhead{Seconds: x.overhead}
		err := simnet.Run(c.Graph, nil, &simnet.Settings{Send: o, Recv: o}, func(comm mpi.Communicator) error {
			b, err := bcast.New(newLibrary(comm, schedule.Flat{}, 0), &bcast.Settings{Network: n})
			if err != nil {
				return err
			}
			plans, err := b.Candidates(1<<20, 0)
			if err != nil {
				return err
			}
			first := plans[0]
			if err := b.Tune([]int{0}, 1<<20); err != nil {
				return err
			}
			if comm.Rank() > 0 {
				return nil
			}
			plan, err := b.Plan(1<<20, 0)
			if err != nil || plan.Name() != first.Name() || plan.Segment == first.Segment || plan.Segment > first.Segment != x.longer {
				return fmt.Errorf("%v, %v, want longer segments than %d: %v", plan, err, first.Segment, x.longer)
			}
			return nil
		})
		if err != nil {
			t.Errorf("overhead of %g s: %v", x.overhead, err)
		}
	}
}

// What Tune chooses is within 5 % of the best of all algorithms with all their settings, whole and
// in segments of all powers of two, each run on its own: hundreds of plans, of which a
// contest runs ten to thirty. The overhead is what predictions guess of a network that does not know, a third of
// the shortest path, 10 us.
func TestTuneIsNearExhaustiveSearch(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	overhead := simnet.Overhead{Seconds: 10e-6 / 3}
	sizes := []int{64, 256 << 10}
	if tooltest.Long() {
		sizes = append(sizes, 16<<10)
	}
	for _, size := range sizes {
		plans := 0
		err := simnet.Run(c.Graph, nil, &simnet.Settings{Send: overhead, Recv: overhead}, func(comm mpi.Communicator) error {
			l := newLibrary(comm, schedule.Flat{}, 0)
			l.more = func(int, int, int, float64) float64 { return 1 } // it never wins
			b, err := bcast.New(l, &bcast.Settings{Network: n})
			if err != nil {
				return err
			}
			if err := b.Tune([]int{0}, size); err != nil {
				return err
			}
			chosen, err := b.Plan(size, 0)
			if err != nil {
				return err
			}
			buf := make([]byte, size)
			best, how := math.Inf(1), ""
			places, err := mpi.GatherPlaces(comm)
			if err != nil {
				return err
			}
			hosts, _ := mpi.NumberHosts(places)
			watch, err := tuner.NewStopwatch(comm, mpi.MaxTag, hosts, false)
			if err != nil {
				return err
			}
			roots := []int{0, 2, 4} // as in the contest: three of the class of all ranks, in even steps
			for i, a := range schedule.Variants(schedule.Algorithms(), problemOf(b)) {
				for segment := 0; segment < size; segment = max(predict.MinSegment, 2*segment) {
					p := predict.Plan{Index: i, Algorithm: a, Segment: segment}
					var took float64
					for _, root := range roots {
						run := by(b, p, size, root)
						s, err := watch.Time(func(int) error { return run(buf) }, root)
						if err != nil {
							return err
						}
						took += s.Cold / float64(len(roots))
					}
					if comm.Rank() == 0 {
						plans++
					}
					if took < best {
						best, how = took, p.How()
					}
				}
			}
			if comm.Rank() == 0 {
				t.Logf("%d bytes: %v; best of %d: %s, %g s", size, chosen, plans, how, best)
				if !(chosen.Measured <= 1.05*best) {
					return fmt.Errorf("chosen %v, best %s with %g s", chosen, how, best)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
