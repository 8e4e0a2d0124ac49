package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Unit is the unit of the numbers in a file, in s.
type Unit float64

// The units in which latencies are published.
const (
	Second      Unit = 1
	Millisecond Unit = 1e-3
	Microsecond Unit = 1e-6
	Nanosecond  Unit = 1e-9
)

// units are the units of files, each a thousandth of the one before, and unitNames their names.
var (
	units     = [...]Unit{Second, Millisecond, Microsecond, Nanosecond}
	unitNames = [...]string{"s", "ms", "us", "ns"}
)

// unitSigns shortens names of units as people write them: usec, micro-seconds, µs with the micro sign or the Greek letter.
var unitSigns = strings.NewReplacer("-", "", "milli", "m", "micro", "u", "nano", "n", "µ", "u", "μ", "u",
	"seconds", "s", "second", "s", "secs", "s", "sec", "s")

// ParseUnit returns the unit with the given name: s, ms, us or ns, or as people write them, such as usec or Microseconds. Without a name it
// is 0: no unit is known.
func ParseUnit(name string) (Unit, error) {
	if name == "" {
		return 0, nil
	}
	if i := slices.Index(unitNames[:], unitSigns.Replace(strings.ToLower(name))); i >= 0 {
		return units[i], nil
	}
	return 0, fmt.Errorf("encode: unit %q: want s, ms, us or ns", name)
}

// String is the name that ParseUnit reads.
func (u Unit) String() string {
	if i := slices.Index(units[:], u); i >= 0 {
		return unitNames[i]
	}
	return fmt.Sprintf("%g s", float64(u))
}

// exponent is the power of ten of a unit, if it is one of the four.
func (u Unit) exponent() (power int, isKnown bool) {
	i := slices.Index(units[:], u)
	return -3 * i, i >= 0
}

// usualSigns turns units as people write them into the signs of timePower and ratePower: µs, Gbit/s, GBytes/s.
var usualSigns = strings.NewReplacer(" ", "", "\u00a0", "", "µ", "u", "μ", "u", "bit", "b", "Bit", "b", "bytes", "B", "Bytes", "B", "/s", "ps")

const wantQuantity = "want a number and a unit, such as 10us or 1.25GBps"

// parseQuantity reads a latency in s, or a bandwidth in B/s, with the unit behind the number; hasUnit tells whether there is one. A number
// without a unit is in s or B/s. A bandwidth may leave out that it is of each second: 1 Gbit.
func parseQuantity(text string, isRate bool) (x float64, hasUnit bool, err error) {
	number := usualSigns.Replace(strings.TrimSpace(text))
	digits := strings.TrimRightFunc(number, unicode.IsLetter)
	unit := number[len(digits):]
	power, divisor, known := timePower(unit), 1.0, true
	if isRate {
		power, divisor, known = ratePower(unit)
	}
	x, err = parseShifted(digits, power)
	if !known || power > 0 && !isRate || err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return 0, unit != "", fmt.Errorf("%q: %s", shorten(text), wantQuantity)
	}
	return x / divisor, unit != "", nil
}

// timePower is the power of ten of a unit of time, 1 of one that is not known.
func timePower(unit string) int {
	if unit == "ps" {
		return -12
	}
	if u, err := ParseUnit(cmp.Or(unit, "s")); err == nil {
		power, _ := u.exponent()
		return power
	}
	return 1
}

// ratePower is the power of ten of a unit of B/s, or of bit/s with a small b, and what else to divide by: with an i, powers of 1024.
func ratePower(unit string) (power int, divisor float64, known bool) {
	divisor = 1
	if unit == "" {
		return 0, divisor, true
	}
	unit = strings.TrimSuffix(unit, "ps")
	prefix, isBytes := strings.CutSuffix(unit, "B")
	if !isBytes {
		prefix, known = strings.CutSuffix(unit, "b")
		divisor = 8
	}
	prefix, isBinary := strings.CutSuffix(prefix, "i")
	powers := [...]string{"", "K", "M", "G", "T", "P", "E"}
	i := slices.Index(powers[:], strings.ToUpper(prefix))
	known = (isBytes || known) && i >= 0
	if isBinary {
		return 0, divisor / math.Pow(1024, float64(i)), known && i > 0
	}
	return 3 * i, divisor, known
}
