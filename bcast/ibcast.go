package bcast

import (
	"github.com/topocast/topocast/mpi"
)

// Ibcast is collective: it begins what Bcast does, and returns before that is done:
//
//	next, err := b.Ibcast(panel, root)
//	...                      // compute, without looking at panel
//	done, err := next.Test() // now and then, as it goes on in such calls only
//	...
//	err = next.Wait()        // panel is there
//
// Until Wait has returned, or Test has said that it is done, buf must not be touched, not even read. Nothing else may be
// asked of the broadcaster: it has one broadcast under way at a time and refuses the next. All ranks call
// Ibcast where one does; each may use Test or Wait. It does not allocate where Bcast does not.
//
// Native runs as MPI_Ibcast (mpi.Ibcaster). In three cases Ibcast is Bcast, and done when it returns: for the first
// message of a class of sizes and root, where a plan ends in native broadcasts in groups, and where the communicator lacks
// mpi.NonBlocking.
func (b *Broadcaster) Ibcast(buf []byte, root int) (*Pending, error) {
	e := b.exec
	if err := e.usable(); err != nil {
		return nil, err
	}
	e.pending = Pending{}
	var p *compiledPlan
	if len(buf) > 0 && uint(root) < uint(b.ranks) { // 0 bytes leave nothing under way
		p = b.compiledFor(len(buf), root)
	}
	if p == nil || usesNative(p.Algorithm) || b.ranks == 1 || !e.canStart(p.Algorithm == nil) {
		if err := b.Bcast(buf, root); err != nil {
			return nil, err
		}
		return &e.pending, nil
	}
	next := &e.pending
	b.calls.Add(len(buf), root, 0)
	*next = Pending{b: b, plan: p, root: root, rest: buf, part: p.partBytes(len(buf))}
	e.failure = errUnderWay
	err := next.begin()
	if err == nil {
		_, err = next.proceed(test)
	}
	if err != nil {
		return nil, next.failed(err)
	}
	return next, nil
}

// canStart reports whether a broadcast, by a schedule or native, can be left under way.
func (e *executor) canStart(native bool) bool {
	if e.sets == nil {
		return false
	}
	_, starts := e.sets[0].(mpi.Ibcaster)
	return starts || !native
}

// A Pending is a broadcast that Ibcast has begun. It is the broadcaster's, and
// good until the next one.
type Pending struct {
	b     *Broadcaster // nil: done
	plan  *compiledPlan
	root  int
	rest  []byte // from the part under way
	part  int    // bytes of all parts but the last
	steps int    // of the part under way that are done
	err   error  // why it will never be done
}

// Test returns soon: it performs what it can without waiting for other ranks, and reports whether the broadcast is done on
// this one.
func (p *Pending) Test() (done bool, err error) { return p.settle(test) }

// Wait returns when the broadcast is done on this rank.
func (p *Pending) Wait() error {
	_, err := p.settle(waitAll)
	return err
}

func (p *Pending) settle(wait waitFunc) (bool, error) {
	if p.b == nil {
		return true, p.err
	}
	done, err := p.proceed(wait)
	if err != nil {
		return true, p.failed(err)
	}
	return done, nil
}

// failed ends the broadcast with an error, and the use of the broadcaster.
func (p *Pending) failed(err error) error {
	p.err = p.b.exec.note(err)
	p.b = nil
	return p.err
}

// size is the length of the part under way.
func (p *Pending) size() int { return min(p.part, len(p.rest)) }

// begin starts the part that is next.
func (p *Pending) begin() error {
	if p.plan.Algorithm == nil {
		return p.b.exec.sets[0].(mpi.Ibcaster).Ibcast(p.rest[:p.size()], p.root)
	}
	p.steps = 0
	p.b.load(p.plan, p.size(), p.root, true)
	return nil
}

// proceed goes on to the end of the broadcast, or where wait gives up.
func (p *Pending) proceed(wait waitFunc) (bool, error) {
	e := p.b.exec
	for {
		var done bool
		var err error
		if p.plan.Algorithm == nil {
			done, err = wait(e.sets[0])
		} else {
			var n int
			n, done, err = e.proceed(e.current.steps[p.steps:], p.rest[:p.size()], wait)
			p.steps += n
		}
		if !done || err != nil {
			return false, err
		}
		if p.rest = p.rest[p.size():]; len(p.rest) == 0 {
			e.failure, p.b, p.rest = nil, nil, nil // an empty slice would still hold the buffer
			return true, nil
		}
		if err := p.begin(); err != nil {
			return false, err
		}
	}
}

// IbcastSlice is collective: it is Ibcast of the values of s, as BcastSlice is Bcast.
func IbcastSlice[T Number](b *Broadcaster, s []T, root int) (*Pending, error) {
	return b.Ibcast(bytesOf(s), root)
}
