// Package progress shows how far a measurement has come: as a bar on a
// terminal, and as a plain line every few seconds in a batch log.
//
//	shown := progress.New(os.Stderr, "measuring")
//	defer shown.Close()
//	result, err := measure.Run(ctx, comm, &measure.Settings{Progress: shown.Show})
//
// Rank 0 alone is told of progress; the other ranks need no Printer. A
// measurement of less than five seconds leaves no line in a log, and none leaves a
// bar behind.
//
// It is a package of its own so that programs without a terminal do not link
// the bar.
package progress
