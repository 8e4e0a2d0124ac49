package bcast

import (
	"fmt"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// unlike is a simulated communicator without a broadcast of its own.
type unlike struct {
	mpi.Communicator
	mpi.Clock
	mpi.NonBlocking
	mpi.Placed
}

// An adapting job broadcasts in a loop while the cluster changes, and notes on each rank after which
// broadcast the plan was another one.
type adapting struct {
	names       [][]string // by rank: of the plans, in their order
	changes     [][]int    // by rank: broadcasts after which they came
	loop, extra float64    // s, on rank 0: of the broadcasts, and of what came in addition
	dearest     float64    // s, the dearest try
	tries       int
}

// run is what each rank does: so many broadcasts of size bytes, a millisecond apart; of each the bytes are checked.
func (j *adapting) run(comm mpi.Communicator, b *Broadcaster, clock mpi.Clock, work func(float64), broadcasts, size int) error {
	me := comm.Rank()
	note := func(at int) error {
		plan, err := b.Plan(size, 0)
		if n := len(j.names[me]); n == 0 || j.names[me][n-1] != plan.Name() {
			j.names[me] = append(j.names[me], plan.Name())
			j.changes[me] = append(j.changes[me], at)
		}
		return err
	}
	if err := b.Tune(0, size); err != nil {
		return err
	}
	if err := note(0); err != nil {
		return err
	}
	watch, err := b.stopwatch()
	if err != nil {
		return err
	}
	c := b.cells[b.key(size, 0)]
	buf := make([]byte, size)
	usual := 0.0
	for at := range broadcasts {
		work(1e-3)
		fill(buf, uint64(at), me == 0)
		if err := watch.Max(nil); err != nil { // all are here
			return err
		}
		begin := clock.Now()
		if err := b.Bcast(buf, 0); err != nil {
			return err
		}
		tried := c.since == 0
		if !matches(buf, uint64(at)) {
			return fmt.Errorf("broadcast %d: wrong bytes", at)
		}
		if err := watch.Max(nil); err != nil { // all have it
			return err
		}
		took := clock.Now() - begin
		if me == 0 {
			if tried {
				cost := took - usual
				j.extra, j.dearest, j.tries = j.extra+cost, max(j.dearest, cost), j.tries+1
			} else {
				usual = took
			}
			j.loop += usual
		}
		if err := note(at); err != nil {
			return err
		}
	}
	return nil
}

// In the middle of a job the link between two racks becomes a hundred times as slow, over which a star sends four
// messages and a chain one: the job goes over from one plan of ours to the other, on all ranks after the same
// broadcast, beside a library's broadcast that is no match for either and where there is none. What the looking costs is
// within the share, and the stock of tries.
func TestAdaptGoesFromPlanToPlan(t *testing.T) {
	c, n := cluster(t, "tree:2x4 latency=800us,200us rate=1Gbps")
	const (
		share      = 0.1
		broadcasts = 600
		size       = 8 << 10
		slowFrom   = 1.2 // s
	)
	settings := *overheads
	hosts := c.Graph.Hosts()
	for _, a := range c.Graph.Arcs() {
		if a.From >= hosts && a.To >= hosts { // two switches
			settings.Faults.SlowDirections = append(settings.Faults.SlowDirections, simnet.SlowDirection{From: a.From, To: a.To, Rate: 0.01, At: slowFrom})
		}
	}
	for _, native := range []bool{true, false} {
		j := adapting{names: make([][]string, c.Graph.Hosts()), changes: make([][]int, c.Graph.Hosts())}
		before := 0 // broadcasts, on rank 0
		err := simnet.Run(c.Graph, nil, &settings, func(comm mpi.Communicator) error {
			s := comm.(*simnet.Comm)
			var over mpi.Communicator = unlike{comm, s, s, s}
			if native {
				l := newLibrary(comm, schedule.Binomial{}, 0)
				l.more = func(int, int, int, float64) float64 { return 5e-3 }
				over = l
			}
			b, err := New(over, &Settings{Network: n, Adapt: share, Algorithms: []schedule.Algorithm{schedule.Chain{}, schedule.Flat{}}})
			if err != nil {
				return err
			}
			work := func(seconds float64) {
				if comm.Rank() == 0 && s.Now() < slowFrom {
					before++
				}
				s.Sleep(seconds)
			}
			return j.run(over, b, s, work, broadcasts, size)
		})
		if err != nil {
			t.Errorf("native %v: %v", native, err)
			continue
		}
		t.Logf("native %v: %v after %v, slow from %d, %d tries, %.3g of %.3g s", native, j.names[0], j.changes[0], before, j.tries, j.extra, j.loop)
		if want := []string{"flat", "chain"}; !slices.Equal(j.names[0], want) || j.changes[0][1] < before || j.changes[0][1] > before+200 {
			t.Errorf("native %v: %v after %v, want %v soon after %d", native, j.names[0], j.changes[0], want, before)
		}
		for rank := range j.changes {
			if !slices.Equal(j.changes[rank], j.changes[0]) || !slices.Equal(j.names[rank], j.names[0]) {
				t.Errorf("native %v: rank %d has %v after %v, rank 0 %v after %v", native, rank, j.names[rank], j.changes[rank], j.names[0], j.changes[0])
			}
		}
		if j.tries < 8 || j.extra > share*j.loop+23*j.dearest {
			t.Errorf("native %v: %d tries cost %g s, broadcasts %g, the dearest %g", native, j.tries, j.extra, j.loop, j.dearest)
		}
	}
}

// Ibcast counts as a broadcast and never compares; the next Bcast does.
func TestIbcastLeavesComparingToBcast(t *testing.T) {
	c, n := cluster(t, "star:4 latency=20us rate=1Gbps")
	const size = 32 << 10
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		s := comm.(*simnet.Comm)
		b, err := New(unlike{comm, s, s, s}, &Settings{Network: n, Adapt: 0.5})
		if err != nil {
			return err
		}
		if err := b.Tune(0, size); err != nil {
			return err
		}
		cell := b.cells[b.key(size, 0)]
		for i := range 10 * firstTry {
			if err := verified(comm, size, 0, func(buf []byte) error {
				p, err := b.Ibcast(buf, 0)
				if err != nil {
					return err
				}
				return p.Wait()
			}); err != nil {
				return err
			}
			if cell.keeper != nil || cell.since != i+1 {
				return fmt.Errorf("after %d of Ibcast: %+v", i+1, cell.watched)
			}
		}
		err = verified(comm, size, 0, func(buf []byte) error { return b.Bcast(buf, 0) })
		if err == nil && (cell.keeper == nil || cell.since != 0) {
			err = fmt.Errorf("Bcast has compared nothing: %+v", cell.watched)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
