//go:build linux

package collective

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// By the library's own collectives and by messages, with all abilities and without.
func TestMPICollectives(t *testing.T) {
	world := mpitest.MPIWorld(t)
	for seed, comm := range []mpi.Communicator{world, plain{world}} {
		if err := exercise(comm, 3, uint64(seed)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(misuse(world), misuseOfNative(world)); err != nil {
		t.Fatal(err)
	}
	if err := warmNative(world); err != nil {
		t.Fatal(err)
	}
	if err := tooLong(world); err != nil {
		t.Fatal(err)
	}
	if err := tuned(world); err != nil {
		t.Fatal(err)
	}
}

// misuseOfNative expects refusals before the library is called, which would take lengths for granted.
func misuseOfNative(world *mpi.Comm) error {
	ranks, me := world.Size(), world.Rank()
	var wrong []error
	expect := func(err, class error) {
		if !errors.Is(err, class) {
			wrong = append(wrong, errors.New("number "+string(rune('0'+len(wrong)))+" of the misuses: "+class.Error()+" is not told"))
		}
	}
	ones := make([]int, ranks)
	for i := range ones {
		ones[i] = 1
	}
	one, all := make([]byte, 1), make([]byte, ranks)
	less := append([]int{-1}, ones[1:]...)
	expect(world.Reduce(one, mpi.Int8, mpi.Sum, ranks), mpi.ErrRank)
	expect(world.Reduce(one, mpi.Int16, mpi.Sum, 0), mpi.ErrLength)
	expect(world.Allreduce(one, 77, mpi.Sum), mpi.ErrOther)
	expect(world.Allreduce(one, mpi.Int8, 77), mpi.ErrOther)
	expect(world.Gather(all, ones, one, -1), mpi.ErrRank)
	expect(world.Gather(all, ones, nil, me), mpi.ErrLength)
	expect(world.Gather(append(all, 0), ones, one, me), mpi.ErrLength)
	expect(world.Scatter(one, all, nil, me), mpi.ErrLength)
	expect(world.Allgather(all, less, one), mpi.ErrLength)
	expect(world.Alltoall(all, ones, all[1:], ones), mpi.ErrLength)
	return errors.Join(wrong...)
}

// warmNative expects the library's own collectives not to allocate.
func warmNative(world *mpi.Comm) error {
	c, err := New(world, nil)
	if err != nil {
		return err
	}
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
		err = errors.New("the library's own collectives allocate")
	}
	return err
}

// tooLong lets two ranks exchange more than either has room for: it is refused, and what lies behind the room stays, also
// under an Open MPI whose single copy would overwrite it.
func tooLong(world *mpi.Comm) error {
	me := world.Rank()
	if me > 1 || world.Size() == 1 {
		return nil
	}
	c, err := wrap(world, 11)
	if err != nil {
		return err
	}
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

// tuned expects the library's own to be decided about, and results to stay right.
func tuned(world *mpi.Comm) error {
	c, err := New(world, nil)
	if err != nil {
		return err
	}
	for _, name := range kindNames() {
		if _, err := c.Tune(name, 64, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return exercise(c, 1, 5)
}
