package encode

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
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

// unitNames are the names of the units, each a thousandth of the one before.
var unitNames = [...]string{"s", "ms", "us", "ns"}

// ParseUnit returns the unit with the given name: s, ms, us or ns, or as people write them, such as usec or Microseconds. Without a name it
// is 0: no unit is known.
func ParseUnit(name string) (Unit, error) {
	if name == "" {
		return 0, nil
	}
	if power, known := quantity.TimePower(name); known && Unit(math.Pow10(power)) >= Nanosecond {
		return Unit(math.Pow10(power)), nil
	}
	return 0, fmt.Errorf("encode: unit %q: want s, ms, us or ns", name)
}

// String is the name that ParseUnit reads.
func (u Unit) String() string {
	if power, isKnown := u.exponent(); isKnown {
		return unitNames[-power/3]
	}
	return fmt.Sprintf("%g s", float64(u))
}

// exponent is the power of ten of a unit, if it is one of the four.
func (u Unit) exponent() (power int, isKnown bool) {
	i := slices.Index([]Unit{Second, Millisecond, Microsecond, Nanosecond}, u)
	return -3 * i, i >= 0
}
