package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// AddFault adds to f the fault that one line of text names, on a cluster of the given graph:
//
//	link A-B 1.5x                  latency 1.5 times, rate 1/1.5, both ways
//	link A-B latency=1.5x          the latency alone
//	link A-B rate=0.5x             the rate alone
//	direction A>B rate=0.5x        one way alone; latency= as well
//	link A-B 1.5x at=2s            from this time on; also of a direction
//	uplink h8-h11 0.4x             the link above these hosts, with values as of a link
//	switch S rate=0.6x             what it carries in all, of what its links bring at most
//	host A 1.2x                    its overheads and all its links take 1.2 times as long
//	host A at B                    its cable is at the switch B, or at that of the host B
//	lost 7                         rank 7 is gone, from the start or at=2s
//
// A and B are the names of vertices, such as h3 and s0, or their numbers, with switches after the hosts. Faults of one
// link or host multiply, up to a million times. The graph that is returned has the cables of the fault. The error says
// which part of the text is wrong.
func AddFault(f *simnet.Faults, text string, g *topology.Graph) (*topology.Graph, error) {
	parts := strings.Fields(text)
	bad := func(format string, args ...any) (*topology.Graph, error) {
		return nil, fmt.Errorf("fault %q: %s", text, fmt.Sprintf(format, args...))
	}
	slow := func(from, to int, latency, rate, at float64) {
		d := simnet.SlowDirection{From: from, To: to, Latency: latency, Rate: rate, At: at}
		f.SlowDirections = append(f.SlowDirections, d)
	}
	if len(parts) < 2 {
		return bad("want link A-B 1.5x, uplink h0-h3 1.5x, direction A>B rate=0.5x, switch S rate=0.6x, host A 1.2x, host A at B or lost 7")
	}
	kind, where, values := parts[0], parts[1], parts[2:]
	switch kind {
	case "link", "uplink", "direction":
		mark := "-"
		if kind == "direction" {
			mark = ">"
		}
		find := ends
		if kind == "uplink" {
			find = above
		}
		from, to, err := find(where, mark, g)
		if err != nil {
			return bad("%v", err)
		}
		at := 0.0
		if n := len(values); n > 0 && strings.HasPrefix(values[n-1], "at=") {
			if at, err = moment(values[n-1]); err != nil {
				return bad("%v", err)
			}
			values = values[:n-1]
		}
		latency, rate, err := slowdown(values)
		if err != nil {
			return bad("%v", err)
		}
		if kind != "direction" || g.ArcIndex(from, to) >= 0 {
			slow(from, to, latency, rate, at)
		}
		if kind != "direction" && g.ArcIndex(to, from) >= 0 {
			slow(to, from, latency, rate, at)
		}
	case "host":
		host, ok := vertex(where, g)
		if !ok || host >= g.Hosts() {
			return bad("%q is no host: want a name such as %s, or a number from 0 to %d", where, g.Name(0), g.Hosts()-1)
		}
		if len(values) == 2 && values[0] == "at" {
			moved, err := move(g, host, values[1])
			if err != nil {
				return bad("%v", err)
			}
			return moved, nil
		}
		if len(values) != 1 {
			return bad("want one factor after the host, such as 1.2x")
		}
		factor, err := times(values[0], values[0], 1, mostTimes, "1.2x")
		if err != nil {
			return bad("%v", err)
		}
		f.SlowHosts = append(f.SlowHosts, simnet.SlowHost{Host: host, Factor: factor})
		for _, a := range g.Out(host) {
			slow(host, a.To, factor, 1/factor, 0)
		}
		for _, i := range g.In(host) {
			slow(g.Arcs()[i].From, host, factor, 1/factor, 0)
		}
	case "switch":
		v, ok := vertex(where, g)
		if !ok || !g.IsSwitch(v) {
			return bad("%q is no switch: want a name such as %s", where, g.Name(g.Hosts()))
		}
		latency, rate, err := slowdown(values)
		if err != nil || latency != 0 || rate == 0 {
			return bad("want what the switch carries, such as rate=0.6x")
		}
		f.SlowSwitches = append(f.SlowSwitches, simnet.SlowSwitch{Switch: v, Rate: rate})
	case "lost":
		rank, err := strconv.Atoi(where)
		if err != nil || rank < 0 {
			return bad("%q: want the number of a rank", where)
		}
		lost := simnet.LostRank{Rank: rank}
		if len(values) > 0 {
			if lost.At, err = moment(strings.Join(values, " ")); err != nil {
				return bad("%v", err)
			}
		}
		f.LostRanks = append(f.LostRanks, lost)
	default:
		return bad("%q: want link, uplink, direction, switch, host or lost", kind)
	}
	if where, factor := slowest(f, g); factor > mostTimes*(1+1e-9) { // the factors of one line are rounded, as 1/factor is
		return bad("with those before it, %q is %.4g times as slow: want at most %g", where, factor, mostTimes)
	}
	return g, nil
}

