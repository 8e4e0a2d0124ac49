package mpitest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// A testCase is executed by all ranks. It fails on a rank where the contract is
// broken (see check).
type testCase struct {
	name   string
	run    func(c mpi.Communicator)
	last   bool // leaves the communicator unusable: wants one of its own
	closes bool // closes it: is left out if there can be none of its own
}

func cases() []testCase {
	return []testCase{
		{name: "rank and size", run: rankAndSize},
		{name: "messages of one pair keep their order", run: order},
		{name: "all tags up to MaxTag arrive", run: tags},
		{name: "all sizes arrive whole", run: sizes},
		{name: "the send buffer is free when Send returns", run: reuse},
		{name: "wrong ranks and tags are refused", run: wrongArguments},
		{name: "Ssend", run: with(ssend)},
		{name: "requests: empty set", run: withSet(requestsEmpty)},
		{name: "requests: many at once", run: withSet(requestsMany)},
		{name: "requests: crossing exchanges", run: withSet(requestsCrossing)},
		{name: "requests: tags separate messages", run: withSet(requestsTags)},
		{name: "requests: order of one tag", run: withSet(requestsOrder)},
		{name: "requests: mixed with Send and Recv", run: withSet(requestsMixed)},
		{name: "requests: collected garbage while pending", run: withSet(requestsGC)},
		{name: "requests: random traffic", run: withSet(requestsRandom)},
		{name: "requests: each is told when it is complete", run: withSet(requestsAny)},
		{name: "requests: asked until they are complete", run: withSet(requestsPoll)},
		{name: "requests: wrong ranks and tags are refused", run: withSet(requestsWrong)},
		{name: "requests: broadcasts of the library", run: withSet(requestsBcast)},
		{name: "steps: a chain of pieces", run: with(stepsChain)},
		{name: "steps: many sends", run: with(stepsMany)},
		{name: "steps: exchanges in a ring", run: with(stepsExchange)},
		{name: "steps: none, and of nothing", run: with(stepsEmpty)},
		{name: "steps: wrong ones are refused", run: with(stepsWrong)},
		{name: "native broadcast", run: with(nativeBcast)},
		{name: "collectives", run: with(collectives)},
		{name: "collectives: wrong arguments are refused", run: with(collectivesWrong)},
		{name: "native broadcast from a wrong root", run: with(nativeBcastWrongRoot)},
		{name: "messages that are too long are refused", run: counts},
		{name: "split", run: with(split)},
		{name: "split without some ranks", run: with(splitUndefined)},
		{name: "a duplicate is isolated", run: with(dupIsolated)},
		{name: "clock", run: with(clock)},
		{name: "place", run: with(placed)},
		{name: "places", run: places},
		{name: "library version", run: with(versioned)},
		{name: "timed exchanges", run: with(timed)},
		{name: "timed exchanges with wrong arguments", run: with(timedWrong)},
		{name: "message longer than the buffer", run: mismatch(16, 8, mpi.ErrTruncated), last: true},
		{name: "message for an empty buffer", run: mismatch(4, 0, mpi.ErrTruncated), last: true},
		{name: "long message for a short buffer", run: mismatch(1<<20, 16, mpi.ErrTruncated), last: true},
		{name: "long message for a long buffer", run: mismatch(1<<20, 500_000, mpi.ErrTruncated), last: true},
		{name: "message shorter than the buffer", run: mismatch(8, 16, mpi.ErrLength), last: true},
		{name: "empty message for a buffer", run: mismatch(0, 4, mpi.ErrLength), last: true},
		{name: "short message for a long buffer", run: mismatch(16, 1<<20, mpi.ErrLength), last: true},
		{name: "requests: message longer than the buffer", run: withSet(requestsMismatch(mpi.Requests.WaitAll, 16, 8, mpi.ErrTruncated)), last: true},
		{name: "requests: message shorter than the buffer", run: withSet(requestsMismatch(mpi.Requests.WaitAll, 8, 16, mpi.ErrLength)), last: true},
		{name: "requests: asked, message longer than the buffer", run: withSet(requestsMismatch(poll, 16, 8, mpi.ErrTruncated)), last: true},
		{name: "requests: asked, message shorter than the buffer", run: withSet(requestsMismatch(poll, 8, 16, mpi.ErrLength)), last: true},
		{name: "steps: message longer than its step", run: stepsMismatch(16, 8, false, false, mpi.ErrTruncated), last: true},
		{name: "steps: long message for a short step", run: stepsMismatch(1<<20, 16, false, false, mpi.ErrTruncated), last: true},
		{name: "steps: message shorter than its step", run: stepsMismatch(8, 16, false, false, mpi.ErrLength), last: true},
		{name: "steps: exchange for a longer message", run: stepsMismatch(16, 8, false, true, mpi.ErrTruncated), last: true},
		{name: "steps: exchange for a shorter message", run: stepsMismatch(8, 16, false, true, mpi.ErrLength), last: true},
		{name: "steps ahead: message longer than its step", run: stepsMismatch(16, 8, true, false, mpi.ErrTruncated), last: true},
		{name: "steps ahead: message shorter than its step", run: stepsMismatch(8, 16, true, false, mpi.ErrLength), last: true},
		{name: "steps ahead: exchange for a longer message", run: stepsMismatch(16, 8, true, true, mpi.ErrTruncated), last: true},
		{name: "requests: the first of two errors", run: withSet(requestsFirstError), last: true},
		{name: "requests: sets after errors", run: requestsAfterErrors, last: true},
		{name: "requests: forgotten", run: requestsForgotten, last: true},
		{name: "requests: Close while transfers are under way", run: requestsClosed, last: true, closes: true},
		{name: "use after Close", run: with(closed), last: true, closes: true},
	}
}

