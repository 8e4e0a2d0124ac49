package netlab

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// The bounds within which Verify calls a measurement right.
const (
	latencyShare = 0.10  // of the truth, or
	latencySlack = 30e-6 // s, after the endpoint cost is taken out
	rateShare    = 0.07
)

// A Verification compares a lab with its cluster file.
type Verification struct {
	// Endpoint is the cost in s that the two kernels add to every message: the
	// median of measured minus true latency.
	Endpoint float64

	Latencies []Check // of the shortest one-way times of a byte over TCP: of each pair there, then back
	Rates     []Check // of the times until streams that start at once have arrived
	Loop      Loop    // of the fabric in all measurements
	Away      float64 // time in s for which the prober should have run in them, and did not
}

// A Verdict says what a measurement shows.
type Verdict int

// The verdicts.
const (
	Right    Verdict = iota
	Outside          // the bounds, though time was kept
	NotTimed         // nothing: the machine kept the fabric or the prober waiting, or took too long
)

func (v Verdict) String() string { return [...]string{"ok", "OUTSIDE", "NOT TIMED"}[v] }

// ErrNotTimed is returned, wrapped, where the machine did not keep time, so that nothing can be
// said of the lab.
var ErrNotTimed = errors.New("the machine did not keep time")

// A Check compares times in s.
type Check struct {
	Name               string // what is compared
	Truth, Measurement float64
	Verdict            Verdict

	// Of streams alone.
	Shares       []float64 // true time of each stream over its measurement, the last one
	measurements []float64 // s, those in which time was kept
}

// enoughReadings are those of a rate whose median decides where the first is not right.
const enoughMeasurements = 5

// read adds a measurement in s of streams, which does not count unless time was kept in it. The first is enough if it
// is right. Otherwise the median of several is the measurement.
func (c *Check) read(measurement float64, onTime bool) {
	if onTime {
		c.measurements = append(c.measurements, measurement)
		measurement = stats.MiddleMedian(c.measurements)
	} else if len(c.measurements) > 0 {
		return
	}
	c.Measurement = measurement
	right := math.Abs(measurement/c.Truth-1) <= rateShare
	switch n := len(c.measurements); {
	case right && (n == 1 || n == enoughMeasurements):
		c.Verdict = Right
	case n == enoughMeasurements:
		c.Verdict = Outside
	}
}

// judgeLatencies holds the measurements so far to the truth, with the number of
// measurements of each pair in which time was kept.
func (v *Verification) judgeLatencies(onTime []int) {
	extra := make([]float64, len(v.Latencies))
	for i, x := range v.Latencies {
		extra[i] = x.Measurement - x.Truth
	}
	v.Endpoint = stats.MiddleMedian(extra)
	for i := range v.Latencies {
		x := &v.Latencies[i]
		switch {
		case onTime[i/2] == 0:
			x.Verdict = NotTimed
		case math.Abs(x.Measurement-x.Truth-v.Endpoint) <= max(latencyShare*x.Truth, latencySlack):
			x.Verdict = Right
		default:
			x.Verdict = Outside
		}
	}
}

// count is the number of measurements with the given verdict.
func (v *Verification) count(which Verdict) (n int) {
	for _, c := range slices.Concat(v.Latencies, v.Rates) {
		if c.Verdict == which {
			n++
		}
	}
	return n
}

// Judge returns an error if a measurement is outside the bounds. If more than a quarter of the others could not be timed,
// nothing is shown, and the error wraps ErrNotTimed.
func (v *Verification) Judge() error {
	all, open := len(v.Latencies)+len(v.Rates), v.count(NotTimed)
	switch n := v.count(Outside); {
	case n > 0:
		return fmt.Errorf("netlab: verify: %d of %d measurements are outside the bounds", n, all)
	case 4*open > all:
		return fmt.Errorf("netlab: verify: %w in %d of %d measurements: prober away for %s; %s", ErrNotTimed, open, all, quantity.Seconds(v.Away), v.Loop)
	}
	return nil
}

// Write writes the measurements as tables.
func (v *Verification) Write(w io.Writer) error {
	t := columns.New(w, "latency", "truth us", "measured us", "less endpoint us")
	for _, c := range v.Latencies {
		t.Row(c.Name, fmt.Sprintf("%.1f", c.Truth*1e6), fmt.Sprintf("%.1f", c.Measurement*1e6), fmt.Sprintf("%+.1f", (c.Measurement-v.Endpoint-c.Truth)*1e6), c.Verdict)
	}
	t.Flush()
	fmt.Fprintln(w)
	t = columns.New(w, "streams", "truth ms", "measured ms", "ratio", "", "shares")
	for _, c := range v.Rates {
		t.Row(c.Name, fmt.Sprintf("%.1f", c.Truth*1e3), fmt.Sprintf("%.1f", c.Measurement*1e3), fmt.Sprintf("%.3f", c.Measurement/c.Truth), c.Verdict, fmt.Sprintf("%.2f", c.Shares))
	}
	t.Flush()
	_, err := fmt.Fprintf(w, "\nendpoint cost %s per message\n%s; prober away for %s\n%d of %d measurements outside the bounds, %d not timed\n",
		quantity.Seconds(v.Endpoint), v.Loop, quantity.Seconds(v.Away), v.count(Outside), len(v.Latencies)+len(v.Rates), v.count(NotTimed))
	return err
}

// Write writes the counters of links that have carried anything as a table.
func (c *Counters) Write(w io.Writer) error {
	t := columns.New(w, "from", "to", "frames", "bytes", "drops", "marks", "queue peak")
	for _, l := range c.Links {
		if l.Frames > 0 || l.Drops > 0 {
			t.Row(l.From, l.To, l.Frames, l.Bytes, l.Drops, l.Marks, l.QueuePeak)
		}
	}
	t.Flush()
	_, err := fmt.Fprintln(w, c.Loop)
	return err
}

func (l Loop) String() string {
	s := fmt.Sprintf("fabric: %d frames, %s busy, late by %s in the mean, %s at worst, %d frames by more than 1 ms, stalled for %s of %s",
		l.Frames, quantity.Percent(l.Busy/max(l.Elapsed, 1e-9)), quantity.Seconds(l.Late), quantity.Seconds(l.Worst), l.Above1ms,
		quantity.Seconds(l.Stalled), quantity.Seconds(l.Elapsed))
	if !l.RealTime {
		s += "; no real-time priority"
	}
	if l.CPU < 0 {
		s += "; no CPU of its own"
	}
	return s
}
