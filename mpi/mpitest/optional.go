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

func nativeBcast(c mpi.Communicator, b mpi.NativeBcast) {
	for root := range c.Size() {
		for _, size := range []int{0, 1, 8, 1000, 64 << 10} {
			buf := make([]byte, size)
			if c.Rank() == root {
				fill(buf, root+size)
			}
			check(b.Bcast(buf, root))
			check(verify(buf, root+size), "%d bytes from rank %d", size, root)
		}
	}
	buf := make([]byte, 1<<20)
	if c.Rank() == 0 {
		fill(buf, 1)
	}
	check(b.Bcast(buf, 0))
	check(verify(buf, 1))
}

func nativeBcastWrongRoot(c mpi.Communicator, b mpi.NativeBcast) {
	for _, root := range []int{-1, c.Size()} {
		wantError(c, fmt.Sprintf("Bcast from rank %d", root), b.Bcast(make([]byte, 4), root), mpi.ErrRank)
	}
}

// split makes communicators of the even and the odd ranks in reverse order.
func split(c mpi.Communicator, s mpi.Splitter) {
	half := got(s.Split(c.Rank()%2, -1-c.Rank()))
	size := (c.Size() + 1 - c.Rank()%2) / 2
	if half.Size() != size || half.Rank() != size-1-c.Rank()/2 {
		fail("split is rank %d of %d, want rank %d of %d", half.Rank(), half.Size(), size-1-c.Rank()/2, size)
	}
	rankAndSize(half)
	// Equal keys: the order of old ranks.
	same := got(s.Split(0, 7))
	if same.Size() != c.Size() || same.Rank() != c.Rank() {
		fail("split with equal keys is rank %d of %d, want rank %d of %d", same.Rank(), same.Size(), c.Rank(), c.Size())
	}
	order(same)
	// The parts can be split and duplicated again.
	if s, ok := half.(mpi.Splitter); ok {
		again := got(s.Split(0, half.Rank()))
		rankAndSize(again)
		closeAll(again)
	}
	closeAll(half, same)
}

func splitUndefined(c mpi.Communicator, s mpi.Splitter) {
	color := 3
	if c.Rank() == 0 {
		color = -1
	}
	part := got(s.Split(color, 0))
	if c.Rank() == 0 {
		if part != nil {
			fail("result of Split with color -1 = %v, want nil", part)
		}
		return
	}
	if part == nil {
		fail("result of Split with color %d = nil, want a communicator", color)
	}
	if part.Size() != c.Size()-1 || part.Rank() != c.Rank()-1 {
		fail("split is rank %d of %d, want rank %d of %d", part.Rank(), part.Size(), c.Rank()-1, c.Size()-1)
	}
	rankAndSize(part)
	closeAll(part)
}

// dupIsolated sends with the same tag on the communicator and on two
// duplicates, and receives in another order.
func dupIsolated(c mpi.Communicator, s mpi.Splitter) {
	first := got(s.Split(0, c.Rank()))
	second := got(s.Split(0, c.Rank()))
	comms := []mpi.Communicator{c, first, second}
	for k, d := range comms {
		if d.Rank() != c.Rank() || d.Size() != c.Size() {
			fail("duplicate %d is rank %d of %d, want rank %d of %d", k, d.Rank(), d.Size(), c.Rank(), c.Size())
		}
	}
	if newRequests(c) != nil && newRequests(first) != nil && newRequests(second) != nil {
		eachPair(c, func(peer int, low bool) {
			if !low {
				for k := len(comms) - 1; k >= 0; k-- {
					check(recv(comms[k], 16, k, peer, 1), "communicator %d", k)
				}
				return
			}
			var sets []mpi.Requests
			for k, d := range comms {
				set := newRequests(d)
				sets = append(sets, set)
				check(set.Isend(filled(16, k), peer, 1))
			}
			for _, set := range sets {
				check(set.WaitAll())
			}
		})
	}
	closeAll(second, first)
}

func clock(c mpi.Communicator, cl mpi.Clock) {
	last := cl.Now()
	tick := func() {
		now := cl.Now()
		if !(now >= last) || math.IsInf(now, 0) {
			fail("clock went from %g s to %g s", last, now)
		}
		last = now
	}
	for range 1000 {
		tick()
	}
	eachPair(c, func(peer int, low bool) {
		check(move(c, low, 8, 1, peer, 1))
		tick()
	})
}

