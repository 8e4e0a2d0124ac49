package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// What is found besides missing, slow and fast links.
const (
	foundMoved  Verdict = "moved"  // a host whose latencies are those of another switch
	foundOdd    Verdict = "odd"    // a host whose latencies no place explains
	foundExtra  Verdict = "extra"  // a link between two hosts that the reference does not have
	foundClass  Verdict = "class"  // a class that differs as a whole from all others
	foundMisfit Verdict = "misfit" // the reference's links do not explain the latencies

	foundMissingGroup Verdict = "missing group" // of the reference only
	foundExtraGroup   Verdict = "extra group"   // measured only
)

// A Finding is a difference between both sides.
type Finding struct {
	// Kind is LinkMissing, LinkSlow or LinkFast of a link, LinkSlow of a host with slow links alone, or one of these: "moved" and
	// "odd" of a host, "extra" of a link between two hosts, "class" of all links of a level, "misfit" of the whole wiring,
	// "missing group" and "extra group".
	Kind   Verdict
	What   string   // what differs, by name
	Reason string   // what is the matter, in words
	Link   int      // index into LinkComparison.Links; -1 if it is none
	Hosts  []string // the hosts in question: of a link those below it, or at its ends

	// Of a host that moved: the hosts on the switch where the reference has it, and on
	// the one that explains it.
	From, To []string

	// Times: how many times as slow, or for LinkFast as fast; of a host that moved or is odd how much more is left
	// unexplained than usual; of a misfit the share by which a quarter of the pairs of hosts is off at least.
	Times float64

	weight float64 // what it is sorted by
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
	f.Link, f.weight = -1, f.Times
	c.out.Findings = append(c.out.Findings, f)
}

// conclude sums up the links, and lists the findings and the links, the worst first.
func (c *linkComparer) conclude() {
	out := c.out
	judged := make([]int, len(out.Classes))
	for _, checked := range c.links {
		l := &checked.state
		for _, q := range l.quantities() {
			if q.Verdict.rank() < l.Verdict.rank() {
				l.Verdict = q.Verdict
			}
		}
		if l.Verdict != LinkUnknown {
			out.Judged++
			judged[l.Class]++
		}
		out.Links = append(out.Links, *l)
	}
	for k, class := range out.Classes {
		if judged[k] == 0 {
			out.Unjudged = append(out.Unjudged, class.Name)
		}
	}
	slices.SortStableFunc(out.Links, func(a, b LinkState) int {
		return cmp.Or(a.Verdict.rank()-b.Verdict.rank(),
			cmp.Compare(math.Round(weightSteps*b.weight()), math.Round(weightSteps*a.weight())), a.Class-b.Class, a.U-b.U, a.V-b.V)
	})
	whole := c.slowHosts()
	for i := range out.Links {
		l := &out.Links[i]
		differs := l.Verdict != LinkSame && l.Verdict != LinkUnknown
		if differs && !(l.Verdict == LinkSlow && (whole[l.U] || whole[l.V])) {
			f := Finding{Kind: l.Verdict, What: l.Name, Reason: c.reason(l), Link: i, Hosts: l.hosts(), Times: l.times(), weight: l.weight()}
			out.Findings = append(out.Findings, f)
		}
	}
	c.hostFindings()
	c.extraLinks()
	if out.Misfit > misfitFloor+misfitNoise*c.noise && !c.groupsOnly { // groups alone do not say how they are wired to each other
		c.add(Finding{Kind: foundMisfit, What: "the wiring", Times: out.Misfit, Reason: fmt.Sprintf(
			"the reference's links do not explain the latencies, of which a quarter is off by %.0f %% or more: it is wired otherwise", 100*math.Expm1(out.Misfit))})
	}
	// What makes the rest doubtful or speaks of the wiring goes first.
	// What has become faster is seldom why somebody looks.
	rank := map[Verdict]int{foundMisfit: -3, LinkMissing: -2, foundMoved: -1, LinkFast: 1}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(rank[a.Kind]-rank[b.Kind], cmp.Compare(b.weight, a.weight))
	})
}

// slowHosts finds the hosts of several links, all of which are slow: that is
// the host's own. It returns their vertices in the reference.
func (c *linkComparer) slowHosts() map[int]bool {
	links, slow := map[int]int{}, map[int][]float64{} // by vertex
	for _, checked := range c.links {
		l := &checked.state
		if l.U == l.V {
			continue
		}
		for _, v := range [2]int{l.U, l.V} {
			if links[v]++; l.Verdict == LinkSlow {
				slow[v] = append(slow[v], l.times())
			}
		}
	}
	whole := map[int]bool{}
	for h, v := range c.reference.vertex[:len(c.out.Hosts)] {
		if len(slow[v]) >= 2 && len(slow[v]) == links[v] {
			whole[v] = true
			times := stats.LowerMedian(slow[v])
			c.add(Finding{
				Kind: LinkSlow, What: "host " + c.out.Hosts[h], Hosts: []string{c.out.Hosts[h]}, Times: times,
				Reason: fmt.Sprintf("all its links are slow, the middle one %.3g times", times),
			})
		}
	}
	return whole
}

// hostFindings lists the hosts that hang elsewhere, or that no place explains.
func (c *linkComparer) hostFindings() {
	for _, s := range c.places {
		name := c.out.Hosts[s.host]
		f := Finding{
			Kind: foundOdd, What: "host " + name, Hosts: []string{name}, Times: s.score,
			Reason: fmt.Sprintf("no place explains its latencies: they are %.3g times as far off as usual", s.score),
		}
		if s.place >= 0 {
			own := c.reference.graph.Out(s.host)[0].To
			if s.place == own {
				continue // moved away and back
			}
			f.Kind = foundMoved
			f.From = slices.DeleteFunc(c.namesOn(own), func(other string) bool { return other == name })
			f.To = c.namesOn(s.place)
			f.Reason = "its latencies are those of a host on the switch of " + hostlist.Ranges(f.To)
			if len(f.From) > 0 {
				f.Reason += ", not of " + hostlist.Ranges(f.From)
			}
			f.Reason += fmt.Sprintf("; its own place explains them %.3g times as badly", s.score)
		} else if s.off < oddHost {
			continue
		}
		c.add(f)
	}
}

// extraLinks lists the measured links between hosts, or between switches of hosts, that the reference does not have, and that
// shorten the path between them.
func (c *linkComparer) extraLinks() {
	if len(c.extra) == 0 {
		return
	}
	var arcs []topology.Arc
	for _, a := range c.fit.Graph.Arcs() {
		if _, specified := c.directions[[2]int{a.From, a.To}]; specified {
			arcs = append(arcs, a)
		}
	}
	without, err := c.fit.Graph.WithArcs(arcs)
	if err != nil {
		panic("compare: a part of a graph is none: " + err.Error())
	}
	finder, distance := topology.NewPaths(without, nil), make([]float64, without.Vertices())
	for _, a := range c.extra {
		if a.From > a.To && slices.ContainsFunc(c.extra, func(b topology.Arc) bool { return b.From == a.To && b.To == a.From }) {
			continue
		}
		finder.From(a.From, distance)
		times := distance[a.To] / a.Latency
		from, to := c.namesOn(a.From), c.namesOn(a.To)
		c.add(Finding{
			Kind: foundExtra, What: "link " + hostlist.Ranges(from) + " - " + hostlist.Ranges(to), Hosts: slices.Concat(from, to), Times: times,
			Reason: fmt.Sprintf("the reference does not have it; without it the path would be %.3g times as long", times),
		})
	}
}
