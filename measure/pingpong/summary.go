package pingpong

// A Summary is the five numbers, and the mean, of the samples of one pair in one direction:
// half the round trip, in s, of messages that the calling rank sends first.
// Quartiles are samples themselves (the lowest that is not below the given
// share). Of samples that something has disturbed further lots are taken; the
// summary is then that of the lowest lot.
type Summary struct {
	Count int // samples
	Batch int // round trips per sample
	Lots  int // of Count samples that were taken, 1 unless they were disturbed

	// Unsure says that no two lots agreed, and that none was quiet.
	Unsure bool

	Min, Q1, Median, Q3, Max float64 // s

	// Mean is, in s, that of the same samples: one that was disturbed moves it as far as it
	// likes. NaN: not kept.
	Mean float64
}
