package encode

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

var (
	// unitComment finds the unit in a line that is about it: "# topocast latencies, unit: us".
	unitComment = regexp.MustCompile(`(?i)\bunits?\s*[:=]\s*([^\s,;()]+)`)

	// timeUnit finds a unit of time in a title, a corner, a column's name or a comment: "(us)", "[ms]", "latency_us", "in
	// microseconds", "time, ns".
	timeUnit = regexp.MustCompile(`(?i)(?:[(\[_,=:]|\bin|\bunits?|(?:\btime|\blatency|\brtt|\bdelay)\s*/?|^)\s*` +
		`(s|sec|secs|seconds?|ms|msecs?|milli-?sec(?:ond)?s?|us|µs|μs|usecs?|micro-?sec(?:ond)?s?|ns|nsecs?|nano-?sec(?:ond)?s?)\s*(?:[)\],;.]|\s|$)`)

	// rateUnit finds a unit of rates.
	rateUnit = regexp.MustCompile(`(?i)(?:\b|_|\d)(?:[kmgt]i?(?:b|bits?|bytes?)\s*(?:/\s*s(?:ec(?:ond)?)?|ps|per second)|[kmgt]bps|bytes?/s(?:ec)?|B/s(?:ec)?|bandwidth|bw|throughput)(?:\b|_)`)

	// noTime finds what else pairs of hosts are counted in.
	noTime = regexp.MustCompile(`(?i)\b(?:hops|(?:msgs?|messages|packets)/s(?:ec)?)\b|\(%\)`)
)

// sizesFirst finds names of columns of which the first one has sizes of messages, as OSU and IMB print them.
var sizesFirst = regexp.MustCompile(`(?i)^(size|#?bytes)\b.*\s`)

// hasSizes tells whether the first column of the rows holds sizes: notes call it so, and it ascends.
func (t *table) hasSizes() bool {
	last := -1
	for _, l := range t.lines {
		if size := l.head.whole(); l.isRow && size <= last {
			return false
		} else if l.isRow {
			last = size
		}
	}
	return slices.ContainsFunc(t.notes, func(note textLine) bool { return sizesFirst.MatchString(note.text) })
}

// errNoUnit is of a file that does not tell its unit.
var errNoUnit = errors.New(`line 1: no unit is named: want --unit s, ms, us or ns, or a line such as "# unit: us"`)

// unitNamed is the unit of time that the notes of a table name, 0 if none, and where. A note such as "unit: us" counts before others. It
// refuses two units, another one than the given, a unit that nobody knows if none is given, and rates: bandwidths are no latencies.
func (t *table) unitNamed(given Unit) (unit Unit, where string, err error) {
	rate, other, isStated := "", "", false
	var unknown, two error
	for _, note := range t.notes {
		if rate == "" {
			rate = rateUnit.FindString(note.text)
		}
		if other == "" {
			other = noTime.FindString(note.text)
		}
		m := unitComment.FindStringSubmatch(note.text)
		stated := m != nil
		if m == nil {
			m = timeUnit.FindStringSubmatch(note.text)
		}
		if m == nil {
			continue
		}
		u, err := ParseUnit(m[1])
		switch {
		case err != nil:
			unknown = fmt.Errorf("line %d: unit %q: want s, ms, us or ns", note.number, shorten(m[1]))
		case stated && given != 0 && u != given:
			return u, "", fmt.Errorf("line %d: the file is in %s, not in %s", note.number, u, given)
		case stated && isStated && u != unit:
			return u, "", fmt.Errorf("line %d: the unit is %s, and was %s before", note.number, u, unit)
		case stated && !isStated:
			unit, where, isStated, two = u, shorten(note.text), true, nil
		case unit == 0:
			unit, where = u, shorten(note.text)
		case u != unit && !isStated:
			two = fmt.Errorf("line %d: the text names %s and %s as units: name one by a line \"# unit: %s\"", note.number, unit, u, u)
		}
	}
	switch {
	case two != nil:
		return unit, "", two
	case unit == 0 && rate != "":
		return 0, "", fmt.Errorf("line 1: the file says %q: bandwidths are no latencies", rate)
	case unit == 0 && other != "":
		return 0, "", fmt.Errorf("line 1: the file says %q, which is no time: if the numbers are, add a line \"# unit: us\"", other)
	case unit == 0 && given == 0 && unknown != nil:
		return 0, "", unknown
	case unit != 0 && given != 0 && unit != given:
		return 0, "", fmt.Errorf("line 1: the file is in %s, not in %s (%q)", unit, given, where)
	}
	return unit, where, nil
}
