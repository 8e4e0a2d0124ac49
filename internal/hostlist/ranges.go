package hostlist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ranges shortens a list of names: h8-h15,login and 12 more.
func Ranges(names []string) string {
	const maxRanges = 6
	type part struct {
		prefix, digits string
		number         int
	}
	all := make([]part, len(names))
	for i, name := range names {
		digits := strings.TrimRight(name, "0123456789")
		all[i] = part{digits, name[len(digits):], -1}
		if n, err := strconv.Atoi(all[i].digits); err == nil {
			all[i].number = n
		}
	}
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.number, b.number), cmp.Compare(a.digits, b.digits))
	})
	// The next name has as many digits, or one more after 9, 99 and so on.
	next := func(a, b part) bool {
		return a.prefix == b.prefix && a.number >= 0 && b.digits == fmt.Sprintf("%0*d", len(a.digits), a.number+1)
	}
	var pieces []string
	for i := 0; i < len(all); {
		if len(pieces) == maxRanges {
			pieces = append(pieces[:maxRanges-1], fmt.Sprintf("%s and %d more", pieces[maxRanges-1], len(all)-i))
			break
		}
		j := i
		for j+1 < len(all) && next(all[j], all[j+1]) {
			j++
		}
		first, last := all[i].prefix+all[i].digits, all[j].prefix+all[j].digits
		switch {
		case j == i:
			pieces = append(pieces, first)
		case j == i+1 && len(pieces) < maxRanges-1:
			pieces = append(pieces, first, last)
		default:
			pieces = append(pieces, first+"-"+last)
		}
		i = j + 1
	}
	return strings.Join(pieces, ",")
}
