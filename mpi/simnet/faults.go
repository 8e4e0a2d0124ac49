package simnet

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Faults are the faults of a cluster. Several of one link, direction or host multiply.
type Faults struct {
	SlowLinks      []SlowLink
	SlowDirections []SlowDirection
	SlowHosts      []SlowHost
	LostRanks      []LostRank
}

// SlowLink makes both directions between two vertices slower.
type SlowLink struct {
	From, To int     // vertices
	Factor   float64 // divides bandwidth and multiplies latency; at least 1
}

// SlowDirection makes one direction between two vertices slower.
type SlowDirection struct {
	From, To int     // vertices
	Latency  float64 // multiplies the latency; at least 1, and 0 for 1
	Rate     float64 // multiplies the bandwidth; at most 1, and 0 for 1
	At       float64 // s, from when on; messages that move then go on at the new rate
}

// SlowHost makes all software on a host of the graph slower.
type SlowHost struct {
	Host   int
	Factor float64 // multiplies overheads, divides memory bandwidth; at least 1
}

// LostRank ends a rank: from then on it takes part in nothing. Its own
// operations return ErrLost, those of others that wait for it do not end.
type LostRank struct {
	Rank int
	At   float64 // s
}

// Add adds a fault that one line of text names, on a cluster of the given graph, to those that are there:
//
//	link A-B 1.5x                  latency 1.5 times, rate 1/1.5, both ways
//	link A-B latency=1.5x          the latency alone
//	link A-B rate=0.5x             the rate alone
//	direction A>B rate=0.5x        one way alone; latency= as well
//	link A-B 1.5x at=2s            from then on; of a direction, too
//	host A 1.2x                    its software and all its links take 1.2 times as long
//	lost 7                         rank 7 is gone, from the start or at=2s
//
// A and B are vertices by their names in the graph, such as h3 and s0, or by
// their numbers, switches after the hosts. The error says which part is wrong. Faults of one link or host multiply, up to
// a million times.
func (f *Faults) Add(text string, g *topology.Graph) error {
	parts := strings.Fields(text)
	bad := func(format string, args ...any) error {
		return fmt.Errorf("simnet: fault %q: %s", text, fmt.Sprintf(format, args...))
	}
	if len(parts) < 2 {
		return bad("want link A-B 1.5x, direction A>B rate=0.5x, host A 1.2x or lost 7")
	}
	kind, where, values := parts[0], parts[1], parts[2:]
	switch kind {
	case "link", "direction":
		mark := "-"
		if kind == "direction" {
			mark = ">"
		}
		from, to, err := ends(where, mark, g)
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
		if kind == "link" || g.ArcIndex(from, to) >= 0 {
			f.SlowDirections = append(f.SlowDirections, SlowDirection{from, to, latency, rate, at})
		}
		if kind == "link" && g.ArcIndex(to, from) >= 0 {
			f.SlowDirections = append(f.SlowDirections, SlowDirection{to, from, latency, rate, at})
		}
	case "host":
		host, ok := vertex(where, g)
		if !ok || host >= g.Hosts() {
			return bad("%q is no host: want a name such as %s, or a number from 0 to %d", where, g.Name(0), g.Hosts()-1)
		}
		if len(values) != 1 {
			return bad("want one factor after the host, such as 1.2x")
		}
		factor, err := times(values[0], values[0], 1, mostTimes, "1.2x")
		if err != nil {
			return bad("%v", err)
		}
		f.SlowHosts = append(f.SlowHosts, SlowHost{host, factor})
		for _, a := range g.Out(host) {
			f.SlowDirections = append(f.SlowDirections, SlowDirection{host, a.To, factor, 1 / factor, 0})
		}
		for _, i := range g.In(host) {
			f.SlowDirections = append(f.SlowDirections, SlowDirection{g.Arcs()[i].From, host, factor, 1 / factor, 0})
		}
	case "lost":
		rank, err := strconv.Atoi(where)
		if err != nil || rank < 0 {
			return bad("%q: want the number of a rank", where)
		}
		lost := LostRank{Rank: rank}
		if len(values) > 0 {
			if lost.At, err = moment(strings.Join(values, " ")); err != nil {
				return bad("%v", err)
			}
		}
		f.LostRanks = append(f.LostRanks, lost)
	default:
		return bad("%q: want link, direction, host or lost", kind)
	}
	if where, factor := f.slowest(g); factor > mostTimes*(1+1e-9) { // the factors of one line are rounded, as 1/factor is
		return bad("with those before it, %q is %.4g times as slow: want at most %g", where, factor, mostTimes)
	}
	return nil
}

