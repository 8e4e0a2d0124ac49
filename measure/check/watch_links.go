package check

// linkSeries are those of all pairs that cross a link, or for long messages a direction of it. A host's only cable has no
// latency apart from its host's.
func linkSeries(pairs []series, kind PointKind, s *WatchSettings) ([]series, error) {
	g := s.Graph
	host := numbers(g.Names()[:g.Hosts()])
	w, err := newWiring(&Settings{Graph: g, Routing: s.Routing}, g.Hosts())
	if err != nil {
		return nil, err
	}
	c := newCandidates(w)
	crossed := make([]series, c.links+c.arcs)
	add := func(candidate int32, pair int, weight float64) {
		l := &crossed[candidate]
		if n := len(l.of); n > 0 && l.of[n-1] == pair {
			l.weights[n-1] += weight
			return
		}
		l.of, l.weights = append(l.of, pair), append(l.weights, weight)
	}
	var x path
	for i, p := range pairs {
		a, isA := host[p.from]
		b, isB := host[p.to]
		if !isA || !isB || !w.find(&x, a, b) {
			continue
		}
		if kind == PointLong {
			least := w.slowest(x.there)
			for _, e := range x.there {
				if w.rate[e]*fullEnough <= least {
					add(c.ofArc(e), i, 1)
				}
			}
			continue
		}
		w.eachLink(&x, func(link int32, share float64) { add(c.ofLink(link), i, share) })
	}
	var all []series
	for i, l := range crossed {
		what, _ := c.what(int32(i))
		onlyCable := what == slowLink && c.placeOf(int32(i)).v < 0
		if len(l.of) >= pairsOfHost && !onlyCable {
			l.subject, l.name = OfLink, nameOfLink(c, int32(i))
			all = append(all, l)
		}
	}
	return all, nil
}

func nameOfLink(c *candidates, candidate int32) string {
	g := c.w.graph
	what, i := c.what(candidate)
	if what == slowRate {
		a := g.Arcs()[i]
		return "link " + g.Name(a.From) + " > " + g.Name(a.To)
	}
	ends := c.w.links[i]
	return "link " + g.Name(ends[0]) + " - " + g.Name(ends[1])
}
