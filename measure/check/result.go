package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
)

// A Result is what a check has found.
type Result struct {
	Hosts    int
	Pairs    int     // that were read, repeats counted; under load, transfers
	Rounds   int     // in which they were
	Complete bool    // or else it was ended early
	Noise    float64 // spread of single readings of short messages, under load of transfers, as a share

	// Suspects are the hosts and links that were read twice, the most suspicious
	// first: those that are Named explain the readings in this order.
	Suspects []Suspect

	// Unread counts links whose latency, and directions whose rate, no reading has told, and
	// of how many: no route leads over them, or no pairs that could fill them.
	UnreadLinks, Links     int
	UnreadDirections, Ways int
	Warnings               []string
}

// Named are the suspects that are named: at the level of Settings.FalseAlarms, they are slow.
func (r *Result) Named() []Suspect {
	n := slices.IndexFunc(r.Suspects, func(s Suspect) bool { return !s.Named })
	if n < 0 {
		n = len(r.Suspects)
	}
	return r.Suspects[:n]
}

// A Suspect is a host or a link that may be slow. A host on one cable and that
// cable cannot be told apart, and neither can its network card: it is a host then, and
// Cable says where to.
type Suspect struct {
	Host     int // -1: it is a link or a switch
	U, V     int // the link's vertices, or the switch and -1; of a host both are -1
	Name     string
	Cable    string // of a host on one cable, the name of the other end
	Named    bool
	P        float64 // the least of its findings; NaN without a graph
	Findings []Finding
	Same     []string // other suspects that all readings have crossed alike
}

// A Finding is one way in which a suspect is slow.
type Finding struct {
	What      What
	From, To  string  // the direction, where What has one
	Factor    float64 // how many times as long as usual it takes, or did when it was slow
	Often     float64 // the share of the measurements in which it was slow; 1: it always is
	Low, High float64 // 95 % interval
	P         float64 // that it only looks so, corrected for all that were measured again; NaN without a graph
	Readings  int     // rounds and phases in which it was compared with others
}

// What a finding is about.
type What string

// The kinds of findings. Short messages have no direction: without clocks that agree only
// round trips can be timed.
const (
	LinkLatency What = "latency"  // of a link
	LinkRate    What = "rate"     // of one direction of a link, or of what a host sends or receives
	SwitchRate  What = "switch"   // what a switch carries in all, under load
	Together    What = "together" // of two hosts: what each sends and receives while the other does, too
	HostAnswer  What = "messages" // all short messages of a host
	Cabling     What = "cabling"  // of a host: it hangs on another switch than it should
)

func (f *finder) result() *Result {
	r := f.r
	out := &Result{Hosts: r.w.hosts, Pairs: r.pairs, Rounds: f.done, Complete: !f.ended, Noise: r.sigma[ofLatency]}
	if r.busy != nil {
		out.Noise = r.sigma[ofRate]
	}
	at := map[place]int{}
	add := func(where place, named bool, x Finding) *Suspect {
		i, seen := at[where]
		if !seen {
			i = len(out.Suspects)
			at[where] = i
			out.Suspects = append(out.Suspects, f.suspect(where))
		}
		s := &out.Suspects[i]
		if named || !s.Named {
			s.Named, s.P, s.Findings = s.Named || named, min(s.P, x.P), append(s.Findings, x)
		}
		return s
	}
	for _, m := range f.misplaced {
		nan := math.NaN()
		add(place{m.host, -1}, true, Finding{
			What: Cabling, From: f.name(m.from), To: words.Or(f.namesOf(m.to)), Factor: nan, Low: nan, High: nan, Often: 1, P: m.p, Readings: m.samples,
		})
	}
	for _, x := range f.couples {
		where := place{x.a, x.b}
		s := add(where, true, Finding{What: Together, Factor: x.factor, Low: x.low, High: x.high, Often: 1, P: x.p, Readings: x.rounds})
		s.Name = fmt.Sprintf("hosts %s and %s together", f.name(x.a), f.name(x.b))
		delete(at, where) // a link between the two is another suspect
	}
	for _, e := range f.effects {
		where := r.c.placeOf(e.candidate)
		if e.score <= 0 || slices.ContainsFunc(f.misplaced, func(m misplaced) bool { return where == place{m.host, -1} }) {
			continue // the rounds of a misplaced host were planned for another place
		}
		x := f.finding(&e)
		if r.w.graph == nil { // measurements of the same few pairs are not independent
			x.P = math.NaN()
		}
		s := add(where, e.p <= f.s.FalseAlarms, x)
		for _, c := range r.alike(e.candidate) {
			if other := r.c.placeOf(c); other != where {
				if name := f.suspect(other).Name; !slices.Contains(s.Same, name) {
					s.Same = append(s.Same, name)
				}
			}
		}
	}
	f.count(out)
	if f.ended {
		out.Warnings = append(out.Warnings, "the check was ended early: what it does not name may be slow")
	}
	return out
}

