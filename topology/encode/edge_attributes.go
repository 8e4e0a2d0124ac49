package encode

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// attributeName is the name of an edge's latency or bandwidth, with its unit behind it or without one: latency_us, Bandwidth (Gbit/s).
var attributeName = regexp.MustCompile(`(?i)^(latency|bandwidth)[\s_.([-]*([^)\]]*)[)\]]?$`)

// unknownEdge is an edge of which nothing is known.
func unknownEdge() sketchEdge {
	return sketchEdge{latency: math.NaN(), bandwidth: math.NaN(), probability: 1}
}

// set reads the attributes of an edge as its tool names them: probability, estimated, and the latency and the bandwidth (setNamed). A label
// that is a number is a bandwidth in Gbit/s (Bannikov 2014, section 2.3), unless another attribute says it. Others are for drawing.
func (e *sketchEdge) set(attributes map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text := strings.TrimSpace(attributes[name])
		var err error
		switch {
		case text == "":
		case name == "probability":
			e.probability, err = parseShifted(text, 0)
			if err != nil || !(e.probability >= 0) || math.IsInf(e.probability, 0) {
				err = fmt.Errorf("%s %q: want a number that is not below 0", name, shorten(text))
			}
		case name == "estimated":
			if e.estimated, err = strconv.ParseBool(text); err != nil {
				err = fmt.Errorf("%s %q: want true or false", name, shorten(text))
			}
		default:
			err = e.setNamed(name, text)
		}
		if err != nil {
			return err
		}
	}
	if x, err := strconv.ParseFloat(strings.TrimSpace(attributes["label"]), 64); err == nil && x > 0 && !math.IsInf(x, 0) && math.IsNaN(e.bandwidth) {
		e.bandwidth = x * 1e9 / 8
	}
	return nil
}

// values are the attributes of an edge, by the names of its latency in s and its bandwidth in B/s. What is not known is left out.
func (e *sketchEdge) values(latency, bandwidth string) (all [][2]string) {
	if !math.IsNaN(e.latency) {
		all = append(all, [2]string{latency, exact(e.latency)})
	}
	if !math.IsNaN(e.bandwidth) {
		all = append(all, [2]string{bandwidth, exact(e.bandwidth)})
	}
	if e.probability != 1 {
		all = append(all, [2]string{"probability", exact(e.probability)})
	}
	if e.estimated {
		all = append(all, [2]string{"estimated", "true"})
	}
	return all
}

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
		return fmt.Errorf("%s %q: want a number and a unit, such as 10us or 1.25GBps", name, shorten(text))
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
	if what == "bandwidth" && strings.HasSuffix(strings.ToLower(text), "b") { // "1 Gbit": each second
		text += "ps"
	}
	digits := strings.TrimRight(text, "abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ") // an e or E may be of the number
	if digits == text {
		_, err := parseShifted(text, 0)
		return 0, err == nil, errors.New("no unit")
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
