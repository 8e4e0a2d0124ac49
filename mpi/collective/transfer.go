package collective

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// None is the rank of nobody: Sendrecv sends nothing to it, and receives nothing from it.
const None = -1

// Sendrecv sends values to rank dst and receives values from rank src at once, with the tag. So ranks may shift
// values along a ring or exchange them with each other, whether Send buffers or not. dst or src may be None, and both may
// be the calling rank. The buffers must not overlap.
//
// Communicators with requests (mpi.NonBlocking) send and receive at the same time. On others the lower rank of a pair
// sends first. That cannot lock up where every message has both ends in a Sendrecv, and each rank sends and receives one
// message at a time; the messages of a ring then follow one another.
func Sendrecv[T comparable](c *Comm, recv []T, src int, send []T, dst, tag int) error {
	err := checkType[T](c)
	if err == nil {
		err = c.checkPeers(src, dst, tag)
	}
	switch {
	case err != nil:
	case src != c.rank && dst != c.rank:
		err = c.exchange(bytesOf(send), dst, bytesOf(recv), src, tag)
	case src != dst:
		err = fmt.Errorf("from rank %d to rank %d on rank %d: %w: want both or neither to be the calling rank", src, dst, c.rank, mpi.ErrRank)
	case len(recv) != len(send):
		err = fmt.Errorf("%d values from rank %d itself for %d: %w", len(send), c.rank, len(recv), mpi.ErrLength)
	default:
		copy(recv, send)
	}
	return failed("Sendrecv", err)
}

// checkPeers refuses ranks and tags before anything is sent: a receive that is left behind would take a later message.
func (c *Comm) checkPeers(src, dst, tag int) error {
	for _, peer := range [...]int{src, dst} {
		if peer != None && uint(peer) >= uint(c.size) {
			return fmt.Errorf("rank %d: %w: want in [0, %d)", peer, mpi.ErrRank, c.size)
		}
	}
	if uint(tag) > mpi.MaxTag {
		return fmt.Errorf("tag %d: %w: want in [0, %d]", tag, mpi.ErrTag, mpi.MaxTag)
	}
	return nil
}

// exchange sends out to dst and receives in from src at once. None leaves out either. Messages longer than the limit are
// cut; both ends know the lengths, and so the parts.
func (c *Comm) exchange(out []byte, dst int, in []byte, src, tag int) error {
	for sends, recvs := dst != None, src != None; sends || recvs; {
		sent, received := min(len(out), c.limit), min(len(in), c.limit)
		to, from := dst, src
		if !sends {
			to = None
		}
		if !recvs {
			from = None
		}
		if err := c.exchangeOnce(out[:sent], to, in[:received], from, tag); err != nil {
			return err
		}
		out, in = out[sent:], in[received:]
		sends, recvs = sends && len(out) > 0, recvs && len(in) > 0
	}
	return nil
}

func (c *Comm) exchangeOnce(out []byte, dst int, in []byte, src, tag int) error {
	switch {
	case src == None:
		return c.comm.Send(out, dst, tag)
	case dst == None:
		return c.comm.Recv(in, src, tag)
	case c.set != nil:
		if err := c.set.Isend(out, dst, tag); err != nil {
			return err
		}
		if err := c.comm.Recv(in, src, tag); err != nil {
			return err
		}
		return c.set.WaitAll()
	case dst > c.rank:
		if err := c.comm.Send(out, dst, tag); err != nil {
			return err
		}
		return c.comm.Recv(in, src, tag)
	}
	if err := c.comm.Recv(in, src, tag); err != nil {
		return err
	}
	return c.comm.Send(out, dst, tag)
}

func (c *Comm) send(buf []byte, dst int) error { return c.exchange(buf, dst, nil, None, tag) }
func (c *Comm) recv(buf []byte, src int) error { return c.exchange(nil, None, buf, src, tag) }
