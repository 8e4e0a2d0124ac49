package encode

import (
	"fmt"
	"strings"
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

// ParseUnit returns the unit with the given name: s, ms, us or ns, or as people write them, such as usec or Microseconds.
func ParseUnit(name string) (Unit, error) {
	lower := strings.ReplaceAll(strings.ToLower(name), "-", "")     // micro-seconds
	for _, long := range []string{"econds", "econd", "ecs", "ec"} { // usec, microseconds
		if rest, ok := strings.CutSuffix(lower, "s"+long); ok {
			lower = rest + "s"
			break
		}
	}
	switch lower {
	case "s":
		return Second, nil
	case "ms", "millis":
		return Millisecond, nil
	case "us", "µs", "μs", "micros", "\xb5s": // the micro sign, the Greek letter, the sign in Latin-1
		return Microsecond, nil
	case "ns", "nanos":
		return Nanosecond, nil
	}
	return 0, fmt.Errorf("encode: unit %q: want s, ms, us or ns", name)
}

// String is the name that ParseUnit reads.
func (u Unit) String() string {
	switch u {
	case Second:
		return "s"
	case Millisecond:
		return "ms"
	case Microsecond:
		return "us"
	case Nanosecond:
		return "ns"
	}
	return fmt.Sprintf("%g s", float64(u))
}

// exponent is the power of ten of a unit, if it is one of the four.
func (u Unit) exponent() (int, bool) {
	switch u {
	case Second:
		return 0, true
	case Millisecond:
		return -3, true
	case Microsecond:
		return -6, true
	case Nanosecond:
		return -9, true
	}
	return 0, false
}
