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

// groups are the groups of the ranks in which the library can broadcast on its own
// (schedule.Native).
type groups struct {
	own    []*group             // by index in the tree's groups; nil: the rank is no member
	levels []*group             // the same by level with groups, the finest first
	times  []predict.NativeTime // that were measured; the same on all ranks
	upTo   int                  // bytes up to which they were
}

// A group is a communicator of its ranks.
type group struct {
	mpi.Communicator
	native mpi.NativeBcast
	index  int   // in the tree's groups
	ranks  []int // by rank in it, ascending
}

// close is collective: it frees the communicators, in one order on all ranks. g may be nil.
func (g *groups) close() error {
	if g == nil {
		return nil
	}
	var wrong error
	for _, x := range g.levels {
		if x == nil {
			continue
		}
		if c, ok := x.Communicator.(io.Closer); ok {
			if err := c.Close(); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("bcast: close: group %d: %w", x.index, err))
			}
		}
	}
	return wrong
}

// broadcast is collective in the group: its part of a Native.
func (g *groups) broadcast(op schedule.Op, buf []byte) error {
	x := g.own[op.Group]
	root, _ := slices.BinarySearch(x.ranks, op.Peer)
	return x.native.Bcast(buf[op.Offset:op.Offset+op.Length], root)
}

// withoutNative are the algorithms but those that need groups.
func withoutNative(algorithms []schedule.Algorithm) []schedule.Algorithm {
	return slices.DeleteFunc(slices.Clone(algorithms), usesNative)
}

func usesNative(a schedule.Algorithm) bool {
	_, ok := a.(schedule.NativeUser)
	return ok
}
