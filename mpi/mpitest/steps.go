package mpitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/topocast/topocast/mpi"
)

// wantError checks that err is the sentinel want, inside an *mpi.Error of this
// rank.
func wantError(c mpi.Communicator, what string, err, want error) {
	if !errors.Is(err, want) {
		fail("%s = %v, want %v", what, err, want)
	}
	var e *mpi.Error
	if !errors.As(err, &e) {
		fail("%s: error is a %T, want an *mpi.Error", what, err)
	}
	if e.Rank != c.Rank() || e.Op == "" {
		fail("%s: error of operation %q on rank %d, want a named one on rank %d", what, e.Op, e.Rank, c.Rank())
	}
}

// others are the ranks but for the calling one, ascending.
func others(c mpi.Communicator) iter.Seq[int] {
	return func(yield func(int) bool) {
		for peer := range c.Size() {
			if peer != c.Rank() && !yield(peer) {
				return
			}
		}
	}
}

// eachPair calls f on both ranks of every pair, all ranks in the same order of
// pairs, so that no order of blocking calls inside f can deadlock across pairs.
func eachPair(c mpi.Communicator, f func(peer int, low bool)) {
	for i := range c.Size() {
		for j := i + 1; j < c.Size(); j++ {
			switch c.Rank() {
			case i:
				pair(i, j, func() { f(j, true) })
			case j:
				pair(i, j, func() { f(i, false) })
			}
		}
	}
}

// pair says of failures of f between which ranks they are.
func pair(i, j int, f func()) {
	defer during("pair %d, %d", i, j)
	f()
}

// period is prime to all block sizes, so that no shift by a block goes unseen.
const period = 251

// fill writes a pattern that differs in every message and at every offset.
func fill(buf []byte, seed int) {
	for i := range min(period, len(buf)) {
		buf[i] = byte((i + seed*37) % period)
	}
	for n := period; n < len(buf); n *= 2 {
		copy(buf[n:], buf[:n])
	}
}

func verify(buf []byte, seed int) error {
	want := filled(len(buf), seed)
	if bytes.Equal(buf, want) {
		return nil
	}
	for i, b := range buf {
		if b != want[i] {
			return fmt.Errorf("byte %d of %d is %d, want %d", i, len(buf), b, want[i])
		}
	}
	return nil
}

// filled is a buffer with the pattern of a seed.
func filled(size, seed int) []byte {
	buf := make([]byte, size)
	fill(buf, seed)
	return buf
}

// move sends the pattern of a seed to a peer, or receives it.
func move(c mpi.Communicator, sends bool, size, seed, peer, tag int) error {
	if sends {
		return send(c, size, seed, peer, tag)
	}
	return recv(c, size, seed, peer, tag)
}

func send(c mpi.Communicator, size, seed, dst, tag int) error {
	return c.Send(filled(size, seed), dst, tag)
}

func recv(c mpi.Communicator, size, seed, src, tag int) error {
	buf := make([]byte, size)
	if err := c.Recv(buf, src, tag); err != nil {
		return err
	}
	return verify(buf, seed)
}

func closeAll(comms ...mpi.Communicator) {
	for _, c := range comms {
		if cl, ok := c.(io.Closer); ok {
			check(cl.Close(), "closing")
		}
	}
}

// guarded is a buffer with bytes behind it, which have to be untouched.
func guarded(size int) []byte { return bytes.Repeat([]byte{0xAA}, size+64) }

func untouched(tail []byte) {
	for i, b := range tail {
		if b != 0xAA {
			fail("byte %d behind the receive buffer was overwritten with %d", i, b)
		}
	}
}

// newRequests returns a set of requests, or nil if c cannot make one.
func newRequests(c mpi.Communicator) mpi.Requests {
	if nb, ok := c.(mpi.NonBlocking); ok {
		return nb.NewRequests()
	}
	return nil
}

// with makes a case of one for an ability that not all communicators have. It does nothing where there is none.
func with[Ability any](run func(mpi.Communicator, Ability)) func(mpi.Communicator) {
	return func(c mpi.Communicator) {
		if able, ok := c.(Ability); ok {
			run(c, able)
		}
	}
}

// withSet makes a case of one that takes a set of requests. It does nothing where there can be none.
func withSet(run func(mpi.Communicator, mpi.Requests)) func(mpi.Communicator) {
	return func(c mpi.Communicator) {
		if set := newRequests(c); set != nil {
			run(c, set)
		}
	}
}
