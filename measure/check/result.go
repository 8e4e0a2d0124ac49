package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// A Result is what a check has found.
type Result struct {
	Hosts    int
	Pairs    int     // that were measured, repeats counted; under load, transfers
	Rounds   int     // in which they were
	Complete bool    // or else it was ended early, or there was nothing to compare a switch with: a warning says which
	TooFew   bool    // nothing is named, but hosts are too few to tell that nothing is slow: a warning says why
	Noise    float64 // spread of single measurements of short messages, under load of transfers, as a share

	// Suspects are the hosts and links that were measured twice, the most suspicious
	// first: those that are Named explain the measurements in this order.
	Suspects []Suspect

	// Unread counts links whose latency, and directions whose rate, no measurement has told, and
	// of how many: no route leads over them, or no pairs that could fill them.
	UnreadLinks, Links int
	UnreadDirections   int
	Warnings           []string
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
	Same     []string // other suspects that all measurements have crossed alike
}

// A Finding is one way in which a suspect is slow.
type Finding struct {
	What         string  // "latency" of a link, "rate", "switch", "together" of two hosts, "messages" of a host, or "cabling"; see String
	From, To     string  // the direction, where What has one; of cabling, the switch that the host should hang on, and the one it does
	Factor       float64 // how many times as long as usual it takes, or did when it was slow; NaN of cabling
	Often        float64 // the share of the measurements in which it was slow; 1: it always is
	Since        int     // the round from which on it is slow, of those from 1 on, if it was not before; 0: it always is, or comes and goes
	Low, High    float64 // 95 % interval
	P            float64 // that it only looks so, corrected for all that were measured again; NaN without a graph
	Measurements int     // rounds and phases in which it was compared with others
}

// What a finding is about. Short messages have no direction: without clocks that agree only
// round trips can be timed.
const (
	linkLatency = "latency"  // of a link
	linkRate    = "rate"     // of one direction of a link, or of what a host sends or receives
	switchRate  = "switch"   // what a switch carries in all, under load
	together    = "together" // of two hosts: what each sends and receives while the other does, too
	hostAnswer  = "messages" // all short messages of a host
	cabling     = "cabling"  // of a host: it hangs on another switch than it should
)

// isShort tells whether a finding is one of short messages.
func (f *Finding) isShort() bool { return f.What == hostAnswer || f.What == linkLatency }

// String says what takes longer, or where the host hangs.
func (f *Finding) String() string {
	switch {
	case f.What == linkLatency:
		return "latency of the link"
	case f.What == hostAnswer:
		return "short messages"
	case f.What == switchRate:
		return "all that it carries"
	case f.What == together:
		return "messages of either while the other transfers"
	case f.What == cabling:
		return "hangs on " + f.To + " and not on " + f.From + ", by what its messages take"
	case f.From == "" && f.To == "":
		return "long messages both ways"
	case f.From == "":
		return "long messages to " + f.To
	case f.To == "":
		return "long messages from " + f.From
	}
	return "long messages " + f.From + " > " + f.To
}

// result puts together what was found.
func (f *finder) result(effects []effect) *Result {
	r := f.r
	out := &Result{Hosts: r.w.hosts, Pairs: r.pairs, Rounds: f.done, Complete: !f.ended, Noise: r.sigma[ofLatency]}
	if r.w.load {
		out.Noise = r.sigma[ofRate]
	}
	at, elsewhere := map[place]int{}, map[place]bool{}
	for _, e := range effects {
		if e.candidate != byItself && (e.score <= 0 || elsewhere[e.place]) {
			continue // the rounds of a host that hangs elsewhere were planned for another place
		}
		named := e.P <= f.s.FalseAlarms
		if r.w.graph == nil { // measurements of the same few pairs are not independent
			e.P = math.NaN()
		}
		i, seen := at[e.place]
		if !seen {
			i = len(out.Suspects)
			at[e.place] = i
			out.Suspects = append(out.Suspects, r.w.suspect(e.place))
		}
		s := &out.Suspects[i]
		if named || !s.Named {
			s.Named, s.P, s.Findings = s.Named || named, min(s.P, e.P), append(s.Findings, e.Finding)
		}
		switch e.What {
		case together:
			s.Name = fmt.Sprintf("hosts %s and %s together", r.w.name(e.u), r.w.name(e.v))
			delete(at, e.place) // a link between the two is another suspect
		case cabling:
			elsewhere[e.place] = true
		default:
			r.addSame(s, &e)
		}
	}
	f.count(out)
	if len(out.Named()) == 0 {
		if why := f.tooFewHosts(effects); why != "" {
			out.TooFew = true
			out.Warnings = append(out.Warnings, fmt.Sprintf("%d hosts are too few to tell whether one is slow: %s", r.w.hosts, why))
		}
	}
	if f.ended {
		out.Warnings = append(out.Warnings, "the check was ended early: what it does not name may be slow")
	}
	return out
}

