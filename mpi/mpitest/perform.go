package mpitest

import (
	"fmt"
	"io"
	"math"

	"github.com/topocast/topocast/mpi"
)

// The cases below are for a mpi.Scheduler. Each is run in both forms.

// forms runs f with the list performed in order, and with receives ahead.
func forms(c mpi.Communicator, f func(perform func(buf []byte, steps []mpi.Step, tag int))) {
	s, ok := c.(mpi.Scheduler)
	if !ok {
		return
	}
	for _, ahead := range []bool{false, true} {
		f(func(buf []byte, steps []mpi.Step, tag int) {
			failed, err := s.Perform(buf, steps, tag, ahead)
			check(err, "step %d of %d, ahead = %v", failed, len(steps), ahead)
		})
	}
}

// pieceSizes lie on both sides of the borders at which libraries change their
// protocol.
var pieceSizes = []int{0, 1, 1000, 5000, 100_000}

// stepsChain passes a buffer from rank to rank in pieces, again and again, and
// overwrites it as soon as the list is performed.
func stepsChain(c mpi.Communicator) {
	const pieces, rounds = 9, 3
	forms(c, func(perform func([]byte, []mpi.Step, int)) {
		for _, size := range pieceSizes {
			var steps []mpi.Step
			for i := range pieces {
				if c.Rank() > 0 {
					steps = append(steps, mpi.Step{Kind: mpi.StepRecv, Peer: c.Rank() - 1, Offset: i * size, Length: size})
				}
				if c.Rank() < c.Size()-1 {
					steps = append(steps, mpi.Step{Kind: mpi.StepSend, Peer: c.Rank() + 1, Offset: i * size, Length: size})
				}
			}
			buf := make([]byte, pieces*size)
			for round := range rounds {
				if c.Rank() == 0 {
					fill(buf, round)
				}
				perform(buf, steps, 3)
				check(verify(buf, round), "pieces of %d bytes, round %d", size, round)
				fill(buf, round+100)
			}
		}
	})
}

// stepsMany lets one rank send far more messages than it receives: more than an
// implementation may have room for at once. The others take them by Recv.
func stepsMany(c mpi.Communicator) {
	const each = 75
	size := func(k int) int { return k * k * 3 }
	forms(c, func(perform func([]byte, []mpi.Step, int)) {
		buf := filled(size(each), 5)
		if c.Rank() > 0 {
			for k := range each {
				check(recv(c, size(k), 5, 0, 2), "message %d", k)
			}
			check(c.Send(buf[:7], 0, 1))
			return
		}
		var steps []mpi.Step
		for k := range each {
			for peer := 1; peer < c.Size(); peer++ {
				steps = append(steps, mpi.Step{Kind: mpi.StepSend, Peer: peer, Length: size(k)})
			}
		}
		perform(buf, steps, 2)
		steps = steps[:0]
		for peer := c.Size() - 1; peer > 0; peer-- { // of any order
			steps = append(steps, mpi.Step{Kind: mpi.StepRecv, Peer: peer, Offset: 7 * peer, Length: 7})
		}
		in := make([]byte, 7*c.Size())
		perform(in, steps, 1)
		for peer := 1; peer < c.Size(); peer++ {
			check(verify(in[7*peer:7*peer+7], 5))
		}
	})
}

// stepsExchange passes the parts of all ranks around a ring, in which all send
// and receive at once.
func stepsExchange(c mpi.Communicator) {
	n := c.Size()
	if n < 2 {
		return
	}
	forms(c, func(perform func([]byte, []mpi.Step, int)) {
		for _, size := range pieceSizes {
			buf := make([]byte, n*size)
			fill(buf[c.Rank()*size:(c.Rank()+1)*size], c.Rank())
			var steps []mpi.Step
			for round := range n - 1 {
				out, in := (c.Rank()-round+n)%n, (c.Rank()-round-1+n)%n
				steps = append(steps, mpi.Step{
					Kind: mpi.StepExchange,
					Peer: (c.Rank() + 1) % n, Offset: out * size, Length: size,
					RecvPeer: (c.Rank() + n - 1) % n, RecvOffset: in * size, RecvLength: size,
				})
			}
			perform(buf, steps, 6)
			for rank := range n {
				check(verify(buf[rank*size:(rank+1)*size], rank), "part of rank %d, %d bytes", rank, size)
			}
		}
	})
}

// stepsEmpty does nothing, and some of nothing.
func stepsEmpty(c mpi.Communicator) {
	forms(c, func(perform func([]byte, []mpi.Step, int)) {
		perform(nil, nil, 0)
		eachPair(c, func(peer int, low bool) {
			kind := mpi.StepRecv
			if low {
				kind = mpi.StepSend
			}
			perform(nil, []mpi.Step{{Kind: kind, Peer: peer}, {Kind: mpi.StepExchange, Peer: peer, RecvPeer: peer}}, mpi.MaxTag)
		})
	})
}

