package encode

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
)

// expandHostlist lists the names that a hostlist stands for, in its order. A name may have several
// brackets, as rack[0-1]n[00-15] has. Lists of more than most names are refused before they are
// made; names that come twice are the caller's to find.
func expandHostlist(text string, most int) ([]string, error) {
	var names []string
	for _, item := range splitOutside(text) {
		if item == "" {
			return nil, fmt.Errorf("hostlist %q: want names between the commas", shorten(text))
		}
		some, err := expandItem(item, most-len(names))
		if err != nil {
			return nil, fmt.Errorf("hostlist %q: %w", shorten(text), err)
		}
		names = append(names, some...)
	}
	return names, nil
}

// splitOutside splits at the commas that stand in no brackets.
func splitOutside(text string) []string {
	var items []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				items = append(items, text[start:i])
				start = i + 1
			}
		}
	}
	return append(items, text[start:])
}

// expandItem expands one item: a name, or one with brackets.
func expandItem(item string, most int) ([]string, error) {
	names := []string{""}
	for item != "" {
		plain, rest, bracket := strings.Cut(item, "[")
		if strings.Contains(plain, "]") {
			return nil, fmt.Errorf("%q: a bracket closes that is not open", shorten(item))
		}
		ends := []string{plain}
		if bracket {
			inside, after, closed := strings.Cut(rest, "]")
			if !closed {
				return nil, fmt.Errorf("%q: a bracket is not closed", shorten(item))
			}
			numbers, err := expandRanges(inside, most/len(names))
			if err != nil {
				return nil, err
			}
			for i, n := range numbers {
				numbers[i] = plain + n
			}
			ends, rest = numbers, after
		}
		if len(names)*len(ends) > most {
			return nil, errTooMany
		}
		longer := make([]string, 0, len(names)*len(ends))
		for _, name := range names {
			for _, end := range ends {
				if len(name)+len(end) > longestName {
					return nil, fmt.Errorf("%q: a name of more than %d bytes", shorten(name+end), longestName)
				}
				longer = append(longer, name+end)
			}
		}
		names, item = longer, rest
	}
	return names, nil
}

// maxNames is how many hosts and switches a fabric may have. The largest machines have 10^5 hosts.
const maxNames = 1 << 17

var errTooMany = fmt.Errorf("more than %d names", maxNames)

// expandRanges expands "0-3,7" into numbers as they stand in names.
func expandRanges(text string, most int) ([]string, error) {
	var numbers []string
	for r := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(r, "-")
		if !isRange {
			high = low
		}
		first, err := rangeEnd(low)
		if err != nil {
			return nil, err
		}
		last, err := rangeEnd(high)
		switch {
		case err != nil:
			return nil, err
		case last < first:
			return nil, fmt.Errorf("%q in brackets: want ascending numbers", shorten(r))
		case last-first >= uint64(max(most-len(numbers), 0)):
			return nil, errTooMany
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return numbers, nil
}

func rangeEnd(digits string) (uint64, error) {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > hostlist.LongestNumber {
		return 0, fmt.Errorf("%q in brackets: want numbers and ranges of them", shorten(digits))
	}
	return n, nil
}
