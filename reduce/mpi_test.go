package reduce_test

import (
	"testing"
	"time"

	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/reduce"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// Over the MPI library: with decisions by timing, and with every algorithm that could be decided for.
func TestMPIReductions(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := reduce.New(c, &reduce.Settings{Budget: 50 * time.Millisecond, Network: casttest.NetworkOf(t, casttest.RegularTree(t, c.Size(), 2))})
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{1, 100, 3000, 200000} {
		if err := reductions(r, c, length); err != nil {
			t.Fatal(err)
		}
	}
	values := []complex128{complex(0, 1), 2}
	if err := reduce.AllreduceFunc(r, values, func(into, from []complex128) {
		for i := range from {
			into[i] += from[i]
		}
	}); err != nil || values[0] != complex(0, float64(c.Size())) {
		t.Errorf("sum by a function: %v, %v", values, err)
	}
}

func TestMPIReductionsDoNotAllocate(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := reduce.New(c, &reduce.Settings{Budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{1, 10000} {
		values := make([]float64, length)
		var failed error
		call := func() {
			if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
				failed = err
			}
		}
		call()
		if n := testing.AllocsPerRun(20, call); n != 0 || failed != nil {
			t.Errorf("rank %d, %d values: %g allocations, %v", c.Rank(), length, n, failed)
		}
	}
}
