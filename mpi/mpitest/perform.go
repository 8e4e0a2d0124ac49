package mpitest

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// The cases below are for a mpi.Scheduler.

// perform performs steps that have to succeed.
func perform(s mpi.Scheduler, buf []byte, steps []mpi.Step, tag int) {
	failed, err := s.Perform(buf, steps, tag)
	check(err, "step %d of %d", failed, len(steps))
}

// pieceSizes lie on both sides of the borders at which libraries change their
// protocol.
var pieceSizes = []int{0, 1, 1000, 5000, 100_000}

// chainSteps pass pieces of a buffer from rank to rank: one after the other, or with the next receive and two sends
// under way.
func chainSteps(c mpi.Communicator, pieces, size int, overlapped bool) (steps []mpi.Step) {
	first, last := c.Rank() == 0, c.Rank() == c.Size()-1
	piece := func(kind mpi.StepKind, set, peer, i int) {
		steps = append(steps, mpi.Step{Kind: kind, Set: set, Peer: peer, Offset: i * size, Length: size})
	}
	wait := func(set int) { steps = append(steps, mpi.Step{Kind: mpi.StepWait, Set: set}) }
	if overlapped && !first {
		piece(mpi.StepStartRecv, 0, c.Rank()-1, 0)
	}
	for i := range pieces {
		switch {
		case first:
		case !overlapped:
			piece(mpi.StepRecv, 0, c.Rank()-1, i)
		default:
			if i+1 < pieces {
				piece(mpi.StepStartRecv, (i+1)%2, c.Rank()-1, i+1)
			}
			wait(i % 2)
		}
		switch {
		case last:
		case !overlapped:
			piece(mpi.StepSend, 0, c.Rank()+1, i)
		default:
			wait(2 + i%2)
			piece(mpi.StepStartSend, 2+i%2, c.Rank()+1, i)
		}
	}
	if overlapped {
		wait(2)
		wait(3)
	}
	return steps
}

// stepsChain passes a buffer from rank to rank in pieces, again and again, and overwrites it as soon as the list is
// performed.
func stepsChain(c mpi.Communicator, s mpi.Scheduler) {
	const pieces, rounds = 9, 3
	for _, overlapped := range []bool{false, true} {
		for _, size := range pieceSizes {
			steps := chainSteps(c, pieces, size, overlapped)
			buf := make([]byte, pieces*size)
			for round := range rounds {
				if c.Rank() == 0 {
					fill(buf, round)
				}
				perform(s, buf, steps, 3)
				check(verify(buf, round), "pieces of %d bytes, round %d", size, round)
				fill(buf, round+100)
			}
		}
	}
}

// stepsMany lets one rank send far more messages than it receives: more than an implementation may have room for at
// once. The others take them by Recv.
func stepsMany(c mpi.Communicator, s mpi.Scheduler) {
	const each = 75
	size := func(k int) int { return k * k * 3 }
	for _, started := range []bool{false, true} {
		buf := filled(size(each), 5)
		if c.Rank() > 0 {
			for k := range each {
				check(recv(c, size(k), 5, 0, 2), "message %d", k)
			}
			check(c.Send(buf[:7], 0, 1))
			continue
		}
		var steps []mpi.Step
		for k := range each {
			for peer := 1; peer < c.Size(); peer++ {
				n := len(steps)
				steps = append(steps, mpi.Step{Kind: mpi.StepSend, Peer: peer, Length: size(k)})
				if started {
					steps[n].Kind, steps[n].Set = mpi.StepStartSend, 3
					if len(steps)%(mpi.StepSetSize+1) == mpi.StepSetSize {
						steps = append(steps, mpi.Step{Kind: mpi.StepWait, Set: 3})
					}
				}
			}
		}
		perform(s, buf, append(steps, mpi.Step{Kind: mpi.StepWait, Set: 3}), 2)
		steps = steps[:0]
		for peer := c.Size() - 1; peer > 0; peer-- { // of any order
			steps = append(steps, mpi.Step{Kind: mpi.StepRecv, Peer: peer, Offset: 7 * peer, Length: 7})
		}
		in := make([]byte, 7*c.Size())
		perform(s, in, steps, 1)
		for peer := 1; peer < c.Size(); peer++ {
			check(verify(in[7*peer:7*peer+7], 5))
		}
	}
}

// stepsExchange passes the parts of all ranks around a ring, in which all send and receive at once.
func stepsExchange(c mpi.Communicator, s mpi.Scheduler) {
	n := c.Size()
	if n < 2 {
		return
	}
	for _, size := range pieceSizes {
		buf := make([]byte, n*size)
		fill(buf[c.Rank()*size:(c.Rank()+1)*size], c.Rank())
		var steps []mpi.Step
		for round := range n - 1 {
			out, in := (c.Rank()-round+n)%n, (c.Rank()-round-1+n)%n
			steps = append(steps,
				mpi.Step{Kind: mpi.StepStartSend, Peer: (c.Rank() + 1) % n, Offset: out * size, Length: size},
				mpi.Step{Kind: mpi.StepRecv, Peer: (c.Rank() + n - 1) % n, Offset: in * size, Length: size},
				mpi.Step{Kind: mpi.StepWait})
		}
		perform(s, buf, steps, 6)
		for rank := range n {
			check(verify(buf[rank*size:(rank+1)*size], rank), "part of rank %d, %d bytes", rank, size)
		}
	}
}

