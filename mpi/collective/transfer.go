package collective

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// None is the rank of nobody: Sendrecv sends nothing to it, and receives nothing from it.
const None = -1

// Sendrecv sends values to rank dst and receives others from rank src at once, so that ranks may
// shift values along a ring or exchange them with each other, whether Send buffers or
// not: by requests where the communicator has them. Else the lower rank of a pair sends
// first, which cannot lock up where every message has both ends in a Sendrecv and each rank sends and
// receives one at a time; along a ring, messages then follow one another.
//
// One of both may be None, and both the calling rank itself. The buffers must not overlap.
func Sendrecv[T comparable](comm mpi.Communicator, recv []T, src int, send []T, dst, tag int) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err != nil {
		return failed("Sendrecv", err)
	}
	// Before anything is sent: a receive that is left behind would take a later message.
	for _, peer := range [...]int{src, dst} {
		if peer != None && uint(peer) >= uint(c.all.size) {
			return failed("Sendrecv", fmt.Errorf("rank %d: %w: want in [0, %d)", peer, mpi.ErrRank, c.all.size))
		}
	}
	if uint(tag) > mpi.MaxTag {
		return failed("Sendrecv", fmt.Errorf("tag %d: %w: want in [0, %d]", tag, mpi.ErrTag, mpi.MaxTag))
	}
	me := c.all.me
	if src == me || dst == me {
		if src != dst {
			return failed("Sendrecv", fmt.Errorf("from rank %d to rank %d on rank %d: %w: want both or none its own", src, dst, me, mpi.ErrRank))
		}
		if len(recv) != len(send) {
			return failed("Sendrecv", fmt.Errorf("%d values from rank %d itself for %d: %w", len(send), me, len(recv), mpi.ErrLength))
		}
		copy(recv, send)
		return nil
	}
	return failed("Sendrecv", c.exchangeTagged(bytesOf(send), dst, bytesOf(recv), src, tag))
}

// exchange sends out to dst and receives in from src at once; None leaves out either.
func (c *Comm) exchange(out []byte, dst int, in []byte, src int) error {
	return c.exchangeTagged(out, dst, in, src, c.tag)
}

func (c *Comm) exchangeTagged(out []byte, dst int, in []byte, src, tag int) error {
	for sends, recvs := dst != None, src != None; sends || recvs; {
		// Messages have a greatest length. Both ends know both lengths, and so the parts.
		now, here := min(len(out), c.limit), min(len(in), c.limit)
		to, from := dst, src
		if !sends {
			to = None
		}
		if !recvs {
			from = None
		}
		if err := c.once(out[:now], to, in[:here], from, tag); err != nil {
			return err
		}
		out, in = out[now:], in[here:]
		sends, recvs = sends && len(out) > 0, recvs && len(in) > 0
	}
	return nil
}

// once exchanges one message each way.
func (c *Comm) once(out []byte, dst int, in []byte, src, tag int) error {
	switch {
	case src == None:
		return c.Send(out, dst, tag)
	case dst == None:
		return c.Recv(in, src, tag)
	case c.set != nil:
		// Only the send is left under way: Recv refuses a message that is too long, which an Irecv of Open MPI
		// lets run past the end of the buffer.
		if err := c.set.Isend(out, dst, tag); err != nil {
			return err
		}
		if err := c.Recv(in, src, tag); err != nil {
			return err
		}
		return c.set.WaitAll()
	case dst > c.all.me:
		if err := c.Send(out, dst, tag); err != nil {
			return err
		}
		return c.Recv(in, src, tag)
	}
	if err := c.Recv(in, src, tag); err != nil {
		return err
	}
	return c.Send(out, dst, tag)
}

func (c *Comm) send(buf []byte, dst int) error { return c.exchange(buf, dst, nil, None) }
func (c *Comm) recv(buf []byte, src int) error { return c.exchange(nil, None, buf, src) }
