// Package comparison holds a measured network against a reference and says what differs, in the words of topocast compare.
//
//	measured, err := comparison.NewSide("today", network)
//	reference, err := comparison.NewSide("plan", planned)
//	found, err := comparison.Compare(measured, reference, 0)
//	for i := range found.Links.Findings { // the worst first
//		f := &found.Links.Findings[i]
//		fmt.Println(found.FindingName(f), found.Reason(f))
//	}
package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// A Side is one of the two networks of a comparison.
type Side struct {
	Name    string // of its file
	Network *model.Network
	Graph   *topology.Graph // with the names of the hosts
}

// NewSide returns a side of a network, uncertain groups included.
func NewSide(name string, n *model.Network) (*Side, error) {
	g, err := n.ReportedGraph()
	if err == nil {
		g, err = n.NameHosts(g)
	}
	if err != nil {
		return nil, err
	}
	return &Side{name, n, g}, nil
}

// Renamed is the side with its hosts called as others call them, where domains alone differ, and a sentence that says so; "" if no name
// changes.
func (s *Side) Renamed(others []string) (*Side, string, error) {
	names, said := hostlist.Renamed(s.hostNames(), others)
	if said == "" {
		return s, "", nil
	}
	g, err := s.Graph.WithHostNames(names)
	return &Side{s.Name, s.Network, g}, said, err
}

// hostNames are the names of the graph's hosts.
func (s *Side) hostNames() []string { return s.Graph.Names()[:s.Graph.Hosts()] }

// Describe says what a side is: its name, hosts, ranks and date.
func (s *Side) Describe() string {
	names := map[string]bool{}
	for _, name := range s.hostNames() {
		names[name] = true
	}
	text := fmt.Sprintf("%s, %s", s.Name, words.Count(len(names), "host"))
	if ranks := s.Graph.Hosts(); ranks > len(names) {
		text += fmt.Sprintf(" of %d ranks", ranks)
	}
	if date := s.Network.Measured().Date; date != "" {
		text += ", " + date
	}
	return text
}

// A Comparison is a measured network held against a reference, link by link and group by group.
type Comparison struct {
	Measured, Reference *Side
	Links               *compare.LinkComparison
	Groups              *compare.GroupComparison // of hosts by their index into Links.Hosts; nil if a side has none
}

// Compare compares two networks, whose hosts it matches by their names, without domains where one side has none. tolerance is the share by which a link may differ; 0: as the spread of its level says.
func Compare(measured, reference *Side, tolerance float64) (*Comparison, error) {
	settings := compare.LinkSettings{Tolerance: tolerance}
	for _, x := range []*Side{measured, reference} {
		if noise := x.Network.Reconstruction().Fit.Noise; noise > 0 && !math.IsInf(noise, 0) {
			settings.Noise = math.Hypot(settings.Noise, noise)
		}
	}
	measured, said, err := measured.Renamed(reference.hostNames())
	if err != nil {
		return nil, err
	}
	r := &Comparison{Measured: measured, Reference: reference}
	if r.Links, err = compare.Links(measured.Graph, reference.Graph, &settings); err != nil {
		return nil, err
	}
	if said != "" {
		r.Links.Warnings = append(r.Links.Warnings, said)
	}
	if r.groupsOnly() { // which do not say how the groups are wired to each other
		r.Links.Findings = slices.DeleteFunc(r.Links.Findings, func(f compare.Finding) bool { return f.Kind == compare.FoundMisfit })
	}
	m, err := measured.Groups(r.Links.Hosts)
	if err != nil {
		return nil, err
	}
	ref, err := reference.Groups(r.Links.Hosts)
	if err != nil {
		return nil, err
	}
	count := r.groupsCount()
	if !count && (len(m.Levels()) == 0 || len(ref.Levels()) == 0) {
		return r, nil
	}
	if r.Groups, err = compare.Groups(m, ref); err != nil {
		return nil, err
	}
	if count {
		r.Links.Findings = append(r.Links.Findings, r.Groups.Findings(r.Links.Hosts)...)
	}
	return r, nil
}