// above finds the link above hosts, which are written as "h8-h11", "h3" or several of these by commas.
func above(text, _ string, g *topology.Graph) (from, to int, err error) {
	var hosts []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := hostRange(part, g)
		if !ok {
			return 0, 0, fmt.Errorf("%q: want hosts, such as %s-%s", part, g.Name(0), g.Name(g.Hosts()-1))
		}
		for h := first; h <= last; h++ {
			hosts = append(hosts, h)
		}
	}
	slices.Sort(hosts)
	if from, to, ok := g.LinkAbove(slices.Compact(hosts)); ok {
		return from, to, nil
	}
	return 0, 0, fmt.Errorf("%q: no link leads from these hosts to all others", text)
}

// hostRange reads "A-B" or "A". Names may hold the mark, so each place of it is tried.
func hostRange(text string, g *topology.Graph) (first, last int, ok bool) {
	if h, ok := vertex(text, g); ok && h < g.Hosts() {
		return h, h, true
	}
	for i := range text {
		if text[i] != '-' {
			continue
		}
		a, isA := vertex(text[:i], g)
		b, isB := vertex(text[i+1:], g)
		if isA && isB && a <= b && b < g.Hosts() {
			return a, b, true
		}
	}
	return 0, 0, false
}

// move puts the only cable of a host at another switch, or at that of another host.
func move(g *topology.Graph, host int, where string) (*topology.Graph, error) {
	to, ok := vertex(where, g)
	if ok && to < g.Hosts() && len(g.Out(to)) == 1 {
		to = g.Out(to)[0].To
	}
	if !ok || !g.IsSwitch(to) {
		return nil, fmt.Errorf("%q is no switch, and no host with one cable", where)
	}
	if len(g.Out(host)) != 1 || !g.IsSwitch(g.Out(host)[0].To) {
		return nil, fmt.Errorf("%s has not one cable to a switch, which could be moved", g.Name(host))
	}
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		switch a := &arcs[i]; {
		case a.From == host:
			a.To = to
		case a.To == host:
			a.From = to
		}
	}
	return g.WithArcs(arcs)
}

// slowest finds the host, or the direction of a link, that all faults together slow down most, and by which factor.
// Of equals it is a host, and the first one.
func slowest(f *simnet.Faults, g *topology.Graph) (where string, factor float64) {
	hosts := make(map[int]float64) // 0: 1, as yet
	for _, h := range f.SlowHosts {
		hosts[h.Host] = h.Factor * cmp.Or(hosts[h.Host], 1)
		if hosts[h.Host] > factor {
			where, factor = g.Name(h.Host), hosts[h.Host]
		}
	}
	latency, rate := make(map[[2]int]float64), make(map[[2]int]float64)
	for _, d := range f.SlowDirections {
		arc := [2]int{d.From, d.To}
		latency[arc] = cmp.Or(d.Latency, 1) * cmp.Or(latency[arc], 1)
		rate[arc] = cmp.Or(d.Rate, 1) * cmp.Or(rate[arc], 1)
		if slower := max(latency[arc], 1/rate[arc]); slower > factor*(1+1e-9) { // a host's links are as slow as it is
			where, factor = g.Name(d.From)+">"+g.Name(d.To), slower
		}
	}
	return where, factor
}

