package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/decisions"
)

// Tune is collective: it decides how messages of the given sizes in bytes are broadcast from the roots and those like
// them. It allocates a buffer. The first Bcast of each is then as fast as the next. The roots nil are one of each
// class. roots and sizes are equal on all ranks. What is decided already stays; what Settings.Budget was too short for is
// tried again. The budget is that of all together.
//
// If ranks disagree about the arguments, or about their broadcasts so far, all of them get an error. Without sizes that is
// all that Tune does, by two short messages up and down a tree.
func (b *Broadcaster) Tune(roots []int, sizes ...int) error {
	if err := b.exec.usable(); err != nil {
		return err
	}
	if roots == nil {
		roots = b.decisions.Roots()
	}
	differ, err := b.decisions.AgreeLists(decisions.TuneBroadcasts, &b.calls, sizes, roots)
	if err != nil {
		return b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	if differ != nil {
		return differ
	}
	for _, root := range roots { // the same on all ranks
		if err := b.checkMessage(0, root); err != nil {
			return fmt.Errorf("bcast: tune: %w", err)
		}
	}
	for _, size := range sizes {
		if err := b.checkMessage(size, 0); err != nil {
			return fmt.Errorf("bcast: tune: %w", err)
		}
	}
	if b.ranks == 1 || len(sizes) == 0 {
		return nil
	}
	buf := make([]byte, slices.Max(sizes))
	err = b.decisions.Each(len(roots)*len(sizes), func(i int, budget float64) error {
		root, size := roots[i/len(sizes)], sizes[i%len(sizes)]
		if size == 0 || b.isTuned(size, root) {
			return nil
		}
		return b.first(buf[:size], root, budget)
	})
	if err != nil {
		return b.exec.note(err)
	}
	return nil
}

// isTuned reports whether the class of a size and root is decided. If time was too short for that before, the decision is
// forgotten.
func (b *Broadcaster) isTuned(size, root int) bool {
	d := b.decisions.Of(size, root)
	switch {
	case d == nil || d.Stored:
		return false
	case d.Decided:
		return b.compiledFor(size, root) != nil
	}
	compiled := b.compiled[decisions.ClassOf(size)]
	for rank := range compiled {
		if b.decisions.AreAlike(rank, root) {
			compiled[rank] = nil
		}
	}
	b.decisions.Set(size, root, nil)
	return false
}
