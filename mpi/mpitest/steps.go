package mpitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/topocast/topocast/mpi"
)

// wantError checks that err is the sentinel want, inside an *mpi.Error of this
// rank.
func wantError(c mpi.Communicator, what string, err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("%s = %v, want %v", what, err, want)
	}
	var e *mpi.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: error is a %T, want an *mpi.Error", what, err)
	}
	if e.Rank != c.Rank() || e.Op == "" {
		return fmt.Errorf("%s: error of operation %q on rank %d, want a named one on rank %d", what, e.Op, e.Rank, c.Rank())
	}
	return nil
}

// eachPair calls f on both ranks of every pair, all ranks in the same order of
// pairs, so that no order of blocking calls inside f can deadlock across pairs.
func eachPair(c mpi.Communicator, f func(peer int, low bool) error) error {
	for i := range c.Size() {
		for j := i + 1; j < c.Size(); j++ {
			var err error
			switch c.Rank() {
			case i:
				err = f(j, true)
			case j:
				err = f(i, false)
			}
			if err != nil {
				return fmt.Errorf("pair %d, %d: %w", i, j, err)
			}
		}
	}
	return nil
}

// period is prime to all block sizes, so that no shift by a block goes unseen.
const period = 251

// pattern returns one period of the pattern of a seed.
func pattern(seed int) []byte {
	p := make([]byte, period)
	for i := range p {
		p[i] = byte((i + seed*37) % period)
	}
	return p
}

// fill writes a pattern that differs in every message and at every offset.
func fill(buf []byte, seed int) {
	p := pattern(seed)
	for len(buf) > 0 {
		buf = buf[copy(buf, p):]
	}
}

func verify(buf []byte, seed int) error {
	p := pattern(seed)
	for start := 0; start < len(buf); start += period {
		part := buf[start:min(start+period, len(buf))]
		if bytes.Equal(part, p[:len(part)]) {
			continue
		}
		for i, b := range part {
			if b != p[i] {
				return fmt.Errorf("byte %d of %d is %d, want %d", start+i, len(buf), b, p[i])
			}
		}
	}
	return nil
}

// send and recv move the pattern of a seed.
func send(c mpi.Communicator, size, seed, dst, tag int) error {
	buf := make([]byte, size)
	fill(buf, seed)
	return c.Send(buf, dst, tag)
}

func recv(c mpi.Communicator, size, seed, src, tag int) error {
	buf := make([]byte, size)
	if err := c.Recv(buf, src, tag); err != nil {
		return err
	}
	return verify(buf, seed)
}

func closeAll(comms ...mpi.Communicator) error {
	for _, c := range comms {
		if cl, ok := c.(io.Closer); ok {
			if err := cl.Close(); err != nil {
				return fmt.Errorf("closing: %w", err)
			}
		}
	}
	return nil
}

func untouched(tail []byte) error {
	for i, b := range tail {
		if b != 0xAA {
			return fmt.Errorf("byte %d behind the receive buffer was overwritten with %d", i, b)
		}
	}
	return nil
}

// newRequests returns a set of requests, or nil if c cannot make one.
func newRequests(c mpi.Communicator) mpi.Requests {
	if nb, ok := c.(mpi.NonBlocking); ok {
		return nb.NewRequests()
	}
	return nil
}
