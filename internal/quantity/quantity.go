// Package quantity reads times and rates with their units, and writes times, rates, sizes and shares as people read them in reports and
// warnings: in units that fit, to four digits at most, the same everywhere.
//
// Files keep all digits in SI units. So do errors about a value that somebody gave, and doubts
// about its unit.
package quantity

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// unknown stands for what was not measured.
const unknown = "-"

// rounding is the time in s below which a time is what arithmetic left of 0: no clock tells a femtosecond.
const rounding = 1e-15

// Seconds is a time in s, in ns, us, ms or s: "8.214 us". NaN is "-".
func Seconds(x float64) string {
	x = rounded(x)
	if math.Abs(x) < rounding {
		x = 0
	}
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return unknown
	case size == 0 || size >= 1:
		return fmt.Sprintf("%.4g s", x)
	case size >= 1e-3:
		return fmt.Sprintf("%.4g ms", x*1e3)
	case size >= 1e-6:
		return fmt.Sprintf("%.4g us", x*1e6)
	}
	return fmt.Sprintf("%.4g ns", x*1e9)
}

// Rate is a rate in bytes per second, in powers of 1000 as networks are sold: "1.244 GB/s".
// NaN, and an infinite rate, which no link has, are "-".
func Rate(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return unknown
	}
	value, prefix := humanize.ComputeSI(rounded(x))
	return fmt.Sprintf("%.4g %sB/s", value, prefix)
}

// Bytes is a size in bytes, exact: whole KiB, MiB and GiB as such, "64 KiB", and others as they
// are, "1500 B".
func Bytes[T int | int64](n T) string {
	units := [...]string{"B", "KiB", "MiB", "GiB"}
	unit := 0
	for n != 0 && n%1024 == 0 && unit < len(units)-1 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%d %s", n, units[unit])
}

// Percent is a share, 1 being all, in percent: "0.37 %", "3 %", "120 %". NaN is "-".
func Percent(x float64) string {
	switch {
	case math.IsNaN(x):
		return unknown
	case 100*math.Abs(x) >= 99.5: // %.2g would write 1e+02
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}

// rounded is the value to the digits that are written, so that the unit fits what is seen: 999.99
// us are 1 ms.
func rounded(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil { // beyond all floats by rounding up
		return x
	}
	return v
}
