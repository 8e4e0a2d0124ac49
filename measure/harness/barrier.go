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
	ranks []int // nil: all
	place int   // of the calling rank in ranks
	set   mpi.Requests
	out   []byte
	in    []byte
	watch *watch // nil: none
}

// NewBarrier returns a barrier of all ranks.
func NewBarrier(comm mpi.Communicator) *Barrier {
	return &Barrier{comm: comm, place: comm.Rank(), set: mpi.NewRequests(comm), out: make([]byte, 1), in: make([]byte, 1)}
}

// Barrier returns a barrier of the given ranks, whose order is the
// same on all of them. It panics if the calling rank is not among them.
// Barriers of ranks in common must not be waited for at once.
func (c *Conductor) Barrier(ranks []int) *Barrier {
	b := NewBarrier(c.Comm)
	b.watch, b.ranks = c.silence, slices.Clone(ranks)
	if b.place = slices.Index(ranks, c.Comm.Rank()); b.place < 0 {
		panic(fmt.Sprintf("harness: rank %d is not among the ranks of its barrier", c.Comm.Rank()))
	}
	return b
}

// Wait returns when all ranks of the barrier have called it, with the greatest
// of their words: the same one on all. It is collective among them, and takes
// ceil(log2 n) messages of each.
func (b *Barrier) Wait(word byte) (byte, error) { return b.wait(word, meeting, meetLimits) }

// wait is Wait where the first step may take so many limits.
func (b *Barrier) wait(word byte, doing doing, limits int) (byte, error) {
	n := b.comm.Size()
	if b.ranks != nil {
		n = len(b.ranks)
	}
	b.out[0] = word
	defer b.watch.done()
	for d := 1; d < n; d, limits = 2*d, limits+1 {
		b.watch.wait(b.rank((b.place-d+n)%n), doing, limits)
		if err := b.step(b.rank((b.place+d)%n), b.rank((b.place-d+n)%n)); err != nil {
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

// step sends to one rank and receives from another.
func (b *Barrier) step(to, from int) error {
	if err := b.set.Irecv(b.in, from, tagBarrier); err != nil {
		return err
	}
	if err := b.set.Isend(b.out, to, tagBarrier); err != nil {
		return err
	}
	return b.set.WaitAll()
}
