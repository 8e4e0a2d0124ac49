package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
)

// A condition of a measurement makes its result weaker.
type condition struct {
	what   string // is the case
	remedy string // what to do about it
}

func (c condition) String() string {
	if c.remedy == "" {
		return c.what
	}
	return c.what + ": " + c.remedy
}

// idle is the remedy where something else was running.
const idle = "measure again while hosts and links are idle, or with more repetitions"

// warnings are what was decided while measuring, and the conditions of a result.
func warnings(r *Result) []string {
	all := slices.Clone(r.Notes)
	for _, c := range r.conditions() {
		all = append(all, c.String())
	}
	return all
}

// conditions are those of the run, and of each size.
func (r *Result) conditions() (all []condition) {
	add := func(remedy, format string, args ...any) {
		all = append(all, condition{fmt.Sprintf(format, args...), remedy})
	}
	larger, resume := "give it a larger one", ""
	if r.Rounds > 0 { // or else there is nothing to go on with
		larger, resume = larger+", or resume it", "resume it"
	}
	switch few, stopped := r.isFew(), r.Stopped; {
	case few && stopped == harness.StoppedUnfinished:
		add("measure again, what is between the others is inferred", "the process ended while it measured few pairs, of which the journal holds %s", words.Count(r.Rounds, "round"))
	case few: // what was found of the groups says it
	case stopped == harness.StoppedByBudget:
		add(larger, "the time budget ended the measurement after %d of %d rounds", r.Rounds, r.TotalRounds)
	case stopped == harness.StoppedByContext:
		add(resume, "the measurement was cancelled after %d of %d rounds", r.Rounds, r.TotalRounds)
	case stopped == harness.StoppedUnfinished:
		add(resume, "the process ended while it measured: the journal holds %d of %d rounds", r.Rounds, r.TotalRounds)
	}
	if pairs, of := r.pairsMeasured(), r.Ranks*(r.Ranks-1)/2; pairs < of && !r.WithinGroups && !r.OneByOne && !r.isFew() {
		add("what is between the others is inferred", "%d of %d pairs were measured", pairs, of)
	}
	if r.Samples < fewest {
		add(fmt.Sprintf("want at least %d", fewest), "%d samples per pair are too few for quartiles", r.Samples)
	}
	if len(r.OversubscribedHosts) > 0 {
		add("times are scheduler noise, run one rank per core", "ranks outnumber the cores on %s", r.oversubscribed())
	}
	if ranks := r.OtherEnvironment; len(ranks) > 0 {
		add("start all ranks alike", "%s of %d ran with other environment variables of the message-passing library than rank 0, the first is rank %d", words.Count(len(ranks), "rank"), r.Ranks, ranks[0])
	}
	for k := range r.Sizes {
		all = append(all, r.conditionsOf(k)...)
	}
	return all
}

// conditionsOf are those of the measurements of one size.
func (r *Result) conditionsOf(size int) (all []condition) {
	of := quantity.Bytes(r.Sizes[size])
	if share := r.share(size, func(x *Measurement) bool { return x.Q1 == 0 }); share > 0 {
		all = append(all, condition{fmt.Sprintf("%.0f %% of the measurements of %s are 0", 100*share, of), "the clock is too coarse, measure longer messages"})
	}
	if text := r.callWarning(size); text != "" {
		all = append(all, condition{what: text})
	}
	byPair := r.byPair(size)
	pairs := seen(byPair)
	signs := []string{r.unsureSign(size), r.spreadSign(size)}
	if !r.isFew() { // where pairs are measured again because they disagree
		signs = slices.Concat([]string{slowRoundsSign(byPair), r.disagreement(pairs).sign()}, signs)
	}
	signs = slices.DeleteFunc(signs, func(sign string) bool { return sign == "" })
	if len(signs) > 0 {
		all = append(all, condition{"something else was running while " + of + " were measured (" + strings.Join(signs, "; ") + ")", idle})
	}
	if r.OneByOne || r.isFew() { // too few pairs to tell
		return all
	}
	for _, sign := range []condition{driftOf(byPair).condition(of), r.firstRound(pairs, of), r.band(pairs, of)} {
		if sign.what != "" {
			all = append(all, sign)
		}
	}
	return all
}

// share is that of the measurements of one size of which something is true.
func (r *Result) share(size int, is func(x *Measurement) bool) float64 {
	found, count := 0, 0
	for x := range r.of(size) {
		if count++; is(x) {
			found++
		}
	}
	if found == 0 {
		return 0
	}
	return float64(found) / float64(count)
}

// pairsMeasured counts the pairs with at least one measurement.
func (r *Result) pairsMeasured() int {
	seen := make(map[[2]int]bool)
	for i := range r.measurements {
		seen[r.measurements[i].pair()] = true
	}
	return len(seen)
}

// oversubscribed names the hosts whose ranks outnumber their CPUs, a few of them.
func (r *Result) oversubscribed() string {
	const most = 5
	if n := len(r.OversubscribedHosts); n > most {
		return fmt.Sprintf("%s and %d more hosts", strings.Join(r.OversubscribedHosts[:most], ", "), n-most)
	}
	return strings.Join(r.OversubscribedHosts, ", ")
}

// callWarning tells of measurements of which the loop around the calls is more than a small part.
func (r *Result) callWarning(size int) string {
	var medians []float64
	for x := range r.of(size) {
		medians = append(medians, x.Median)
	}
	const calls = 2 // whose price is in a one-way time: the send and the receive
	return pingpong.CallWarning(medians, "measurements of "+quantity.Bytes(r.Sizes[size]), calls*r.CallCost, "the loop around the calls, which adds about %s to each, is")
}
