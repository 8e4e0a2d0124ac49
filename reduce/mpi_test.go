package reduce_test

import (
	"math/rand/v2"
	"slices"
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

func TestMPIARefusedReductionIsTold(t *testing.T) {
	c := mpitest.MPIWorld(t)
	if c.Size() == 1 {
		t.Skip("nobody to tell")
	}
	for wrong := range c.Size() {
		if err := refusals(c, wrong); err != nil {
			t.Fatal(err)
		}
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

// Over the MPI library, too, sums are those of exact arithmetic, whichever rank has which numbers.
func TestMPIReproducibleSums(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := reduce.New(c, &reduce.Settings{Budget: 20 * time.Millisecond, Reproducible: true})
	if err != nil {
		t.Fatal(err)
	}
	const length = 1000
	vectors := vectorsOf[float64](kinds()[0], rand.New(rand.NewPCG(1, 1)), c.Size(), length)
	var want []float64
	for first := range c.Size() {
		values := slices.Clone(vectors[(first+c.Rank())%c.Size()])
		if err := reduce.AllreduceSlice(r, values, mpi.Sum); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = values
		}
		if !slices.Equal(values, want) {
			t.Errorf("rank %d: sums depend on who has the numbers", c.Rank())
		}
	}
	if c.Size() > 2 {
		if err := checkSums(vectors, want); err != nil {
			t.Error(err)
		}
	}
}
