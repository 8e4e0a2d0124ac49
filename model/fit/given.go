package fit

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// givenArcs are the bandwidths in B/s of Settings.Arcs by the number of the arc.
func givenArcs(g *topology.Graph, arcs []topology.Arc) (map[int]float64, error) {
	given := make(map[int]float64, len(arcs))
	for i, a := range arcs {
		if min(a.From, a.To) < 0 || max(a.From, a.To) >= g.Vertices() {
			return nil, fmt.Errorf("Settings.Arcs[%d]: %d to %d: want vertices in [0, %d)", i, a.From, a.To, g.Vertices())
		}
		arc := g.ArcIndex(a.From, a.To)
		_, twice := given[arc]
		switch {
		case arc < 0:
			return nil, fmt.Errorf("Settings.Arcs[%d]: %d to %d: the graph has no such arc", i, a.From, a.To)
		case twice:
			return nil, fmt.Errorf("Settings.Arcs[%d]: %d to %d: given twice", i, a.From, a.To)
		case !(a.Bandwidth > 0) || math.IsInf(a.Bandwidth, 1):
			return nil, fmt.Errorf("Settings.Arcs[%d]: %d to %d: %g B/s: want above 0 and finite", i, a.From, a.To, a.Bandwidth)
		}
		given[arc] = a.Bandwidth
	}
	return given, nil
}

// dropRefuted takes the arcs out of given of which transfers show that they carry more, as single measurements may be
// wrong, and returns how many. A transfer of known rate shows that only of arcs that it crosses for sure: all of a tree, and
// the only link of a host.
func dropRefuted(n *model.Network, observations []Observation, given map[int]float64) (dropped int, err error) {
	g := n.Graph()
	isForest := g.IsForest()
	p, err := n.NewPredictor(nil)
	if err != nil {
		return 0, err
	}
	for _, o := range observations {
		if len(given) == 0 || !o.isLong() {
			continue
		}
		pattern, err := p.Pattern(o.Transfers, o.Streamed)
		if err != nil {
			return 0, err
		}
		for i, f := range pattern.Flows {
			for _, c := range f.Data {
				rate, isGiven := given[int(c)]
				if isGiven && isCrossedForSure(g, isForest, int(c)) && f.Bytes/o.Seconds[i] > blameShare*rate {
					delete(given, int(c))
					dropped++
				}
			}
		}
	}
	return dropped, nil
}

// isCrossedForSure tells whether routes over an arc have no alternative: in a forest, and over the only link of a host.
func isCrossedForSure(g *topology.Graph, isForest bool, arc int) bool {
	isOnly := func(v int) bool { return !g.IsSwitch(v) && len(g.Out(v)) == 1 && len(g.In(v)) == 1 }
	a := g.Arcs()[arc]
	return isForest || isOnly(a.From) || isOnly(a.To)
}

// linkParameters numbers the bandwidths of a fit: one for both directions of a link,
// or one for each if one of them is given.
func linkParameters(g *topology.Graph, given map[int]float64) (linkOf []int, links []Link) {
	linkOf = make([]int, g.NumArcs())
	for i, a := range g.Arcs() {
		own, isGiven := given[i]
		back := g.ArcIndex(a.To, a.From)
		_, backGiven := given[back]
		oneWay := back >= 0 && (isGiven || backGiven)
		if back >= 0 && back < i && !oneWay {
			linkOf[i] = linkOf[back]
			continue
		}
		link := Link{A: min(a.From, a.To), B: max(a.From, a.To), OneWay: oneWay, Given: isGiven, Bandwidth: math.NaN(), RelativeError: math.Inf(1)}
		if oneWay {
			link.A, link.B = a.From, a.To
		}
		if isGiven {
			link.Bandwidth, link.RelativeError, link.Determined = own, 0, true
		}
		linkOf[i] = len(links)
		links = append(links, link)
	}
	return linkOf, links
}
