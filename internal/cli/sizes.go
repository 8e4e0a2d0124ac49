package cli

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// SizeForms is what flags of sizes say in their help.
const SizeForms = "4096, 4Ki, 4KiB, 4k, 4e3"

// ParseSize reads a number of bytes: a number with an optional unit. k, M and G
// (kB, MB, GB) are powers of 1000, Ki, Mi and Gi (KiB, MiB, GiB) of 1024; K is
// k, and case does not matter.
func ParseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), 1.0
	lower := strings.TrimSuffix(strings.ToLower(number), "b")
	base := 1000.0
	if binary := strings.TrimSuffix(lower, "i"); binary != lower {
		lower, base = binary, 1024
	}
	if i := strings.IndexAny(lower, "kmgt"); i >= 0 && i == len(lower)-1 {
		unit = math.Pow(base, float64(strings.IndexByte("kmgt", lower[i])+1))
		lower = lower[:i]
	} else if base == 1024 {
		lower = "" // "5i"
	}
	number = strings.TrimSpace(lower)
	v, err := strconv.ParseFloat(number, 64)
	// The product is exact where it is a whole number that a float64 holds.
	if v *= unit; err != nil || strings.ContainsAny(number, "xpn_") || v < 0 || v != math.Trunc(v) || v > 1<<53 {
		return 0, BadInput("%q: want a size in bytes, such as %s", text, SizeForms)
	}
	return int64(v), nil
}

// SizeLists is what flags of lists of sizes say in their help.
const SizeLists = "message sizes, such as " + SizeForms + ", by commas; 8-1MiB: 8 and its doubles up to 1 MiB"

// ParseSizes reads a list of sizes of single messages, of which MPI counts no more than 2^31-1 bytes. A range is its
// first size and all doubles of it up to the last.
func ParseSizes(list string) ([]int, error) { return parseSizes(list, math.MaxInt32) }

// ParseAllSizes is ParseSizes without that bound: broadcasts send longer messages in pieces.
func ParseAllSizes(list string) ([]int, error) { return parseSizes(list, math.MaxInt) }

func parseSizes(list string, most int64) ([]int, error) {
	var sizes []int
	for _, s := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(s, "-")
		first, err := ParseSize(from)
		last := first
		if isRange && err == nil {
			last, err = ParseSize(to)
		}
		switch {
		case isRange && err != nil:
			err = BadInput("%q: want a size in bytes, such as %s, or a range such as 8-1MiB", s, SizeForms) // all of it, not one end
		case isRange && (first == 0 || last < first):
			err = BadInput("%q: want a range from 1 byte or more upwards", s)
		}
		if err == nil && last > most {
			err = BadInput("%q: want at most %d bytes", s, most)
		}
		for n := first; err == nil && n <= last; n *= 2 {
			if slices.Contains(sizes, int(n)) {
				err = BadInput("%q: given twice", s)
			}
			sizes = append(sizes, int(n))
			if n == 0 {
				break
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}
