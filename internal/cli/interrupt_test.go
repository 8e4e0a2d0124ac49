package cli

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestSecondSignalEndsTheProcess: the first one ends the context, its echo does
// nothing, and a later one does not wait for what the first has begun.
func TestSecondSignalEndsTheProcess(t *testing.T) {
	// Nothing is buffered: when one is taken, those before have had their effect.
	signals, times, ended := make(chan os.Signal), make(chan time.Time), make(chan bool, 3)
	ctx := untilSignal(signals, func() time.Time { return <-times }, func() { ended <- true })
	if ctx.Err() != nil {
		t.Fatal("the context has ended before any signal")
	}
	signals <- os.Interrupt
	times <- time.UnixMilli(0)
	<-ctx.Done()
	signals <- os.Interrupt
	times <- time.UnixMilli(oneInterrupt.Milliseconds())
	signals <- os.Interrupt
	if len(ended) != 0 {
		t.Error("the echo of the first signal ends the process")
	}
	times <- time.UnixMilli(oneInterrupt.Milliseconds() + 1)
	<-ended
}

// TestLaunchersEndTheirJobs: there no number of signals ends the process.
func TestLaunchersEndTheirJobs(t *testing.T) {
	signals := make(chan os.Signal)
	hour := 0
	ctx := untilSignal(signals, func() time.Time { hour++; return time.UnixMilli(3600e3 * int64(hour)) }, nil)
	for range 5 {
		signals <- os.Interrupt
	}
	<-ctx.Done()
	close(signals)
}

// TestNoSignal: at the end of the command the context ends, too.
func TestNoSignal(t *testing.T) {
	signals := make(chan os.Signal)
	ctx := untilSignal(signals, time.Now, func() { t.Error("ended without a signal") })
	close(signals)
	<-ctx.Done()
}

// TestOnlyMeasurementsCatchSignals: a command that measures nothing has nothing to keep. Its first signal ends the process.
func TestOnlyMeasurementsCatchSignals(t *testing.T) {
	caught := make(map[string]bool)
	root := &cobra.Command{Use: "topocast"}
	note := func(c *cobra.Command, _ []string) { caught[c.Name()] = c.Context().Done() != nil }
	root.AddCommand(Measures(&cobra.Command{Use: "measure", Run: note}), &cobra.Command{Use: "show", Run: note})
	new(Flags).Add(root)
	for _, args := range [][]string{{"measure"}, {"show"}} {
		if status := Execute(root, args, io.Discard, io.Discard); status != StatusFine {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	if !caught["measure"] || caught["show"] {
		t.Errorf("signals are caught for %v, want measure alone", caught)
	}
}
