package hostlist

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// LongestName is how many bytes a name of a host or a switch may have: Slurm refuses more.
const LongestName = 64

// piece is a part of a name in a hostlist: text, with a bracket behind it or without.
var piece = regexp.MustCompile(`^([^][,]*)(?:\[([^]]*)\])?`)

// Expand lists the names that a hostlist stands for, in its order. A name may have several brackets, as rack[0-1]n[00-15] has. Lists of more
// than most names are refused before they are made; names that come twice are the caller's to find.
func Expand(text string, most int) ([]string, error) {
	fail := func(err error) ([]string, error) { return nil, fmt.Errorf("hostlist %.40q: %w", text, err) }
	var all []string
	names := []string{""} // of one item of the list, as far as it was read
	for rest := text; ; {
		m := piece.FindStringSubmatch(rest)
		numbers := []string{""}
		if strings.HasSuffix(m[0], "]") {
			var err error
			if numbers, err = ExpandNumbers(m[2], most); err != nil {
				return fail(err)
			}
		}
		if len(all)+len(names)*len(numbers) > most {
			return fail(tooMany(most))
		}
		var longer []string
		for _, name := range names {
			for _, number := range numbers {
				longer = append(longer, name+m[1]+number)
				if end := longer[len(longer)-1]; len(end) > LongestName {
					return fail(fmt.Errorf("%.40q: a name of more than %d bytes", end, LongestName))
				}
			}
		}
		names, rest = longer, rest[len(m[0]):]
		switch {
		case (rest == "" || rest[0] == ',') && names[0] == "":
			return fail(fmt.Errorf("want names between the commas"))
		case rest == "":
			return append(all, names...), nil
		case rest[0] == ',':
			all, names, rest = append(all, names...), []string{""}, rest[1:]
		case rest[0] == ']':
			return fail(fmt.Errorf("a bracket closes that is not open"))
		case rest[0] == '[' && m[0] == "":
			return fail(fmt.Errorf("a bracket is not closed"))
		}
	}
}

func tooMany(most int) error { return fmt.Errorf("more than %d names", most) }

// ExpandNumbers lists the numbers of ranges such as 0-3,7 with as many digits as the first of each has. It refuses more than most of them.
func ExpandNumbers(text string, most int) ([]string, error) {
	var numbers []string
	for r := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(r, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 64)
		last, failed := strconv.ParseUint(high, 10, 64)
		switch {
		case err != nil || failed != nil || max(len(low), len(high)) > longestNumber:
			return nil, fmt.Errorf("%.40q: want numbers and ranges of them, such as 0-3", r)
		case last < first:
			return nil, fmt.Errorf("%.40q: want ascending numbers", r)
		case last-first >= uint64(max(most-len(numbers), 0)):
			return nil, tooMany(most)
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return numbers, nil
}
