package mpi

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Gompi is what Wrap uses of *gompi.Communicator (github.com/sbromberger/gompi);
// S is gompi's Status.
type Gompi[S any] interface {
	Rank() int
	Size() int
	SendBytes(vals []byte, toID, tag int)
	RecvPreallocBytes(vals []byte, fromID, tag int) S
	Abort(errcode int)
}

// Wrap makes a communicator of one of gompi, for applications that have one;
// package ongompi adds to it the library's own broadcast:
//
//	comm := mpi.Wrap(gompi.NewCommunicator(nil))
//
// It needs nothing of package gompi. The other rank has to use a Wrapped, too:
// messages are framed, so that 0 bytes can be sent and a wrong length is an
// error, neither of which gompi knows. Use tags that the application does not
// use on the same communicator. An error inside MPI ends the job, because gompi
// drops return codes; for the same reason, do not use Wrap in a process that
// calls World.
func Wrap[S any](comm Gompi[S]) *Wrapped {
	return &Wrapped{
		rank:  comm.Rank(),
		size:  comm.Size(),
		send:  comm.SendBytes,
		recv:  func(buf []byte, src, tag int) { comm.RecvPreallocBytes(buf, src, tag) },
		abort: comm.Abort,
		host:  hostName(),
		epoch: hostEpoch(),
		out:   make([]byte, frameSize),
		in:    make([]byte, frameSize),
	}
}

// A Wrapped is a communicator on top of one of gompi. Besides Send and Recv it
// knows where it runs, has a clock and can abort the job.
type Wrapped struct {
	rank, size int
	send, recv func(buf []byte, peer, tag int)
	abort      func(code int)
	host       string
	epoch      time.Time
	out, in    []byte // frames
}

var _ interface {
	Communicator
	Clock
	Named
	Bound
	Aborter
	Failer
} = (*Wrapped)(nil)

// A message is a frame: a word that marks it, its length, and as much of the
// message as fits. A message that does not fit comes whole in a second message
// of MPI, which saves a copy. Frames stay below the size from which the
// libraries no longer buffer.
const (
	headerSize = 8
	frameSize  = 2048
	inFrame    = frameSize - headerSize // longest message that travels in its frame
	frameMark  = 0x746f706f             // "topo"
)

// Rank is the number of the calling rank.
func (w *Wrapped) Rank() int { return w.rank }

// Size is the number of ranks.
func (w *Wrapped) Size() int { return w.size }

// Send sends buf to rank dst. It may block until the message is received.
func (w *Wrapped) Send(buf []byte, dst, tag int) error {
	if err := checkPeer("Send", w.rank, w.size, len(buf), dst, tag); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(w.out, frameMark)
	binary.LittleEndian.PutUint32(w.out[4:], uint32(len(buf)))
	if len(buf) <= inFrame {
		n := copy(w.out[headerSize:], buf)
		w.send(w.out[:headerSize+n], dst, tag)
		return nil
	}
	w.send(w.out[:headerSize], dst, tag)
	w.send(buf, dst, tag)
	return nil
}

// Recv receives a message of exactly len(buf) bytes from rank src. A message
// of another length is received all the same, and dropped.
func (w *Wrapped) Recv(buf []byte, src, tag int) error {
	if err := checkPeer("Recv", w.rank, w.size, len(buf), src, tag); err != nil {
		return err
	}
	// Without the mark of an older frame, a receive that has failed unnoticed
	// is found out.
	clear(w.in[:headerSize])
	w.recv(w.in, src, tag)
	if mark := binary.LittleEndian.Uint32(w.in); mark != frameMark {
		return &Error{"Recv", w.rank, src, tag, fmt.Errorf("%w: the message was not sent by a Wrapped", ErrOther)}
	}
	n := int(binary.LittleEndian.Uint32(w.in[4:]))
	switch {
	case n <= inFrame && n == len(buf):
		copy(buf, w.in[headerSize:])
	case n <= inFrame:
		// dropped
	case n <= len(buf):
		w.recv(buf[:n], src, tag)
	default:
		w.recv(make([]byte, n), src, tag)
	}
	return checkLength("Recv", w.rank, n, len(buf), src, tag)
}

// Now is the time in seconds by the host's monotonic clock, which all ranks of
// a host share on Linux.
func (w *Wrapped) Now() float64 { return time.Since(w.epoch).Seconds() }

// ProcessorName is the name of the host, as its kernel tells it.
func (w *Wrapped) ProcessorName() string { return w.host }

// Core is the logical CPU to which the rank is bound, or -1.
func (w *Wrapped) Core() int { return coreOf(allowedCPUs()) }

// CPUs are the logical CPUs on which the rank may run; nil if this is not Linux.
func (w *Wrapped) CPUs() []int { return allowedCPUs() }

// Abort ends all ranks of the job. It does not return.
func (w *Wrapped) Abort(code int) { abort(code, w.abort) }
