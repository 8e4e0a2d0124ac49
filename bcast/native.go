package bcast

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// groups are the groups of the ranks in which native can broadcast (schedule.Native).
type groups struct {
	mine   []*group             // by index in the tree's groups; nil: this rank is no member
	times  []predict.NativeTime // that were measured; the same on all ranks
	upTo   int                  // bytes up to which they were
	finest []*group             // those of which this rank is a member, the finest first
}

// A group is a communicator of its ranks.
type group struct {
	mpi.Communicator
	native mpi.NativeBcast
	index  int   // in the tree's groups
	ranks  []int // by rank in it, ascending
}

// close is collective: it frees the communicators, in one order on all ranks. g may be nil.
func (g *groups) close() (wrong error) {
	if g == nil {
		return nil
	}
	for _, x := range g.finest {
		if c, ok := x.Communicator.(io.Closer); ok {
			if err := c.Close(); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("bcast: close: group %d: %w", x.index, err))
			}
		}
	}
	return wrong
}

// broadcast is collective in the group: its part of a schedule.Native.
func (g *groups) broadcast(op schedule.Op, buf []byte) error {
	x := g.mine[op.Group]
	root, _ := slices.BinarySearch(x.ranks, op.Peer)
	return x.native.Bcast(buf[op.Offset:op.Offset+op.Length], root)
}

// usesNative reports whether an algorithm needs native broadcasts in groups.
func usesNative(a schedule.Algorithm) bool {
	_, ok := a.(schedule.NativeUser)
	return ok
}
