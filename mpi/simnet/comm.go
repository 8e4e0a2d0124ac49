package simnet

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// A Comm is the communicator of a simulated rank.
type Comm struct {
	world  *world
	rank   *rank
	group  *group
	me     int // rank in the group
	isOpen bool
}

// A group is what the communicators of its ranks have in common.
type group struct {
	id    uint32
	ranks []int32 // rank in the group -> rank of the world
	split splitting
}

var _ interface {
	mpi.Communicator
	mpi.SyncSender
	mpi.NonBlocking
	mpi.Clock
	mpi.Placed
	mpi.Timed
	mpi.Splitter
	io.Closer
} = (*Comm)(nil)

// Rank is the number of the rank in this communicator.
func (c *Comm) Rank() int { return c.me }

// Size is the number of ranks.
func (c *Comm) Size() int { return len(c.group.ranks) }

// Send sends buf. Up to Settings.EagerLimit it returns when the overhead of
// sending has passed, above when the message has arrived.
func (c *Comm) Send(buf []byte, dst, tag int) error { return c.send("Send", buf, dst, tag, false) }

// Ssend sends buf as if it were above Settings.EagerLimit.
func (c *Comm) Ssend(buf []byte, dst, tag int) error { return c.send("Ssend", buf, dst, tag, true) }

func (c *Comm) send(op string, buf []byte, dst, tag int, synchronous bool) error {
	if err := c.check(op, len(buf), dst, tag); err != nil {
		return err
	}
	r := c.rank
	if err := c.world.send(r, &r.own, buf, len(buf), c.keyTo(dst, tag), synchronous); err != nil {
		return c.fail(op, dst, tag, err)
	}
	return c.await(op, dst, tag)
}

// Recv receives a message of len(buf) bytes.
func (c *Comm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	r := c.rank
	c.world.receive(r, &r.own, buf, len(buf), c.keyFrom(src, tag))
	return c.await("Recv", src, tag)
}

// await waits for the rank's own transfer.
func (c *Comm) await(op string, peer, tag int) error {
	r := c.rank
	if !r.own.ready() {
		if err := r.block(pending{op: op, comm: c, peer: peer, tag: tag}); err != nil {
			return c.fail(op, peer, tag, err)
		}
	}
	_, err := r.own.finish()
	return c.fail(op, peer, tag, err)
}

// Now is the rank's virtual time in s. All ranks have the same clock unless Settings.Clocks says otherwise.
func (c *Comm) Now() float64 {
	t := c.rank.readClock().seconds()
	return t + c.rank.ahead + c.rank.fast*t
}

// Sleep lets the rank compute for so many seconds, at least 0.
func (c *Comm) Sleep(seconds float64) {
	if seconds > 0 {
		takes := picoseconds(seconds)
		c.rank.clock = min(forever, c.rank.clock+takes+c.rank.held(c.rank.clock, takes))
	}
}

// Place is the machine that the rank runs on. Core is the number of the rank's host among those of its machine,
// -1 without Settings.Node. CPUs is one that no other rank has: Core for the first rank of a host, numbers
// above those of the machine's hosts for further ones. Ranks that a placement puts on one host share its links
// and memory, but none waits for another's overheads.
func (c *Comm) Place() mpi.Place {
	p := mpi.Place{Host: c.world.graph.Name(int(c.rank.host)), Core: -1, CPUs: []int{int(c.rank.cpu)}}
	if nodes := c.world.settings.Node; nodes != nil {
		p.Host, p.Core = fmt.Sprintf("n%d", nodes[c.rank.host]), int(c.rank.core)
	}
	return p
}

// Hollow returns memory for messages of so many bytes, which all ranks share, if they carry no content; else nil. See
// Settings.HollowAbove.
func (c *Comm) Hollow(bytes int) []byte {
	w := c.world
	if !w.isHollow(bytes) {
		return nil
	}
	if len(w.hollow) < bytes {
		w.hollow = make([]byte, bytes)
	}
	return w.hollow[:bytes]
}

// Close makes the communicator unusable on this rank.
func (c *Comm) Close() error {
	c.isOpen = false
	return nil
}

func (c *Comm) keyTo(dst, tag int) matchKey {
	return newKey(c.group.id, tag, c.rank.id, c.group.ranks[dst])
}

func (c *Comm) keyFrom(src, tag int) matchKey {
	return newKey(c.group.id, tag, c.group.ranks[src], c.rank.id)
}

// rankOf is the rank in this communicator of a rank of the world; -1: it has none.
func (c *Comm) rankOf(world int32) int {
	return slices.Index(c.group.ranks, world)
}

// fail says of an error which operation it has ended; nil for nil.
func (c *Comm) fail(op string, peer, tag int, err error) error {
	if err == nil {
		return nil
	}
	return &mpi.Error{Op: op, Rank: c.me, Peer: peer, Tag: tag, Err: err}
}

// usable finds whether the communicator can be used at all.
func (c *Comm) usable(op string, peer, tag int) error {
	if !c.isOpen {
		return c.fail(op, peer, tag, mpi.ErrClosed)
	}
	return c.fail(op, peer, tag, c.rank.fate())
}

// check finds what is wrong with an operation, on the spot.
func (c *Comm) check(op string, size, peer, tag int) error {
	switch {
	case !c.isOpen:
		return c.fail(op, peer, tag, mpi.ErrClosed)
	case peer < 0 || peer >= len(c.group.ranks) || peer == c.me:
		return c.fail(op, peer, tag, mpi.ErrRank)
	case tag < 0 || tag > mpi.MaxTag:
		return c.fail(op, peer, tag, mpi.ErrTag)
	case size < 0 || size > math.MaxInt32:
		return c.fail(op, peer, tag, mpi.ErrCount)
	}
	return c.fail(op, peer, tag, c.rank.fate())
}
