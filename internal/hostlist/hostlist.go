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

// A run is names with one stem and numbers that follow each other.
type run struct {
	names []string
	stem  string // of names without a number: the name
}

// runs are the runs of names, in a natural order. A run goes from a number to one of as many digits where the first begins with 0, and may
// grow otherwise.
func runs(names []string) []run {
	names = slices.SortedFunc(slices.Values(names), Naturally)
	var all []run
	for len(names) > 0 {
		first := splitNumber(names[0])
		next := func(n int) string {
			return first.stem + fmt.Sprintf("%0*d", len(first.digits), first.number+uint64(n))
		}
		isFixed := first.digits != "0" && strings.HasPrefix(first.digits, "0")
		n := 1
		for first.digits != "" && n < len(names) && names[n] == next(n) && (!isFixed || len(names[n]) == len(names[0])) {
			n++
		}
		all = append(all, run{names[:n], first.stem})
		names = names[n:]
	}
	return all
}

// Format writes names as Slurm lists hosts, in a natural order: "login,tux[0-3,7]".
func Format(names []string) string {
	var items []string
	all := runs(names)
	for len(all) > 0 {
		first := all[0]
		n, count := 0, 0
		var ranges []string
		isNumbered := first.names[0] != first.stem
		for ; n < len(all) && all[n].stem == first.stem && (n == 0 || isNumbered); n++ {
			r := all[n].names[0][len(first.stem):]
			if last := all[n].names[len(all[n].names)-1]; last != all[n].names[0] {
				r += "-" + last[len(first.stem):]
			}
			ranges = append(ranges, r)
			count += len(all[n].names)
		}
		if count == 1 {
			items = append(items, first.names[0])
		} else {
			items = append(items, first.stem+"["+strings.Join(ranges, ",")+"]")
		}
		all = all[n:]
	}
	return strings.Join(items, ",")
}

// Numbers writes numbers as Slurm lists hosts, in ascending order: "0-3,7".
func Numbers(numbers []int) string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = strconv.Itoa(n)
	}
	return strings.Trim(Format(names), "[]")
}

// Ranges shortens a list of names for people: h8-h15,login and 12 more.
func Ranges(names []string) string {
	const most = 6
	var pieces []string
	all, left := runs(names), len(names)
	for _, r := range all {
		if len(pieces) == most {
			pieces[most-1] = fmt.Sprintf("%s and %d more", pieces[most-1], left)
			break
		}
		first, last := r.names[0], r.names[len(r.names)-1]
		switch {
		case len(r.names) == 1:
			pieces = append(pieces, first)
		case len(r.names) == 2 && len(pieces) < most-1:
			pieces = append(pieces, first, last)
		default:
			pieces = append(pieces, first+"-"+last)
		}
		left -= len(r.names)
	}
	return strings.Join(pieces, ",")
}
