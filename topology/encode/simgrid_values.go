package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// simGridRadical reads the numbers of the hosts of a cluster: "0-3,8".
func simGridRadical(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || first < 0 || last < first || last-first >= maxHosts-len(all) {
			return nil, fmt.Errorf("radical %q: want ascending numbers, at most %d", shorten(part), maxHosts)
		}
		for i := first; i <= last; i++ {
			all = append(all, i)
		}
	}
	return all, nil
}

// simGridValue reads a number with a unit. Unit knows the power of ten of a unit, and what else to divide by.
func simGridValue(text string, unit func(string) (power int, divisor float64, ok bool)) (float64, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRightFunc(text, unicode.IsLetter)
	power, divisor, ok := unit(text[len(digits):])
	if x, err := parseShifted(digits, power); ok && err == nil && x >= 0 && !math.IsInf(x, 0) {
		return x / divisor, nil
	}
	return 0, fmt.Errorf("%q: want a number and a unit, such as 10us or 1.25GBps", shorten(text))
}

// simGridTime knows the units of times in s.
func simGridTime(unit string) (power int, divisor float64, ok bool) {
	powers := [...]string{"s", "ms", "us", "ns", "ps"}
	i := slices.Index(powers[:], cmp.Or(unit, "s"))
	return -3 * i, 1, i >= 0
}

// simGridRate knows those of rates in B/s, or bit/s with a small b; with an i they are powers of 1024.
func simGridRate(unit string) (power int, divisor float64, ok bool) {
	divisor = 1
	if unit == "" {
		return 0, divisor, true
	}
	prefix, found := strings.CutSuffix(unit, "Bps")
	if !found {
		prefix, found = strings.CutSuffix(unit, "bps")
		divisor = 8
	}
	prefix, binary := strings.CutSuffix(prefix, "i")
	powers := [...]string{"", "K", "M", "G", "T", "P", "E"}
	i := slices.Index(powers[:], strings.ToUpper(prefix))
	if binary {
		return 0, divisor / math.Pow(1024, float64(i)), found && i > 0
	}
	return 3 * i, divisor, found && i >= 0
}
