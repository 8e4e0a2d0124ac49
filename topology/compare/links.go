package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
)

// LinkSettings are the settings of Links; nil is all defaults.
type LinkSettings struct {
	// Tolerance is the share by which a link may differ, 0.2 say, before it is
	// called slow or fast. 0: six times the spread of its class, but at least
	// 0.1 of a latency (0.3 inside a host) and 0.15 of a bandwidth.
	Tolerance float64
	// Noise is the relative spread of the measurements from which both graphs were
	// made (Fit.Noise), the root of the sum of their squares; it counts where a
	// class has too few links to show its spread. 0 or NaN: 0.01.
	Noise float64
	// Overhead is what every message of the measured side pays at its ends in s, on top of its links (Fit.Overhead). Where all
	// hosts of the reference hang on switches it is part of their links, as measurements do not tell the two apart.
	Overhead float64
	// MeasuredGroups and ReferenceGroups are the groups of the hosts of either graph; nil: groups are not compared. Confident
	// ones are compared. Of a group that is confident on one side and uncertain on the other nobody can tell.
	MeasuredGroups, ReferenceGroups *topology.Hierarchy
}

// usualNoise is the default of LinkSettings.Noise: quiet networks have half to two percent.
const usualNoise = 0.01

func (s *LinkSettings) validate() error {
	if !(s.Tolerance >= 0) || math.IsInf(s.Tolerance, 0) {
		return fmt.Errorf("compare: links: Tolerance %g: want at least 0 and finite", s.Tolerance)
	}
	if !(s.Overhead >= 0) || math.IsInf(s.Overhead, 0) {
		return fmt.Errorf("compare: links: Overhead %g: want at least 0 and finite", s.Overhead)
	}
	if s.Noise < 0 || math.IsInf(s.Noise, 0) {
		return fmt.Errorf("compare: links: Noise %g: want at least 0 and finite, or NaN", s.Noise)
	}
	return nil
}

// An Outcome is whether something differs.
type Outcome int

// The outcomes of a comparison.
const (
	Same    Outcome = iota
	Differs         // a link, a host or a group is not as in the reference
	Unknown         // of a class of links none could be judged, or not a group
)

// A LinkComparison is what Links finds.
type LinkComparison struct {
	Hosts   []string // names that both sides have
	Missing []string // of the reference only: not measured
	Extra   []string // measured only

	// Latency and Bandwidth say how many times as slow the middle link is as
	// the reference has it: what another library, or another load of the whole
	// machine, makes of it. Links are judged apart from that. NaN if not known.
	Latency, Bandwidth float64

	Similarity float64 // in percent, see [Similarity]; NaN unless hosts are wired to each other, and where no latencies could be compared
	Misfit     float64 // upper quartile of |ln of measured over fitted latency|, with moved hosts moved and missing links gone
	Classes    []LinkClass
	Links      []LinkState // the worst first
	Findings   []Finding   // the worst first
	Outcome    Outcome
	Groups     *GroupComparison // of Hosts by their index; nil if a side has none
	Judged     int              // links of which something could be said
	Unjudged   []string         // the classes of links of none of which something could be said, and groups
	Unknown    string           // why latencies between hosts could not be compared; "" if they could
	Warnings   []string         // what may be said of the wrong links, each one sentence
}

// Links compares a measured graph with a reference link by link: with a
// specification, or the same machine measured before. Hosts are matched by
// name, and those of one name are ranks of one host, as many on either side as
// may be: the one nearest to all others stands for the host. Only what lies between hosts that
// both sides have is compared.
//
// The latencies of the reference's links are fitted to the measured graph's
// paths (latencyfit.Latencies), so the two need not have the same switches. Where the reference
// has several shortest paths, as fat trees have, its links are taken in bundles. Then each is held
// against the reference's own, where it has one, and the other links of its class. A link
// with a way around it is missing if that way explains the measured latency. A host that
// another switch explains better is moved there, and the rest is judged as if it had been.
// Bandwidths are those of the best measured path over a link, in each direction;
// an arc that is marked as estimated counts as not measured. A link of a
// probability below ConfidentFrom takes part in the fit, but is not judged.
//
// The order of hosts and switches on either side changes nothing. O(n^2) memory
// for n hosts; time O(n^2) per step of the fit, and per host and switch.
func Links(measured, reference *topology.Graph, s *LinkSettings) (*LinkComparison, error) {
	c, err := newLinkComparer(measured, reference, s)
	if err != nil {
		return nil, err
	}
	return c.compare(measured)
}

