package main

import (
	"math"
	"unsafe"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
)

// A caster broadcasts panels along a row or a column of the grid.
type caster interface {
	// cast broadcasts.
	cast(panel []float64, root int) error

	// start begins a broadcast, of which there is one at a time.
	start(panel []float64, root int) (pending, error)

	// predict is what it takes, in s; NaN if that is not known.
	predict(bytes, root int) float64
}

// pending is a broadcast under way.
type pending interface {
	Test() (bool, error)
	Wait() error
}

// along broadcasts along the wiring.
type along struct{ *bcast.Broadcaster }

func (a along) cast(panel []float64, root int) error {
	return bcast.BcastSlice(a.Broadcaster, panel, root)
}

func (a along) start(panel []float64, root int) (pending, error) {
	return bcast.IbcastSlice(a.Broadcaster, panel, root)
}

func (a along) predict(bytes, root int) float64 {
	plan, err := a.Plan(bytes, root)
	switch {
	case err != nil:
		return math.NaN()
	case math.IsNaN(plan.Predicted): // the library's own is used, of which nothing is known but what its contest has measured
		return plan.Measured
	}
	return plan.Predicted
}

// native is the library's own broadcast.
type native struct {
	comm  mpi.NativeBcast
	begun mpi.Requests // nil: it cannot be left under way
	rival along        // of the same ranks, which knows what it has taken
}

// newNative returns nil if there is none.
func newNative(comm mpi.Communicator, rival along) *native {
	b, ok := comm.(mpi.NativeBcast)
	if !ok {
		return nil
	}
	n := &native{comm: b, rival: rival}
	if r, ok := comm.(mpi.NonBlocking); ok {
		set := r.NewRequests()
		_, starts := set.(mpi.Ibcaster)
		if starts {
			n.begun = set
		}
	}
	return n
}

func bytesOf(panel []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(panel))), 8*len(panel))
}

func (n *native) cast(panel []float64, root int) error { return n.comm.Bcast(bytesOf(panel), root) }

func (n *native) start(panel []float64, root int) (pending, error) {
	return underWay{n.begun}, n.begun.(mpi.Ibcaster).Ibcast(bytesOf(panel), root)
}

// predict is what it took in its contest with ours: which algorithm the library takes is not known.
func (n *native) predict(bytes, root int) float64 {
	plan, err := n.rival.Plan(bytes, root)
	if err != nil {
		return math.NaN()
	}
	return plan.MeasuredNative
}

// underWay is a broadcast of the library. Where it is done the set is empty, for which nobody waits.
type underWay struct{ mpi.Requests }

func (u underWay) Wait() error { return u.WaitAll() }