func placed(_ mpi.Communicator, p mpi.Placed) {
	if own := p.Place(); own.Host == "" || own.Core < -1 {
		fail("host %q, core %d: want a name, and at least -1", own.Host, own.Core)
	}
}

// places checks that all ranks get the same list, in which each finds itself, and
// that rank 0 can have it alone.
func places(c mpi.Communicator) {
	all := got(mpi.Places(c))
	alone := got(mpi.GatherPlaces(c))
	if c.Rank() != 0 && alone != nil || c.Rank() == 0 && !reflect.DeepEqual(alone, all) {
		fail("rank 0 alone gets places %v, want %v", alone, all)
	}
	if len(all) != c.Size() {
		fail("%d places for %d ranks", len(all), c.Size())
	}
	own := all[c.Rank()]
	if p, ok := c.(mpi.Placed); ok {
		want := p.Place()
		if !reflect.DeepEqual(own, want) {
			fail("place of the rank in the list is %v, want %v", own, want)
		}
		if !slices.IsSorted(want.CPUs) || len(want.CPUs) > 0 && want.CPUs[0] < 0 {
			fail("CPUs %d: want them ascending from 0", want.CPUs)
		}
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, all)
	sum := hash.Sum(nil)
	eachPair(c, func(peer int, low bool) {
		if low {
			check(c.Send(sum, peer, 4))
			return
		}
		other := make([]byte, len(sum))
		check(c.Recv(other, peer, 4))
		if !bytes.Equal(sum, other) {
			fail("rank %d has other places than rank %d", c.Rank(), peer)
		}
	})
}

func versioned(_ mpi.Communicator, v mpi.Versioned) {
	if version := v.LibraryVersion(); version == "" || strings.ContainsFunc(version, func(r rune) bool { return !unicode.IsPrint(r) }) {
		fail("library version %q, want one line of printable characters", version)
	}
}

// timed checks that all samples are above 0 on both sides, that together they
// do not last longer than the call, and that no message is left over.
func timed(c mpi.Communicator, tm mpi.Timed) {
	cl, hasClock := c.(mpi.Clock)
	for _, size := range []int{0, 1, 1024, 64 << 10} {
		for _, iters := range []int{1, 4} {
			eachPair(c, func(peer int, low bool) {
				defer during("%d bytes, %d round trips", size, iters)
				samples := make([]float64, 3)
				var start float64
				if hasClock {
					start = cl.Now()
				}
				check(tm.PingPong(samples, peer, 8, size, iters, low))
				sum := 0.0
				for _, s := range samples {
					if !(s > 0) || math.IsInf(s, 0) {
						fail("samples %g s, want all above 0", samples)
					}
					sum += s
				}
				if hasClock {
					// A little grace: the two may read different clocks.
					if took := cl.Now() - start; sum > took*1.01+1e-6 {
						fail("samples add up to %g s, but the call took %g s", sum, took)
					}
				}
				check(move(c, low, 5, 1, peer, 8))
			})
		}
	}
}

func timedWrong(c mpi.Communicator, tm mpi.Timed) {
	samples := make([]float64, 1)
	for _, peer := range []int{c.Rank(), -1, c.Size()} {
		err := tm.PingPong(samples, peer, 0, 8, 1, true)
		wantError(c, fmt.Sprintf("PingPong with rank %d", peer), err, mpi.ErrRank)
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		wantError(c, "PingPong of -1 bytes", tm.PingPong(samples, peer, 0, -1, 1, true), mpi.ErrCount)
		for _, iters := range []int{0, -1} {
			if err := tm.PingPong(samples, peer, 0, 8, iters, true); err == nil {
				fail("%d round trips in a PingPong are taken", iters)
			}
		}
		for _, tag := range []int{-1, mpi.MaxTag + 1} {
			err := tm.PingPong(samples, peer, tag, 8, 1, true)
			wantError(c, fmt.Sprintf("PingPong with tag %d", tag), err, mpi.ErrTag)
		}
	}
}
