package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/hostmemory"
	"github.com/topocast/topocast/mpi"
)

// A Work is what a command does on simulated ranks.
type Work struct {
	Pairs  float64 // measured pairs of ranks, at most; other messages count as pairs that take as long
	Kept   float64 // of these, pairs whose times are kept and written
	Remedy string  // the flags that make it less
}

// Costs of a simulation, by user time and peak memory of check, discover and measure with 256 to 1,024 ranks. What keeps
// times has matrices of all pairs of ranks, too.
const (
	pairsPerSecond = 6000
	bytesPerRank   = 100e3
	bytesPerKept   = 2000
	bytesPerEntry  = 50
)

const (
	longWork    = 10 * time.Second // from which on an estimate is told
	longestWork = 30 * time.Minute // above which --large is wanted
)

// estimate is about how long the simulation of some ranks takes, and the memory in B.
func (w *Work) estimate(ranks int) (time.Duration, int64) {
	seconds := min(w.Pairs/pairsPerSecond, 1e9) // a Duration ends after 292 years
	memory := bytesPerRank*float64(ranks) + bytesPerKept*w.Kept
	if w.Kept > 0 {
		memory += bytesPerEntry * float64(ranks) * float64(ranks)
	}
	return time.Duration(seconds * float64(time.Second)), int64(min(memory, 1e18))
}

// admit tells what a simulation takes if that is much. It refuses what takes too much, unless large is set.
func (w *Work) admit(ranks int, large bool, tell func(string)) error {
	duration, memory := w.estimate(ranks)
	available, known := hostmemory.Available()
	short := known && float64(memory) > mostMemory*float64(available)
	if duration < longWork && !short {
		return nil
	}
	what := fmt.Sprintf("%d simulated ranks take up to about %s and %s of memory", ranks, roughly(duration), humanize.IBytes(uint64(memory)))
	if (duration > longestWork || short) && !large {
		return BadInput("--sim: %s: %s makes it less, --large does it anyhow", what, w.Remedy)
	}
	tell(fmt.Sprintf("%s; %s makes it less, Ctrl-C ends it", what, w.Remedy))
	return nil
}

// roughly is a time to one unit: "12 minutes".
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// lastMoments is what a simulation has after a signal to end by itself.
const lastMoments = 700 * time.Millisecond

// simulate runs work on a simulated cluster. After a signal it returns within a second, whatever the ranks do then.
func (s *Flags) simulate(c *cobra.Command, run Runner, work func(mpi.Communicator) error) error {
	ended := make(chan error, 1)
	go func() { ended <- run(s.Ranks, work) }()
	select {
	case err := <-ended:
		return err
	case <-c.Context().Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastMoments):
		return errors.New("stopped by a signal before the end of the simulation")
	}
}