// tooFewHosts says why nobody can tell whether a host of a small machine is slow, of which none is named; "" if there is no reason.
func (f *finder) tooFewHosts(effects []effect) string {
	r := f.r
	if i := slices.IndexFunc(effects, func(e effect) bool { return e.likely }); i >= 0 {
		return r.w.suspect(effects[i].place).Name + " seems to be, and healthy ones may differ as much"
	}
	if r.w.graph == nil && r.w.hosts < fewHosts {
		for k := range kinds {
			// Noise and healthy hosts, which differ by less than the tolerance each, may make twice as much.
			if apart := r.pairsDiffer(k); apart > math.Log1p(2*f.s.Tolerance) {
				return fmt.Sprintf("some pairs take %s longer than others, and nobody knows whether the wiring makes that", quantity.Percent(math.Expm1(apart)))
			}
		}
	}
	return ""
}

// addSame adds to a suspect the others that all samples have crossed alike.
func (r *measurements) addSame(s *Suspect, e *effect) {
	for c, crossings := range r.crossings {
		other := r.c.all[c].place
		isSame := func(a, b crossing) bool { return a.sample == b.sample }
		if other == e.place || !slices.EqualFunc(crossings, r.crossings[e.candidate], isSame) {
			continue
		}
		if name := r.w.suspect(other).Name; !slices.Contains(s.Same, name) {
			s.Same = append(s.Same, name)
		}
	}
}

// suspect is what is at a place, before anything was found of it.
func (w *wiring) suspect(at place) Suspect {
	s := Suspect{Host: -1, U: at.u, V: at.v, P: 1}
	switch {
	case at.v >= 0:
		s.Name = "link " + w.name(at.u) + " - " + w.name(at.v)
	case at.u >= w.hosts:
		s.Name = "switch " + w.name(at.u)
	default:
		s.Host, s.U, s.Name = at.u, -1, "host "+w.name(at.u)
		if up := w.switchOf(at.u); up >= 0 {
			s.Cable = w.name(up)
		}
	}
	return s
}

// count says what was not measured.
func (f *finder) count(out *Result) {
	r := f.r
	if r.w.graph == nil {
		out.Warnings = append(out.Warnings, "the wiring is not known: links cannot be named, long messages may have shared some, and a host that stands elsewhere differs from its neighbours as a slow one does")
		return
	}
	out.Links = int(r.c.links)
	for c := range out.Links + len(r.w.link) {
		switch {
		case len(r.crossings[c]) >= fewCrossings, r.w.load && c < out.Links: // under load latencies are not measured
		case c < out.Links:
			out.UnreadLinks++
		default:
			out.UnreadDirections++
		}
	}
	for v := r.w.hosts; v < r.w.graph.Vertices() && r.w.load; v++ {
		if len(r.crossings[r.c.ofChannel(r.w.channel(v))]) == len(r.samples) {
			out.Complete = false
			out.Warnings = append(out.Warnings, fmt.Sprintf("all transfers filled switch %s: there is nothing to compare it with, so nobody can tell whether it is slow", r.w.name(v)))
		}
	}
	if out.UnreadLinks > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %s were crossed by too few measurements: no routes lead over them, or few",
			out.UnreadLinks, words.Count(out.Links, "link")))
	}
	if n := out.UnreadDirections; n > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the rate of %d of %d directions of links was not measured: too few pairs at once to fill them", n, len(r.w.link)))
	}
}
