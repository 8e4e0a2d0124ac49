package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// ErrResume is wrapped by the error of Run, on all ranks, if Settings.Resume is of other ranks or
// settings.
var ErrResume = errors.New("measure: Settings.Resume")

// goOn makes the result of a run that is about to begin go on with an earlier
// one. It refuses an earlier one of other ranks or settings: its rounds would be
// others.
func (r *Result) goOn(earlier *Result) error {
	if err := r.sameRun(earlier); err != nil {
		return err
	}
	h := earlier.Header
	h.ClockStep, h.ClockCost = max(h.ClockStep, r.ClockStep), max(h.ClockCost, r.ClockCost)
	h.OversubscribedHosts, h.OtherEnvironment = r.OversubscribedHosts, r.OtherEnvironment
	r.Header = h
	var rounds int
	r.measurements, rounds = earlier.scheduled()
	r.Rounds = min(earlier.Rounds, rounds)
	for i := range r.measurements {
		r.Repetitions = max(r.Repetitions, r.measurements[i].Repetition+1)
	}
	r.TotalRounds = max(earlier.TotalRounds, earlier.Rounds)
	return nil
}

// scheduled are the measurements before the first repetition of only some rounds, and the number of rounds until then. Those rounds
// were measured again and are numbered behind those of all pairs. A run that goes
// on will find out by itself which rounds to measure again. Of a file that was written at once and is cut off, no round is known to be whole.
func (r *Result) scheduled() ([]Measurement, int) {
	if r.Rounds == 0 {
		return nil, 0
	}
	perRepetition, first := 0, math.MaxInt
	for _, x := range r.measurements {
		if x.Repetition == 0 {
			perRepetition = max(perRepetition, x.Round+1)
		} else if x.Round >= perRepetition { // they are sorted by repetition
			first = min(first, x.Repetition)
		}
	}
	if first == math.MaxInt {
		return slices.Clone(r.measurements), r.Rounds
	}
	kept := slices.Clone(r.measurements)
	return slices.DeleteFunc(kept, func(x Measurement) bool { return x.Repetition >= first }), first * perRepetition
}

// sameRun says in one line what differs, nil if nothing does.
func (r *Result) sameRun(earlier *Result) error {
	if err := earlier.SameJob(&r.Header); err != nil {
		return err
	}
	switch {
	case earlier.Runs > 1:
		return fmt.Errorf("measurements of %s, merged: there is no way to go on with them", words.Count(earlier.Runs, "run"))
	case earlier.Version != r.Version:
		return fmt.Errorf("measurements of topocast %q, and this is %q: its rounds may be others", earlier.Version, r.Version)
	case !slices.Equal(earlier.Sizes, r.Sizes):
		return fmt.Errorf("messages of %s and of %s", sizesText(earlier.Sizes), sizesText(r.Sizes))
	case earlier.Samples != r.Samples:
		return fmt.Errorf("%d samples of each pair and %d", earlier.Samples, r.Samples)
	case earlier.Seed != r.Seed:
		return fmt.Errorf("seeds %d and %d", earlier.Seed, r.Seed)
	case earlier.schedule != r.schedule || earlier.WithinGroups != r.WithinGroups || earlier.OneByOne != r.OneByOne:
		return fmt.Errorf("other pairs, groups or numbers of rounds")
	}
	return nil
}

func sizesText(sizes []int) string {
	var all []string
	for _, size := range sizes {
		all = append(all, quantity.Bytes(size))
	}
	return words.List(all)
}
