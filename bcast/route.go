package bcast

import (
	"math"
	"math/bits"

	"github.com/topocast/topocast/mpi"
)

// A Broadcaster broadcasts over a communicator along its network. Like the
// communicator it belongs to one goroutine.
type Broadcaster struct {
	comm      mpi.Communicator
	ranks     int
	exec      *executor
	native    mpi.NativeBcast // nil: none
	modelOnly bool
	budget    float64 // s
	crowded   bool    // ranks share cores on some host: times are noisy
	warnings  []string
	known     *knowledge
	catalogue []Algorithm
	evaluator *evaluator // made when first needed

	classes [maxClass + 1]class
	ops     []Op
}

// A class holds the sizes from 2^(c-1)+1 to 2^c bytes, which are broadcast
// alike: the root's plans follow from its largest size.
type class struct {
	roots []*route   // by root; nil: not decided yet
	timed *candidate // chosen by timing, for one root, and then for all
}

const maxClass = 63

func classOf(bytes int) int { return bits.Len(uint(bytes - 1)) }

// A route is a plan for one root, and the own rank's place in it.
type route struct {
	candidate
	tree  bool
	links // if tree
}

// route is the one decided for the size and root, or nil.
func (b *Broadcaster) route(bytes, root int) *route {
	c := &b.classes[classOf(bytes)]
	if c.roots == nil {
		return nil
	}
	return c.roots[root]
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

// follow broadcasts buf along the route.
func (b *Broadcaster) follow(r *route, buf []byte, root int) error {
	part := laidOut(len(buf), r.Segment)
	if r.index == native {
		part = min(len(buf), maxSegment)
	}
	p := Problem{Ranks: b.ranks, Root: root, Segment: r.Segment, Tree: b.known.tree}
	for len(buf) > 0 {
		p.Bytes = min(part, len(buf))
		var err error
		switch {
		case r.index == native:
			err = b.exec.note(b.native.Bcast(buf[:p.Bytes], root))
		case r.tree:
			b.ops = r.links.ops(b.ops[:0], p)
			err = b.exec.run(b.ops, buf[:p.Bytes])
		default:
			b.ops = r.Algorithm.Ops(b.ops[:0], p, b.comm.Rank())
			err = b.exec.run(b.ops, buf[:p.Bytes])
		}
		if err != nil {
			return err
		}
		buf = buf[p.Bytes:]
	}
	return nil
}

// candidates are those of the class of the size.
func (b *Broadcaster) candidates(bytes, root int) ([]candidate, error) {
	if b.evaluator == nil {
		m, err := b.known.machine(b.ranks)
		if err != nil {
			return nil, err
		}
		b.evaluator = newEvaluator(m)
	}
	if bytes > 0 {
		bytes = int(min(uint64(1)<<classOf(bytes), math.MaxInt))
	}
	return b.evaluator.candidates(bytes, root), nil
}

// newRoute works out the own rank's place in a plan.
func (b *Broadcaster) newRoute(c candidate, root int) *route {
	r := &route{candidate: c}
	if planner, ok := c.Algorithm.(treePlanner); ok {
		p := Problem{Ranks: b.ranks, Root: root, Segment: c.Segment, Tree: b.known.tree}
		l := planner.tree(p).links(b.comm.Rank())
		l.children = append([]int(nil), l.children...) // let go of the rest of the tree
		r.tree, r.links = true, l
	}
	return r
}
