package measure

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// goOn makes the result of a run that is about to begin go on with an earlier
// one. It refuses an earlier one of other ranks or settings: its rounds would be
// others.
func (r *Result) goOn(earlier *Result) error {
	if err := r.sameRun(earlier); err != nil {
		return fmt.Errorf("measure: Settings.Resume: %w", err)
	}
	h := earlier.Header
	h.ClockStep, h.ClockCost = max(h.ClockStep, r.ClockStep), max(h.ClockCost, r.ClockCost)
	h.CrowdedHosts, h.OtherEnvironment = r.CrowdedHosts, r.OtherEnvironment
	r.Header = h
	r.readings = slices.Clone(earlier.readings)
	r.Rounds = earlier.Rounds
	for i := range r.readings {
		r.Repetitions = max(r.Repetitions, r.readings[i].Repetition+1)
	}
	r.TotalRounds = max(earlier.TotalRounds, earlier.Rounds)
	return nil
}

// sameRun says in one line what differs, nil if nothing does.
func (r *Result) sameRun(earlier *Result) error {
	if err := earlier.SameJob(&r.Header); err != nil {
		return err
	}
	switch {
	case earlier.Runs > 1:
		return fmt.Errorf("readings of %s, merged: there is no way to go on with them", words.Count(earlier.Runs, "run"))
	case earlier.Version != r.Version:
		return fmt.Errorf("readings of topocast %q, and this is %q: its rounds may be others", earlier.Version, r.Version)
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
