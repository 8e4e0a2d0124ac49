package mpitest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/topocast/topocast/mpi"
)

func nativeBcast(c mpi.Communicator) error {
	b, ok := c.(mpi.NativeBcast)
	if !ok {
		return nil
	}
	for root := range c.Size() {
		for _, size := range []int{0, 1, 8, 1000, 64 << 10} {
			buf := make([]byte, size)
			if c.Rank() == root {
				fill(buf, root+size)
			}
			if err := b.Bcast(buf, root); err != nil {
				return err
			}
			if err := verify(buf, root+size); err != nil {
				return fmt.Errorf("%d bytes from rank %d: %w", size, root, err)
			}
		}
	}
	buf := make([]byte, 1<<20)
	if c.Rank() == 0 {
		fill(buf, 1)
	}
	if err := b.Bcast(buf, 0); err != nil {
		return err
	}
	return verify(buf, 1)
}

func nativeBcastWrongRoot(c mpi.Communicator) error {
	b, ok := c.(mpi.NativeBcast)
	if !ok {
		return nil
	}
	for _, root := range []int{-1, c.Size()} {
		if err := wantError(c, fmt.Sprintf("Bcast from rank %d", root), b.Bcast(make([]byte, 4), root), mpi.ErrRank); err != nil {
			return err
		}
	}
	return nil
}

// split makes communicators of the even and the odd ranks in reverse order.
func split(c mpi.Communicator) error {
	s, ok := c.(mpi.Splitter)
	if !ok {
		return nil
	}
	half, err := s.Split(c.Rank()%2, -1-c.Rank())
	if err != nil {
		return err
	}
	size := (c.Size() + 1 - c.Rank()%2) / 2
	if half.Size() != size || half.Rank() != size-1-c.Rank()/2 {
		return fmt.Errorf("split is rank %d of %d, want rank %d of %d", half.Rank(), half.Size(), size-1-c.Rank()/2, size)
	}
	if err := rankAndSize(half); err != nil {
		return err
	}
	// Equal keys: the order of old ranks.
	same, err := s.Split(0, 7)
	if err != nil {
		return err
	}
	if same.Size() != c.Size() || same.Rank() != c.Rank() {
		return fmt.Errorf("split with equal keys is rank %d of %d, want rank %d of %d", same.Rank(), same.Size(), c.Rank(), c.Size())
	}
	if err := order(same); err != nil {
		return err
	}
	// The parts can be split and duplicated again.
	if s, ok := half.(mpi.Splitter); ok {
		again, err := s.Split(0, half.Rank())
		if err != nil {
			return err
		}
		if err := rankAndSize(again); err != nil {
			return err
		}
		if err := closeAll(again); err != nil {
			return err
		}
	}
	return closeAll(half, same)
}

func splitUndefined(c mpi.Communicator) error {
	s, ok := c.(mpi.Splitter)
	if !ok {
		return nil
	}
	color := 3
	if c.Rank() == 0 {
		color = -1
	}
	part, err := s.Split(color, 0)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if part != nil {
			return fmt.Errorf("result of Split with color -1 = %v, want nil", part)
		}
		return nil
	}
	if part == nil {
		return fmt.Errorf("result of Split with color %d = nil, want a communicator", color)
	}
	if part.Size() != c.Size()-1 || part.Rank() != c.Rank()-1 {
		return fmt.Errorf("split is rank %d of %d, want rank %d of %d", part.Rank(), part.Size(), c.Rank()-1, c.Size()-1)
	}
	if err := rankAndSize(part); err != nil {
		return err
	}
	return closeAll(part)
}

