package bcast

import (
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

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

// Tune is collective: it decides how messages of the given sizes in bytes are
// broadcast from the root, with a buffer of its own, so that the first Bcast of
// each is as fast as the next. root and sizes are equal on all ranks.
func (b *Broadcaster) Tune(root int, sizes ...int) error {
	if uint(root) >= uint(b.ranks) {
		return fmt.Errorf("bcast: tune: root %d: %w: want in [0, %d)", root, mpi.ErrRank, b.ranks)
	}
	for _, size := range sizes {
		if size < 0 {
			return fmt.Errorf("bcast: tune: size %d bytes: want at least 0", size)
		}
	}
	if b.ranks == 1 || len(sizes) == 0 {
		return nil
	}
	buf := make([]byte, slices.Max(sizes))
	for _, size := range sizes {
		if err := b.Bcast(buf[:size], root); err != nil {
			return err
		}
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
