package netlab

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/quantity"
)

// The bounds within which Verify calls a reading right.
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

	Latencies []LatencyCheck
	Rates     []RateCheck
	Loop      Loop // of the fabric meanwhile
}

// A LatencyCheck is the shortest one-way time of a byte over TCP.
type LatencyCheck struct {
	From, To       string
	Truth, Reading float64 // s
	OK             bool
}

// A RateCheck is the time of streams that start at once.
type RateCheck struct {
	Name           string    // what is compared
	Truth, Reading float64   // s until all have arrived: max-min fair, and the median reading
	Shares         []float64 // true time of each stream over its reading, the last one
	OK             bool
}

// Failures is the number of readings outside the bounds.
func (v *Verification) Failures() int {
	n := 0
	for _, c := range v.Latencies {
		if !c.OK {
			n++
		}
	}
	for _, c := range v.Rates {
		if !c.OK {
			n++
		}
	}
	return n
}

// Write writes the readings as tables.
func (v *Verification) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "latency\ttruth us\treading us\tless endpoint us\t\t\n")
	for _, c := range v.Latencies {
		fmt.Fprintf(t, "%s to %s\t%.1f\t%.1f\t%+.1f\t%s\t\n",
			c.From, c.To, c.Truth*1e6, c.Reading*1e6, (c.Reading-v.Endpoint-c.Truth)*1e6, verdict(c.OK))
	}
	fmt.Fprintf(t, "\nstreams\ttruth ms\treading ms\tratio\t\tshares\n")
	for _, c := range v.Rates {
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.3f\t%s\t%.2f\n",
			c.Name, c.Truth*1e3, c.Reading*1e3, c.Reading/c.Truth, verdict(c.OK), c.Shares)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nendpoint cost %s per message\n%s\n%d of %d readings outside the bounds\n",
		quantity.Seconds(v.Endpoint), v.Loop, v.Failures(), len(v.Latencies)+len(v.Rates))
	return err
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "OUTSIDE"
}

// Write writes the counters of links that have carried anything as a table.
func (c *Counters) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "from\tto\tframes\tbytes\tdrops\tmarks\tqueue peak\t")
	for _, l := range c.Links {
		if l.Frames > 0 || l.Drops > 0 {
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", l.From, l.To, l.Frames, l.Bytes, l.Drops, l.Marks, l.QueuePeak)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, c.Loop)
	return err
}

func (l Loop) String() string {
	s := fmt.Sprintf("fabric: %d frames, %s busy, late by %s in the mean, %s at worst, %d frames by more than 1 ms",
		l.Frames, quantity.Percent(l.Busy/max(l.Elapsed, 1e-9)), quantity.Seconds(l.Late), quantity.Seconds(l.Worst), l.Above1ms)
	if !l.RealTime {
		s += "; no real-time priority"
	}
	if l.CPU < 0 {
		s += "; no CPU of its own"
	}
	return s
}
