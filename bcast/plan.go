package bcast

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// Plan returns the plan that messages of the class of the given bytes follow from the root. Its Algorithm is nil where
// that is native, or of 0 bytes. Plan is not collective, and all ranks get the same. What is not decided yet is an error: a broadcast
// decides it, or Tune, and Candidates has the predictions.
func (b *Broadcaster) Plan(bytes, root int) (predict.Plan, error) {
	if err := b.checkMessage(bytes, root); err != nil {
		return predict.Plan{}, fmt.Errorf("bcast: plan: %w", err)
	}
	if bytes == 0 { // nothing is sent
		return decisions.Incumbent(), nil
	}
	if b.ranks == 1 { // nothing is sent, and nothing decided
		return b.predicted(bytes, root)
	}
	d := b.decisions.Of(bytes, root)
	if d == nil {
		return predict.Plan{}, fmt.Errorf("bcast: plan: messages of %d bytes from root %d are not decided yet: call Tune before", bytes, root)
	}
	return d.Plan, nil
}

// Candidates is collective: it returns the fastest plan of each algorithm by prediction, for messages of the given bytes
// from the root. The fastest comes first, and native last if the communicator has it. Nothing is decided. All ranks pass
// the same bytes and root, and get the same plans. If they do not, all of them get an error.
func (b *Broadcaster) Candidates(bytes, root int) ([]predict.Plan, error) {
	if err := b.exec.usable(); err != nil {
		return nil, err
	}
	wrong := b.checkMessage(bytes, root)
	if wrong != nil {
		wrong = fmt.Errorf("bcast: candidates: %w", wrong)
	}
	if err := b.agree(decisions.Predictions, bytes, root, wrong); err != nil {
		return nil, err
	}
	plans, err := b.candidates(bytes, root)
	if err == nil && b.native != nil {
		plans = append(plans, decisions.Incumbent())
	}
	return plans, err
}

// candidates is collective: it returns each algorithm with its best plan by prediction, the fastest first.
func (b *Broadcaster) candidates(bytes, root int) ([]predict.Plan, error) {
	plans, err := b.decisions.Candidates(bytes, root)
	if err != nil {
		return nil, b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	return plans, nil
}

// predicted is collective: it returns the plan that is predicted to be fastest.
func (b *Broadcaster) predicted(bytes, root int) (predict.Plan, error) {
	plans, err := b.candidates(bytes, root)
	if err == nil && len(plans) == 0 {
		err = errors.New("bcast: all algorithms of the settings need native broadcasts in groups, which this communicator has not: add schedule.Flat")
	}
	if err != nil {
		return predict.Plan{}, err
	}
	return plans[0], nil
}

// Compile returns a function that broadcasts messages of the given bytes from the root by a plan, whatever is decided.
// The plan is one of Candidates, or one of these with another segment. The function is collective, and does not
// allocate once warm.
func (b *Broadcaster) Compile(p predict.Plan, bytes, root int) (func(buf []byte) error, error) {
	if err := b.checkMessage(bytes, root); err != nil {
		return nil, fmt.Errorf("bcast: compile: %w", err)
	}
	c := b.compile(p, bytes, root)
	return func(buf []byte) error {
		if err := b.exec.usable(); err != nil {
			return err
		}
		return b.perform(c, buf, root)
	}, nil
}

// checkMessage refuses what no broadcast can be.
func (b *Broadcaster) checkMessage(bytes, root int) error {
	switch {
	case uint(root) >= uint(b.ranks):
		return fmt.Errorf("root %d: %w: want in [0, %d)", root, mpi.ErrRank, b.ranks)
	case bytes < 0:
		return fmt.Errorf("size %d bytes: want at least 0", bytes)
	}
	return nil
}
