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

// mostPairs is how many pairs are told of one run: of hosts and links that change all pairs do.
const mostPairs = 10

// tellWatched writes for people.
func tellWatched(w io.Writer, r *check.WatchResult, runs []check.Run, shown []check.Change, all bool) {
	fmt.Fprintf(w, "%s, %d series, %d samples judged\n", words.Count(len(runs), "run"), r.Series, r.Samples)
	switch {
	case r.Samples == 0:
		fmt.Fprintln(w, "too few runs to tell changes: a series needs 9")
		return
	case len(shown) == 0 && all:
		fmt.Fprintln(w, "no run tells a change")
	case len(shown) == 0:
		fmt.Fprintln(w, "the newest run tells no change")
	}
	pairs, last := 0, -1
	for i, c := range shown {
		if c.Run != last {
			pairs, last = 0, c.Run
			fmt.Fprintf(w, "told by %s:\n", dateOf(runs, c.Run))
		}
		if c.Pairs == 0 {
			pairs++
		}
		if c.Pairs > 0 || pairs <= mostPairs {
			fmt.Fprintf(w, "  %s: %s\n", c.Name, describeChange(&c, runs))
		}
		if end := i == len(shown)-1 || shown[i+1].Run != c.Run; end && pairs > mostPairs {
			fmt.Fprintf(w, "  and %s\n", words.Count(pairs-mostPairs, "more pair"))
		}
	}
}

func describeChange(c *check.Change, runs []check.Run) string {
	text := fmt.Sprintf("%.3g times as long since %s", c.Factor, dateOf(runs, c.Since))
	if c.Pairs > 0 { // whose name has the kind
		kind := "short messages"
		if c.Long {
			kind = "long messages"
		}
		text = fmt.Sprintf("%s take %s, by %s", kind, text, words.Count(c.Pairs, "pair"))
	}
	return text
}

// writeWatched writes for programs.
func writeWatched(w io.Writer, r *check.WatchResult, runs []check.Run, shown []check.Change) error {
	out := results.Changes{Runs: len(runs), Series: r.Series, Samples: r.Samples, Changes: []results.Change{}}
	for _, c := range shown {
		kind := "latency"
		if c.Long {
			kind = "long"
		}
		out.Changes = append(out.Changes, results.Change{
			Name: c.Name, Kind: kind, Told: dateOf(runs, c.Run), Since: dateOf(runs, c.Since), Newest: c.Run == len(runs)-1,
			Factor: c.Factor, Strength: c.Strength, Pairs: c.Pairs,
		})
	}
	return results.Write(w, &out)
}
