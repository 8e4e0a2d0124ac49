// Package hostlist writes and orders names of hosts that end in numbers, as people who run clusters do.
package hostlist

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

// LongestNumber is how many digits at the end of a name are taken for a number.
const LongestNumber = 18

// splitNumber splits a name; digits is "" if it does not end in a number.
func splitNumber(name string) numbered {
	stem := strings.TrimRight(name, "0123456789")
	stem = name[:max(len(stem), len(name)-LongestNumber)]
	n := numbered{stem: stem, digits: name[len(stem):]}
	n.number, _ = strconv.ParseUint(n.digits, 10, 64)
	return n
}

// Naturally orders names, numbers in them by value: n2 before n10, rack9-n1 before rack10-n1.
func Naturally(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits is the length of the number that text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// Format writes names as Slurm lists hosts, in a natural order: "login,tux[0-3,7]". A range goes
// from a number to one of as many digits where the first begins with 0, and may grow otherwise.
func Format(names []string) string {
	names = slices.SortedFunc(slices.Values(names), Naturally)
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
				(low.digits[0] != '0' || low.digits == "0" || len(names[last+1]) == len(names[end])) {
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
