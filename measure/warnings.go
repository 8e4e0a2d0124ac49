package measure

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
)

const (
	wideSamples = 0.5 // width of the middle half of the samples over their median; quiet machines have 0.01 to 0.1
	manyUnsure  = 0.1 // share of the readings whose lots all disagree: a reading more or less is an outlier
)

// warnings says what is weak in a result.
func warnings(r *Result) []string {
	all := slices.Clone(r.Notes)
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch r.Stopped {
	case harness.StoppedByBudget:
		add("the time budget ended the measurement after %d of %d rounds", r.Rounds, r.TotalRounds)
	case harness.StoppedByContext:
		add("the measurement was cancelled after %d of %d rounds", r.Rounds, r.TotalRounds)
	case StoppedUnfinished:
		add("the process ended while it measured: the journal holds %d of %d rounds", r.Rounds, r.TotalRounds)
	}
	if pairs, all := r.pairsMeasured(), r.Ranks*(r.Ranks-1)/2; pairs < all && !r.WithinGroups && !r.OneByOne {
		add("%d of %d pairs were measured", pairs, all)
	}
	if r.Samples < fewest {
		add("%d samples per pair are too few for quartiles: want at least %d", r.Samples, fewest)
	}
	if len(r.CrowdedHosts) > 0 {
		add("ranks outnumber the cores on %s: times are scheduler noise", r.crowded())
	}
	if ranks := r.OtherEnvironment; len(ranks) > 0 {
		add("%s of %d ran with other environment variables of the message-passing library than rank 0, the first is rank %d", words.Count(len(ranks), "rank"), r.Ranks, ranks[0])
	}
	for k, size := range r.Sizes {
		if share := r.zeroShare(k); share > 0 {
			add("%.0f %% of the measurements of %s are 0: the clock is too coarse", 100*share, quantity.Bytes(size))
		}
		if text := r.callWarning(k); text != "" {
			add("%s", text)
		}
		if spread := r.spread(k); spread > wideSamples {
			add("the samples of %s spread widely: the middle half of a pair's samples covers %.0f %% of their median", quantity.Bytes(size), 100*spread)
		}
		if text := roundWarning(r, k); text != "" {
			add("%s", text)
		}
		if text := r.disagreement(k).warning(r, k); text != "" {
			add("%s", text)
		}
		if share := r.unsureShare(k); share > manyUnsure {
			add("%.0f %% of the measurements of %s were disturbed in all of %d lots of samples: something else is running", 100*share, quantity.Bytes(size), pingpong.MaxLots)
		}
		if r.OneByOne { // few pairs, and long messages
			continue
		}
		for _, text := range []string{r.Drift(k).warning(r, k), firstWarning(r, k), bandWarning(r, k)} {
			if text != "" {
				add("%s", text)
			}
		}
	}
	return all
}

// pairsMeasured counts the pairs with at least one reading.
func (r *Result) pairsMeasured() int {
	seen := make(map[[2]int]bool)
	for _, x := range r.readings {
		seen[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
	}
	return len(seen)
}

// crowded names the hosts whose ranks outnumber their CPUs, a few of them.
func (r *Result) crowded() string {
	const most = 5
	if n := len(r.CrowdedHosts); n > most {
		return fmt.Sprintf("%s and %d more hosts", strings.Join(r.CrowdedHosts[:most], ", "), n-most)
	}
	return strings.Join(r.CrowdedHosts, ", ")
}

// callWarning tells of readings of which the loop around the calls is more than a small part.
func (r *Result) callWarning(size int) string {
	var medians []float64
	for _, x := range r.readings {
		if x.Size == size {
			medians = append(medians, x.Median)
		}
	}
	return pingpong.LoopWarning(medians, "measurements of "+quantity.Bytes(r.Sizes[size]), r.CallCost)
}

// zeroShare is the share of readings whose lower quartile is 0.
func (r *Result) zeroShare(size int) float64 {
	zero, count := 0, 0
	for _, x := range r.readings {
		if x.Size == size {
			count++
			if x.Q1 == 0 {
				zero++
			}
		}
	}
	if zero == 0 {
		return 0
	}
	return float64(zero) / float64(count)
}

// spread is the median over all readings of the width of the middle half of
// the samples, relative to their median.
func (r *Result) spread(size int) float64 {
	var all []float64
	for _, x := range r.readings {
		if x.Size == size && x.Median > 0 {
			all = append(all, (x.Q3-x.Q1)/x.Median)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return stat.Quantile(0.5, stat.Empirical, all, nil)
}

// unsureShare is the share of readings of which no two lots agreed.
func (r *Result) unsureShare(size int) float64 {
	unsure, count := 0, 0
	for _, x := range r.readings {
		if x.Size == size {
			count++
			unsure += x.unsure()
		}
	}
	if unsure == 0 {
		return 0
	}
	return float64(unsure) / float64(count)
}
