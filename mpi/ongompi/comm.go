package ongompi

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/topocast/topocast/mpi"
)

// Gompi is what the package uses of *gompi.Communicator; S is gompi's Status.
type Gompi[S any] interface {
	mpi.Gompi[S]
	BcastInt32s(x []int32, root int)
}

// Wrap makes a communicator of one of gompi. Its messages are told from those of
// the application by their tags only, so use tags that the application does not
// use there, or World. The other ranks wrap theirs, too: messages are framed.
func Wrap[S any](comm Gompi[S]) *Comm {
	return &Comm{carrier: &carrier{Wrapped: mpi.Wrap(comm), bcast: comm.BcastInt32s, scratch: make([]int32, scratchBytes/wordBytes)}}
}

// A Comm is a communicator on top of one of gompi, with the library's own
// broadcast.
type Comm struct {
	*carrier
	closed bool
	free   func() // called by Close; nil: the application keeps what is below
}

// A carrier is what is below a Comm, and outlives it.
type carrier struct {
	*mpi.Wrapped
	bcast   func(x []int32, root int)
	scratch []int32 // grows to the longest buffer at an odd address
	number  int     // in the order in which the job has made them
}

var _ interface {
	mpi.Communicator
	mpi.NativeBcast
	mpi.Clock
	mpi.Named
	mpi.Bound
	mpi.Aborter
	mpi.Failer
} = (*Comm)(nil)

const (
	wordBytes = 4 // of MPI_INT32_T, in which broadcasts are counted

	// scratchBytes is up to where a broadcast of an odd length is copied, to be one
	// broadcast instead of two. A copy of so much is far below the time of a message.
	scratchBytes = 4096
)

// Send sends buf to rank dst. It may block until the message is received.
func (c *Comm) Send(buf []byte, dst, tag int) error {
	if c.closed {
		return c.fault("Send", dst, tag, mpi.ErrClosed)
	}
	return c.Wrapped.Send(buf, dst, tag)
}

// Recv receives a message of exactly len(buf) bytes from rank src.
func (c *Comm) Recv(buf []byte, src, tag int) error {
	if c.closed {
		return c.fault("Recv", src, tag, mpi.ErrClosed)
	}
	return c.Wrapped.Recv(buf, src, tag)
}

// Bcast is collective: it copies buf of rank root into buf of all ranks by the
// library's own broadcast. len(buf) and root are equal on all ranks; that MPI was
// told otherwise cannot be seen. Lengths above 4 KiB that are no multiple of 4
// take a second broadcast, for the last bytes. A buffer whose address is no
// multiple of 4 is copied on the way, through memory of its length that c keeps.
func (c *Comm) Bcast(buf []byte, root int) error {
	switch {
	case c.closed:
		return c.fault("Bcast", root, -1, mpi.ErrClosed)
	case root < 0 || root >= c.Size():
		return c.fault("Bcast", root, -1, fmt.Errorf("%w: root %d of %d ranks", mpi.ErrRank, root, c.Size()))
	case len(buf) > math.MaxInt32:
		return c.fault("Bcast", root, -1, fmt.Errorf("%w: %d bytes, limit %d", mpi.ErrCount, len(buf), math.MaxInt32))
	}
	// Which broadcasts there are depends on nothing but the length, which all ranks
	// have in common. Addresses they have not.
	body := len(buf) &^ (wordBytes - 1)
	switch {
	case body == len(buf):
		c.words(buf, root)
	case len(buf) <= scratchBytes:
		c.copied(buf, root)
	default:
		c.words(buf[:body], root)
		c.copied(buf[body:], root)
	}
	return nil
}

// words broadcasts a multiple of 4 bytes.
func (c *Comm) words(buf []byte, root int) {
	if len(buf) == 0 {
		return // gompi looks at the first element
	}
	first := unsafe.Pointer(unsafe.SliceData(buf))
	if uintptr(first)%wordBytes != 0 {
		c.copied(buf, root)
		return
	}
	c.bcast(unsafe.Slice((*int32)(first), len(buf)/wordBytes), root)
}

// copied broadcasts any number of bytes above 0 in as many words as hold them,
// through the scratch memory.
func (c *Comm) copied(buf []byte, root int) {
	words := (len(buf) + wordBytes - 1) / wordBytes
	if words > len(c.scratch) {
		c.scratch = make([]int32, words)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(c.scratch))), len(buf))
	if c.Rank() == root {
		copy(bytes, buf)
	}
	c.bcast(c.scratch[:words], root)
	if c.Rank() != root {
		copy(buf, bytes)
	}
}

// Close ends the use of c. It waits for nobody, but all ranks of c call it before they call Split or
// Dup again: what gompi has below it stays, and is used again if c is of those; then no
// message of it may be under way any more. Close of a closed communicator does nothing.
func (c *Comm) Close() error {
	if !c.closed && c.free != nil {
		c.free()
	}
	c.closed = true
	return nil
}

func (c *Comm) fault(op string, peer, tag int, err error) error {
	return &mpi.Error{Op: op, Rank: c.Rank(), Peer: peer, Tag: tag, Err: err}
}
