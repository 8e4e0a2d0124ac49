package harness

// A Test is what is measured of a pair of ranks: test_pair of LGate (Reinfjell 2023, section 3.1.1). Each rank has its own; all
// are of one kind. Its messages have tags from FirstTag on.
type Test struct {
	// Exchange measures the pair of the calling rank and peer, and appends what this rank found: any numbers, or none.
	// Both ranks of a pair call it at about the same time, and no other rank talks to them meanwhile. Samples is Settings.Samples,
	// or less where the budget turns out to be too small.
	Exchange func(found []float64, peer, samples int) ([]float64, error)

	// WarmUp does once what Exchange does, and forgets it. Both ranks of the
	// first pairs of a repetition call it. Default: Exchange does.
	WarmUp func(peer int) error
}

// A Row is what Exchange has found on rank From of its pair with To.
type Row struct {
	From, To   int
	Repetition int
	Round      int // number within the repetition, in the order of time; those that Again has chosen are numbered behind those of all pairs
	Values     []float64
}

// The tasks of pairs: to warm up, or, with n added to withSamples, to take n samples.
const (
	warmingUp = iota
	withSamples
)

// exchange is what the ranks of a pair do by a task.
func (t *Test) exchange(found []float64, peer int, _ bool, task int) ([]float64, error) {
	switch {
	case task != warmingUp:
		return t.Exchange(found, peer, task-withSamples)
	case t.WarmUp != nil:
		return found, t.WarmUp(peer)
	}
	_, err := t.Exchange(nil, peer, 1)
	return found, err
}
