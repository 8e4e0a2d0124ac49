package quantity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Numbers are read and written in decimal: the point moves before anything is rounded, so that 12us is the float64 nearest to 12e-6.

// IsPlain tells whether a text is digits, with a point among them or without. Most cells of large tables are.
func IsPlain(text string) bool {
	const longest = 40 // far below what no float64 holds
	points, digits := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.':
			points++
		case c < '0' || c > '9':
			return false
		default:
			digits++
		}
	}
	return digits > 0 && points < 2 && len(text) <= longest
}

// ParseShifted reads a number in units of a power of ten, which it moves before it rounds. Of hexadecimal numbers it is a factor.
func ParseShifted(text string, power int) (float64, error) {
	mantissa := text
	if !IsPlain(text) {
		if strings.ContainsAny(text, "xX") {
			x, err := strconv.ParseFloat(text, 64)
			return x * math.Pow10(power), err
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 {
			written, err := strconv.ParseInt(text[i+1:], 10, 16)
			if err != nil {
				return 0, err
			}
			mantissa, power = text[:i], power+int(written)
		}
	}
	var buffer [64]byte
	moved := strconv.AppendInt(append(append(buffer[:0], mantissa...), 'e'), int64(power), 10)
	return strconv.ParseFloat(string(moved), 64)
}

// Numbers with more digits before the point, or more zeros behind it, are written with an exponent:
// looks alone, ReadMatrix takes both.
const (
	mostDigits = 21
	mostZeros  = 4
)

// AppendShifted appends v in units of a power of ten: the shortest digits of v with the decimal
// point moved, so that nothing is rounded between here and a reader that moves it back.
func AppendShifted(dst []byte, v float64, power int) []byte {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, written, _ := strings.Cut(text, "e")
	exponent, _ := strconv.Atoi(written) // FormatFloat has written it
	exponent -= power
	digits := strings.Replace(mantissa, ".", "", 1)
	point := exponent + 1 // digits before it
	switch {
	case v == 0:
		return append(dst, '0')
	case point > mostDigits || point < -mostZeros:
		dst = append(dst, mantissa...)
		return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	case point > len(digits):
		digits += strings.Repeat("0", point-len(digits))
	case point < 1:
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	}
	dst = append(dst, digits[:point]...)
	if point == len(digits) {
		return dst
	}
	return append(append(dst, '.'), digits[point:]...)
}

// unitSigns shortens names of units as people write them: usec, micro-seconds, µs with the micro sign or the Greek letter.
var unitSigns = strings.NewReplacer("-", "", "milli", "m", "micro", "u", "nano", "n", "µ", "u", "μ", "u",
	"seconds", "s", "second", "s", "secs", "s", "sec", "s")

// usualSigns turns units as people write them into the signs of TimePower and ratePower: µs, Gbit/s, GBytes/s.
var usualSigns = strings.NewReplacer(" ", "", "\u00a0", "", "µ", "u", "μ", "u", "bit", "b", "Bit", "b", "bytes", "B", "Bytes", "B", "/s", "ps")

// Parse reads a latency in s, or a bandwidth in B/s, with the unit behind the number; hasUnit tells whether there is one. A number
// without a unit is in s or B/s. A bandwidth may leave out that it is of each second: 1 Gbit.
func Parse(text string, isRate bool) (x float64, hasUnit bool, err error) {
	number := usualSigns.Replace(strings.TrimSpace(text))
	digits := strings.TrimRightFunc(number, unicode.IsLetter)
	unit := number[len(digits):]
	power, divisor, known := 0, 1.0, true
	switch {
	case isRate:
		power, divisor, known = ratePower(unit)
	case unit != "":
		power, known = TimePower(unit)
	}
	x, err = ParseShifted(digits, power)
	if !known || err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return 0, unit != "", fmt.Errorf("%.40q: want a number and a unit, such as 10us or 1.25GBps", text)
	}
	return x / divisor, unit != "", nil
}

// ParseShare reads a share of 1: 0.3, 30% or 1/3.
func ParseShare(text string) (float64, error) {
	over, under, isFraction := strings.Cut(text, "/")
	power := 0
	if number, isPercent := strings.CutSuffix(text, "%"); isPercent {
		over, power = number, -2
	}
	x, err := ParseShifted(over, power)
	if err == nil && isFraction {
		var whole float64
		whole, err = ParseShifted(under, 0)
		x /= whole
	}
	if err != nil {
		return 0, fmt.Errorf("%.40q: want a share such as 1/3, 0.3 or 30%%", text)
	}
	return x, nil
}

// timeUnits are the units of time, each a thousandth of the one before.
var timeUnits = [...]string{"s", "ms", "us", "ns", "ps"}

// TimePower is the power of ten of a unit of time, such as -6 of us, usec and micro-seconds.
func TimePower(unit string) (power int, known bool) {
	i := slices.Index(timeUnits[:], unitSigns.Replace(strings.ToLower(unit)))
	return -3 * i, i >= 0
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
