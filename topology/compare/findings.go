package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// What is found besides missing, slow and fast links.
const (
	FoundMoved  Verdict = "moved"  // a host whose latencies are those of another switch
	FoundOdd    Verdict = "odd"    // a host whose latencies no place explains
	FoundExtra  Verdict = "extra"  // a link between two hosts that the reference does not have
	FoundClass  Verdict = "class"  // a class that differs as a whole from all others
	FoundMisfit Verdict = "misfit" // the reference's links do not explain the latencies

	FoundMissingGroup Verdict = "missing group" // of the reference only
	FoundExtraGroup   Verdict = "extra group"   // measured only
)

// A Finding is a difference between both sides.
type Finding struct {
	Kind  Verdict  // LinkMissing, LinkSlow or LinkFast of a link, LinkSlow of a host with slow links alone, or one of those above
	Link  int      // index into LinkComparison.Links; -1 if it is none
	Class int      // of FoundClass, else -1
	Rates bool     // of FoundClass: it is about bandwidths, not latencies
	Hosts []string // the host of FoundMoved, FoundOdd, and of LinkSlow without a link; the two of FoundExtra; those of a group

	// Of FoundMoved: the hosts on the switch where the reference has it, and on
	// the one that explains it.
	From, To []string

	// Times: how many times as slow, or for LinkFast as fast; for FoundMoved
	// and FoundOdd how much more is left unexplained than usual; for
	// FoundMisfit the share by which a quarter of the pairs of hosts is off at least.
	Times float64

	// Unseen, of FoundClass: most of the latencies are Quantity.Unseen, and Times is at most what it says.
	Unseen bool
}

const (
	// oddHost is the mean of |ln measured/fitted| of a host that no place explains. With a third of it
	// hosts are named that have nothing but a slow link.
	oddHost = 0.1

	// From a misfit of misfitFloor and misfitNoise times the noise on, the wiring of the reference is not that of the
	// measurements. The misfit is the misfitQuantile over all pairs: a right fit leaves 1.15 standard deviations. It is
	// not a median: of two racks under a reference with one switch the greater half of the pairs are alike.
	misfitFloor    = 0.1
	misfitNoise    = 3
	misfitQuantile = 0.75
)

// add lists a finding that is not about one link.
func (c *linkComparer) add(f Finding) {
	f.Link = -1
	if f.Kind != FoundClass {
		f.Class = -1
	}
	c.out.Findings = append(c.out.Findings, f)
}

// conclude sums up the links, and lists the findings and the links, the worst first.
func (c *linkComparer) conclude() {
	out := c.out
	for i := range c.links {
		l := &c.links[i].state
		if l.Verdict != LinkMissing {
			l.Verdict = l.verdict()
		}
		if l.Verdict != LinkUnknown {
			out.Judged++
		}
		out.Links = append(out.Links, *l)
	}
	order := []Verdict{LinkMissing, LinkSlow, LinkFast, LinkSame, LinkUnknown}
	slices.SortStableFunc(out.Links, func(a, b LinkState) int {
		return cmp.Or(slices.Index(order, a.Verdict)-slices.Index(order, b.Verdict),
			cmp.Compare(math.Round(weightSteps*b.weight()), math.Round(weightSteps*a.weight())), a.Class-b.Class, a.U-b.U, a.V-b.V)
	})
	whole := c.slowHosts()
	for i := range out.Links {
		l := &out.Links[i]
		differs := l.Verdict != LinkSame && l.Verdict != LinkUnknown
		if differs && !(l.Verdict == LinkSlow && (whole[l.U] || whole[l.V])) {
			out.Findings = append(out.Findings, Finding{Kind: l.Verdict, Link: i, Class: -1, Times: l.Times()})
		}
	}
	c.hostFindings()
	c.extraLinks()
	if out.Misfit > misfitFloor+misfitNoise*c.noise {
		c.add(Finding{Kind: FoundMisfit, Times: out.Misfit})
	}
	// What makes the rest doubtful or speaks of the wiring goes first.
	// What has become faster is seldom why somebody looks.
	rank := map[Verdict]int{FoundMisfit: -3, LinkMissing: -2, FoundMoved: -1, LinkFast: 1}
	weight := func(f Finding) float64 {
		if f.Link >= 0 {
			return out.Links[f.Link].weight()
		}
		return f.Times
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(rank[a.Kind]-rank[b.Kind], cmp.Compare(weight(b), weight(a)))
	})
}

// slowHosts finds the hosts of several links, all of which are slow: that is
// the host's own. It returns their vertices in the reference.
func (c *linkComparer) slowHosts() map[int]bool {
	links, slow := map[int]int{}, map[int][]float64{} // by vertex
	for i := range c.links {
		l := &c.links[i].state
		if l.U == l.V {
			continue
		}
		for _, v := range [2]int{l.U, l.V} {
			if links[v]++; l.Verdict == LinkSlow {
				slow[v] = append(slow[v], l.Times())
			}
		}
	}
	whole := map[int]bool{}
	for h, v := range c.reference.vertex[:len(c.out.Hosts)] {
		if len(slow[v]) >= 2 && len(slow[v]) == links[v] {
			whole[v] = true
			c.add(Finding{Kind: LinkSlow, Hosts: []string{c.out.Hosts[h]}, Times: stats.LowerMedian(slow[v])})
		}
	}
	return whole
}

// hostFindings lists the hosts that hang elsewhere, or that no place explains.
func (c *linkComparer) hostFindings() {
	for _, s := range c.places {
		f := Finding{Kind: FoundOdd, Hosts: []string{c.out.Hosts[s.host]}, Times: s.score}
		if s.place >= 0 {
			own := c.reference.graph.Out(s.host)[0].To
			if s.place == own {
				continue // moved away and back
			}
			f.Kind = FoundMoved
			f.From = slices.DeleteFunc(c.namesOn(own), func(name string) bool { return name == f.Hosts[0] })
			f.To = c.namesOn(s.place)
		} else if s.off < oddHost {
			continue
		}
		c.add(f)
	}
}

// extraLinks lists the measured links between hosts that the reference wires
// otherwise and that shorten the way between them.
func (c *linkComparer) extraLinks() {
	g, m, k := c.reference.graph, c.measured.graph, len(c.out.Hosts)
	between := func(a topology.Arc) bool { return a.From < k && a.To < k }
	if c.fit == nil || !slices.ContainsFunc(g.Arcs(), between) {
		return
	}
	fitted := c.fit.Graph.HostDistances()
	for _, a := range m.Arcs() {
		if !between(a) || a.From > a.To || g.ArcIndex(a.From, a.To) >= 0 || g.ArcIndex(a.To, a.From) >= 0 {
			continue
		}
		if times := fitted[a.From*k+a.To] / a.Latency; times > longer && !math.IsInf(times, 1) {
			c.add(Finding{Kind: FoundExtra, Hosts: []string{c.out.Hosts[a.From], c.out.Hosts[a.To]}, Times: times})
		}
	}
}
