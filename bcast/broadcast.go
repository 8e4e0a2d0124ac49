package bcast

import (
	"fmt"

	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// Bcast is collective: it copies buf of rank root into buf of all ranks. len(buf) and root are equal on all of them.
//
// The first message of a class of sizes (up to a power of two) and root takes longer. Where the communicator has a
// native broadcast, buf is broadcast by that, and then again and again, from other roots too, to find out what is
// faster. If ranks disagree about the root or the length then, all ranks get an error: see the package. Tune does this
// beforehand.
// A network with a table of what was tuned shortens it to a look of at most eleven pairs of broadcasts. Later messages
// do not allocate.
//
// A broadcast of 0 bytes sends nothing once the ranks have agreed in the first one from its root. After an error
// transfers of buf may still be under way, and the communicator is unusable: so is the broadcaster, whose functions
// return that error from then on.
func (b *Broadcaster) Bcast(buf []byte, root int) error {
	if b.exec.failure == nil {
		if plans := b.compiled[decisions.ClassOf(len(buf))]; uint(root) < uint(len(plans)) {
			if p := plans[root]; p != nil && p.direct != nil {
				b.calls.Add(len(buf), root, 0)
				if err := p.direct.Bcast(buf, root); err != nil {
					return b.exec.note(err)
				}
				return nil
			}
		}
	}
	return b.broadcast(buf, root)
}

// broadcast is Bcast without the short cut.
func (b *Broadcaster) broadcast(buf []byte, root int) error {
	if err := b.exec.usable(); err != nil {
		return err
	}
	if uint(root) >= uint(b.ranks) {
		return b.refuse(len(buf), root)
	}
	if b.ranks == 1 {
		return nil
	}
	p := b.compiledFor(len(buf), root)
	if p == nil {
		return b.first(buf, root, b.decisions.Seconds())
	}
	b.calls.Add(len(buf), root, 0)
	return b.perform(p, buf, root)
}

// refuse returns the error of a root that is no rank. The other ranks may have passed another one. If no broadcast of the
// class was agreed on, they are about to agree: this rank takes part, so that they get an error, too. Otherwise the next
// agreement tells them, as they have made a call more.
func (b *Broadcaster) refuse(bytes, root int) error {
	wrong := fmt.Errorf("bcast: rank %d: root %d: %w: want in [0, %d)", b.comm.Rank(), root, mpi.ErrRank, b.ranks)
	if b.ranks == 1 || b.compiled[decisions.ClassOf(bytes)] != nil {
		return wrong
	}
	return b.agree(decisions.Broadcast, bytes, root, wrong)
}
