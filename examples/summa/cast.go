package main

import (
	"math"
	"unsafe"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
)

// A caster broadcasts panels along a row or a column of the grid.
type caster interface {
	cast(panel []float64, root int) error
	// predict is what it takes, in s; NaN if that is not known.
	predict(bytes, root int) float64
}

// along broadcasts along the wiring.
type along struct{ *bcast.Broadcaster }

func (a along) cast(panel []float64, root int) error {
	return bcast.BcastSlice(a.Broadcaster, panel, root)
}

func (a along) predict(bytes, root int) float64 {
	plan, err := a.Plan(bytes, root)
	switch {
	case err != nil:
		return math.NaN()
	case math.IsNaN(plan.Predicted): // native is used, of which nothing is known but what its contest has measured
		return plan.Measured
	}
	return plan.Predicted
}

// native is the library's own broadcast, of which nobody knows the algorithm.
type native struct{ mpi.NativeBcast }

func (n native) cast(panel []float64, root int) error {
	return n.Bcast(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(panel))), 8*len(panel)), root)
}

func (native) predict(int, int) float64 { return math.NaN() }
