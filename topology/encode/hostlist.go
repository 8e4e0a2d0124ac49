package encode

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbered is a name that ends in a number: tux007 is {"tux", "007", 7}.
type numbered struct {
	stem, digits string
	number       uint64
}

// longestNumber is how many digits at the end of a name are taken for a number.
const longestNumber = 18

// splitNumber splits a name; digits is "" if it does not end in a number.
func splitNumber(name string) numbered {
	stem := strings.TrimRight(name, "0123456789")
	stem = name[:max(len(stem), len(name)-longestNumber)]
	n := numbered{stem: stem, digits: name[len(stem):]}
	n.number, _ = strconv.ParseUint(n.digits, 10, 64)
	return n
}

// naturally orders names by their stems, and then by their numbers: n2 before n10.
func naturally(a, b string) int {
	x, y := splitNumber(a), splitNumber(b)
	return cmp.Or(cmp.Compare(x.stem, y.stem), cmp.Compare(x.number, y.number), cmp.Compare(a, b))
}

// hostlist writes names as Slurm lists hosts, in a natural order: "login,tux[0-3,7]". A range goes
// from a number to one of as many digits where the first begins with 0, and may grow otherwise.
func hostlist(names []string) string {
	names = slices.SortedFunc(slices.Values(names), naturally)
	var items []string
	for i := 0; i < len(names); {
		first := splitNumber(names[i])
		var ranges []string
		end := i
		for end < len(names) {
			low := splitNumber(names[end])
			if low.stem != first.stem || low.digits == "" || first.digits == "" {
				break
			}
			last := end
			for last+1 < len(names) && names[last+1] == low.stem+fmt.Sprintf("%0*d", len(low.digits), low.number+uint64(last+1-end)) &&
				(low.digits[0] != '0' || len(names[last+1]) == len(names[end])) {
				last++
			}
			r := low.digits
			if last > end {
				r += "-" + splitNumber(names[last]).digits
			}
			ranges = append(ranges, r)
			end = last + 1
		}
		switch {
		case end <= i+1: // alone, or without a number
			items = append(items, names[i])
			end = i + 1
		default:
			items = append(items, first.stem+"["+strings.Join(ranges, ",")+"]")
		}
		i = end
	}
	return strings.Join(items, ",")
}

// expandHostlist lists the names that a hostlist stands for, in its order. A name may have several
// brackets, as rack[0-1]n[00-15] has. Lists of more than most names are refused before they are
// made; names that come twice are the caller's to find.
func expandHostlist(text string, most int) ([]string, error) {
	var names []string
	for _, item := range splitOutside(text) {
		if item == "" {
			return nil, fmt.Errorf("hostlist %q: want names between the commas", shorten([]byte(text)))
		}
		some, err := expandItem(item, most-len(names))
		if err != nil {
			return nil, fmt.Errorf("hostlist %q: %w", shorten([]byte(text)), err)
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
			return nil, fmt.Errorf("%q: a bracket closes that is not open", shorten([]byte(item)))
		}
		ends := []string{plain}
		if bracket {
			inside, after, closed := strings.Cut(rest, "]")
			if !closed {
				return nil, fmt.Errorf("%q: a bracket is not closed", shorten([]byte(item)))
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
					return nil, fmt.Errorf("%q: a name of more than %d bytes", shorten([]byte(name+end)), longestName)
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
			return nil, fmt.Errorf("%q in brackets: want ascending numbers", shorten([]byte(r)))
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
	if err != nil || len(digits) > longestNumber {
		return 0, fmt.Errorf("%q in brackets: want numbers and ranges of them", shorten([]byte(digits)))
	}
	return n, nil
}
