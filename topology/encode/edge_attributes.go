package encode

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// attributeName is the name of an edge's latency or bandwidth, with its unit behind it or without one: latency_us, Bandwidth (Gbit/s).
var attributeName = regexp.MustCompile(`(?i)^(?:link[\s_-]?)?(?:(latency|delay)|(bandwidth|bw|capacity))(?:$|[\s_.([-])[\s_.([-]*([^)\]]*)[)\]]?$`)

// unknownEdge is an edge of which nothing is known.
func unknownEdge() sketchEdge {
	return sketchEdge{latency: math.NaN(), bandwidth: math.NaN(), probability: 1}
}

// newEdge reads the attributes of an edge as its tool names them: probability, estimated, and the latency and the bandwidth (setNamed). A label
// that is a number is a bandwidth in Gbit/s (Bannikov 2014, section 2.3), or in its unit, unless another attribute says it. Others are for drawing.
func newEdge(oneWay bool, attributes map[string]string) (sketchEdge, error) {
	e := unknownEdge()
	e.oneWay = oneWay
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text := strings.TrimSpace(attributes[name])
		var err error
		switch {
		case text == "":
		case name == "probability":
			e.probability, err = quantity.ParseShifted(text, 0)
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
			return e, err
		}
	}
	if x, hasUnit, err := quantity.Parse(attributes["label"], true); err == nil && x > 0 && math.IsNaN(e.bandwidth) {
		if e.bandwidth = x; !hasUnit {
			e.bandwidth = x * 1e9 / 8
		}
	}
	return e, nil
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

// setNamed sets the latency or the bandwidth of an edge by the names that other tools use. The unit stands with the name or with the
// number. It refuses a number without any unit: nobody could tell what was meant. Attributes of other names are passed over.
func (e *sketchEdge) setNamed(name, text string) error {
	m := attributeName.FindStringSubmatch(strings.TrimSpace(name))
	if m == nil {
		return nil
	}
	isRate, unit := m[1] == "", m[3]
	x, hasUnit, err := quantity.Parse(text, isRate)
	if err == nil && !hasUnit {
		if unit == "" {
			units := []string{"_s", "_ms", "_us", "_ns"}
			if isRate {
				units = []string{"_Bps", "_MBps", "_Gbps"}
			}
			return fmt.Errorf("%s %q has no unit: name it %s%s, or write it as 10us or 10Gbps", name, shorten(text), strings.ToLower(m[1]+m[2]), words.Or(units))
		}
		x, _, err = quantity.Parse(text+unit, isRate)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s %q: want a number and a unit, such as 10us or 1.25GBps", name, shorten(text))
	case isRate:
		e.bandwidth = x
	default:
		e.latency = x
	}
	return nil
}
