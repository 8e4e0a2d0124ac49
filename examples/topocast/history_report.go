package main

import (
	"fmt"
	"io"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/model/results"
)

// dateOf is the date of a run as a report has it; simulated ones have none.
func dateOf(runs []check.Run, i int) string {
	switch at := runs[i].Date; {
	case at.IsZero():
		return fmt.Sprintf("run %d", i+1)
	case at.Equal(at.Truncate(24 * time.Hour)):
		return at.Format(time.DateOnly)
	default:
		return at.Format(time.RFC3339)
	}
}

// mostPairs is how many pairs are printed of one run. Where a host or a link changes, all of its pairs do.
const mostPairs = 10

// changesOf is what was found in the runs, as programs get it. Text is made of it, too.
func changesOf(r *check.WatchResult, runs []check.Run) *results.Changes {
	return &results.Changes{Runs: len(runs), Series: r.Series, Samples: r.Samples, Changes: each(r.Changes, func(c check.Change) results.Change {
		kind := ofShort
		if c.Long {
			kind = ofLong
		}
		return results.Change{
			Name: c.Name, Kind: kind, Told: dateOf(runs, c.Run), Since: dateOf(runs, c.Since), Newest: c.Run == len(runs)-1,
			Factor: c.Factor, Strength: c.Strength, Pairs: c.Pairs,
		}
	})}
}

// The kinds of changes.
const (
	ofShort = "latency"
	ofLong  = "long"
)

func isNewest(c results.Change) bool { return c.Newest }

// tellChanges writes for people.
func tellChanges(w io.Writer, r *results.Changes, all bool) {
	fmt.Fprintf(w, "%s, %d series, %d samples judged\n", words.Count(r.Runs, "run"), r.Series, r.Samples)
	switch {
	case r.Samples == 0:
		fmt.Fprintln(w, "too few runs to tell changes: a series needs 9")
		return
	case len(r.Changes) == 0 && all:
		fmt.Fprintln(w, "no run tells a change")
	case len(r.Changes) == 0:
		fmt.Fprintln(w, "the newest run tells no change")
	}
	pairs, last := 0, ""
	for i, c := range r.Changes {
		if c.Told != last {
			pairs, last = 0, c.Told
			fmt.Fprintf(w, "told by %s:\n", c.Told)
		}
		text := fmt.Sprintf("%.3g times as long since %s", c.Factor, c.Since)
		switch {
		case c.Pairs == 0: // the name has the kind
			pairs++
		case c.Kind == ofLong:
			text = fmt.Sprintf("long messages take %s, by %s", text, words.Count(c.Pairs, "pair"))
		default:
			text = fmt.Sprintf("short messages take %s, by %s", text, words.Count(c.Pairs, "pair"))
		}
		if c.Pairs > 0 || pairs <= mostPairs {
			fmt.Fprintf(w, "  %s: %s\n", c.Name, text)
		}
		if end := i == len(r.Changes)-1 || r.Changes[i+1].Told != c.Told; end && pairs > mostPairs {
			fmt.Fprintf(w, "  and %s\n", words.Count(pairs-mostPairs, "more pair"))
		}
	}
}