func (f *finder) suspect(at place) Suspect {
	w := f.r.w
	switch {
	case at.v >= 0:
		return Suspect{Host: -1, U: at.u, V: at.v, P: 1, Name: fmt.Sprintf("link %s - %s", f.name(at.u), f.name(at.v))}
	case at.u >= w.hosts:
		return Suspect{Host: -1, U: at.u, V: -1, P: 1, Name: "switch " + f.name(at.u)}
	}
	s := Suspect{Host: at.u, U: -1, V: -1, P: 1, Name: "host " + f.name(at.u)}
	if up := w.switchOf(at.u); up >= 0 {
		s.Cable = f.name(up)
	}
	return s
}

func (f *finder) name(v int) string {
	if v < f.r.w.hosts {
		return f.r.w.names[v]
	}
	return f.r.w.graph.Name(v)
}

func (f *finder) namesOf(vertices []int) (names []string) {
	for _, v := range vertices {
		names = append(names, f.name(v))
	}
	return names
}

func (f *finder) finding(e *effect) Finding {
	x := Finding{Factor: e.factor, Often: e.often, Low: e.low, High: e.high, P: e.p, Readings: e.samples}
	switch what, i := f.r.c.what(e.candidate); what {
	case slowLink:
		x.What = LinkLatency
		if f.r.busy != nil {
			x.What = LinkRate
		}
	case slowRate:
		a := f.r.w.graph.Arcs()[i]
		x.What, x.From, x.To = LinkRate, f.name(a.From), f.name(a.To)
	case slowSwitch:
		x.What = SwitchRate
	case slowAnswer:
		x.What = HostAnswer
	case slowSend:
		x.What, x.From = LinkRate, f.name(i)
	case slowReceive:
		x.What, x.To = LinkRate, f.name(i)
	}
	return x
}

// alike are the other candidates that the same samples have crossed.
func (r *readings) alike(candidate int32) []int32 {
	return r.sharing(candidate, len(r.samples), func(of, here, both int32) bool { return both == of && both == here })
}

// overlapping are those that half of the samples of either have crossed both, in the first part.
func (r *readings) overlapping(candidate int32) []int32 {
	return r.sharing(candidate, r.screened, func(of, here, both int32) bool { return 2*both >= min(of, here) })
}

// sharing are the other candidates that share samples, of the first so many: of all that crossed
// them, of those here that crossed the candidate, both are enough.
func (r *readings) sharing(candidate int32, samples int, enough func(of, here, both int32) bool) []int32 {
	of, both := make([]int32, r.c.size), make([]int32, r.c.size)
	for i := range samples {
		s := &r.samples[i]
		in := slices.ContainsFunc(r.crossings[s.first:s.last], func(cr crossing) bool { return cr.candidate == candidate })
		for _, cr := range r.crossings[s.first:s.last] {
			of[cr.candidate]++
			if in {
				both[cr.candidate]++
			}
		}
	}
	var found []int32
	for c := range of {
		if int32(c) != candidate && both[c] > 0 && enough(of[c], of[candidate], both[c]) {
			found = append(found, int32(c))
		}
	}
	return found
}

// count says what was not read.
func (f *finder) count(out *Result) {
	r := f.r
	if r.w.graph == nil {
		out.Warnings = append(out.Warnings, "the wiring is not known: links cannot be named, long messages may have shared some, and a host that stands elsewhere differs from its neighbours as a slow one does")
		return
	}
	crossed := make([]int32, r.c.size)
	for _, cr := range r.crossings {
		crossed[cr.candidate]++
	}
	out.Links, out.Ways = int(r.c.links), int(r.c.arcs)
	for c := range r.c.links + r.c.arcs {
		switch {
		case crossed[c] >= fewCrossings, r.busy != nil && c < r.c.links: // under load latencies are not measured
		case c < r.c.links:
			out.UnreadLinks++
		default:
			out.UnreadDirections++
		}
	}
	if out.UnreadLinks > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %s were crossed by too few measurements: no routes lead over them, or few",
			out.UnreadLinks, words.Count(out.Links, "link")))
	}
	if n := out.UnreadDirections; n > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the rate of %d of %d directions of links was not read: too few pairs at once to fill them", n, out.Ways))
	}
}
