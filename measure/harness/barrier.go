package harness

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// A Barrier is a dissemination among ranks (Hensgen, Finkel, Manber 1988): in
// step k, the i-th of n sends to the (i+2^k)-th and receives from the
// (i-2^k)-th. After ceil(log2 n) steps each has heard of all. It carries a
// word of one byte, of which the greatest counts.
type Barrier struct {
	comm  mpi.Communicator
	ranks []int        // nil: all
	place int          // of the calling rank in ranks
	set   mpi.Requests // nil if comm cannot make one
	out   []byte
	in    []byte
	watch *Watch // nil: none
}

// NewBarrier returns a barrier of all ranks.
func NewBarrier(comm mpi.Communicator) *Barrier {
	b := &Barrier{comm: comm, place: comm.Rank(), out: make([]byte, 1), in: make([]byte, 1)}
	if nb, ok := comm.(mpi.NonBlocking); ok {
		b.set = nb.NewRequests()
	}
	return b
}

// NewSubsetBarrier returns a barrier of the given ranks, whose order is the
// same on all of them. It panics if the calling rank is not among them.
// Barriers of ranks in common must not be waited for at once.
func NewSubsetBarrier(comm mpi.Communicator, ranks []int) *Barrier {
	b := NewBarrier(comm)
	b.ranks = slices.Clone(ranks)
	if b.place = slices.Index(ranks, comm.Rank()); b.place < 0 {
		panic(fmt.Sprintf("harness: rank %d is not among the ranks of its barrier", comm.Rank()))
	}
	return b
}

// Under makes a watch look after those who wait in the barrier, and returns it.
func (b *Barrier) Under(w *Watch) *Barrier {
	b.watch = w
	return b
}

// Wait returns when all ranks of the barrier have called it, with the greatest
// of their words: the same one on all. It is collective among them, and takes
// ceil(log2 n) messages of each.
func (b *Barrier) Wait(word byte) (byte, error) {
	n := b.comm.Size()
	if b.ranks != nil {
		n = len(b.ranks)
	}
	b.out[0] = word
	defer b.watch.Done()
	for d, limits := 1, 2; d < n; d, limits = 2*d, limits+1 {
		b.watch.Wait(b.rank((b.place-d+n)%n), Meeting, limits)
		if err := b.step(b.rank((b.place+d)%n), b.rank((b.place-d+n)%n), b.place/d%2 == 0); err != nil {
			return 0, fmt.Errorf("barrier: %w", err)
		}
		b.out[0] = max(b.out[0], b.in[0])
	}
	return b.out[0], nil
}

// rank is the one at a place of the barrier.
func (b *Barrier) rank(place int) int {
	if b.ranks == nil {
		return place
	}
	return b.ranks[place]
}

// step sends to one rank and receives from another. With blocking calls, the
// ranks of each cycle i, i+d, i+2d, ... are split by the parity of i/d: as each
// cycle has a rank below d and one in [d, 2d), some send first and some receive
// first, so that no cycle can wait for itself.
func (b *Barrier) step(to, from int, sendFirst bool) error {
	if b.set != nil {
		if err := b.set.Irecv(b.in, from, tagBarrier); err != nil {
			return err
		}
		if err := b.set.Isend(b.out, to, tagBarrier); err != nil {
			return err
		}
		return b.set.WaitAll()
	}
	if sendFirst {
		if err := b.comm.Send(b.out, to, tagBarrier); err != nil {
			return err
		}
		return b.comm.Recv(b.in, from, tagBarrier)
	}
	if err := b.comm.Recv(b.in, from, tagBarrier); err != nil {
		return err
	}
	return b.comm.Send(b.out, to, tagBarrier)
}
