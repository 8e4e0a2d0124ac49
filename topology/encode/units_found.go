package encode

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	// timeUnit finds a unit of time in a title, a corner, a column's name or a comment: "(us)", "[ms]", "latency_us", "in
	// microseconds", "time, ns".
	timeUnit = regexp.MustCompile(`(?i)(?:[(\[_,=:]|\bin|\bunits?|\btime|\blatency|\brtt|^)\s*(s|sec|secs|seconds?|ms|msecs?|milliseconds?|us|µs|μs|usecs?|microseconds?|ns|nsecs?|nanoseconds?)\s*(?:[)\],;.]|\s|$)`)

	// rateUnit finds a unit of rates.
	rateUnit = regexp.MustCompile(`(?i)(?:\b|_)(?:[kmgt]i?(?:b|bit|bits|bytes?)\s*(?:/s|ps)|[kmgt]bps|[kmgt]bit/s|bytes?/s|B/s|bandwidth|throughput)(?:\b|_)`)
)

// textOf is all of a file but its numbers: comments, titles and names of columns.
//
// Numbers fill all but the first lines: of those that are no comments, the first are looked at, each as far as a title goes.
func textOf(data []byte) (text []string) {
	const most, longest = 8, 4 << 10 // lines, bytes
	seen := 0
	for _, line := range bytes.FieldsFunc(data[:min(len(data), 1<<20)], func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = line[:min(len(line), longest)]
		if !isComment(line) {
			if seen++; seen > most {
				continue
			}
		}
		if isComment(line) {
			text = append(text, strings.TrimLeft(string(line), "# \t"))
			continue
		}
		lines, _, _ := tableLines(line)
		for _, l := range lines {
			var words []string
			for _, c := range l.cells {
				if !c.number && !c.absent {
					words = append(words, c.text)
				}
			}
			if len(words) > 0 {
				text = append(text, strings.TrimLeft(strings.Join(words, " "), "% ")) // comments of MATLAB and MatrixMarket
			}
		}
	}
	return text
}

// findUnit is the unit of time that the text of a file names, 0 if none, and where. It refuses a file that names a unit
// of rates and none of time: bandwidths are no latencies.
func findUnit(data []byte) (unit Unit, where string, err error) {
	rate := ""
	for _, text := range textOf(data) {
		if found := rateUnit.FindString(text); found != "" && rate == "" {
			rate = found
		}
		if unitComment.MatchString(text) {
			continue // the reader of tables judges it
		}
		for _, m := range timeUnit.FindAllStringSubmatch(text, -1) {
			u, err := ParseUnit(m[1])
			if err != nil {
				continue
			}
			if unit != 0 && u != unit {
				return 0, "", fmt.Errorf("line 1: the text names %s and %s as units: name one by a line \"# unit: %s\"", unit, u, u)
			}
			unit, where = u, shortText(text)
		}
	}
	if unit == 0 && rate != "" {
		return 0, "", fmt.Errorf("line 1: the file says %q: bandwidths are no latencies", rate)
	}
	return unit, where, nil
}

func shortText(text string) string { return string(shorten([]byte(text))) }

// A unitError is about the unit of a file, and not about its table.
type unitError struct{ error }

// errNoUnit is of a file that does not tell its unit.
var errNoUnit = errors.New(`line 1: no unit is named: want --unit s, ms, us or ns, or a line such as "# unit: us"`)
