package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// What is found, with the same plateaus as in judge.go.
const (
	// oddHost is the mean of |ln measured/fitted| of a host that no place explains. With 0.03
	// twice as many hosts are named that have nothing but a slow link, 0.3 changes nothing.
	oddHost = 0.1

	// misfitFloor is the misfitQuantile of the same over all pairs, in which the reference's wiring is
	// not that of the readings, and misfitNoise how many times the noise is added: the fit
	// leaves that of the noise if it is right, 1.15 standard deviations. 0.03 to 0.3, and 1.2 to 9. Not a median: of
	// two racks under a reference with one switch the greater half of the pairs are alike.
	misfitFloor    = 0.1
	misfitNoise    = 3
	misfitQuantile = 0.75
)

// conclude sums up the links, and lists the findings and the links, the worst first.
func (c *linkComparer) conclude() {
	out := c.out
	for i := range c.links {
		l := &c.links[i]
		if l.state.Verdict = l.state.verdict(); l.missing {
			l.state.Verdict = LinkMissing
		}
		if l.state.Verdict != LinkUnknown {
			out.Judged++
		}
		out.Links = append(out.Links, l.state)
	}
	order := []Verdict{LinkMissing, LinkSlow, LinkFast, LinkSame, LinkUnknown}
	slices.SortStableFunc(out.Links, func(a, b LinkState) int {
		return cmp.Or(slices.Index(order, a.Verdict)-slices.Index(order, b.Verdict),
			cmp.Compare(math.Round(weightSteps*b.weight()), math.Round(weightSteps*a.weight())), a.Class-b.Class, a.U-b.U, a.V-b.V)
	})
	whole := c.slowHosts()
	for i := range out.Links {
		l := &out.Links[i]
		f := Finding{Link: i, Class: -1, Times: l.Times()}
		switch {
		case l.Verdict == LinkMissing:
			f.Kind = FoundMissing
		case l.Verdict == LinkSlow && !whole[l.U] && !whole[l.V]:
			f.Kind = FoundSlow
		case l.Verdict == LinkFast:
			f.Kind = FoundFast
		default:
			continue
		}
		out.Findings = append(out.Findings, f)
	}
	c.hostFindings()
	c.extraLinks()
	if out.Misfit > misfitFloor+misfitNoise*c.noise {
		out.Findings = append(out.Findings, Finding{Kind: FoundMisfit, Link: -1, Class: -1, Times: out.Misfit})
	}
	// What makes the rest doubtful or speaks of the wiring goes first.
	// What has become faster is seldom why somebody looks.
	first := []FindingKind{FoundMisfit, FoundMissing, FoundMoved, "", FoundFast}
	rank := func(k FindingKind) int {
		if at := slices.Index(first, k); at >= 0 {
			return at
		}
		return slices.Index(first, "")
	}
	weight := func(f Finding) float64 {
		if f.Link >= 0 {
			return out.Links[f.Link].weight()
		}
		return f.Times
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(rank(a.Kind)-rank(b.Kind), cmp.Compare(weight(b), weight(a)))
	})
}

// slowHosts finds the hosts of several links, all of which are slow: that is
// the host's own. It returns their vertices in the reference.
func (c *linkComparer) slowHosts() map[int]bool {
	whole := map[int]bool{}
	if c.reference == nil {
		return whole
	}
	of := map[int][]*LinkState{}
	for i := range c.links {
		l := &c.links[i].state
		if l.U != l.V {
			of[l.U], of[l.V] = append(of[l.U], l), append(of[l.V], l)
		}
	}
	for h, v := range c.reference.vertex[:len(c.out.Hosts)] {
		var times []float64
		for _, l := range of[v] {
			if l.Verdict == LinkSlow {
				times = append(times, l.Times())
			}
		}
		if len(times) >= 2 && len(times) == len(of[v]) {
			whole[v] = true
			c.out.Findings = append(c.out.Findings, Finding{Kind: FoundSlow, Link: -1, Class: -1, Hosts: []string{c.out.Hosts[h]}, Times: stats.LowerMedian(times)})
		}
	}
	return whole
}

// hostFindings lists the hosts that hang elsewhere, or that no place explains.
func (c *linkComparer) hostFindings() {
	for _, s := range c.places {
		f := Finding{Kind: FoundOdd, Link: -1, Class: -1, Hosts: []string{c.out.Hosts[s.host]}, Times: s.score}
		if s.place >= 0 {
			own := c.reference.graph.Out(s.host)[0].To
			if s.place == own {
				continue // moved away and back
			}
			f.Kind = FoundMoved
			for _, name := range c.namesOn(own) {
				if name != f.Hosts[0] {
					f.From = append(f.From, name)
				}
			}
			f.To = c.namesOn(s.place)
		} else if s.off < oddHost {
			continue
		}
		c.out.Findings = append(c.out.Findings, f)
	}
}

// extraLinks lists the measured links between hosts that the reference wires
// otherwise and that shorten the way between them.
func (c *linkComparer) extraLinks() {
	if c.reference == nil || !wiresHosts(c.reference.graph) || c.fit == nil {
		return
	}
	g, k := c.reference.graph, len(c.out.Hosts)
	self := make([]int, k)
	members := make([][]int, k)
	for h := range self {
		self[h], members[h] = h, []int{h}
	}
	paper := &comparer{measured: c.measured.graph, reference: g, times: c.distances, node: self, members: members}
	paper.group()
	c.out.Similarity = paper.similarity()
	fitted := c.fit.Graph.HostDistances()
	for _, a := range c.measured.graph.Arcs() {
		if a.From >= a.To || a.To >= k || g.ArcIndex(a.From, a.To) >= 0 || g.ArcIndex(a.To, a.From) >= 0 {
			continue
		}
		if times := fitted[a.From*k+a.To] / a.Latency; times > longer && !math.IsInf(times, 1) {
			c.out.Findings = append(c.out.Findings, Finding{Kind: FoundExtra, Link: -1, Class: -1, Hosts: []string{c.out.Hosts[a.From], c.out.Hosts[a.To]}, Times: times})
		}
	}
}
