package mpi

import "cmp"

// NewRequests returns an empty set of requests: one of comm, or where comm is not NonBlocking, one that works over Send
// and Recv. The latter moves one transfer after the other, in WaitAny, WaitAll and Test, which all wait. It needs more
// than the contract of Requests: two ranks start the messages between them in the same order, and each end of a
// message is in a set, or the rank does nothing else meanwhile.
func NewRequests(comm Communicator) Requests {
	if nb, ok := comm.(NonBlocking); ok {
		return nb.NewRequests()
	}
	return &serialSet{comm: comm}
}

// A serialSet is a set over blocking calls. All ranks take their transfers in the same order, see before. So the first
// transfer of all that is left is the next one of both its ranks, and ranks never wait in a circle.
type serialSet struct {
	comm    Communicator
	pending []serialTransfer
}

type serialTransfer struct {
	buf           []byte
	src, dst, tag int
	isMoved       bool
}

func (s *serialSet) Isend(buf []byte, dst, tag int) error {
	s.pending = append(s.pending, serialTransfer{buf: buf, src: s.comm.Rank(), dst: dst, tag: tag})
	return nil
}

func (s *serialSet) Irecv(buf []byte, src, tag int) error {
	s.pending = append(s.pending, serialTransfer{buf: buf, src: src, dst: s.comm.Rank(), tag: tag})
	return nil
}

// before compares two transfers, of any ranks. Where all ranks send equally far around a ring, every other run of as
// many ranks sends first: the ring takes two or three steps, however long it is.
func (s *serialSet) before(a, b *serialTransfer) bool {
	n := s.comm.Size()
	turn := func(t *serialTransfer) int { return t.src / ((t.dst - t.src + n) % n) % 2 }
	return cmp.Or(turn(a)-turn(b), a.src-b.src, a.dst-b.dst) < 0
}

// WaitAny moves the first transfer that is left.
func (s *serialSet) WaitAny() (int, error) {
	first := -1
	for i := range s.pending {
		if t := &s.pending[i]; !t.isMoved && (first < 0 || s.before(t, &s.pending[first])) {
			first = i
		}
	}
	if first < 0 {
		return first, nil
	}
	t := &s.pending[first]
	t.isMoved = true
	if t.src == s.comm.Rank() {
		return first, s.comm.Send(t.buf, t.dst, t.tag)
	}
	return first, s.comm.Recv(t.buf, t.src, t.tag)
}

// WaitAll moves all that are left, up to the first error.
func (s *serialSet) WaitAll() error {
	for {
		if moved, err := s.WaitAny(); err != nil || moved < 0 {
			clear(s.pending)
			s.pending = s.pending[:0]
			return err
		}
	}
}

// Test waits.
func (s *serialSet) Test() (bool, error) { return true, s.WaitAll() }
