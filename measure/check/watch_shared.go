package check

import "slices"

// pairsOfShared is of how many pairs at least a host or link has a series of its own.
const pairsOfShared = 3

// sharedSeries are those of what several pairs have in common: of hosts, and where the wiring is known of links, for long
// messages of each direction of them. A host's only cable has no latency apart from its host's.
func sharedSeries(pairs []series, kind PointKind, c *candidates) []series {
	var all []series
	index := map[string]int{} // by name
	share := func(name string, pair int, weight float64) {
		i, seen := index[name]
		if !seen {
			i = len(all)
			index[name] = i
			all = append(all, series{name: name})
		}
		s := &all[i]
		if n := len(s.of); n > 0 && s.of[n-1] == pair { // there and back
			s.weights[n-1] += weight
			return
		}
		s.of, s.weights = append(s.of, pair), append(s.weights, weight)
	}
	for i, p := range pairs {
		share("host "+p.from, i, 1)
		share("host "+p.to, i, 1)
	}
	if c != nil {
		eachCrossing(pairs, kind, c, func(candidate int32, pair int, weight float64) {
			share(nameOfLink(c, candidate), pair, weight)
		})
	}
	return slices.DeleteFunc(all, func(s series) bool { return len(s.of) < pairsOfShared })
}

// eachCrossing visits the links that pairs cross, with the share of a pair's time that they make. For long messages it visits
// directions: those that are not much wider than the narrowest one of the route.
func eachCrossing(pairs []series, kind PointKind, c *candidates, visit func(candidate int32, pair int, weight float64)) {
	w, host := c.w, numbers(c.w.names)
	var x path
	for i, p := range pairs {
		a, isA := host[p.from]
		b, isB := host[p.to]
		switch {
		case !isA || !isB || !w.find(&x, a, b):
		case kind == PointLong:
			least := w.slowest(x.there)
			for _, e := range x.there {
				if w.rate[e]*fullEnough <= least {
					visit(c.ofArc(e), i, 1)
				}
			}
		default:
			w.eachLink(&x, func(link int32, share float64) {
				if c.placeOf(c.ofLink(link)).v >= 0 {
					visit(c.ofLink(link), i, share)
				}
			})
		}
	}
}

func nameOfLink(c *candidates, candidate int32) string {
	if what, i := c.what(candidate); what == slowRate {
		a := c.w.graph.Arcs()[i]
		return "link " + c.w.name(a.From) + " > " + c.w.name(a.To)
	}
	ends := c.w.links[candidate]
	return "link " + c.w.name(ends[0]) + " - " + c.w.name(ends[1])
}