// newLinkComparer finds the hosts that both have, and the latencies between them along the measured paths.
func newLinkComparer(measured, reference *topology.Graph, s *LinkSettings) (*linkComparer, error) {
	if s == nil {
		s = &LinkSettings{}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	c := &linkComparer{settings: s, whole: reference, out: &LinkComparison{Latency: math.NaN(), Bandwidth: math.NaN(), Similarity: math.NaN(), Misfit: math.NaN()}}
	for _, side := range []struct {
		graph  *topology.Graph
		groups *topology.Hierarchy
	}{{measured, s.MeasuredGroups}, {reference, s.ReferenceGroups}} {
		if side.groups != nil && side.groups.Hosts() != side.graph.Hosts() {
			return nil, fmt.Errorf("compare: links: groups of %d hosts for a graph of %d: want those of its hosts", side.groups.Hosts(), side.graph.Hosts())
		}
	}
	if err := c.match(measured, reference); err != nil {
		return nil, err
	}
	c.distances = distancesBetweenHosts(c.measured.graph, nil)
	known := func(a topology.Arc) bool { return !math.IsNaN(a.Latency) || !math.IsNaN(a.Bandwidth) }
	c.groupsOnly = s.ReferenceGroups != nil && len(s.ReferenceGroups.Levels()) > 0 && !slices.ContainsFunc(reference.Arcs(), known)
	return c, nil
}

// compare holds the measured latencies and bandwidths against the links of the reference.
func (c *linkComparer) compare(measured *topology.Graph) (*LinkComparison, error) {
	if len(c.out.Hosts) > 1 {
		c.specify()
		if c.onlyZeros() {
			c.out.Unknown = "every latency that was measured between hosts is 0"
		} else if err := c.fitLatencies(); errors.Is(err, latencyfit.ErrNothingToFit) {
			c.out.Unknown = err.Error()
		} else if err != nil {
			return nil, err
		}
		if c.fit != nil {
			c.out.Similarity = Similarity(measured, c.reference.graph)
		}
		c.compareRates()
	} else {
		c.out.Unknown = "one host in common: there is no link between hosts to compare"
	}
	c.insideHosts(measured)
	c.judge()
	c.conclude()
	if err := c.compareGroups(); err != nil {
		return nil, err
	}
	c.warnOfHidden()
	c.out.Outcome = c.outcome()
	return c.out, nil
}

// outcome tells whether something differs. A reference that says groups and nothing of links has no link to be judged.
func (c *linkComparer) outcome() Outcome {
	switch {
	case len(c.out.Findings) > 0:
		return Differs
	case c.groupsOnly && c.groupsJudged:
		return Same
	case c.out.Judged == 0, len(c.out.Unjudged) > 0:
		return Unknown
	}
	return Same
}

// onlyZeros tells whether there are latencies between hosts, all of them 0, as those of a clock that is too coarse.
func (c *linkComparer) onlyZeros() bool {
	zeros := 0
	for _, d := range c.distances {
		if d > 0 {
			return false
		}
		if d == 0 {
			zeros++
		}
	}
	return zeros > c.measured.graph.Hosts() // each is 0 from itself
}

// warnOfHidden warns where links are slow by their bandwidth while others, whose latencies do not show in the measured
// ones, have none of their own: the measured wiring has no such links, and what they hold up is laid on those
// beside them.
func (c *linkComparer) warnOfHidden() {
	slow := func(l LinkState) bool {
		return slices.ContainsFunc(l.Bandwidth[:], func(q Quantity) bool { return q.Verdict == LinkSlow })
	}
	if !slices.ContainsFunc(c.out.Links, slow) {
		return
	}
	for _, l := range c.out.Links {
		unmeasured := math.IsNaN(l.Bandwidth[0].Measured) && math.IsNaN(l.Bandwidth[1].Measured)
		warning := c.out.Classes[l.Class].Name + " do not show in the measured latencies: what they hold up counts for the links beside them"
		if l.Latency.Unseen && unmeasured && !slices.Contains(c.out.Warnings, warning) {
			c.out.Warnings = append(c.out.Warnings, warning)
		}
	}
}

// A linkComparer carries a comparison through its steps.
type linkComparer struct {
	settings *LinkSettings
	out      *LinkComparison

	whole      *topology.Graph // the reference, with all its ranks and switches
	groupsOnly bool            // the reference says groups, and of no link anything

	groupsJudged bool // no group is uncertain on one side alone

	measuredOf, referenceOf [][]int // ranks of each host that both have

	measured  *nodeView
	reference *nodeView
	routed    *nodeView // the reference as it is, where reference is a tree of its bundles
	distances []float64 // measured latencies between hosts, NaN where there is no path
	paid      []float64 // the same with the overhead that links of hosts hold

	links      []*checked           // of the reference's view, in the order of their first arc
	wired      *topology.Graph      // the reference's view as the measured latencies have it: without missing links, with moved hosts where they are
	directions map[[2]int]direction // by the ends of an arc of wired, but for extra ones
	extra      []topology.Arc       // measured between hosts, and shorter than all paths that the reference has
	fit        *latencyfit.Result
	noise      float64
	places     []outlierHost // hosts that their place does not explain, or that were moved
	inside     int           // class of the insides of hosts, -1 without
}

// checked is a link under comparison.
type checked struct {
	state    LinkState
	arcs     [2]int  // of the reference's view, -1 if there is none back
	doubtful bool    // the reference is not sure of it
	pairs    int     // of hosts whose path crosses it
	distance float64 // mean of their latencies
}

// A direction is one way of a link: 0 is that of the first of its arcs.
type direction struct {
	link *checked
	way  int
}

// match finds the hosts that both have, in the order of the reference.
func (c *linkComparer) match(measured, reference *topology.Graph) error {
	names, of := nodesOf(reference)
	there, have := nodesOf(measured)
	for _, name := range names {
		if len(have[name]) == 0 {
			c.out.Missing = append(c.out.Missing, name)
			continue
		}
		c.out.Hosts = append(c.out.Hosts, name)
		c.referenceOf = append(c.referenceOf, of[name])
		c.measuredOf = append(c.measuredOf, have[name])
	}
	for _, name := range there {
		if len(of[name]) == 0 {
			c.out.Extra = append(c.out.Extra, name)
		}
	}
	if len(c.out.Hosts) == 0 {
		return fmt.Errorf("compare: links: no host of the measured graph (%s) is one of the reference (%s): the two describe different machines",
			words.List(there), words.List(names))
	}
	var err error
	if c.measured, err = viewOf(measured, c.measuredOf); err != nil {
		return err
	}
	if c.reference, err = viewOf(reference, c.referenceOf); err != nil {
		return err
	}
	c.noise = c.settings.Noise
	if !(c.noise > 0) {
		c.noise = usualNoise
	}
	c.inside = -1
	return nil
}
