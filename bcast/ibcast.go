package bcast

import (
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// Ibcast is collective: it begins what Bcast does, and returns while it is under
// way:
//
//	next, err := b.Ibcast(panel, root)
//	...                      // compute, without looking at panel
//	done, err := next.Test() // now and then, as it goes on in such calls only
//	...
//	err = next.Wait()        // panel is there
//
// Until Wait has returned, or Test has said that it is done, buf must not be
// touched, not even read, and nothing else be asked of the broadcaster, which has
// one broadcast under way at a time and refuses the next. All ranks call
// Ibcast where one does; each may use Test or Wait. It does not allocate where
// Bcast does not.
//
// The library's own broadcast runs as its MPI_Ibcast (mpi.Ibcaster). Where the
// communicator cannot do such things (mpi.NonBlocking), where a plan ends in the library's broadcast
// in groups, and for the first message of a class of sizes and root, Ibcast is Bcast, and done
// when it returns.
func (b *Broadcaster) Ibcast(buf []byte, root int) (*Pending, error) {
	p := &b.exec.begun
	if err := b.exec.usable(); err != nil {
		return nil, err
	}
	*p = Pending{}
	var r *route
	if len(buf) > 0 && uint(root) < uint(b.ranks) {
		r = b.route(len(buf), root)
	}
	if r == nil || r.grouped || b.ranks == 1 || !b.exec.overlaps(r.Index == native) {
		if err := b.Bcast(buf, root); err != nil {
			return nil, err
		}
		return p, nil
	}
	return b.start(r, buf, root)
}

// start begins to broadcast buf along the route.
func (b *Broadcaster) start(r *route, buf []byte, root int) (*Pending, error) {
	p := &b.exec.begun
	*p = Pending{b: b, route: r, root: root, rest: buf, part: laidOut(len(buf), r.Segment)}
	if r.Index == native {
		p.part = min(len(buf), schedule.MaxSegment)
	}
	b.exec.failure = errUnderWay
	if err := p.begin(); err != nil {
		return nil, p.failed(err)
	}
	if _, err := p.proceed(test); err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

// A Pending is a broadcast that Ibcast has begun. It is the broadcaster's, and
// good until the next one.
type Pending struct {
	b     *Broadcaster // nil: done
	route *route
	root  int
	rest  []byte // from the part under way
	part  int    // bytes of all parts but the last
	err   error  // why it will never be done
}

// Test returns soon: it takes the broadcast on as far as that goes without waiting
// for other ranks, and tells whether it is done on this one.
func (p *Pending) Test() (done bool, err error) { return p.settle(test) }

// Wait returns when the broadcast is done on this rank.
func (p *Pending) Wait() error {
	_, err := p.settle(waitAll)
	return err
}

func (p *Pending) settle(by settler) (bool, error) {
	if p.b == nil {
		return true, p.err
	}
	done, err := p.proceed(by)
	if err != nil {
		return true, p.failed(err)
	}
	return done, nil
}

// failed ends the broadcast with an error, and the use of the broadcaster.
func (p *Pending) failed(err error) error {
	p.err = p.b.failed(err)
	p.b = nil
	return p.err
}

// size is the length of the part under way.
func (p *Pending) size() int { return min(p.part, len(p.rest)) }

// begin starts the part that is next.
func (p *Pending) begin() error {
	e, buf := p.b.exec, p.rest[:p.size()]
	if p.route.Index == native {
		return e.course.sends[0].(mpi.Ibcaster).Ibcast(buf, p.root)
	}
	e.course.begin(p.b.layOut(p.route, len(buf), p.root), buf, e.tag)
	return nil
}

// proceed goes on to the end of the broadcast, or where the settler gives up.
func (p *Pending) proceed(by settler) (bool, error) {
	e := p.b.exec
	for {
		var done bool
		var err error
		if p.route.Index == native {
			done, err = by(e.course.sends[0])
		} else {
			done, err = e.proceed(by)
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

// overlaps tells whether a broadcast, by a schedule or the library's own, can be
// left under way.
func (e *executor) overlaps(native bool) bool {
	if e.course == nil {
		return false
	}
	_, starts := e.course.sends[0].(mpi.Ibcaster)
	return starts || !native
}

// IbcastSlice is collective: it is Ibcast of the values of s, as BcastSlice is Bcast.
func IbcastSlice[T Number](b *Broadcaster, s []T, root int) (*Pending, error) {
	return b.Ibcast(bytesOf(s), root)
}