// Groups returns the confident groups of the hosts of the given names. A host is in a group if more than half of its ranks are.
func (s *Side) Groups(hosts []string) (*topology.Hierarchy, error) {
	index := make(map[string]int, len(hosts))
	for i, name := range hosts {
		index[name] = i
	}
	node := make([]int, s.Graph.Hosts())
	for v := range node {
		i, ok := index[s.Graph.Name(v)]
		if !ok {
			i = -1
		}
		node[v] = i
	}
	return s.Network.Hierarchy().Contract(node, len(hosts)) // of firm groups
}

// An Outcome is whether something differs.
type Outcome int

// The outcomes of a comparison.
const (
	Same    Outcome = iota
	Differs         // a link, a host or a group is not as in the reference
	Unknown         // of a class of links none could be judged
)

// Outcome tells whether something differs.
func (r *Comparison) Outcome() Outcome {
	switch {
	case len(r.Links.Findings) > 0:
		return Differs
	case r.groupsOnly():
		return Same
	case r.Links.Judged == 0, len(r.Unjudged()) > 0:
		return Unknown
	}
	return Same
}

// Unjudged names the classes of links of which none could be judged.
func (r *Comparison) Unjudged() []string {
	judged := make([]int, len(r.Links.Classes))
	for i := range r.Links.Links {
		if l := &r.Links.Links[i]; l.Verdict != compare.LinkUnknown {
			judged[l.Class]++
		}
	}
	var names []string
	for k, class := range r.Links.Classes {
		if class.Links > 0 && judged[k] == 0 {
			names = append(names, class.Name)
		}
	}
	return names
}

// groupsOnly tells whether the reference says groups and of no link anything.
func (r *Comparison) groupsOnly() bool {
	known := func(a topology.Arc) bool { return !math.IsNaN(a.Latency) || !math.IsNaN(a.Bandwidth) }
	return len(r.Reference.Network.Hierarchy().Levels()) > 0 && !slices.ContainsFunc(r.Reference.Graph.Arcs(), known)
}

// groupsCount tells whether groups that one side has alone are a difference: where the reference has nothing else, or
// one switch for all hosts, whose links may fit most pairs of many racks.
func (r *Comparison) groupsCount() bool {
	g := r.Reference.Graph
	oneSwitch := g.Hosts() > 0
	for h := range g.Hosts() {
		out := g.Out(h)
		oneSwitch = oneSwitch && len(out) == 1 && g.IsSwitch(out[0].To) && out[0].To == g.Out(0)[0].To
	}
	return r.groupsOnly() || oneSwitch
}

// LinkName names a link by what hangs on it.
func (r *Comparison) LinkName(l *compare.LinkState) string {
	g := r.Reference.Graph
	isHost := func(v int) bool { return v >= 0 && v < g.Hosts() }
	switch {
	case l.U == l.V && l.U >= 0:
		return "inside of " + hostlist.Ranges(l.Below)
	case isHost(l.U) && isHost(l.V):
		return fmt.Sprintf("link %s - %s", g.Name(l.U), g.Name(l.V))
	case len(l.Below) == 1:
		return "link of " + l.Below[0]
	case l.Below != nil:
		return "uplink of " + hostlist.Ranges(l.Below)
	}
	return fmt.Sprintf("link %s - %s", r.endName(l.U, l.Ends[0]), r.endName(l.V, l.Ends[1]))
}

// endName names a switch by its hosts, or by its own name if it has none.
func (r *Comparison) endName(v int, hosts []string) string {
	if len(hosts) == 0 {
		return r.Reference.Graph.Name(v)
	}
	return hostlist.Ranges(hosts)
}

// FindingName names what a finding is about.
func (r *Comparison) FindingName(f *compare.Finding) string {
	switch {
	case f.Link >= 0:
		return r.LinkName(&r.Links.Links[f.Link])
	case f.Class >= 0:
		return "all " + r.Links.Classes[f.Class].Name
	case f.Kind == compare.FoundExtra:
		return fmt.Sprintf("link %s - %s", f.Hosts[0], f.Hosts[1])
	case f.Kind == compare.FoundMissingGroup || f.Kind == compare.FoundExtraGroup:
		return "group " + hostlist.Ranges(f.Hosts)
	case len(f.Hosts) > 0:
		return "host " + f.Hosts[0]
	}
	return "the wiring"
}

