package measure

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const (
	tagBarrier = iota
	tagProbe
	tagPilot
	tagData
)

// A wish for what comes next. The greatest of all ranks' counts.
type wish byte

const (
	goOn       wish = iota
	deliver         // the readings so far, to rank 0
	replan          // fewer repetitions or samples
	finish          // all is measured
	stopBudget      // all wishes but the last are rank 0's
	stopCancelled
)

// reason is the wish as Result.Stopped has it.
func (w wish) reason() string {
	switch w {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}

// A barrier is a dissemination among all ranks (Hensgen, Finkel, Manber
// 1988): in step k, rank i sends to i+2^k and receives from i-2^k. After
// ceil(log2 n) steps each rank has heard of all.
type barrier struct {
	comm mpi.Communicator
	set  mpi.Requests // nil if comm cannot make one
	out  []byte
	in   []byte
}

func newBarrier(comm mpi.Communicator) *barrier {
	b := &barrier{comm: comm, out: make([]byte, 1), in: make([]byte, 1)}
	if nb, ok := comm.(mpi.NonBlocking); ok {
		b.set = nb.NewRequests()
	}
	return b
}

// wait returns when all ranks have called it, with the greatest of their
// wishes: the same one on all. Collective.
func (b *barrier) wait(w wish) (wish, error) {
	n, rank := b.comm.Size(), b.comm.Rank()
	b.out[0] = byte(w)
	for d := 1; d < n; d *= 2 {
		if err := b.step((rank+d)%n, (rank-d+n)%n, rank/d%2 == 0); err != nil {
			return goOn, fmt.Errorf("barrier: %w", err)
		}
		b.out[0] = max(b.out[0], b.in[0])
	}
	return wish(b.out[0]), nil
}

// step sends to one rank and receives from another. With blocking calls, the
// ranks of each cycle i, i+d, i+2d, ... are split by the parity of i/d: as each
// cycle has a rank below d and one in [d, 2d), some send first and some receive
// first, so that no cycle can wait for itself.
func (b *barrier) step(to, from int, sendFirst bool) error {
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
