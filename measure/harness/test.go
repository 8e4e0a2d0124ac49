package harness

// A Test is what is measured of a pair of ranks: test_pair of LGate (Reinfjell
// 2023, section 3.1.1). Each rank has its own; all are of one kind.
type Test interface {
	// Columns names the values of a row, with their units ("median_s"). It is
	// the same on all ranks.
	Columns() []string

	// WarmUp does once what Exchange does, and forgets it. Both ranks of the
	// first pairs of a repetition call it.
	WarmUp(peer int) error

	// Exchange measures the pair of the calling rank and peer, and appends what
	// this rank found: any number of rows of one value per column. Both ranks of a
	// pair call it at about the same time, and no other rank talks to them meanwhile.
	// Tags are those from FirstTag on, or TagProbe and TagPilot.
	Exchange(rows []float64, peer int) ([]float64, error)
}

// A Sampler is a Test that takes a number of samples of each pair. When the
// budget turns out to be too small, it is asked for fewer.
type Sampler interface {
	Samples() int
	SetSamples(samples int)
}

// A Row is what Exchange has found on rank From of its pair with To.
type Row struct {
	From, To   int
	Repetition int
	Round      int // number within the repetition, in the order of time; those that Again has chosen are numbered behind those of all pairs
	Values     []float64
}
