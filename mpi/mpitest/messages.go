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

func rankAndSize(c mpi.Communicator) {
	if c.Size() < 1 || c.Rank() < 0 || c.Rank() >= c.Size() {
		fail("rank %d of %d", c.Rank(), c.Size())
	}
	// Every rank exists once: each names itself to each.
	eachPair(c, func(peer int, low bool) {
		check(move(c, low, 8, min(c.Rank(), peer), peer, 0))
	})
}

func order(c mpi.Communicator) {
	const messages = 20
	oneWay := func(peer int, sends bool) {
		for k := range messages {
			check(move(c, sends, k%5*7, k, peer, k%2), "message %d", k)
		}
	}
	eachPair(c, func(peer int, low bool) {
		oneWay(peer, low)
		oneWay(peer, !low)
	})
}

func tags(c mpi.Communicator) {
	eachPair(c, func(peer int, low bool) {
		for _, tag := range []int{0, 1, 255, 256, 4095, mpi.MaxTag - 1, mpi.MaxTag} {
			check(move(c, low, 3, tag, peer, tag), "tag %d", tag)
		}
	})
}

// sizes goes from 0 B to 4 MiB in powers of two and around them, over the
// borders at which libraries change their protocol, between the neighbours
// (0,1), (2,3), ...
func sizes(c mpi.Communicator) {
	sizes := []int{0, 1, 2, 3, 7, 8, 9}
	for s := 16; s <= 256<<10; s *= 4 {
		sizes = append(sizes, s-1, s, s+1)
	}
	sizes = append(sizes, 1<<20, 4<<20)
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return
	}
	for _, size := range sizes {
		check(move(c, c.Rank() < peer, size, size, peer, 5), "%d bytes", size)
		check(move(c, c.Rank() > peer, size, size+1, peer, 6), "%d bytes back", size)
	}
}

func reuse(c mpi.Communicator) {
	for _, size := range []int{8, 64 << 10} {
		eachPair(c, func(peer int, low bool) {
			defer during("%d bytes", size)
			buf := make([]byte, size)
			for k := range 4 {
				if !low {
					check(recv(c, size, k, peer, 9))
					continue
				}
				fill(buf, k)
				check(c.Send(buf, peer, 9))
				clear(buf)
			}
		})
	}
}

// wrongArguments are found on the spot; the communicator stays usable.
func wrongArguments(c mpi.Communicator) {
	buf := make([]byte, 4)
	other := (c.Rank() + 1) % c.Size()
	for _, peer := range []int{c.Rank(), -1, c.Size(), -1 << 31, 1 << 30} {
		wantError(c, fmt.Sprintf("Send to rank %d", peer), c.Send(buf, peer, 0), mpi.ErrRank)
		wantError(c, fmt.Sprintf("Recv from rank %d", peer), c.Recv(buf, peer, 0), mpi.ErrRank)
		if s, ok := c.(mpi.SyncSender); ok {
			wantError(c, fmt.Sprintf("Ssend to rank %d", peer), s.Ssend(buf, peer, 0), mpi.ErrRank)
		}
	}
	if c.Size() > 1 {
		for _, tag := range []int{-1, mpi.MaxTag + 1, -1 << 31, 1 << 30} {
			wantError(c, fmt.Sprintf("Send with tag %d", tag), c.Send(buf, other, tag), mpi.ErrTag)
			wantError(c, fmt.Sprintf("Recv with tag %d", tag), c.Recv(buf, other, tag), mpi.ErrTag)
			if s, ok := c.(mpi.SyncSender); ok {
				wantError(c, fmt.Sprintf("Ssend with tag %d", tag), s.Ssend(buf, other, tag), mpi.ErrTag)
			}
		}
	}
	rankAndSize(c)
}

func ssend(c mpi.Communicator, s mpi.SyncSender) {
	for _, size := range []int{0, 1, 1024, 256 << 10} {
		eachPair(c, func(peer int, low bool) {
			defer during("%d bytes", size)
			if !low {
				check(recv(c, size, 3, peer, 2))
				return
			}
			check(s.Ssend(filled(size, 3), peer, 2))
		})
	}
}