// stepsEmpty does nothing, and some of nothing.
func stepsEmpty(c mpi.Communicator, s mpi.Scheduler) {
	perform(s, nil, nil, 0)
	eachPair(c, func(peer int, low bool) {
		kind := mpi.StepRecv
		if low {
			kind = mpi.StepSend
		}
		perform(s, nil, []mpi.Step{
			{Kind: kind, Peer: peer},
			{Kind: mpi.StepStartSend, Set: 1, Peer: peer},
			{Kind: mpi.StepStartRecv, Set: 1, Peer: peer},
			{Kind: mpi.StepWait, Set: 1},
			{Kind: mpi.StepWait, Set: 1}, // of nothing
		}, mpi.MaxTag)
	})
}

// stepsWrong are found before the good step in front of them is performed.
func stepsWrong(c mpi.Communicator, s mpi.Scheduler) {
	if c.Size() < 2 {
		return
	}
	peer := (c.Rank() + 1) % c.Size()
	buf := make([]byte, 8)
	beyond := math.MaxInt32 // what a message may have
	beyond++
	good := mpi.Step{Kind: mpi.StepSend, Peer: peer, Length: 8}
	start := mpi.Step{Kind: mpi.StepStartSend, Peer: peer, Length: 8}
	full := append(slices.Repeat([]mpi.Step{start}, mpi.StepSetSize+1), mpi.Step{Kind: mpi.StepWait})
	tests := []struct {
		name  string
		steps []mpi.Step
		at    int   // the step that is wrong
		want  error // nil: any
	}{
		{"send to the rank itself", []mpi.Step{good, {Peer: c.Rank(), Length: 8}}, 1, mpi.ErrRank},
		{"receive from rank -1", []mpi.Step{good, {Kind: mpi.StepRecv, Peer: -1, Length: 8}}, 1, mpi.ErrRank},
		{"start of a receive from a rank beyond the last", []mpi.Step{good, {Kind: mpi.StepStartRecv, Peer: c.Size(), Length: 8}}, 1, mpi.ErrRank},
		{"send of -1 bytes", []mpi.Step{good, {Peer: peer, Length: -1}}, 1, mpi.ErrCount},
		{"receive of 2^31 bytes", []mpi.Step{good, {Kind: mpi.StepRecv, Peer: peer, Length: beyond}}, 1, mpi.ErrCount},
		{"start of a receive of 2^31 bytes", []mpi.Step{good, {Kind: mpi.StepStartRecv, Peer: peer, Length: beyond}}, 1, mpi.ErrCount},
		{"bytes beyond the end", []mpi.Step{good, {Peer: peer, Offset: 1, Length: 8}}, 1, nil},
		{"bytes before the start", []mpi.Step{good, {Kind: mpi.StepRecv, Peer: peer, Offset: -1, Length: 8}}, 1, nil},
		{"a step of another kind", []mpi.Step{good, {Kind: mpi.StepWait + 1, Peer: peer}}, 1, nil},
		{"a set that there is not", []mpi.Step{good, {Kind: mpi.StepWait, Set: mpi.StepSets}}, 1, nil},
		{"a set below 0", []mpi.Step{good, {Kind: mpi.StepStartSend, Set: -1, Peer: peer}}, 1, nil},
		{"a send that nothing waits for", []mpi.Step{good, start, good}, 1, nil},
		{"more transfers than a set holds", full, mpi.StepSetSize, nil},
	}
	for _, tt := range tests {
		failed, err := s.Perform(buf, tt.steps, 3)
		if failed != tt.at || err == nil {
			fail("%s: Perform = step %d, %v, want an error in step %d", tt.name, failed, err, tt.at)
		}
		if tt.want != nil {
			wantError(c, tt.name, err, tt.want)
		}
	}
	for _, tag := range []int{-1, mpi.MaxTag + 1} {
		_, err := s.Perform(buf, []mpi.Step{good}, tag)
		wantError(c, fmt.Sprintf("Perform with tag %d", tag), err, mpi.ErrTag)
	}
	rankAndSize(c)
}

// stepsMismatch has a message of the wrong length behind one of the right one.
// Another one comes only when the error has been told and garbage is
// collected. It hits nobody's memory.
func stepsMismatch(sent, expected int, ahead, exchange bool, want error) func(mpi.Communicator) {
	return with(func(c mpi.Communicator, s mpi.Scheduler) {
		if c.Size() < 2 || c.Rank() > 1 {
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
			failing := 1
			if exchange {
				steps = slices.Insert(steps, 1, mpi.Step{Kind: mpi.StepStartSend, Set: 3, Peer: peer, Length: good})
				steps = append(steps, mpi.Step{Kind: mpi.StepWait, Set: 3})
				failing = 2
			}
			if ahead {
				set := 0
				for i := range steps {
					if s := &steps[i]; s.Kind == mpi.StepRecv {
						s.Kind, s.Set = mpi.StepStartRecv, set
						set++
					}
				}
				for set := range 3 {
					steps = append(steps, mpi.Step{Kind: mpi.StepWait, Set: set})
				}
				if exchange { // what it sends has to be there
					steps = slices.Insert(steps, 1, mpi.Step{Kind: mpi.StepWait})
					failing = 3
				}
			}
			failed, err := s.Perform(buf, steps, 4)
			if failed != failing {
				fail("step %d of Perform fails, want %d: %w", failed, failing, err)
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
	})
}
