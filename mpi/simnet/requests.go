package simnet

import (
	"slices"

	"github.com/topocast/topocast/mpi"
)

// requests is a set of transfers under way.
type requests struct {
	comm     *Comm // nil: of the rank itself, for Send, Recv and PingPong
	rank     *rank
	entries  []entry
	open     int     // how many are not complete
	early    instant // work on messages that arrived before the rank waited
	isWaited bool    // the rank waits for the set
	anyWakes bool    // the rank waits for one more of the set
}

type entry struct {
	m      *message
	isSend bool
	isTold bool // WaitAny has returned it
}

var _ mpi.Requests = (*requests)(nil)

// NewRequests returns an empty set of requests.
func (c *Comm) NewRequests() mpi.Requests {
	return &requests{comm: c, rank: c.rank}
}

func (s *requests) add(m *message, isSend bool) {
	s.entries = append(s.entries, entry{m: m, isSend: isSend})
}

// Isend starts to send.
func (s *requests) Isend(buf []byte, dst, tag int) error {
	c := s.comm
	if err := c.check("Isend", len(buf), dst, tag); err != nil {
		return err
	}
	return c.fail("Isend", dst, tag, c.world.send(c.rank, s, buf, len(buf), c.keyTo(dst, tag), false))
}

// Irecv starts to receive.
func (s *requests) Irecv(buf []byte, src, tag int) error {
	c := s.comm
	if err := c.check("Irecv", len(buf), src, tag); err != nil {
		return err
	}
	c.world.receive(c.rank, s, buf, len(buf), c.keyFrom(src, tag))
	return nil
}

// WaitAll waits for all transfers of the set.
func (s *requests) WaitAll() error {
	err := s.comm.usable("WaitAll", -1, -1)
	if err == nil && !s.ready() {
		err = s.comm.fail("WaitAll", -1, -1, s.rank.block(pending{op: "WaitAll", peer: -1, tag: -1, set: s}))
	}
	if err != nil {
		s.entries = s.entries[:0]
		return err
	}
	return s.end("WaitAll")
}

// end empties the set, and returns what was wrong.
func (s *requests) end(op string) error {
	key, err := s.finish()
	if err != nil {
		return s.comm.fail(op, s.comm.rankOf(key.src), key.tag(), err)
	}
	return nil
}

// Test looks at the rank's own time. It takes none; but a rank that tests again
// without having done anything in between waits for the next event of the
// simulation, as if it had looked all the time.
func (s *requests) Test() (bool, error) {
	err := s.comm.usable("Test", -1, -1)
	if err == nil && s.open > 0 {
		err = s.comm.fail("Test", -1, -1, s.rank.look(pending{op: "Test", peer: -1, tag: -1, set: s}))
	}
	if err != nil {
		s.entries = s.entries[:0]
		return true, err
	}
	if !s.ready() {
		s.isWaited = false // it only looks
		return false, nil
	}
	return true, s.end("Test")
}

// WaitAny waits for one more transfer of the set.
func (s *requests) WaitAny() (int, error) {
	if err := s.comm.usable("WaitAny", -1, -1); err != nil {
		return -1, err
	}
	for slices.ContainsFunc(s.entries, func(e entry) bool { return !e.isTold }) {
		i := slices.IndexFunc(s.entries, func(e entry) bool { return !e.isTold && e.isComplete() })
		if i >= 0 {
			s.rank.clock += s.early
			s.early, s.entries[i].isTold = 0, true
			return i, nil
		}
		s.isWaited, s.anyWakes = true, true
		if err := s.rank.block(pending{op: "WaitAny", peer: -1, tag: -1, set: s}); err != nil {
			return -1, s.comm.fail("WaitAny", -1, -1, err)
		}
	}
	return -1, nil
}

// isComplete tells whether nothing of the transfer remains to be waited for.
func (e *entry) isComplete() bool { return e.m.hasArrived || e.isSend && e.m.eager }

// ready tells whether the rank, which waits from now on, need not.
func (s *requests) ready() bool {
	s.rank.clock += s.early
	s.early = 0
	s.isWaited = s.open > 0
	return !s.isWaited
}

// complete notes at the present instant that one transfer is complete but for
// the work on it, which the rank does when it waits.
func (s *requests) complete(work instant) {
	s.open--
	if !s.isWaited {
		s.early += work
		return
	}
	r := s.rank
	r.clock = max(r.clock, r.world.now) + work
	if s.open == 0 || s.anyWakes {
		s.isWaited, s.anyWakes = false, false
		r.wake()
	}
}

// finish empties a set of which all transfers are complete, and returns the
// first failure and the key of its message.
func (s *requests) finish() (key matchKey, err error) {
	for _, e := range s.entries {
		if e.isSend {
			s.rank.world.park(e.m)
		} else if e.m.failure != nil && err == nil {
			key, err = e.m.key, e.m.failure
		}
		s.rank.world.drop(e.m)
	}
	clear(s.entries)
	s.entries = s.entries[:0]
	return key, err
}