// dupIsolated sends with the same tag on the communicator and on two
// duplicates, and receives in another order.
func dupIsolated(c mpi.Communicator) error {
	s, ok := c.(mpi.Splitter)
	if !ok {
		return nil
	}
	first, err := s.Split(0, c.Rank())
	if err != nil {
		return err
	}
	second, err := s.Split(0, c.Rank())
	if err != nil {
		return err
	}
	comms := []mpi.Communicator{c, first, second}
	for k, d := range comms {
		if d.Rank() != c.Rank() || d.Size() != c.Size() {
			return fmt.Errorf("duplicate %d is rank %d of %d, want rank %d of %d", k, d.Rank(), d.Size(), c.Rank(), c.Size())
		}
	}
	if newRequests(c) != nil && newRequests(first) != nil && newRequests(second) != nil {
		err := eachPair(c, func(peer int, low bool) error {
			if !low {
				for k := len(comms) - 1; k >= 0; k-- {
					if err := recv(comms[k], 16, k, peer, 1); err != nil {
						return fmt.Errorf("communicator %d: %w", k, err)
					}
				}
				return nil
			}
			var sets []mpi.Requests
			for k, d := range comms {
				set := newRequests(d)
				sets = append(sets, set)
				buf := make([]byte, 16)
				fill(buf, k)
				if err := set.Isend(buf, peer, 1); err != nil {
					return err
				}
			}
			for _, set := range sets {
				if err := set.WaitAll(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return closeAll(second, first)
}

func clock(c mpi.Communicator) error {
	cl, ok := c.(mpi.Clock)
	if !ok {
		return nil
	}
	last := cl.Now()
	tick := func() error {
		now := cl.Now()
		if !(now >= last) || math.IsInf(now, 0) {
			return fmt.Errorf("clock went from %g s to %g s", last, now)
		}
		last = now
		return nil
	}
	for range 1000 {
		if err := tick(); err != nil {
			return err
		}
	}
	return eachPair(c, func(peer int, low bool) error {
		var err error
		if low {
			err = send(c, 8, 1, peer, 1)
		} else {
			err = recv(c, 8, 1, peer, 1)
		}
		if err != nil {
			return err
		}
		return tick()
	})
}

func placed(c mpi.Communicator) error {
	p, ok := c.(mpi.Placed)
	if !ok {
		return nil
	}
	if own := p.Place(); own.Host == "" || own.Core < -1 {
		return fmt.Errorf("host %q, core %d: want a name, and at least -1", own.Host, own.Core)
	}
	return nil
}

// places checks that all ranks get the same list, in which each finds itself, and
// that rank 0 can have it alone.
func places(c mpi.Communicator) error {
	all, err := mpi.Places(c)
	if err != nil {
		return err
	}
	alone, err := mpi.GatherPlaces(c)
	if err != nil {
		return err
	}
	if c.Rank() != 0 && alone != nil || c.Rank() == 0 && !reflect.DeepEqual(alone, all) {
		return fmt.Errorf("rank 0 alone gets places %v, want %v", alone, all)
	}
	if len(all) != c.Size() {
		return fmt.Errorf("%d places for %d ranks", len(all), c.Size())
	}
	own := all[c.Rank()]
	if p, ok := c.(mpi.Placed); ok {
		want := p.Place()
		if !reflect.DeepEqual(own, want) {
			return fmt.Errorf("place of the rank in the list is %v, want %v", own, want)
		}
		if !slices.IsSorted(want.CPUs) || len(want.CPUs) > 0 && want.CPUs[0] < 0 {
			return fmt.Errorf("CPUs %d: want them ascending from 0", want.CPUs)
		}
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, all)
	sum := hash.Sum(nil)
	return eachPair(c, func(peer int, low bool) error {
		if low {
			return c.Send(sum, peer, 4)
		}
		other := make([]byte, len(sum))
		if err := c.Recv(other, peer, 4); err != nil {
			return err
		}
		if !bytes.Equal(sum, other) {
			return fmt.Errorf("rank %d has other places than rank %d", c.Rank(), peer)
		}
		return nil
	})
}

func versioned(c mpi.Communicator) error {
	v, ok := c.(mpi.Versioned)
	if !ok {
		return nil
	}
	if version := v.LibraryVersion(); version == "" || strings.ContainsFunc(version, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("library version %q, want one line of printable characters", version)
	}
	return nil
}

// timed checks that all samples are above 0 on both sides, that together they
// do not last longer than the call, and that no message is left over.
func timed(c mpi.Communicator) error {
	tm, ok := c.(mpi.Timed)
	if !ok {
		return nil
	}
	cl, hasClock := c.(mpi.Clock)
	for _, size := range []int{0, 1, 1024, 64 << 10} {
		for _, iters := range []int{1, 4} {
			err := eachPair(c, func(peer int, low bool) error {
				samples := make([]float64, 3)
				var start float64
				if hasClock {
					start = cl.Now()
				}
				if err := tm.PingPong(samples, peer, 8, size, iters, low); err != nil {
					return err
				}
				sum := 0.0
				for _, s := range samples {
					if !(s > 0) || math.IsInf(s, 0) {
						return fmt.Errorf("samples %g s, want all above 0", samples)
					}
					sum += s
				}
				if hasClock {
					// A little grace: the two may read different clocks.
					if took := cl.Now() - start; sum > took*1.01+1e-6 {
						return fmt.Errorf("samples add up to %g s, but the call took %g s", sum, took)
					}
				}
				if low {
					return send(c, 5, 1, peer, 8)
				}
				return recv(c, 5, 1, peer, 8)
			})
			if err != nil {
				return fmt.Errorf("%d bytes, %d round trips: %w", size, iters, err)
			}
		}
	}
	return nil
}

func timedWrong(c mpi.Communicator) error {
	tm, ok := c.(mpi.Timed)
	if !ok {
		return nil
	}
	samples := make([]float64, 1)
	for _, peer := range []int{c.Rank(), -1, c.Size()} {
		err := tm.PingPong(samples, peer, 0, 8, 1, true)
		if err := wantError(c, fmt.Sprintf("PingPong with rank %d", peer), err, mpi.ErrRank); err != nil {
			return err
		}
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		if err := wantError(c, "PingPong of -1 bytes", tm.PingPong(samples, peer, 0, -1, 1, true), mpi.ErrCount); err != nil {
			return err
		}
		for _, iters := range []int{0, -1} {
			if err := tm.PingPong(samples, peer, 0, 8, iters, true); err == nil {
				return fmt.Errorf("%d round trips in a PingPong are taken", iters)
			}
		}
		for _, tag := range []int{-1, mpi.MaxTag + 1} {
			err := tm.PingPong(samples, peer, tag, 8, 1, true)
			if err := wantError(c, fmt.Sprintf("PingPong with tag %d", tag), err, mpi.ErrTag); err != nil {
				return err
			}
		}
	}
	return nil
}
