package bcast

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// Bcast is collective: it copies buf of rank root into buf of all ranks.
// len(buf) and root are equal on all of them. It does not allocate but for the
// first message of a class of sizes (up to a power of two) and root. That
// takes longer: if the communicator has a broadcast of its own, buf is
// broadcast by that, and then again and again, from other roots too, to find out
// what is faster. Tune does that beforehand, and a network with a table
// of what was tuned makes it needless.
//
// A broadcast of 0 bytes sends nothing. After an error transfers of buf may
// still be under way, and the communicator is unusable: so is the broadcaster,
// whose functions return that error from then on.
func (b *Broadcaster) Bcast(buf []byte, root int) error {
	if n := len(buf); n > 0 {
		if routes := b.routes[classOf(n)]; uint(root) < uint(len(routes)) {
			if r := routes[root]; r != nil && r.direct != nil {
				if err := r.direct.Bcast(buf, root); err != nil {
					return b.failed(err)
				}
				return nil
			}
		}
	}
	return b.broadcast(buf, root)
}

// A route is a plan for one root, and the own rank's place in it.
type route struct {
	direct mpi.NativeBcast // the library's own broadcast does all; nil: look at the rest
	cell   *cell
	predict.Candidate
	part    schedule.Part // nil: the library's own broadcast
	grouped bool          // there may be steps of the library in groups
}

// broadcast is Bcast without the short cut.
func (b *Broadcaster) broadcast(buf []byte, root int) error {
	if uint(root) >= uint(b.ranks) {
		return fmt.Errorf("bcast: rank %d: root %d: %w: want in [0, %d)", b.comm.Rank(), root, mpi.ErrRank, b.ranks)
	}
	if err := b.exec.usable(); err != nil {
		return err
	}
	if len(buf) == 0 || b.ranks == 1 {
		return nil
	}
	r := b.route(len(buf), root)
	if r == nil {
		return b.failed(b.decide(buf, root, b.budget))
	}
	if err := b.perform(r, buf, root); err != nil {
		return b.failed(err)
	}
	return nil
}

// failed keeps an error, if it is one: nothing is sent any more then.
func (b *Broadcaster) failed(err error) error {
	if err == nil {
		return nil
	}
	clear(b.routes[:])
	return b.exec.note(err)
}

const maxClass = 63

// classOf is the class of a size of at least 1: from 2^(c-1)+1 to 2^c bytes, which are broadcast
// alike: plans follow from the largest of them.
func classOf(bytes int) int { return bits.Len(uint(bytes - 1)) }

// classBytes is the largest size of the class of a size.
func classBytes(bytes int) int {
	if bytes == 0 {
		return 0
	}
	return int(min(uint64(1)<<classOf(bytes), math.MaxInt))
}

// route is the one decided for the size and root, or nil.
func (b *Broadcaster) route(bytes, root int) *route {
	routes := b.routes[classOf(bytes)]
	if routes == nil {
		return nil
	}
	return routes[root]
}

// native stands for the library's own broadcast in the place of an index.
const native = -1

// newNative is the library's own broadcast, of which no prediction knows.
func newNative() predict.Candidate {
	nan := math.NaN()
	return predict.Candidate{Plan: predict.Plan{Predicted: nan, Measured: nan, MeasuredNative: nan}, Index: native}
}

// newRoute works out the own rank's place in a plan for messages of the class of
// the given bytes.
func (b *Broadcaster) newRoute(c predict.Candidate, root, bytes int) *route {
	r := &route{Candidate: c}
	if c.Algorithm != nil {
		r.part = schedule.PartOf(c.Algorithm, b.problem(c, root, classBytes(bytes)), b.comm.Rank())
		r.grouped = usesNative(c.Algorithm)
	}
	return r
}

// problem is a broadcast among the ranks by a plan.
func (b *Broadcaster) problem(c predict.Candidate, root, bytes int) schedule.Problem {
	g := b.along(c.Index)
	return schedule.Problem{Ranks: b.ranks, Root: root, Bytes: bytes, Segment: c.Segment, Tree: g.tree, Costs: g.costs}
}

// maxSegments bounds the steps that are laid out at once. A longer message is
// broadcast in parts; a rank that is done with one goes on with the next.
const maxSegments = 4096

// laidOut is how many of the bytes are broadcast as one part. The product is
// formed only where it is no more than they are: 4096 segments of 1 MiB are
// more than an int of 32 bits holds.
func laidOut(bytes, segment int) int {
	if segment > 0 && bytes/segment >= maxSegments {
		return maxSegments * segment
	}
	return bytes
}

// perform broadcasts buf along the route.
func (b *Broadcaster) perform(r *route, buf []byte, root int) error {
	if r.Index == native {
		for len(buf) > schedule.MaxSegment {
			if err := b.native.Bcast(buf[:schedule.MaxSegment], root); err != nil {
				return err
			}
			buf = buf[schedule.MaxSegment:]
		}
		return b.native.Bcast(buf, root)
	}
	for part := laidOut(len(buf), r.Segment); len(buf) > 0; {
		size := min(part, len(buf))
		ops := b.layOut(r, size, root)
		var err error
		switch {
		case r.grouped:
			err = b.exec.inGroups(ops, buf[:size], r.Blocking)
		case r.Blocking:
			err = b.exec.inOrder(ops, buf[:size])
		default:
			err = b.exec.run(ops, buf[:size])
		}
		if err != nil {
			return err
		}
		buf = buf[size:]
	}
	return nil
}

// layOut returns the own rank's steps for so many bytes along the route. The last ones are kept:
// loops broadcast the same again and again.
func (b *Broadcaster) layOut(r *route, bytes, root int) []schedule.Op {
	if b.laid == r && b.laidBytes == bytes {
		return b.ops
	}
	b.ops = r.part.Ops(b.ops[:0], b.problem(r.Candidate, root, bytes))
	b.laid, b.laidBytes = r, bytes
	return b.ops
}
