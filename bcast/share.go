package bcast

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A crew is the ranks of a communicator as the ends of small errands: to tell
// all what one knows, and to collect at one what all know. Errands run along a
// binomial tree. All of its functions are collective.
type crew struct {
	exec *executor
	root int
	links
}

func newCrew(exec *executor, root int) *crew {
	return &crew{exec, root, crewLinks(exec.comm.Size(), root, exec.comm.Rank())}
}

// crewLinks is the place of one rank in the tree. Counted from the root, a rank's
// parent lacks its lowest bit, and its children have one bit more, below that.
// O(log ranks): a whole tree on every rank is too much where thousands share
// a process.
func crewLinks(ranks, root, rank int) links {
	from := (rank - root + ranks) % ranks
	l := links{parent: -1}
	if from > 0 {
		l.parent = (root + from&(from-1)) % ranks
	}
	for bit := 1; from&bit == 0 && from+bit < ranks; bit <<= 1 {
		l.children = append(l.children, (root+from+bit)%ranks)
	}
	slices.Reverse(l.children) // the greatest subtree is told first
	return l
}

// tell copies buf of the root to all ranks.
func (c *crew) tell(buf []byte) error {
	return c.exec.inOrder(c.ops(nil, Problem{Bytes: len(buf)}), buf)
}

// tellAny tells bytes of which only the root knows how many they are.
func (c *crew) tellAny(buf []byte) ([]byte, error) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(buf)))
	if err := c.tell(length[:]); err != nil {
		return nil, err
	}
	if c.parent >= 0 {
		buf = make([]byte, binary.LittleEndian.Uint64(length[:]))
	}
	return buf, c.tell(buf)
}

// collect hands buf from the leaves to the root. merge takes the buffer of a
// child into the rank's own before that goes on.
func (c *crew) collect(buf, scratch []byte, merge func(child []byte)) error {
	for i := len(c.children) - 1; i >= 0; i-- { // the smallest subtree is the first to be ready
		if err := c.exec.comm.Recv(scratch, c.children[i], c.exec.tag); err != nil {
			return c.failed("collect", c.children[i], err)
		}
		merge(scratch)
	}
	if c.parent >= 0 {
		if err := c.exec.comm.Send(buf, c.parent, c.exec.tag); err != nil {
			return c.failed("collect", c.parent, err)
		}
	}
	return nil
}

func (c *crew) failed(what string, peer int, err error) error {
	return c.exec.note(fmt.Errorf("bcast: rank %d: %s, peer %d: %w", c.exec.comm.Rank(), what, peer, err))
}