// ends finds the vertices of "A-B". Names may hold the mark, so each place of the mark is tried.
func ends(text, mark string, g *topology.Graph) (from, to int, err error) {
	found := false
	for i := range text {
		if !strings.HasPrefix(text[i:], mark) {
			continue
		}
		a, isA := vertex(text[:i], g)
		b, isB := vertex(text[i+len(mark):], g)
		if !isA || !isB {
			continue
		}
		if g.ArcIndex(a, b) >= 0 || mark == "-" && g.ArcIndex(b, a) >= 0 {
			return a, b, nil
		}
		from, to, found = a, b, true
	}
	if found {
		var linked []string
		for _, a := range g.Out(from) {
			if g.IsSwitch(a.To) { // first, so that a list that is cut has them
				linked = slices.Insert(linked, 0, g.Name(a.To))
			} else {
				linked = append(linked, g.Name(a.To))
			}
		}
		return 0, 0, fmt.Errorf("there is no link %s%s%s: %s is linked to %s", g.Name(from), mark, g.Name(to), g.Name(from), words.List(linked))
	}
	return 0, 0, fmt.Errorf("%q: want two hosts or switches with %q between, by names such as %s or numbers from 0 to %d", text, mark, g.Name(0), g.Vertices()-1)
}

// vertex finds the lowest vertex of a name, or the vertex of a number.
func vertex(text string, g *topology.Graph) (int, bool) {
	for v := range g.Vertices() {
		if g.Name(v) == text {
			return v, true
		}
	}
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 0 && v < g.Vertices()
}

// slowdown reads "1.5x", or "latency=1.5x", "rate=0.5x" or both.
func slowdown(values []string) (latency, rate float64, err error) {
	if len(values) == 0 {
		return 0, 0, fmt.Errorf("want how slow it is: 1.5x, latency=1.5x or rate=0.5x")
	}
	if len(values) == 1 && !strings.Contains(values[0], "=") {
		factor, err := times(values[0], values[0], 1, mostTimes, "1.5x, or latency=1.5x or rate=0.5x")
		return factor, 1 / factor, err
	}
	for _, value := range values {
		key, text, _ := strings.Cut(value, "=")
		switch {
		case key == "latency" && latency == 0:
			latency, err = times(text, value, 1, mostTimes, "latency=1.5x")
		case key == "rate" && rate == 0:
			rate, err = times(text, value, 1/mostTimes, 1, "rate=0.5x")
		default:
			err = fmt.Errorf("%q: want latency= and rate=, each once", value)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return latency, rate, nil
}

// moment reads a time such as at=2s, in s.
func moment(text string) (float64, error) {
	digits, ok := strings.CutPrefix(text, "at=")
	at, err := time.ParseDuration(digits)
	if !ok || err != nil || at < 0 {
		return 0, fmt.Errorf("%q: want a time, such as at=2s", text)
	}
	return at.Seconds(), nil
}

// mostTimes is the greatest factor: beyond it hardly anything moves any more.
const mostTimes = 1e6

// times reads a factor such as 1.5x between two bounds. The error names value, which holds the factor, and has
// the example as.
func times(text, value string, least, most float64, as string) (float64, error) {
	digits, ok := strings.CutSuffix(text, "x")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(x >= least && x <= most) {
		return 0, fmt.Errorf("%q: want a factor from %gx to %gx, such as %s", value, least, most, as)
	}
	return x, nil
}
