package bcast

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A failing host sends slowly from some moment on. It blocks, as its Send is what is slow.
type failing struct {
	mpi.Communicator
	mpi.Clock
	comm  *simnet.Comm
	from  func() bool // whether it has begun
	slow  float64     // s that a message takes longer
	exec  *executor
	plan  schedule.Algorithm
	piece int
}

func (f *failing) Send(buf []byte, dst, tag int) error {
	if f.from() {
		f.comm.Sleep(f.slow)
	}
	return f.Communicator.Send(buf, dst, tag)
}

// Bcast is the library's own, over the same host.
func (f *failing) Bcast(buf []byte, root int) error {
	p := schedule.Problem{Ranks: f.Size(), Root: root, Bytes: len(buf), Segment: f.piece}
	return f.exec.run(f.plan.Ops(nil, p, f.Rank()), buf)
}

// In the middle of a job a host, in the middle of a chain and at the end of a star, begins to send
// slowly. The choice follows, on all ranks at the same broadcast, to the library's own and away from it, and what
// it costs to find out stays within the share.
func TestAdaptFollowsTheCluster(t *testing.T) {
	c, n := cluster(t, "star:4 latency=20us rate=1Gbps")
	const (
		share      = 0.1
		broadcasts = 1600
		size       = 32 << 10
		middle     = 2 // of the chain from rank 0
	)
	flat, chain := schedule.Flat{}, schedule.Chain{}
	for _, x := range []struct {
		name        string
		native      schedule.Algorithm
		algorithms  []schedule.Algorithm
		piece       int // of the library's own, bytes
		first, last string
	}{
		{"ours slows down", flat, []schedule.Algorithm{chain}, 8 << 10, "chain", "native"},
		// From the failing host flat sends 6 messages, fewer than the chain.
		{"the library's own slows down", chain, []schedule.Algorithm{flat}, 1 << 10, "native", "flat"},
	} {
		changes := make([][]int, c.Graph.Hosts())
		var loop, extra, dearest float64
		tries := 0
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			at := 0
			f := &failing{Communicator: comm, Clock: comm.(mpi.Clock), comm: comm.(*simnet.Comm), plan: x.native, piece: x.piece, slow: 3e-3}
			f.from = func() bool { return at >= broadcasts/2 && comm.Rank() == middle }
			f.exec = newExecutor(f, 3)
			b, err := New(f, &Settings{Network: n, Adapt: share, Algorithms: x.algorithms})
			if err != nil {
				return err
			}
			if err := b.Tune(0, size); err != nil {
				return err
			}
			name := func() string {
				plan, err := b.Plan(size, 0)
				if err != nil {
					return err.Error()
				}
				return plan.Name()
			}
			if name() != x.first {
				return fmt.Errorf("%s at first, want %s", name(), x.first)
			}
			last := name()
			buf := make([]byte, size)
			for ; at < broadcasts; at++ {
				begin := f.Now()
				r := b.route(size, 0)
				if r == nil { // it has changed
					r = b.enter(b.key(size, 0), b.cells[b.key(size, 0)], 0, size)
				}
				if err := b.perform(r, buf, 0); err != nil {
					return err
				}
				if err := b.watch.Max(nil); err != nil { // all have it
					return err
				}
				between := f.Now()
				tried := r.cell.since+1 == r.cell.due
				if err := b.adapted(r.cell, buf, 0); err != nil {
					return err
				}
				if comm.Rank() == 0 {
					cost := f.Now() - between
					loop += between - begin
					if tried {
						extra, dearest, tries = extra+cost, max(dearest, cost), tries+1
					}
				}
				if now := name(); now != last {
					changes[comm.Rank()] = append(changes[comm.Rank()], at)
					last = now
				}
			}
			if last != x.last {
				return fmt.Errorf("rank %d: %s in the end, want %s", comm.Rank(), last, x.last)
			}
			return verified(f, size, 1, func(buf []byte) error { return b.Bcast(buf, 1) })
		})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		t.Logf("%s: changes %v, %d tries, %.3g of %.3g s", x.name, changes[0], tries, extra, loop)
		for rank := range changes {
			if fmt.Sprint(changes[rank]) != fmt.Sprint(changes[0]) {
				t.Errorf("%s: rank %d changes after %v, rank 0 after %v", x.name, rank, changes[rank], changes[0])
			}
		}
		if len(changes[0]) != 1 || changes[0][0] < broadcasts/2 || changes[0][0] > broadcasts/2+200 {
			t.Errorf("%s: changes after %v, want one soon after %d", x.name, changes[0], broadcasts/2)
		}
		if extra > share*loop+23*dearest {
			t.Errorf("%s: %d tries cost %g s, broadcasts %g", x.name, tries, extra, loop)
		}
	}
}

// What ranks have in common with Adapt is decided for each class apart: choices of other sizes and
// roots stay, and a tuned choice is what is used until something else has won.
func TestAdaptKeepsWhatIsBest(t *testing.T) {
	c, n := cluster(t, "star:4 latency=20us rate=1Gbps")
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		b, err := New(newLibrary(comm, schedule.Chain{}, 0), &Settings{Network: n, Adapt: 0.5})
		if err != nil {
			return err
		}
		var plans []predict.Plan
		sizes := []int{64, 64 << 10}
		if err := b.Tune(2, sizes...); err != nil {
			return err
		}
		for _, size := range sizes {
			plan, err := b.Plan(size, 2)
			if err != nil {
				return err
			}
			plans = append(plans, plan)
		}
		for i := range 200 {
			size := sizes[i%2]
			if err := verified(comm, size, i%comm.Size(), func(buf []byte) error { return b.Bcast(buf, i%comm.Size()) }); err != nil {
				return err
			}
		}
		for i, size := range sizes {
			plan, err := b.Plan(size, 2)
			if err != nil || plan.How() != plans[i].How() || b.cells[b.key(size, 2)].keeper == nil {
				return fmt.Errorf("%d bytes: %v, %v, want %v still", size, plan, err, plans[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
