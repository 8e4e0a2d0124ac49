package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/topocast/topocast/measure"
)

// lineInterval is the time between two lines where there is no terminal: a
// batch log is to stay readable.
const lineInterval = 5 * time.Second

// showProgress returns a measure.Settings.Progress that tells how far a
// measurement is: a bar on a terminal, and else a plain line every few seconds.
func showProgress(w io.Writer, what string) func(measure.Progress) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		var bar *progressbar.ProgressBar
		return func(p measure.Progress) {
			if bar == nil {
				bar = progressbar.NewOptions(p.Total,
					progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
					progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
					progressbar.OptionThrottle(100*time.Millisecond))
			}
			_ = bar.Set(p.Done) // a bar that cannot be drawn stops nothing
		}
	}
	var last time.Duration
	return func(p measure.Progress) {
		if p.Elapsed-last < lineInterval {
			return
		}
		last = p.Elapsed
		fmt.Fprintf(w, "%s: %d of %d rounds, %s, about %s left\n", what, p.Done, p.Total,
			p.Elapsed.Round(time.Second), p.Remaining.Round(time.Second))
	}
}
