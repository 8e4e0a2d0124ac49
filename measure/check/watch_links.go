package check

import (
	"math"
)

// linkSeries are what each link, or each direction of it for long messages, must have taken for the
// pairs that crossed it to take what they took: least squares for each link by itself, of
// excesses that are clipped.
func linkSeries(pairs []series, runs int, kind PointKind, s *WatchSettings) ([]series, error) {
	g := s.Graph
	host := map[string]int{}
	for h := g.Hosts() - 1; h >= 0; h-- {
		host[g.Name(h)] = h
	}
	w, err := newWiring(&Settings{Graph: g, Routing: s.Routing}, g.Hosts())
	if err != nil {
		return nil, err
	}
	c := newCandidates(w)
	type share struct {
		pair   int
		weight float64
	}
	crossed := make([][]share, c.links+c.arcs)
	add := func(candidate int32, pair int, weight float64) {
		list := crossed[candidate]
		if n := len(list); n > 0 && list[n-1].pair == pair {
			list[n-1].weight += weight
			return
		}
		crossed[candidate] = append(list, share{pair, weight})
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
		share := w.shares(&x)
		for _, arcs := range [...][]int32{x.there, x.back} {
			for _, e := range arcs {
				add(c.ofLink(w.link[e]), i, share(e))
			}
		}
	}
	bound := clipAt * familySpread(pairs)
	var all []series
	for candidate, list := range crossed {
		if len(list) < pairsOfHost {
			continue
		}
		f := series{subject: OfLink, name: nameOfLink(c, int32(candidate)), x: missing(runs)}
		squares := 0.0
		for _, sh := range list {
			squares += sh.weight * sh.weight
			f.of = append(f.of, sh.pair)
		}
		if squares == 0 {
			continue
		}
		f.scale = 1 / math.Sqrt(squares)
		for t := range runs {
			sum, here, n := 0.0, 0.0, 0
			for _, sh := range list {
				if v := pairs[sh.pair].x[t]; !math.IsNaN(v) {
					sum += sh.weight * max(-bound, min(bound, v))
					here += sh.weight * sh.weight
					n++
				}
			}
			if n >= pairsOfHost {
				f.x[t] = sum / here
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// familySpread is the typical sigma of a family.
func familySpread(family []series) float64 {
	sigmas := spreads(family)
	return medianOf(sigmas)
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