// Reason says what is the matter, in words.
func (r *Comparison) Reason(f *compare.Finding) string {
	switch f.Kind {
	case compare.LinkMissing:
		return "nothing takes it: it is cut, or slower than the way around it"
	case compare.FoundMissingGroup:
		return "the reference has it, and it was not measured"
	case compare.FoundExtraGroup:
		return "it was measured, and the reference does not have it"
	case compare.FoundMoved:
		text := "its latencies are those of a host on the switch of " + hostlist.Ranges(f.To)
		if len(f.From) > 0 {
			text += ", not of " + hostlist.Ranges(f.From)
		}
		return text + fmt.Sprintf("; its own place explains them %.3g times as badly", f.Times)
	case compare.FoundOdd:
		return fmt.Sprintf("no place explains its latencies: they are %.3g times as far off as usual", f.Times)
	case compare.FoundExtra:
		return fmt.Sprintf("the reference does not have it; without it the way would be %.3g times as long", f.Times)
	case compare.FoundClass:
		if f.Rates {
			return fmt.Sprintf("bandwidth %s as in the reference", timesAs(f.Times, f.Unseen))
		}
		return fmt.Sprintf("latency %s as all others have become, or as in the reference", timesAs(f.Times, f.Unseen))
	case compare.FoundMisfit:
		return fmt.Sprintf("the reference's links do not explain the latencies, of which a quarter is off by %.0f %% or more: it is wired otherwise", 100*math.Expm1(f.Times))
	}
	if f.Link < 0 {
		return fmt.Sprintf("all its links are slow, the middle one %.3g times", f.Times)
	}
	return r.linkReason(&r.Links.Links[f.Link])
}

// timesAs says how many times as slow something is, or as fast; at least so many times as fast where the
// latency is too short to be seen.
func timesAs(slower float64, unseen bool) string {
	switch {
	case slower > 1:
		return fmt.Sprintf("%.3g times as slow", slower)
	case unseen:
		return fmt.Sprintf("at least %.3g times as fast", 1/slower)
	}
	return fmt.Sprintf("%.3g times as fast", 1/slower)
}

// linkReason says which of a link's quantities are off, and by how much.
func (r *Comparison) linkReason(l *compare.LinkState) string {
	var parts []string
	add := func(q compare.Quantity, what string, show func(float64) string) {
		if q.Verdict != compare.LinkSlow && q.Verdict != compare.LinkFast {
			return
		}
		text := fmt.Sprintf("%s %s, ", what, show(q.Measured))
		if q.Unseen {
			text = what + " too short to be seen, "
		}
		text += timesAs(q.Slower, q.Unseen)
		if !math.IsNaN(q.Reference) {
			text += " as the reference's " + show(q.Reference)
		} else {
			text += " as others of its level"
		}
		parts = append(parts, text)
	}
	add(l.Latency, "latency", quantity.Seconds)
	there, back := l.Bandwidth[0], l.Bandwidth[1]
	if there.Verdict == back.Verdict {
		worse := there
		if back.Slower > there.Slower == (there.Verdict == compare.LinkSlow) {
			worse = back
		}
		add(worse, "bandwidth", quantity.Rate)
	} else {
		add(there, "bandwidth towards "+r.farEnd(l), quantity.Rate)
		add(back, "bandwidth from "+r.farEnd(l), quantity.Rate)
	}
	return strings.Join(parts, "; ")
}

// farEnd names what is at the V of a link.
func (r *Comparison) farEnd(l *compare.LinkState) string {
	if l.Below != nil {
		return hostlist.Ranges(l.Below)
	}
	return r.endName(l.V, l.Ends[1])
}

// HostsOf are the hosts that a finding is about, or that hang on its link.
func (r *Comparison) HostsOf(f *compare.Finding) []string {
	if f.Link < 0 {
		return f.Hosts
	}
	l := &r.Links.Links[f.Link]
	if l.Below != nil {
		return l.Below
	}
	return slices.Concat(l.Ends[0], l.Ends[1])
}