// stepsWrong are found before the good step in front of them is performed.
func stepsWrong(c mpi.Communicator) {
	s, ok := c.(mpi.Scheduler)
	if !ok || c.Size() < 2 {
		return
	}
	peer := (c.Rank() + 1) % c.Size()
	buf := make([]byte, 8)
	beyond := math.MaxInt32 // what a message may have
	beyond++
	good := mpi.Step{Kind: mpi.StepSend, Peer: peer, Length: 8}
	exchange := func(recvPeer, recvOffset, recvLength int) mpi.Step {
		return mpi.Step{Kind: mpi.StepExchange, Peer: peer, Length: 8, RecvPeer: recvPeer, RecvOffset: recvOffset, RecvLength: recvLength}
	}
	tests := []struct {
		name string
		step mpi.Step
		want error // nil: any
	}{
		{"send to the rank itself", mpi.Step{Peer: c.Rank(), Length: 8}, mpi.ErrRank},
		{"receive from rank -1", mpi.Step{Kind: mpi.StepRecv, Peer: -1, Length: 8}, mpi.ErrRank},
		{"exchange with a rank beyond the last", exchange(c.Size(), 0, 8), mpi.ErrRank},
		{"send of -1 bytes", mpi.Step{Peer: peer, Length: -1}, mpi.ErrCount},
		{"receive of 2^31 bytes", mpi.Step{Kind: mpi.StepRecv, Peer: peer, Length: beyond}, mpi.ErrCount},
		{"exchange for 2^31 bytes", exchange(peer, 0, beyond), mpi.ErrCount},
		{"bytes beyond the end", mpi.Step{Peer: peer, Offset: 1, Length: 8}, nil},
		{"bytes before the start", mpi.Step{Kind: mpi.StepRecv, Peer: peer, Offset: -1, Length: 8}, nil},
		{"an exchange beyond the end", exchange(peer, 4, 5), nil},
		{"a step of another kind", mpi.Step{Kind: mpi.StepExchange + 1, Peer: peer, RecvPeer: peer}, nil},
	}
	for _, ahead := range []bool{false, true} {
		for _, tt := range tests {
			failed, err := s.Perform(buf, []mpi.Step{good, tt.step}, 3, ahead)
			if failed != 1 || err == nil {
				fail("%s: Perform = step %d, %v, want an error in step 1", tt.name, failed, err)
			}
			if tt.want != nil {
				wantError(c, tt.name, err, tt.want)
			}
		}
		for _, tag := range []int{-1, mpi.MaxTag + 1} {
			_, err := s.Perform(buf, []mpi.Step{good}, tag, ahead)
			wantError(c, fmt.Sprintf("Perform with tag %d", tag), err, mpi.ErrTag)
		}
	}
	rankAndSize(c)
}

// stepsMismatch has a message of the wrong length behind one of the right one,
// and before another that comes only when the error has been told, with garbage
// collected, and hits nobody's memory.
func stepsMismatch(sent, expected int, ahead, exchange bool, want error) func(mpi.Communicator) {
	return func(c mpi.Communicator) {
		s, ok := c.(mpi.Scheduler)
		if !ok || c.Size() < 2 || c.Rank() > 1 {
			return
		}
		const good, late = 8, 2000
		peer := 1 - c.Rank()
		if c.Rank() == 0 {
			check(send(c, good, 1, peer, 4))
			check(send(c, sent, 2, peer, 4))
			if exchange {
				check(recv(c, good, 1, peer, 4))
			}
			check(recv(c, 0, 0, peer, 5))
			check(send(c, late, 3, peer, 4))
			check(send(c, 0, 0, peer, 5))
			return
		}
		func() { // nobody keeps the buffer
			buf := make([]byte, good+expected+64+late)
			behind := buf[good+expected : good+expected+64]
			copy(behind, guarded(0))
			steps := []mpi.Step{
				{Kind: mpi.StepRecv, Peer: peer, Length: good},
				{Kind: mpi.StepRecv, Peer: peer, Offset: good, Length: expected},
				{Kind: mpi.StepRecv, Peer: peer, Offset: good + expected + 64, Length: late},
			}
			if exchange {
				steps[1] = mpi.Step{Kind: mpi.StepExchange, Peer: peer, Length: good, RecvPeer: peer, RecvOffset: good, RecvLength: expected}
			}
			failed, err := s.Perform(buf, steps, 4, ahead)
			if failed != 1 {
				fail("step %d of Perform fails, want 1: %w", failed, err)
			}
			wantError(c, fmt.Sprintf("Perform of %d bytes into %d", sent, expected), err, want)
			check(verify(buf[:good], 1))
			untouched(behind)
		}()
		collectGarbage()
		others := litter(good + expected + 64 + late) // in the place of the buffer, if that was let go
		check(send(c, 0, 0, peer, 5))
		if !ahead { // else it was posted already
			check(recv(c, late, 3, peer, 4))
		}
		check(recv(c, 0, 0, peer, 5))
		collectGarbage()
		ruined(others)
		if cl, ok := c.(io.Closer); ok && c.Size() == 2 { // Close is collective
			check(cl.Close())
		}
	}
}
