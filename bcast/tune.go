package bcast

import (
	"fmt"
	"slices"
)

// Tune is collective: it decides how messages of the given sizes in bytes are broadcast from the roots and those like
// them. It allocates a buffer. The first Bcast of each is then as fast as the next. The roots nil are one of each
// class. roots and sizes are equal on all ranks. What is decided already stays; what Settings.Budget was too short for is
// tried again. The budget is that of all together.
func (b *Broadcaster) Tune(roots []int, sizes ...int) error {
	for _, root := range roots {
		if err := b.checkMessage(0, root); err != nil {
			return fmt.Errorf("bcast: tune: %w", err)
		}
	}
	for _, size := range sizes {
		if err := b.checkMessage(size, 0); err != nil {
			return fmt.Errorf("bcast: tune: %w", err)
		}
	}
	if err := b.exec.usable(); err != nil {
		return err
	}
	if b.ranks == 1 || len(sizes) == 0 {
		return nil
	}
	if roots == nil {
		roots = b.rootsOfClasses()
	}
	watch, err := b.stopwatch()
	if err != nil {
		return b.exec.note(err)
	}
	buf := make([]byte, slices.Max(sizes))
	end := watch.Now() + b.budget
	left := len(roots) * len(sizes)
	for _, root := range roots {
		for _, size := range sizes {
			budget := (end - watch.Now()) / float64(left) // in s; that of rank 0 applies
			left--
			if size == 0 || b.isTuned(size, root) {
				continue
			}
			if err := b.first(buf[:size], root, budget); err != nil {
				return b.exec.note(err)
			}
		}
	}
	return nil
}

// isTuned reports whether the class of a size and root is decided. If time was too short for that before, the decision is
// forgotten.
func (b *Broadcaster) isTuned(size, root int) bool {
	key := b.key(size, root)
	d := b.decisions[key]
	switch {
	case d == nil || d.stored:
		return false
	case d.decided:
		return b.compiledFor(size, root) != nil
	}
	for rank := range b.compiled[key.size] {
		if b.key(size, rank) == key {
			b.compiled[key.size][rank] = nil
		}
	}
	delete(b.decisions, key)
	return false
}
