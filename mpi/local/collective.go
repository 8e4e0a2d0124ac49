package local

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/topocast/topocast/internal/split"
	"github.com/topocast/topocast/mpi"
)

// Bcast and Split are the same in all modes. Ranks write into memory that they share and count in atomics what has
// happened; a rank waits for a counter by mover.await. Whoever changes a counter wakes those that may wait for it.

// shared is what the ranks of one communicator share.
type shared struct {
	shown []shown // by root

	mu           sync.Mutex
	colors, keys []int              // of the Split under way, by rank
	arrived      int                // ranks that have called it
	parts        []mpi.Communicator // its outcome, by rank
	splits       atomic.Int64       // number of Splits done
}

// shown is the buffer that a root shows to those who copy it. A root waits in its broadcast, so it never shows two.
type shown struct {
	number  atomic.Int64 // of the broadcast, from 1
	left    atomic.Int64 // ranks that have not copied it
	readers atomic.Int64 // ranks that are copying
	buf     []byte
}

// Bcast copies the root's buffer into the buffers of all others.
func (c *comm) Bcast(buf []byte, root int) error {
	const op = "Bcast"
	if err := c.checkCollective(op, root); err != nil {
		return err
	}
	if root < 0 || root >= len(c.group) {
		return c.fail(op, root, -1, mpi.ErrRank)
	}
	if err := c.checkCount(op, len(buf), root, -1); err != nil {
		return err
	}
	c.broadcasts++
	s := &c.shared.shown[root]
	if c.rank == root {
		s.buf = buf
		s.left.Store(int64(len(c.group) - 1))
		s.number.Store(c.broadcasts)
		c.mover.wake(c.group)
		if !c.mover.await(c, op, root, &s.left, 0) {
			// A reader sees the world's end before it copies, or is seen here.
			for s.readers.Load() > 0 {
				runtime.Gosched()
			}
			return c.fail(op, root, -1, mpi.ErrAborted)
		}
		s.buf = nil
		return nil
	}
	if !c.mover.await(c, op, root, &s.number, c.broadcasts) {
		return c.fail(op, root, -1, mpi.ErrAborted)
	}
	s.readers.Add(1)
	if c.job.hasEnded.Load() {
		s.readers.Add(-1)
		return c.fail(op, root, -1, mpi.ErrAborted)
	}
	size := len(s.buf)
	copy(buf, s.buf)
	s.readers.Add(-1)
	if s.left.Add(-1) == 0 {
		c.mover.wake(c.group[root : root+1])
	}
	if err := lengthError(size, len(buf)); err != nil {
		return c.fail(op, root, -1, err)
	}
	return nil
}

// Split makes the communicators of all ranks when the last one has called it.
func (c *comm) Split(color, key int) (mpi.Communicator, error) {
	const op, none = "Split", -1
	if err := c.checkCollective(op, none); err != nil {
		return nil, err
	}
	s, n := c.shared, len(c.group)
	c.splits++
	s.mu.Lock()
	if s.colors == nil {
		s.colors, s.keys = make([]int, n), make([]int, n)
	}
	s.colors[c.rank], s.keys[c.rank] = color, key
	s.arrived++
	isLast := s.arrived == n
	if isLast {
		s.arrived, s.parts = 0, make([]mpi.Communicator, n)
		for _, members := range split.Groups(s.colors, s.keys) {
			group := make([]int, len(members))
			for i, rank := range members {
				group[i] = c.group[rank]
			}
			for i, part := range c.job.newComms(group) {
				s.parts[members[i]] = part
			}
		}
		s.splits.Add(1)
	}
	s.mu.Unlock()
	if isLast {
		c.mover.wake(c.group)
	}
	if !c.mover.await(c, op, none, &s.splits, c.splits) {
		return nil, c.fail(op, none, none, mpi.ErrAborted)
	}
	return s.parts[c.rank], nil // the next Split changes parts only when this rank has called it
}
