package throughput

import (
	"math"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of the messages of this package.
const (
	tagData = harness.FirstTag + iota
	tagGo
)

const (
	// window is how many messages are under way per direction: one flows, the next has
	// asked for its consent meanwhile.
	window = 2

	greetings = 3 // empty round trips, of which the shortest counts
)

// A stream moves the messages of one rank's part in a step. It belongs to one
// goroutine.
type stream struct {
	comm    mpi.Communicator
	now     func() float64
	out, in [window]mpi.Requests // one per message
	send    []byte
	receive [window][]byte // one per message
}

// newStream makes buffers where the rank needs some.
func newStream(comm mpi.Communicator, bytes int) *stream {
	s := &stream{comm: comm, now: share.Clock(comm), send: harness.Hollow(comm, bytes)}
	isHollow := s.send != nil
	if !isHollow {
		s.send = make([]byte, bytes)
	}
	for i := range window {
		s.out[i], s.in[i] = mpi.NewRequests(comm), mpi.NewRequests(comm)
		s.receive[i] = s.send // a rank sends or receives
		if i > 0 && !isHollow {
			s.receive[i] = make([]byte, bytes)
		}
	}
	return s
}

// greeting is the task of a pair that greets; others are numbers of messages.
const greeting = 0

// exchange is what the rank does in a round. A sender finds nothing. A receiver finds the round trip when it is greeted, and else
// when the sender was there, and then when the messages had arrived: see flow.
func (s *stream) exchange(found []float64, peer int, sends bool, task int) ([]float64, error) {
	switch {
	case task == greeting:
		rtt, err := s.greet(peer, !sends)
		if !sends {
			found = append(found, rtt)
		}
		return found, err
	case sends:
		return found, s.deliver(peer, task)
	}
	arrivals := make([]float64, task)
	met, err := s.fetch(peer, arrivals)
	return append(append(found, met), arrivals...), err
}

// greet exchanges empty messages and returns the shortest round trip in s, which the
// rank that asks has timed.
func (s *stream) greet(peer int, asks bool) (float64, error) {
	shortest := math.Inf(1)
	for range greetings {
		start := s.now()
		if err := s.meet(peer, asks); err != nil {
			return 0, err
		}
		shortest = min(shortest, s.now()-start)
	}
	return shortest, nil
}

// fetch asks the peer for len(arrivals) messages. It returns when they had arrived, in s since the call, and when the
// peer was there, as flow.met has it.
func (s *stream) fetch(peer int, arrivals []float64) (met float64, err error) {
	start := s.now()
	for i := range min(window, len(arrivals)) {
		if err := s.post(peer, i); err != nil {
			return 0, err
		}
	}
	if err := s.meet(peer, true); err != nil {
		return 0, err
	}
	met = s.now() - start
	for i := range arrivals {
		if err := s.in[i%window].WaitAll(); err != nil {
			return 0, err
		}
		arrivals[i] = s.now() - start
		if i+window < len(arrivals) {
			if err := s.post(peer, i+window); err != nil {
				return 0, err
			}
		}
	}
	return met, nil
}

// post prepares for a message.
func (s *stream) post(peer, i int) error {
	return s.in[i%window].Irecv(s.receive[i%window], peer, tagData)
}

// deliver sends messages when the peer has asked for them.
func (s *stream) deliver(peer, messages int) error {
	if err := s.meet(peer, false); err != nil {
		return err
	}
	for i := range messages {
		if err := s.out[i%window].WaitAll(); err != nil { // nothing at first
			return err
		}
		if err := s.out[i%window].Isend(s.send, peer, tagData); err != nil {
			return err
		}
	}
	for _, out := range s.out {
		if err := out.WaitAll(); err != nil {
			return err
		}
	}
	return nil
}

// meet is one empty round trip.
func (s *stream) meet(peer int, asks bool) error {
	if asks {
		if err := s.comm.Send(nil, peer, tagGo); err != nil {
			return err
		}
	}
	if err := s.comm.Recv(nil, peer, tagGo); err != nil || asks {
		return err
	}
	return s.comm.Send(nil, peer, tagGo)
}
