package encode

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// attributeName is the name of an edge's latency or bandwidth, with its unit behind it or without one: latency_us, Bandwidth (Gbit/s).
var attributeName = regexp.MustCompile(`(?i)^(latency|bandwidth)[\s_.([-]*([^)\]]*)[)\]]?$`)

// setNamed sets the latency or the bandwidth of an edge, which other tools give under these names, the unit with the name or with the
// number. It refuses a number without any unit: nobody could tell what was meant. Attributes of other names are passed over.
func (e *sketchEdge) setNamed(name, text string) error {
	m := attributeName.FindStringSubmatch(strings.TrimSpace(name))
	if m == nil || strings.TrimSpace(text) == "" {
		return nil
	}
	what, unit := strings.ToLower(m[1]), m[2]
	units := map[string][]string{"latency": {"_s", "_ms", "_us", "_ns"}, "bandwidth": {"_Bps", "_MBps", "_Gbps"}}[what]
	x, number, err := quantityOf(what, text)
	if number && unit == "" {
		return fmt.Errorf("%s %q has no unit: name it %s%s, or write it as 10us or 10Gbps", name, shorten(text), what, words.Or(units))
	}
	if number {
		x, _, err = quantityOf(what, text+unit)
	}
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	if what == "latency" {
		e.latency = x
	} else {
		e.bandwidth = x
	}
	return nil
}

// usualSigns are units as people write them, and as simGridValue knows them.
var usualSigns = strings.NewReplacer(" ", "", "\u00a0", "", "µ", "u", "μ", "u", "bit", "b", "Bit", "b", "bytes", "B", "/s", "ps")

// quantityOf reads a latency or a bandwidth with its unit, in s or B/s; number tells that there is none.
func quantityOf(what, text string) (x float64, number bool, err error) {
	text = usualSigns.Replace(strings.TrimSpace(text))
	digits := strings.TrimRight(text, "abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ") // an e or E may be of the number
	if digits == text {
		_, err := parseShifted(text, 0)
		return 0, err == nil, fmt.Errorf("%q: want a number and a unit, such as 10us or 1.25GBps", shorten(text))
	}
	if what == "latency" {
		x, err = simGridValue(text, func(name string) (power int, divisor float64, ok bool) {
			if unit, err := ParseUnit(name); err == nil && name != "" {
				power, ok = unit.exponent()
				return power, 1, ok
			}
			return simGridTime(name)
		})
		return x, false, err
	}
	x, err = simGridValue(text, simGridRate)
	return x, false, err
}
