// Package share lets the ranks of a communicator share what one of them, or each,
// knows: byte strings of any length, along a tree.
//
//	told, err := share.Binomial(comm, 0, tag).TellAny(data) // collective: data of rank 0 on all ranks
//
// It serves the small errands around measuring and broadcasting - settings, decisions,
// measurements, results - and not the broadcasts of an application, for which there is
// package bcast. A string longer than what one message carries travels in pieces, which are
// handed on one by one.
//
// All methods of a Tree are collective. No call rests on Send being buffered. Who receives
// knows the length of each message, from its caller or from a message before, so
// that ranks which disagree get an error of the communicator. After an error the
// communicator is unusable; the error names the rank, what it did and the other rank.
// Who returns it from the work of mpi.Run, local.Run or simnet.Run ends the job, so that
// no other rank waits for ever.
package share

import "github.com/topocast/topocast/mpi"

// A Tree is the place of the calling rank in a tree over all ranks of a communicator.
// It keeps nothing between two calls; like the communicator it belongs to one goroutine.
type Tree struct {
	comm     mpi.Communicator
	root     int
	tag      int
	parent   int      // -1: this rank is the root
	branches []branch // smallest first
	piece    int      // bytes that one message carries, at most
}

// A branch is a child and all below it: consecutive ranks, counted from the root round to it.
type branch struct {
	child int // the first of them
	ranks int
}

// Binomial returns the caller's place in the binomial tree from a root: a string has reached all
// ranks after log2(Size()) messages one after the other. All ranks give the same root, a
// rank of the communicator, and the same tag, which nobody uses otherwise meanwhile.
// O(log Size()): a whole tree on every rank is too much where thousands share a process.
func Binomial(comm mpi.Communicator, root, tag int) *Tree {
	t, ranks := newTree(comm, root, tag), comm.Size()
	from := (comm.Rank() - root + ranks) % ranks // counted from the root
	parent, children := BinomialPlace(from, ranks)
	if parent >= 0 {
		t.parent = (root + parent) % ranks
	}
	for _, c := range children {
		t.branches = append(t.branches, branch{(root + c) % ranks, min(c-from, ranks-c)})
	}
	return t
}

// BinomialPlace returns the parent and the children of a place in the binomial tree over n places, whose root is place 0. The
// parent of the root is -1. The child with the fewest places below it comes first.
func BinomialPlace(place, n int) (parent int, children []int) {
	parent = place & (place - 1) // without the lowest bit
	if place == 0 {
		parent = -1
	}
	for bit := 1; place&bit == 0 && place+bit < n; bit <<= 1 {
		children = append(children, place+bit)
	}
	return parent, children
}

// Star returns the caller's place in the tree in which all ranks are children of the root: Size()
// messages one after the other. It takes what Binomial does. It is for few ranks.
func Star(comm mpi.Communicator, root, tag int) *Tree {
	t, ranks := newTree(comm, root, tag), comm.Size()
	if comm.Rank() != root {
		t.parent = root
		return t
	}
	for from := 1; from < ranks; from++ {
		t.branches = append(t.branches, branch{(root + from) % ranks, 1})
	}
	return t
}

func newTree(comm mpi.Communicator, root, tag int) *Tree {
	return &Tree{comm: comm, root: root, tag: tag, parent: -1, piece: longest}
}

// IsRoot tells whether the calling rank is the root.
func (t *Tree) IsRoot() bool { return t.parent < 0 }
