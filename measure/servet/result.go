package servet

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
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
	Seconds    []float64        // the median time of each, s; NaN if it was not measured
	Bandwidths []float64        // of each whole repetition the mean over the messages, B/s; ascending

	times [][]float64 // of each transfer and repetition, s; NaN if it was not measured
}

func newResult(what string, p *plan, places []mpi.Place, s *Settings) *Result {
	r := &Result{What: what, Bytes: cmp.Or(s.Bytes, defaultBytes), Repetitions: cmp.Or(s.Repetitions, defaultRepetitions)}
	p.Bytes, p.Repetitions, p.Untouched = r.Bytes, r.Repetitions, s.Untouched
	p.Ranks, r.Hosts = ranksOf(places, s.Resources, s.Hosts)
	return r
}

// take adds the times of the messages that one rank has got.
func (r *Result) take(p *plan, rank int, all []float64) error {
	if len(all) != p.Repetitions*len(p.Steps) {
		return fmt.Errorf("rank %d sends %d times: want %d of each of %d steps", rank, len(all), p.Repetitions, len(p.Steps))
	}
	if r.Steps == nil {
		for _, s := range p.Steps {
			r.Steps = append(r.Steps, Step{At: s.At, Hosts: s.Hosts})
		}
	}
	for k, own := range p.parts(rank) {
		if own.from < 0 {
			continue
		}
		times := make([]float64, p.Repetitions)
		for i := range times {
			times[i] = all[i*len(p.Steps)+k]
		}
		step := &r.Steps[k]
		step.Transfers = append(step.Transfers, model.Transfer{Src: own.from, Dst: rank, Bytes: int64(p.Bytes)})
		step.times = append(step.times, times)
	}
	return nil
}

// summarise makes medians and means of the times of all repetitions.
func (s *Step) summarise(repetitions int) {
	bandwidths := make([]float64, repetitions)
	for i, t := range s.Transfers {
		s.Seconds = append(s.Seconds, stats.MiddleMedian(stats.SortedFinite(s.times[i])))
		for r, seconds := range s.times[i] {
			bandwidths[r] += float64(t.Bytes) / seconds / float64(len(s.Transfers))
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
	wide, missing := 0, 0
	for k := range r.Steps {
		s := &r.Steps[k]
		s.summarise(r.Repetitions)
		switch n := len(s.Bandwidths); {
		case n == 0:
			missing++
		case n >= spreadAtLeast && s.Bandwidths[n-1-n/4]-s.Bandwidths[n/4] > wideSpread*s.Bandwidth():
			wide++
		}
	}
	if wide > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the middle half of the repetitions spreads by more than %.0f %% at %d of %d values: something else was running", 100*wideSpread, wide, len(r.Steps)))
	}
	if missing > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("stopped by the %s: %d of %d values were not measured", r.Stopped, missing, len(r.Steps)))
	}
	if len(r.Steps) > 0 {
		if t := float64(r.Bytes) / r.Steps[0].Bandwidth(); t < shortMessage {
			r.Warnings = append(r.Warnings, fmt.Sprintf("a message of %s takes %s: too short to tell bandwidths", quantity.Bytes(r.Bytes), quantity.Seconds(t)))
		}
	}
}

// Bandwidth is the median of the repetitions in B/s; NaN if nothing was measured.
func (s *Step) Bandwidth() float64 { return stats.MiddleMedian(s.Bandwidths) }

// Bandwidths are those of the steps in B/s, by distance or number of processes per host; NaN for what was
// not measured, and for 0.
func (r *Result) Bandwidths() []float64 {
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

// Observations are the patterns of transfers as fit.Network takes them, with median times.
func (r *Result) Observations() []fit.Observation {
	var all []fit.Observation
	for i := range r.Steps {
		s := &r.Steps[i]
		if len(s.Bandwidths) > 0 {
			all = append(all, fit.Observation{Transfers: s.Transfers, Seconds: s.Seconds})
		}
	}
	return all
}

// Degradation makes Servet's ratios of both results, either of which may be nil.
func Degradation(distance, access *Result) (*model.Degradation, error) {
	var bandwidths [2][]float64
	for i, r := range []*Result{distance, access} {
		if r != nil {
			bandwidths[i] = r.Bandwidths()
		}
	}
	d, err := model.NewDegradation(bandwidths[0], bandwidths[1])
	if err == nil && distance != nil {
		d.Hosts = len(distance.Hosts)
	}
	return d, err
}
