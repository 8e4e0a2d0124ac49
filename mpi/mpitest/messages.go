package mpitest

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/topocast/topocast/mpi"
)

func rankAndSize(c mpi.Communicator) error {
	if c.Size() < 1 || c.Rank() < 0 || c.Rank() >= c.Size() {
		return fmt.Errorf("rank %d of %d", c.Rank(), c.Size())
	}
	// Every rank exists once: each names itself to each.
	return eachPair(c, func(peer int, low bool) error {
		if low {
			return send(c, 8, c.Rank(), peer, 0)
		}
		return recv(c, 8, peer, peer, 0)
	})
}

func order(c mpi.Communicator) error {
	const messages = 20
	oneWay := func(peer int, sends bool) error {
		for k := range messages {
			move := recv
			if sends {
				move = send
			}
			if err := move(c, k%5*7, k, peer, k%2); err != nil {
				return fmt.Errorf("message %d: %w", k, err)
			}
		}
		return nil
	}
	return eachPair(c, func(peer int, low bool) error {
		if err := oneWay(peer, low); err != nil {
			return err
		}
		return oneWay(peer, !low)
	})
}

func tags(c mpi.Communicator) error {
	return eachPair(c, func(peer int, low bool) error {
		for _, tag := range []int{0, 1, 255, 256, 4095, mpi.MaxTag - 1, mpi.MaxTag} {
			move := recv
			if low {
				move = send
			}
			if err := move(c, 3, tag, peer, tag); err != nil {
				return fmt.Errorf("tag %d: %w", tag, err)
			}
		}
		return nil
	})
}

