package bcast

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Settings are what New is told beyond a communicator. Those of rank 0 count;
// other ranks may pass nil.
type Settings struct {
	// Network of the hosts on which the ranks run, such as topocast discover
	// writes it. It may be of other ranks, or of these in another order: New
	// compares where they run and takes the View. Ranks that have no network, or
	// another one than rank 0, get a copy. nil: nothing is known of the ranks,
	// which are then taken to be alike.
	Network *model.Network

	// ModelOnly takes the plan that the network predicts to be fastest, and
	// never the library's own broadcast. Otherwise, where the communicator has
	// one (mpi.NativeBcast), the first broadcast of each class of sizes times
	// the best plans against it and keeps the fastest. It is timed all the same
	// where it is doubtful that the network is that of the ranks: where there are
	// Broadcaster.Warnings.
	ModelOnly bool

	// Budget is about how long the plans of one class of sizes are timed; each
	// is run once in any case. 0: 100 ms.
	Budget time.Duration

	// Tag of all messages, which the application must not use for its own on
	// this communicator, in [0, mpi.MaxTag]. 0: mpi.MaxTag. New itself, by which
	// ranks get to know it, uses mpi.MaxTag.
	Tag int
}

func (s *Settings) validate() error {
	if s.Tag < 0 || s.Tag > mpi.MaxTag {
		return fmt.Errorf("bcast: settings: tag %d: %w: want in [0, %d]", s.Tag, mpi.ErrTag, mpi.MaxTag)
	}
	if s.Budget < 0 {
		return fmt.Errorf("bcast: settings: budget %v: want at least 0", s.Budget)
	}
	return nil
}

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

// New is collective: it returns a broadcaster over the communicator, which
// goes on to be usable for anything else.
//
// It collects on rank 0 where the ranks run (mpi.GatherPlaces) and takes the View of the network.
// Ranks on hosts that the network does not know, and ranks beyond those that
// were measured on a host, get its typical parameters (model.Network.ViewTypical),
// and Broadcaster.Warnings says so. A network that does not say where its ranks
// ran has to be one of as many ranks.
//
// Along binomial trees it takes 2 messages per rank for the places and 2 to 10 to
// tell what rank 0 makes of them. The network itself only travels where a rank
// does not have it, and the places, in some 10 bytes per rank, only where it is one
// of other ranks.
func New(comm mpi.Communicator, s *Settings) (*Broadcaster, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	crew := newCrew(newExecutor(comm, mpi.MaxTag), 0)
	t, view, err := shareTerms(crew, s, places)
	if err != nil {
		return nil, err
	}
	var own *model.Network
	if s != nil {
		own = s.Network
	}
	known, err := shareNetwork(crew, t, own, view, locations(places))
	if err != nil {
		return nil, err
	}
	b := &Broadcaster{
		comm: comm, ranks: comm.Size(), exec: crew.exec, known: known,
		modelOnly: t.ModelOnly && len(t.Warnings) == 0, warnings: t.Warnings,
		crowded: t.Crowded, catalogue: catalogue(known.tree),
	}
	b.native, _ = comm.(mpi.NativeBcast)
	if t.Tag != 0 {
		b.exec.tag = t.Tag
	}
	if b.budget = t.Budget.Seconds(); b.budget == 0 {
		b.budget = defaultBudget.Seconds()
	}
	return b, nil
}

const defaultBudget = 100 * time.Millisecond

// Warnings says why it is doubtful that the network is that of the ranks; the
// same on all of them, none if all is well. The slice is the broadcaster's own.
func (b *Broadcaster) Warnings() []string { return b.warnings }

// Bcast is collective: it copies buf of rank root into buf of all ranks.
// len(buf) and root are equal on all of them. It does not allocate but for the
// first message of a class of sizes (up to a power of two) and root. That
// takes longer: the root decides how it is done and tells the others, and if
// the communicator has a broadcast of its own, the best plans are tried out on
// buf. Tune does that beforehand.
//
// A broadcast of 0 bytes sends nothing. After an error transfers of buf may
// still be under way, and the communicator is unusable: so is the broadcaster,
// whose functions return that error from then on.
func (b *Broadcaster) Bcast(buf []byte, root int) error {
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
		return b.decide(buf, root)
	}
	return b.follow(r, buf, root)
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

// Plan tells how a message of the given bytes is broadcast from the root. If
// there was none of its class of sizes yet, it is the plan that is predicted to
// be fastest, from which timing may still depart. It is not collective.
func (b *Broadcaster) Plan(bytes, root int) (Plan, error) {
	p := Problem{Ranks: b.ranks, Root: root, Bytes: bytes}
	if err := p.validate(); err != nil {
		return Plan{}, err
	}
	if bytes > 0 {
		if r := b.route(bytes, root); r != nil {
			return r.Plan, nil
		}
		if timed := b.classes[classOf(bytes)].timed; timed != nil {
			return timed.Plan, nil
		}
	}
	plans, err := b.candidates(bytes, root)
	if err != nil {
		return Plan{}, err
	}
	return plans[0].Plan, nil
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
