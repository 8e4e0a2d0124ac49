//go:build gompi && cgo

package gompi

import (
	"fmt"
	"math"
	"os"
	"unsafe"

	gompi "github.com/sbromberger/gompi"

	"github.com/topocast/topocast/mpi"
)

// A Comm is a communicator over one of gompi. Both ends of a message use a Comm.
type Comm struct {
	comm       *gompi.Communicator
	rank, size int
	flag       []byte  // one byte: see Send
	words      []int32 // scratch memory of Bcast
}

var _ interface {
	mpi.Communicator
	mpi.NativeBcast
	mpi.Failer
} = (*Comm)(nil)

// New returns a communicator over comm, which the application may go on using with other tags.
func New(comm *gompi.Communicator) *Comm {
	return &Comm{comm: comm, rank: comm.Rank(), size: comm.Size(), flag: make([]byte, 1)}
}

// Rank is the number of the calling rank.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks.
func (c *Comm) Size() int { return c.size }

// Send sends buf to rank dst. It may block until the message is received.
//
// A message of 0 bytes travels as one byte, a flag of 0. A message of 1 byte travels as two messages, a flag of 1 and the byte.
// Longer messages travel as they are.
func (c *Comm) Send(buf []byte, dst, tag int) error {
	if err := c.check("Send", len(buf), dst, tag); err != nil {
		return err
	}
	if len(buf) <= 1 {
		c.flag[0] = byte(len(buf))
		c.comm.SendBytes(c.flag, dst, tag)
	}
	if len(buf) > 0 {
		c.comm.SendBytes(buf, dst, tag)
	}
	return nil
}

// Recv receives a message of exactly len(buf) bytes from rank src. A message of another length is received and dropped.
func (c *Comm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	n := c.comm.Probe(src, tag).GetCount(gompi.Byte)
	if n == 1 {
		c.comm.RecvPreallocBytes(c.flag, src, tag)
		n = int(c.flag[0])
	}
	into := buf
	if n > len(buf) {
		into = make([]byte, n)
	}
	if n > 0 {
		c.comm.RecvPreallocBytes(into[:n], src, tag)
	}
	switch {
	case n > len(buf):
		return c.fault("Recv", mpi.ErrTruncated, fmt.Sprintf("%d bytes, want %d", n, len(buf)), src, tag)
	case n < len(buf):
		return c.fault("Recv", mpi.ErrLength, fmt.Sprintf("%d bytes, want %d", n, len(buf)), src, tag)
	}
	return nil
}

// wordBytes is the size of MPI_INT32_T, in which broadcasts are counted.
const wordBytes = 4

// Bcast is collective: MPI_Bcast copies buf of rank root into buf of all ranks. len(buf) and root are equal on all ranks. A buffer
// whose length or address is no multiple of 4 is copied on the way.
func (c *Comm) Bcast(buf []byte, root int) error {
	switch {
	case root < 0 || root >= c.size:
		return c.fault("Bcast", mpi.ErrRank, fmt.Sprintf("root %d of %d ranks", root, c.size), root, -1)
	case len(buf) > math.MaxInt32:
		return c.fault("Bcast", mpi.ErrCount, fmt.Sprintf("%d bytes, limit %d", len(buf), math.MaxInt32), root, -1)
	case len(buf) == 0:
		return nil
	}
	count := (len(buf) + wordBytes - 1) / wordBytes // the same on all ranks, wherever their buffers are
	first := unsafe.Pointer(unsafe.SliceData(buf))
	if len(buf)%wordBytes == 0 && uintptr(first)%wordBytes == 0 {
		c.comm.BcastInt32s(unsafe.Slice((*int32)(first), count), root)
		return nil
	}
	if count > len(c.words) {
		c.words = make([]int32, count)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(c.words))), len(buf))
	if c.rank == root {
		copy(bytes, buf)
	}
	c.comm.BcastInt32s(c.words[:count], root)
	copy(buf, bytes)
	return nil
}

// Fail prints the error on standard error and ends the job with exit status 1. It does not return.
func (c *Comm) Fail(err error) {
	fmt.Fprintf(os.Stderr, "rank %d: %v\n", c.rank, err)
	c.comm.Abort(1)
}

// check refuses what MPI would end the job for.
func (c *Comm) check(op string, n, peer, tag int) error {
	switch {
	case peer < 0 || peer >= c.size || peer == c.rank:
		return c.fault(op, mpi.ErrRank, fmt.Sprintf("%d of %d ranks", peer, c.size), peer, tag)
	case tag < 0 || tag > mpi.MaxTag:
		return c.fault(op, mpi.ErrTag, fmt.Sprintf("%d is not in [0, %d]", tag, mpi.MaxTag), peer, tag)
	case n > math.MaxInt32:
		return c.fault(op, mpi.ErrCount, fmt.Sprintf("%d bytes, limit %d", n, math.MaxInt32), peer, tag)
	}
	return nil
}

func (c *Comm) fault(op string, class error, text string, peer, tag int) error {
	return &mpi.Error{Op: op, Rank: c.rank, Peer: peer, Tag: tag, Err: fmt.Errorf("%w: %s", class, text)}
}