// sizes goes from 0 B to 4 MiB in powers of two and around them, over the
// borders at which libraries change their protocol, between the neighbours
// (0,1), (2,3), ...
func sizes(c mpi.Communicator) error {
	sizes := []int{0, 1, 2, 3, 7, 8, 9}
	for s := 16; s <= 256<<10; s *= 4 {
		sizes = append(sizes, s-1, s, s+1)
	}
	sizes = append(sizes, 1<<20, 4<<20)
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return nil
	}
	for _, size := range sizes {
		var err error
		if c.Rank() < peer {
			if err = send(c, size, size, peer, 5); err == nil {
				err = recv(c, size, size+1, peer, 6)
			}
		} else {
			if err = recv(c, size, size, peer, 5); err == nil {
				err = send(c, size, size+1, peer, 6)
			}
		}
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

func reuse(c mpi.Communicator) error {
	for _, size := range []int{8, 64 << 10} {
		err := eachPair(c, func(peer int, low bool) error {
			buf := make([]byte, size)
			for k := range 4 {
				if !low {
					if err := recv(c, size, k, peer, 9); err != nil {
						return err
					}
					continue
				}
				fill(buf, k)
				if err := c.Send(buf, peer, 9); err != nil {
					return err
				}
				clear(buf)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// wrongArguments are found on the spot; the communicator stays usable.
func wrongArguments(c mpi.Communicator) error {
	buf := make([]byte, 4)
	other := (c.Rank() + 1) % c.Size()
	for _, peer := range []int{c.Rank(), -1, c.Size(), -1 << 31, 1 << 30} {
		if err := wantError(c, fmt.Sprintf("Send to rank %d", peer), c.Send(buf, peer, 0), mpi.ErrRank); err != nil {
			return err
		}
		if err := wantError(c, fmt.Sprintf("Recv from rank %d", peer), c.Recv(buf, peer, 0), mpi.ErrRank); err != nil {
			return err
		}
		if s, ok := c.(mpi.SyncSender); ok {
			if err := wantError(c, fmt.Sprintf("Ssend to rank %d", peer), s.Ssend(buf, peer, 0), mpi.ErrRank); err != nil {
				return err
			}
		}
	}
	if c.Size() > 1 {
		for _, tag := range []int{-1, mpi.MaxTag + 1, -1 << 31, 1 << 30} {
			if err := wantError(c, fmt.Sprintf("Send with tag %d", tag), c.Send(buf, other, tag), mpi.ErrTag); err != nil {
				return err
			}
			if err := wantError(c, fmt.Sprintf("Recv with tag %d", tag), c.Recv(buf, other, tag), mpi.ErrTag); err != nil {
				return err
			}
			if s, ok := c.(mpi.SyncSender); ok {
				if err := wantError(c, fmt.Sprintf("Ssend with tag %d", tag), s.Ssend(buf, other, tag), mpi.ErrTag); err != nil {
					return err
				}
			}
		}
	}
	return rankAndSize(c)
}

func ssend(c mpi.Communicator) error {
	s, ok := c.(mpi.SyncSender)
	if !ok {
		return nil
	}
	for _, size := range []int{0, 1, 1024, 256 << 10} {
		err := eachPair(c, func(peer int, low bool) error {
			if !low {
				return recv(c, size, 3, peer, 2)
			}
			buf := make([]byte, size)
			fill(buf, 3)
			return s.Ssend(buf, peer, 2)
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// ssendWaits lets the receiver dawdle before it says that it receives. It can
// miss a Ssend that returns early, but never blames one that waits.
func ssendWaits() func(mpi.Communicator) error {
	var receiving atomic.Int64
	return func(c mpi.Communicator) error {
		s, ok := c.(mpi.SyncSender)
		if !ok || c.Size() < 2 {
			return nil
		}
		for k := range int64(20) {
			switch c.Rank() {
			case 0:
				if err := s.Ssend([]byte{1}, 1, 0); err != nil {
					return err
				}
				if receiving.Load() <= k {
					return fmt.Errorf("synchronous send %d returned before the receiver had called Recv", k)
				}
			case 1:
				for range 100 {
					runtime.Gosched()
				}
				receiving.Store(k + 1)
				if err := c.Recv(make([]byte, 1), 0, 0); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// mismatch sends a message of one size to a buffer of another, from rank 0 to
// rank 1. The sender does not hear of it; the bytes behind the buffer stay.
func mismatch(sent, expected int, want error) func(mpi.Communicator) error {
	return func(c mpi.Communicator) error {
		if c.Size() < 2 {
			return nil
		}
		switch c.Rank() {
		case 0:
			return send(c, sent, 1, 1, 4)
		case 1:
			buf := make([]byte, expected+64)
			for i := range buf {
				buf[i] = 0xAA
			}
			err := c.Recv(buf[:expected:expected], 0, 4)
			if err := wantError(c, fmt.Sprintf("Recv of %d bytes into %d", sent, expected), err, want); err != nil {
				return err
			}
			return untouched(buf[expected:])
		}
		return nil
	}
}

// closed closes the communicator on all ranks and then tries everything.
func closed(c mpi.Communicator) error {
	cl, ok := c.(io.Closer)
	if !ok {
		return nil
	}
	requests := newRequests(c)
	if err := cl.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	peer := (c.Rank() + 1) % c.Size()
	if peer == c.Rank() {
		return nil // nobody to talk to; a wrong rank may be found first
	}
	try := []struct {
		name string
		err  error
	}{
		{"Send", c.Send(nil, peer, 0)},
		{"Recv", c.Recv(nil, peer, 0)},
	}
	add := func(name string, err error) {
		try = append(try, struct {
			name string
			err  error
		}{name, err})
	}
	if s, ok := c.(mpi.SyncSender); ok {
		add("Ssend", s.Ssend(nil, peer, 0))
	}
	if requests != nil {
		add("Isend", requests.Isend(nil, peer, 0))
		add("Irecv", requests.Irecv(nil, peer, 0))
		add("WaitAll of an empty set", requests.WaitAll())
		_, err := requests.Test()
		add("Test of an empty set", err)
		if b, ok := requests.(mpi.Ibcaster); ok {
			add("Ibcast", b.Ibcast(nil, 0))
		}
	}
	if s, ok := c.(mpi.Scheduler); ok {
		_, err := s.Perform(nil, []mpi.Step{{Peer: peer}}, 0, false)
		add("Perform", err)
	}
	if b, ok := c.(mpi.NativeBcast); ok {
		add("Bcast", b.Bcast(nil, 0))
	}
	if t, ok := c.(mpi.Timed); ok {
		add("PingPong", t.PingPong(make([]float64, 1), peer, 0, 0, 1, c.Rank() < peer))
	}
	if s, ok := c.(mpi.Splitter); ok {
		_, err := s.Split(0, 0)
		add("Split", err)
	}
	for _, op := range try {
		if err := wantError(c, op.name+" after Close", op.err, mpi.ErrClosed); err != nil {
			return err
		}
	}
	return nil
}

// tooLong is a slice of a byte more than a message may have, without the memory
// for it: whoever looks at more than its length crashes. It is nil where no
// slice is as long.
func tooLong() []byte {
	if math.MaxInt == math.MaxInt32 {
		return nil
	}
	length := int64(math.MaxInt32) + 1
	header := struct {
		data     *byte
		len, cap int
	}{new(byte), int(length), int(length)}
	return *(*[]byte)(unsafe.Pointer(&header))
}

// counts checks that a message that does not fit MPI's int is refused by all
// that take one, before anybody looks at it, and that all goes on.
func counts(c mpi.Communicator) error {
	buf := tooLong()
	if buf == nil {
		return nil
	}
	want := func(what string, err error) error {
		return wantError(c, what+" of 2^31 bytes", err, mpi.ErrCount)
	}
	if b, ok := c.(mpi.NativeBcast); ok {
		if err := want("Bcast", b.Bcast(buf, c.Size()-1)); err != nil {
			return err
		}
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		if err := want("Send", c.Send(buf, peer, 0)); err != nil {
			return err
		}
		if err := want("Recv", c.Recv(buf, peer, 0)); err != nil {
			return err
		}
		if s, ok := c.(mpi.SyncSender); ok {
			if err := want("Ssend", s.Ssend(buf, peer, 0)); err != nil {
				return err
			}
		}
		if set := newRequests(c); set != nil {
			if err := want("Isend", set.Isend(buf, peer, 0)); err != nil {
				return err
			}
			if err := want("Irecv", set.Irecv(buf, peer, 0)); err != nil {
				return err
			}
			if err := set.WaitAll(); err != nil {
				return fmt.Errorf("WaitAll after refused transfers: %w", err)
			}
		}
		if t, ok := c.(mpi.Timed); ok {
			if err := want("PingPong", t.PingPong(make([]float64, 1), peer, 0, len(buf), 1, true)); err != nil {
				return err
			}
		}
	}
	return rankAndSize(c)
}