// slowest is the host, or the direction of a link, that all faults together make slower than any other, and how many
// times. Of equals it is the host, and the first.
func (f *Faults) slowest(g *topology.Graph) (where string, factor float64) {
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

// ends are the vertices of "A-B". Names may hold the mark: each place of it is tried.
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
			linked = append(linked, g.Name(a.To))
		}
		return 0, 0, fmt.Errorf("there is no link %s%s%s: %s is linked to %s", g.Name(from), mark, g.Name(to), g.Name(from), words.List(linked))
	}
	return 0, 0, fmt.Errorf("%q: want two hosts or switches with %q between, by names such as %s or numbers from 0 to %d", text, mark, g.Name(0), g.Vertices()-1)
}

// vertex is the vertex of a name, the lowest of several, or of a number.
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

// mostTimes is the greatest factor of a line of text: beyond it hardly anything moves any more.
const mostTimes = 1e6

// times reads a factor such as 1.5x between two bounds. Value is what it is a part of, for the error, and as
// shows what it could be.
func times(text, value string, least, most float64, as string) (float64, error) {
	digits, ok := strings.CutSuffix(text, "x")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(x >= least && x <= most) {
		return 0, fmt.Errorf("%q: want a factor from %gx to %gx, such as %s", value, least, most, as)
	}
	return x, nil
}

// validate checks faults given by a program.
func (f *Faults) validate(g *topology.Graph, ranks int) error {
	bad := func(field string, i int, value any, want string) error {
		return fmt.Errorf("simnet: Settings.Faults.%s[%d]: %v: want %s", field, i, value, want)
	}
	atLeastOne := func(x float64) bool { return x >= 1 && !math.IsInf(x, 1) }
	for i, l := range f.SlowLinks {
		if g.ArcIndex(l.From, l.To) < 0 && g.ArcIndex(l.To, l.From) < 0 || !atLeastOne(l.Factor) {
			return bad("SlowLinks", i, l, "a link of the graph, Factor at least 1")
		}
	}
	for i, d := range f.SlowDirections {
		if g.ArcIndex(d.From, d.To) < 0 || d.Latency != 0 && !atLeastOne(d.Latency) || !(d.Rate >= 0 && d.Rate <= 1) || !(d.At >= 0) || math.IsInf(d.At, 1) {
			return bad("SlowDirections", i, d, "an arc of the graph, Latency at least 1, Rate above 0 and at most 1, At at least 0")
		}
	}
	for i, h := range f.SlowHosts {
		if h.Host < 0 || h.Host >= g.Hosts() || !atLeastOne(h.Factor) {
			return bad("SlowHosts", i, h, fmt.Sprintf("a host of %d, Factor at least 1", g.Hosts()))
		}
	}
	for i, l := range f.LostRanks {
		if l.Rank < 0 || l.Rank >= ranks || !(l.At >= 0) || math.IsInf(l.At, 1) {
			return bad("LostRanks", i, l, fmt.Sprintf("a rank of %d, At at least 0", ranks))
		}
	}
	return nil
}

// onArcs is by what factors latencies and bandwidths of arcs are multiplied from the start.
func (f *Faults) onArcs(g *topology.Graph) (latency, rate []float64) {
	latency, rate = make([]float64, g.NumArcs()), make([]float64, g.NumArcs())
	for i := range latency {
		latency[i], rate[i] = 1, 1
	}
	for _, l := range f.SlowLinks {
		for _, a := range []int{g.ArcIndex(l.From, l.To), g.ArcIndex(l.To, l.From)} {
			if a >= 0 {
				latency[a], rate[a] = latency[a]*l.Factor, rate[a]/l.Factor
			}
		}
	}
	for _, d := range f.SlowDirections {
		if d.At > 0 {
			continue
		}
		a := g.ArcIndex(d.From, d.To)
		if d.Latency > 0 {
			latency[a] *= d.Latency
		}
		if d.Rate > 0 {
			rate[a] *= d.Rate
		}
	}
	return latency, rate
}