// ssendWaits lets the receiver dawdle before it says that it receives. It can
// miss a Ssend that returns early, but never blames one that waits.
func ssendWaits() func(mpi.Communicator) {
	var receiving atomic.Int64
	return with(func(c mpi.Communicator, s mpi.SyncSender) {
		if c.Size() < 2 {
			return
		}
		for k := range int64(20) {
			switch c.Rank() {
			case 0:
				check(s.Ssend([]byte{1}, 1, 0))
				if receiving.Load() <= k {
					fail("synchronous send %d returned before the receiver had called Recv", k)
				}
			case 1:
				for range 100 {
					runtime.Gosched()
				}
				receiving.Store(k + 1)
				check(c.Recv(make([]byte, 1), 0, 0))
			}
		}
	})
}

// mismatch sends a message of one size to a buffer of another, from rank 0 to
// rank 1. The sender does not hear of it; the bytes behind the buffer stay.
func mismatch(sent, expected int, want error) func(mpi.Communicator) {
	return func(c mpi.Communicator) {
		switch {
		case c.Size() < 2:
		case c.Rank() == 0:
			check(send(c, sent, 1, 1, 4))
		case c.Rank() == 1:
			buf := guarded(expected)
			err := c.Recv(buf[:expected:expected], 0, 4)
			wantError(c, fmt.Sprintf("Recv of %d bytes into %d", sent, expected), err, want)
			untouched(buf[expected:])
		}
	}
}

// closed closes the communicator on all ranks and then tries everything.
func closed(c mpi.Communicator, cl io.Closer) {
	requests := newRequests(c)
	check(cl.Close(), "closing")
	peer := (c.Rank() + 1) % c.Size()
	if peer == c.Rank() {
		return // nobody to talk to; a wrong rank may be found first
	}
	refuse := func(op string, err error) { wantError(c, op+" after Close", err, mpi.ErrClosed) }
	refuse("Send", c.Send(nil, peer, 0))
	refuse("Recv", c.Recv(nil, peer, 0))
	if s, ok := c.(mpi.SyncSender); ok {
		refuse("Ssend", s.Ssend(nil, peer, 0))
	}
	if requests != nil {
		refuse("Isend", requests.Isend(nil, peer, 0))
		refuse("Irecv", requests.Irecv(nil, peer, 0))
		refuse("WaitAll of an empty set", requests.WaitAll())
		_, err := requests.Test()
		refuse("Test of an empty set", err)
		if b, ok := requests.(mpi.Ibcaster); ok {
			refuse("Ibcast", b.Ibcast(nil, 0))
		}
	}
	if s, ok := c.(mpi.Scheduler); ok {
		_, err := s.Perform(nil, []mpi.Step{{Peer: peer}}, 0)
		refuse("Perform", err)
	}
	if b, ok := c.(mpi.NativeBcast); ok {
		refuse("Bcast", b.Bcast(nil, 0))
	}
	if t, ok := c.(mpi.Timed); ok {
		refuse("PingPong", t.PingPong(make([]float64, 1), peer, 0, 0, 1, c.Rank() < peer))
	}
	if s, ok := c.(mpi.Splitter); ok {
		_, err := s.Split(0, 0)
		refuse("Split", err)
	}
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
func counts(c mpi.Communicator) {
	buf := tooLong()
	if buf == nil {
		return
	}
	want := func(what string, err error) { wantError(c, what+" of 2^31 bytes", err, mpi.ErrCount) }
	if b, ok := c.(mpi.NativeBcast); ok {
		want("Bcast", b.Bcast(buf, c.Size()-1))
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		want("Send", c.Send(buf, peer, 0))
		want("Recv", c.Recv(buf, peer, 0))
		if s, ok := c.(mpi.SyncSender); ok {
			want("Ssend", s.Ssend(buf, peer, 0))
		}
		if set := newRequests(c); set != nil {
			want("Isend", set.Isend(buf, peer, 0))
			want("Irecv", set.Irecv(buf, peer, 0))
			check(set.WaitAll(), "WaitAll after refused transfers")
		}
		if t, ok := c.(mpi.Timed); ok {
			want("PingPong", t.PingPong(make([]float64, 1), peer, 0, len(buf), 1, true))
		}
	}
	rankAndSize(c)
}
