package servet

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// What a Result is of.
const (
	WhatDistance = "distance"
	WhatAccess   = "access"
)

// A Result is what Distance or Access has measured.
type Result struct {
	What        string          // WhatDistance or WhatAccess
	Bytes       int             // size of the messages in B
	Hosts       []string        // that could take part, in the order of the ring
	Repetitions int             // that were planned
	Steps       []Step          // the reference first
	Stopped     harness.Stopped // as harness.Outcome has it; "" if all was measured
	Took        float64         // s
	Warnings    []string
}

// A Step is one distance, or one number of processes per host.
type Step struct {
	At         int              // the distance d, or the number k of processes per host
	Hosts      int              // that took part
	Transfers  []model.Transfer // all that were under way at once
	Bandwidths []float64        // of each whole repetition the mean over the messages, B/s; ascending

	times [][]float64 // of each transfer and repetition, s; none if it was not measured
}

// summarise makes medians and means of the times of all repetitions.
func (s *Step) summarise() {
	var bandwidths []float64
	for i, times := range s.times {
		for r, seconds := range times {
			if i == 0 {
				bandwidths = append(bandwidths, 0)
			}
			if !(seconds > 0) { // the clocks of hosts are not known so well
				seconds = math.NaN()
			}
			bandwidths[r] += float64(s.Transfers[i].Bytes) / seconds / float64(len(s.Transfers))
		}
	}
	s.Bandwidths = stats.SortedFinite(bandwidths)
}

const (
	wideSpread    = 0.2  // of the repetitions' bandwidths, from which a ratio of 1.5, which Servet takes for one, may be chance
	shortMessage  = 1e-4 // s; latencies and barriers are some microseconds, so shorter messages do not tell the bandwidth to some percent
	spreadAtLeast = 3    // repetitions that have a spread
)

// finish looks at the whole.
func (r *Result) finish() {
	wide, missing, few := 0, 0, 0
	for k := range r.Steps {
		s := &r.Steps[k]
		s.summarise()
		n := len(s.Bandwidths)
		switch {
		case n == 0:
			missing++
		case n < r.Repetitions:
			few++
		}
		if n >= spreadAtLeast && s.Bandwidths[n-1-n/4]-s.Bandwidths[n/4] > wideSpread*s.Bandwidth() {
			wide++
		}
	}
	if wide > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the middle half of the repetitions spreads by more than %.0f %% at %d of %d values: something else was running", 100*wideSpread, wide, len(r.Steps)))
	}
	if missing > 0 {
		why := "messages end before they start by the clocks of the hosts"
		if r.Stopped != "" {
			why = fmt.Sprintf("stopped by the %s", r.Stopped)
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d of %d values were not measured", why, missing, len(r.Steps)))
	} else if few > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d values rest on fewer than the %d repetitions that were planned: give it more time", few, len(r.Steps), r.Repetitions))
	}
	if len(r.Steps) > 0 {
		if t := float64(r.Bytes) / r.Steps[0].Bandwidth(); t < shortMessage {
			r.Warnings = append(r.Warnings, fmt.Sprintf("a message of %s takes %s: too short to tell bandwidths", quantity.Bytes(r.Bytes), quantity.Seconds(t)))
		}
	}
}

// Bandwidth is the median of the repetitions in B/s; NaN if nothing was measured.
func (s *Step) Bandwidth() float64 { return stats.MiddleMedian(s.Bandwidths) }

// bandwidths are those of the steps in B/s, by distance or number of processes per host; NaN for what was
// not measured, and for 0.
func (r *Result) bandwidths() []float64 {
	last := 0
	for i := range r.Steps {
		last = max(last, r.Steps[i].At)
	}
	all := slices.Repeat([]float64{math.NaN()}, last+1)
	for i := range r.Steps {
		all[r.Steps[i].At] = r.Steps[i].Bandwidth()
	}
	return all
}

// Degradation makes Servet's ratios of both results, either of which may be nil.
func Degradation(distance, access *Result) (*model.Degradation, error) {
	var bandwidths [2][]float64
	for i, r := range []*Result{distance, access} {
		if r != nil {
			bandwidths[i] = r.bandwidths()
		}
	}
	d, err := model.NewDegradation(bandwidths[0], bandwidths[1])
	if err == nil && distance != nil {
		d.Hosts = len(distance.Hosts)
	}
	return d, err
}
