package encode

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// attributeName is the name of an edge's latency or bandwidth, with its unit behind it or without one: latency_us, Bandwidth (Gbit/s).
var attributeName = regexp.MustCompile(`(?i)^(?:link[\s_-]?)?(?:(latency|delay)|(bandwidth|bw|capacity))(?:$|[\s_.([-])[\s_.([-]*([^)\]]*)[)\]]?$`)

// newEdge is an edge of which nothing is known but whether it leads one way.
func newEdge(oneWay bool) sketchEdge {
	return sketchEdge{topology.Arc{Latency: math.NaN(), Bandwidth: math.NaN(), Probability: 1}, oneWay}
}

// edge reads the attributes of an edge as its tool names them: probability, estimated, and latency and bandwidth by the names of
// attributeName. A label that is a number is a bandwidth in Gbit/s (Bannikov 2014, section 2.3), or in its unit, unless another attribute says
// it. Others are for drawing.
func (s *sketch) edge(oneWay bool, attributes map[string]string) sketchEdge {
	e := newEdge(oneWay)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text := strings.TrimSpace(attributes[name])
		m := attributeName.FindStringSubmatch(strings.TrimSpace(name))
		var err error
		switch {
		case text == "":
		case name == "probability":
			if e.Probability, err = quantity.ParseShifted(text, 0); err != nil || !(e.Probability >= 0) || math.IsInf(e.Probability, 0) {
				s.fail("%s %q: want a number that is not below 0", name, shorten(text))
			}
		case name == "estimated":
			if e.Estimated, err = strconv.ParseBool(text); err != nil {
				s.fail("%s %q: want true or false", name, shorten(text))
			}
		case m != nil && m[1] != "":
			e.Latency = s.quantity(name, text, m, false)
		case m != nil:
			e.Bandwidth = s.quantity(name, text, m, true)
		}
	}
	if x, hasUnit, err := quantity.Parse(attributes["label"], true); err == nil && x > 0 && math.IsNaN(e.Bandwidth) {
		if e.Bandwidth = x; !hasUnit {
			e.Bandwidth = x * 1e9 / 8
		}
	}
	return e
}

// quantity reads a latency or a bandwidth. The unit stands with the number, or with the name, of which m is what attributeName found. A
// number without any unit is refused: nobody could tell what was meant.
func (s *sketch) quantity(name, text string, m []string, isRate bool) float64 {
	x, hasUnit, err := quantity.Parse(text, isRate)
	if err == nil && !hasUnit {
		if m[3] == "" {
			units := []string{"_s", "_ms", "_us", "_ns"}
			if isRate {
				units = []string{"_Bps", "_MBps", "_Gbps"}
			}
			s.fail("%s %q has no unit: name it %s%s, or write it as 10us or 10Gbps", name, shorten(text), strings.ToLower(m[1]+m[2]), words.Or(units))
			return x
		}
		x, _, err = quantity.Parse(text+m[3], isRate)
	}
	if err != nil {
		s.fail("%s %q: want a number and a unit, such as 10us or 1.25GBps", name, shorten(text))
	}
	return x
}

// values are the attributes of an edge, by the names of its latency in s and its bandwidth in B/s. What is not known is left out.
func (e *sketchEdge) values(latency, bandwidth string) (all [][2]string) {
	if !math.IsNaN(e.Latency) {
		all = append(all, [2]string{latency, exact(e.Latency)})
	}
	if !math.IsNaN(e.Bandwidth) {
		all = append(all, [2]string{bandwidth, exact(e.Bandwidth)})
	}
	if e.Probability != 1 {
		all = append(all, [2]string{"probability", exact(e.Probability)})
	}
	if e.Estimated {
		all = append(all, [2]string{"estimated", "true"})
	}
	return all
}
