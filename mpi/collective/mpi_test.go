//go:build linux

package collective

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// By native collectives and by the simple algorithms.
func TestMPICollectives(t *testing.T) {
	world := mpitest.MPIWorld(t)
	for seed, comm := range []mpi.Communicator{world, plain{world}} {
		if err := exercise(comm, 3, uint64(seed)); err != nil {
			t.Fatal(err)
		}
	}
	for _, check := range []func(*mpi.Comm) error{func(c *mpi.Comm) error { return misuse(c) }, warmNative, tooLong} {
		if err := check(world); err != nil {
			t.Fatal(err)
		}
	}
}

// warmNative expects native collectives not to allocate.
func warmNative(world *mpi.Comm) error {
	c := New(world)
	var err error
	const n = 100
	ranks := world.Size()
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = n
	}
	own, all, other := make([]float64, n), make([]float64, n*ranks), make([]float64, n*ranks)
	run := func() {
		err = errors.Join(err, Barrier(c), Allreduce(c, own, mpi.Sum), Reduce(c, own, mpi.Max, 0), Gatherv(c, all, counts, own, 0),
			Scatter(c, own, all, 0), Allgather(c, all, own), Alltoallv(c, other, counts, all, counts))
	}
	for range 3 {
		run()
	}
	if allocations := testing.AllocsPerRun(20, run); allocations != 0 && err == nil {
		err = errors.New("native collectives allocate")
	}
	return err
}

// tooLong lets two ranks exchange more than either has room for. That is refused, and the memory behind the room stays, without the
// single copy of Open MPI: see package mpi.
func tooLong(world *mpi.Comm) error {
	me := world.Rank()
	if me > 1 || world.Size() == 1 {
		return nil
	}
	c := New(world)
	memory, long := make([]byte, 1<<17), make([]byte, 1<<16)
	for i := range long {
		long[i] = 1
	}
	if err := Sendrecv(c, memory[:1<<13], 1-me, long, 1-me, 11); !errors.Is(err, mpi.ErrTruncated) && !errors.Is(err, mpi.ErrLength) {
		return errors.New("64 KiB into 8 KiB: " + fmt.Sprint(err))
	}
	if bytes.IndexByte(memory[1<<13:], 1) >= 0 {
		return errors.New("64 KiB into 8 KiB: memory behind is overwritten")
	}
	return c.set.WaitAll() // for the other's refusal, so that the communicator can be used
}