// Check runs all cases on the calling goroutine, and returns the first
// failure. It is collective: all ranks of comm call it, with no message under
// way. Cases that leave a communicator unusable run on a duplicate of comm; a
// communicator that cannot be duplicated has to bear them one after the other,
// and is not closed.
func Check(comm mpi.Communicator) error {
	for _, tc := range cases() {
		if err := runCase(comm, tc); err != nil {
			return fmt.Errorf("mpitest: %s: rank %d of %d: %w", tc.name, comm.Rank(), comm.Size(), err)
		}
	}
	return nil
}

func runCase(comm mpi.Communicator, tc testCase) error {
	if !tc.last {
		return errorOf(tc.run, comm)
	}
	s, ok := comm.(mpi.Splitter)
	if !ok {
		if tc.closes {
			return nil
		}
		return errorOf(tc.run, comm)
	}
	own, err := s.Split(0, comm.Rank())
	if err != nil {
		return fmt.Errorf("making a duplicate: %w", err)
	}
	return errorOf(tc.run, own)
}

// Run runs Check in a test of which every rank is a process of its own. It is
// collective. When a case fails and comm is an mpi.Failer, the whole job is
// ended with the failure on stderr, since the other ranks may wait for this one.
func Run(t *testing.T, comm mpi.Communicator) {
	t.Helper()
	if err := Check(comm); err != nil {
		if f, ok := comm.(mpi.Failer); ok {
			f.Fail(err)
		}
		t.Fatal(err)
	}
}

// A World runs body on n ranks of one process, each on a goroutine of its own,
// and returns when all of them have returned. When body returns an error or
// panics on a rank, the world ends all others: operations under way and later
// ones return mpi.ErrAborted, and the World returns an error that wraps the
// first cause.
type World func(n int, body func(mpi.Communicator) error) error

// RunWorld runs all cases in worlds of 1, 2, 3, 4 and 8 ranks, each case in a
// fresh world. It adds those that only an in-process world can be asked for.
func RunWorld(t *testing.T, world World) {
	for _, n := range []int{1, 2, 3, 4, 8} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			// Ranks that share memory can tell, too, how long a send has lasted.
			for _, tc := range append(cases(), testCase{name: "Ssend waits for the receiver", run: ssendWaits()}) {
				t.Run(tc.name, func(t *testing.T) {
					if err := world(n, func(c mpi.Communicator) error { return errorOf(tc.run, c) }); err != nil {
						t.Fatal(err)
					}
				})
			}
			t.Run("an error ends the world", func(t *testing.T) { endsWorld(t, world, n, false) })
			t.Run("a panic ends the world", func(t *testing.T) { endsWorld(t, world, n, true) })
		})
	}
}

var errCause = errors.New("mpitest: the cause")

// endsWorld lets the last rank fail while the others wait for a message that
// never comes.
func endsWorld(t *testing.T, world World, n int, panics bool) {
	err := world(n, func(c mpi.Communicator) error {
		if c.Rank() == n-1 {
			// The others are told to start waiting, so that some really wait.
			for peer := range n - 1 {
				if err := c.Send([]byte{1}, peer, 1); err != nil {
					return err
				}
			}
			if panics {
				panic(errCause)
			}
			return errCause
		}
		if err := c.Recv(make([]byte, 1), n-1, 1); err != nil {
			return err
		}
		err := c.Recv(make([]byte, 1), n-1, 2)
		if !errors.Is(err, mpi.ErrAborted) {
			return fmt.Errorf("error of Recv from a rank that has failed = %v, want %v", err, mpi.ErrAborted)
		}
		// So does every later operation.
		if err := c.Send(nil, n-1, 3); !errors.Is(err, mpi.ErrAborted) {
			return fmt.Errorf("error of Send in an aborted world = %v, want %v", err, mpi.ErrAborted)
		}
		return err
	})
	if !errors.Is(err, errCause) {
		t.Fatalf("world's error = %v, want one that wraps %q", err, errCause)
	}
}
