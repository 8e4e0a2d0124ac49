package encode

import (
	"cmp"
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

// unitNamed is the unit of time that the notes of a table name, 0 if none, and where. Notes such as "unit: us" count before others. It
// refuses two units, another one than the given, a unit that nobody knows if none is given, and rates: bandwidths are no latencies.
func (t *table) unitNamed(given Unit) (unit Unit, where string, err error) {
	var unknown error
	for _, named := range []*regexp.Regexp{unitComment, timeUnit} {
		for _, note := range t.notes {
			m := named.FindStringSubmatch(note.text)
			if m == nil {
				continue
			}
			u, err := ParseUnit(m[1])
			switch {
			case err != nil:
				unknown = fmt.Errorf("line %d: unit %q: want s, ms, us or ns", note.number, shorten(m[1]))
			case given != 0 && u != given:
				return u, "", fmt.Errorf("line %d: the file is in %s, not in %s (%q)", note.number, u, given, shorten(note.text))
			case unit == 0:
				unit, where = u, shorten(note.text)
			case u != unit && named == unitComment:
				return u, "", fmt.Errorf("line %d: the unit is %s, and was %s before", note.number, u, unit)
			case u != unit:
				return u, "", fmt.Errorf("line %d: the text names %s and %s as units: name one by a line \"# unit: %s\"", note.number, unit, u, u)
			}
		}
		if unit != 0 {
			return unit, where, nil
		}
	}
	first := func(what *regexp.Regexp) (found string) {
		for _, note := range t.notes {
			found = cmp.Or(found, what.FindString(note.text))
		}
		return found
	}
	if rate := first(rateUnit); rate != "" {
		return 0, "", fmt.Errorf("line 1: the file says %q: bandwidths are no latencies", rate)
	} else if other := first(noTime); other != "" {
		return 0, "", fmt.Errorf("line 1: the file says %q, which is no time: if the numbers are, add a line \"# unit: us\"", other)
	} else if given != 0 {
		return 0, "", nil
	}
	return 0, "", unknown
}
