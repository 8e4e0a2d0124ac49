package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// AddFault adds to s the fault that one line of text names, on a cluster of the given graph. The line says what is slow,
// by how much, and when:
//
//	link A-B              both ways
//	direction A>B         one way alone
//	uplink h8-h11         the link above these hosts
//	cable A-B rate=0.5x   one of the two cables that the link consists of; half of the pairs of hosts use it
//	switch S rate=0.6x    what it carries in all, of what its links bring at most
//	card A rate=0.5x      what the network card of a host carries in all, both ways; 0.5x is half duplex
//	host A                its overheads and all its links
//	software A            its overheads alone, and copies inside the host
//	load                  all links
//
//	1.5x                  latency 1.5 times, rate 1/1.5
//	latency=1.5x          the latency alone
//	rate=0.5x             the rate alone
//
//	from=2s               from this time on; at=2s says the same
//	until=5s              up to this time
//	over=3s               it grows slowly, for so long
//	on=1/3                it comes and goes, and is there for this share of the time; or 0.3, or 30%
//	every=10ms            how long it then is there or not at a time; default 1ms
//
// Other lines are:
//
//	host A at B                       its cable is at the switch B, or at that of the host B
//	lost 7                            rank 7 is gone, from the start or from=2s
//	noise 3% outliers=2% seed=7       spread of timings, and share of those that take 1.5 to 10 times as long
//
// A and B are the names of vertices, such as h3 and s0, or their numbers, with switches after the hosts. Faults of one
// link or host multiply, up to a million times. The graph that is returned has the cables of the fault. The error says
// which part of the text is wrong.
func AddFault(s *simnet.Settings, text string, g *topology.Graph) (*topology.Graph, error) {
	moved, err := addFault(s, strings.Fields(text), g)
	if err != nil {
		return nil, fmt.Errorf("fault %q: %w", text, err)
	}
	return moved, nil
}

func addFault(s *simnet.Settings, parts []string, g *topology.Graph) (*topology.Graph, error) {
	if len(parts) == 0 {
		parts = []string{""}
	}
	kind, where := parts[0], ""
	if parts = parts[1:]; kind != "load" && kind != "noise" && len(parts) > 0 {
		where, parts = parts[0], parts[1:]
	}
	if kind == "host" && len(parts) == 2 && parts[0] == "at" {
		host, err := hostOf(where, g)
		if err != nil {
			return nil, err
		}
		return move(&s.Faults, g, host, parts[1])
	}
	v, err := readValues(parts)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "noise":
		return g, v.noise(s)
	case "lost":
		return g, v.lost(&s.Faults, where)
	}
	place, err := placeOf(kind, where, g)
	if err != nil {
		return nil, err
	}
	slow, err := v.slow()
	if err != nil {
		return nil, err
	}
	if rateOnly := len(place.Cables)+len(place.Through) > 0; rateOnly && (slow.Latency != 0 || slow.Rate == 0) {
		return nil, fmt.Errorf("want what the %s carries, such as rate=0.6x", kind)
	}
	place.Latency, place.Rate, place.When = slow.Latency, slow.Rate, slow.When
	with := append(slices.Clip(s.Faults.Slow), place)
	if where, factor := slowest(with, g); factor > mostTimes*(1+1e-9) { // the factors of one line are rounded, as 1/factor is
		return nil, fmt.Errorf("with those before it, %q is %.4g times as slow: want at most %g", where, factor, mostTimes)
	}
	s.Faults.Slow = with
	return g, nil
}

// placeOf is what a fault is of.
func placeOf(kind, where string, g *topology.Graph) (p simnet.Slow, err error) {
	from, to := 0, 0
	switch kind {
	case "link", "cable":
		from, to, err = ends(where, "-", g)
	case "direction":
		from, to, err = ends(where, ">", g)
	case "uplink":
		from, to, err = above(where, g)
	case "host", "software", "card":
		from, err = hostOf(where, g)
	case "switch":
		v, ok := vertex(where, g)
		if !ok || !g.IsSwitch(v) {
			return p, fmt.Errorf("%q is no switch: want a name such as %s", where, g.Name(g.Hosts()))
		}
		p.Through = []int{v}
	case "load":
	default:
		return p, fmt.Errorf("%q: want link A-B 1.5x, direction, uplink, cable, switch, card, host, software, load, lost or noise", kind)
	}
	if err != nil {
		return p, err
	}
	var arcs []int
	for i, a := range g.Arcs() {
		is := false
		switch kind {
		case "direction":
			is = a.From == from && a.To == to
		case "link", "cable", "uplink":
			is = a.From == from && a.To == to || a.From == to && a.To == from
		case "host":
			is = a.From == from || a.To == from
		case "load":
			is = true
		}
		if is {
			arcs = append(arcs, i)
		}
	}
	switch kind {
	case "card":
		p.Through = []int{from}
	case "cable":
		p.Cables = arcs
	case "software", "host":
		p.Software = []int{from}
	}
	if kind != "cable" {
		p.Arcs = arcs
	}
	return p, nil
}

// noise reads "3% outliers=2% seed=7".
func (v *values) noise(s *simnet.Settings) (err error) {
	const want = "noise 3% with outliers=2% or seed=7"
	noise, seed := simnet.Noise{}, s.Seed
	if len(v.words) == 0 {
		return fmt.Errorf("want %s", want)
	}
	if noise.Sigma, err = share(v.words[0], v.words[0]); err != nil {
		return err
	}
	v.words = v.words[1:]
	if text, is := v.take("outliers"); is {
		if noise.Outliers, err = share("outliers="+text, text); err != nil {
			return err
		}
	}
	if text, is := v.take("seed"); is {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("%q: want a whole number, such as seed=7", "seed="+text)
		}
	}
	if err := v.end(want); err != nil {
		return err
	}
	s.Noise, s.Seed = noise, seed
	return nil
}

// lost reads "from=2s".
func (v *values) lost(f *simnet.Faults, where string) error {
	rank, err := strconv.Atoi(where)
	if err != nil || rank < 0 {
		return fmt.Errorf("%q: want the number of a rank", where)
	}
	when, err := v.when()
	switch {
	case err != nil:
		return err
	case when != (simnet.When{From: when.From}):
		return fmt.Errorf("a lost rank does not come back: want from=2s alone")
	}
	if err := v.end("from=2s"); err != nil {
		return err
	}
	f.Lost = append(f.Lost, simnet.LostRank{Rank: rank, From: when.From})
	return nil
}

// slowest finds the host, or the direction of a link, that all faults together slow down most, and by which factor.
// Of equals it is a host, and the first one.
func slowest(faults []simnet.Slow, g *topology.Graph) (where string, factor float64) {
	latency, rate := make(map[int]float64), make(map[int]float64) // by arc, and by ^host; 0: 1, as yet
	multiply := func(key int, name string, f *simnet.Slow) {
		latency[key] = cmp.Or(latency[key], 1) * cmp.Or(f.Latency, 1)
		rate[key] = cmp.Or(rate[key], 1) * cmp.Or(f.Rate, 1)
		if slower := max(latency[key], 1/rate[key]); slower > factor*(1+1e-9) { // a host's links are as slow as it is
			where, factor = name, slower
		}
	}
	for i := range faults {
		for _, h := range faults[i].Software {
			multiply(^h, g.Name(h), &faults[i])
		}
		for _, e := range slices.Concat(faults[i].Arcs, faults[i].Cables) {
			a := g.Arcs()[e]
			multiply(e, g.Name(a.From)+">"+g.Name(a.To), &faults[i])
		}
	}
	return where, factor
}
