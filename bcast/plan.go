package bcast

import (
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/mpi"
)

// Plan tells how a message of the given bytes is broadcast from the root. If that is not decided yet, it is the plan that
// is predicted to be fastest, from which timing may still depart; rank 0 alone predicts, and on the other ranks that is
// an error. It is not collective.
func (b *Broadcaster) Plan(bytes, root int) (predict.Plan, error) {
	if err := b.checkMessage(bytes, root); err != nil {
		return predict.Plan{}, fmt.Errorf("bcast: plan: %w", err)
	}
	if plan, decided := b.Chosen(bytes, root); decided {
		return plan, nil
	}
	if rank := b.comm.Rank(); rank != 0 {
		return predict.Plan{}, fmt.Errorf("bcast: plan: rank %d: messages of %d bytes from root %d are not decided yet: ask rank 0, which predicts, or call Tune before", rank, bytes, root)
	}
	return b.candidates(bytes, root)[0], nil
}

// checkMessage refuses what no broadcast can be.
func (b *Broadcaster) checkMessage(bytes, root int) error {
	switch {
	case uint(root) >= uint(b.ranks):
		return fmt.Errorf("root %d: %w: want in [0, %d)", root, mpi.ErrRank, b.ranks)
	case bytes < 0:
		return fmt.Errorf("%d bytes: want at least 0", bytes)
	}
	return nil
}

// Chosen tells how messages of the class of the given bytes are broadcast from the root, if that is decided: by timing,
// or by the network's table. Its Algorithm is nil where that is the native broadcast. It decides nothing, and is not
// collective; the answer is the same on all ranks.
func (b *Broadcaster) Chosen(bytes, root int) (plan predict.Plan, decided bool) {
	if bytes < 1 || uint(root) >= uint(b.ranks) {
		return predict.Plan{}, false
	}
	d := b.decisions[b.key(bytes, root)]
	if d == nil {
		return predict.Plan{}, false
	}
	return d.Plan, true
}
