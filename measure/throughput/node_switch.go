package throughput

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
)

const (
	// full is the share of what pairs could carry from which on nothing between
	// has held them up: readings of long messages differ by some percent.
	full = 0.9

	// alike are rates that differ no more.
	alike = 0.05
)

// A fan is a switch with its hosts.
type fan struct {
	vertex int
	hosts  []int // ascending
}

// fans are the switches with so many hosts at least whose links lead to them both ways.
func (c *campaign) fans(least int) []fan {
	var all []fan
	for s := c.g.Hosts(); s < c.g.Vertices(); s++ {
		f := fan{vertex: s}
		for _, a := range c.g.Out(s) {
			if !c.g.IsSwitch(a.To) && c.g.ArcIndex(a.To, s) >= 0 {
				f.hosts = append(f.hosts, a.To)
			}
		}
		if len(f.hosts) >= least {
			all = append(all, f)
		}
	}
	return all
}

// apart puts switches in batches of which no two have a host in common: all of
// them at once where each host is on one switch only.
func apart(fans []fan) [][]fan {
	return harness.Greedy(fans, func(f fan) []int { return f.hosts })
}

// roundsOfAll are the rounds in which all switches of a batch take theirs at once.
func roundsOfAll(batch []fan, rounds func(fan) [][][2]int) [][][2]int {
	var all [][][2]int
	for _, f := range batch {
		for i, round := range rounds(f) {
			if i == len(all) {
				all = append(all, nil)
			}
			all[i] = append(all[i], round...)
		}
	}
	return all
}

// fewestParallel hosts of a switch can be measured in two pairs at once.
const fewestParallel = 4

// parallel finds by three measurements whether the links of a switch's hosts can be measured
// at once: that two hosts and all others, when both are under way, are as fast as each
// by itself (Bufe 2014, section 2.3.2).
func (c *campaign) parallel() error {
	for _, batch := range apart(c.fans(fewestParallel)) {
		steps := make([][]*load, 3)
		for _, f := range batch {
			var pairs [][2]int
			for i := 0; i+1 < len(f.hosts); i += 2 {
				pairs = append(pairs, [2]int{f.hosts[i], f.hosts[i+1]})
			}
			rest := len(pairs) - 1
			for k, part := range [3][][2]int{pairs[:rest], pairs[rest:], pairs} {
				steps[k] = append(steps[k], &load{from: f.vertex, to: -1, pairs: part, messages: c.messages(len(pairs))})
			}
		}
		if err := c.take(parallel, steps); err != nil {
			return err
		}
		for i, f := range batch {
			if all := steps[2][i].rate; !math.IsNaN(all) { // it comes last
				s := c.switchOf(f.vertex)
				s.Rest, s.Alone, s.All = steps[0][i].rate, steps[1][i].rate, all
				s.Parallel = s.All >= full*(s.Alone+s.Rest)
			}
		}
	}
	return nil
}

// switchOf is the entry of a switch in the result, new if there is none.
func (c *campaign) switchOf(vertex int) *Switch {
	at, ok := slices.BinarySearchFunc(c.r.Switches, vertex, func(s Switch, v int) int { return cmp.Compare(s.Vertex, v) })
	if !ok {
		nan := math.NaN()
		c.r.Switches = slices.Insert(c.r.Switches, at, Switch{Vertex: vertex, Alone: nan, Rest: nan, All: nan, Maximum: [2]float64{nan, nan}})
	}
	return &c.r.Switches[at]
}

// nodeSwitch measures links of hosts by messages between the hosts of one switch:
// all switches at once, and in a switch one pair after the other unless it was seen
// to carry them all (Bufe 2014, section 2.3.2). A host that is alone on its switch is measured
// with the nearest one elsewhere.
func (c *campaign) nodeSwitch() error {
	for _, batch := range apart(c.fans(2)) {
		first := len(c.r.readings)
		if err := c.take(nodeSwitch, c.steps(roundsOfAll(batch, c.rounds))); err != nil {
			return err
		}
		for _, f := range batch {
			c.hostLinks(f, first)
		}
	}
	return c.lonely()
}

// rounds are the pairs of the hosts of a switch whose messages pass it. They are measured one after the other if the
// switch was not seen to carry them all.
func (c *campaign) rounds(f fan) [][][2]int {
	rounds := c.pairings(f)
	for i := range rounds {
		rounds[i] = slices.DeleteFunc(rounds[i], func(p [2]int) bool {
			way, _ := c.way(p[0], p[1])
			back, _ := c.way(p[1], p[0])
			arcs := c.g.Arcs()
			return len(way) != 2 || len(back) != 2 || arcs[way[0]].To != f.vertex || arcs[back[0]].To != f.vertex
		})
	}
	if len(f.hosts) >= fewestParallel && !c.switchOf(f.vertex).Parallel {
		return oneByOne(slices.Concat(rounds...))
	}
	return rounds
}

// pairings are rounds of all pairs, or of those that are next in latency.
func (c *campaign) pairings(f fan) [][][2]int {
	hosts := slices.Clone(f.hosts)
	if !c.s.ByLatency {
		return harness.CircleOf(hosts)
	}
	slices.SortStableFunc(hosts, func(a, b int) int {
		arcs := c.g.Arcs()
		return cmp.Compare(arcs[c.g.ArcIndex(a, f.vertex)].Latency, arcs[c.g.ArcIndex(b, f.vertex)].Latency)
	})
	var rounds [][][2]int
	for first := range min(2, len(hosts)-1) {
		var round [][2]int
		for i := first; i+1 < len(hosts); i += 2 {
			round = append(round, [2]int{hosts[i], hosts[i+1]})
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// oneByOne are rounds of one pair each.
func oneByOne(pairs [][2]int) [][][2]int {
	return slices.Collect(slices.Chunk(pairs, 1))
}

// hostLinks makes rates of the links of a switch's hosts of the readings from the given
// one on. What passes between two hosts is the lesser of what the link of the one
// sends and that of the other takes. So the highest of a link is its own.
// If the other ends were all slower it is a lower bound.
//
// Where the two ends of a reading are both no faster in any other, one of them is that fast, and
// nothing says which. Where three and more are alike, at most one of them is faster than it
// looks. All are taken to be what they look like.
func (c *campaign) hostLinks(f fan, first int) {
	type end struct{ reading, out, in int } // of the arcs into and out of the switch
	var ends []end
	for i := first; i < len(c.r.readings); i++ {
		x := &c.r.readings[i]
		out, in := c.g.ArcIndex(x.From, f.vertex), c.g.ArcIndex(f.vertex, x.To)
		if out >= 0 && in >= 0 {
			ends = append(ends, end{i, out, in})
			c.tells(i, x.From, f.vertex)
			c.tells(i, f.vertex, x.To)
		}
	}
	rate := func(arc int) float64 { return c.r.Links[arc].Rate }
	same := func(a, b float64) bool { return a >= (1-alike)*b && b >= (1-alike)*a }
	// Arcs that are alike by a reading of the rate of both are one set.
	set := make(map[int]int)
	var root func(arc int) int
	root = func(arc int) int {
		if p, ok := set[arc]; ok && p != arc {
			return root(p)
		}
		return arc
	}
	exact := make(map[int]bool)
	for _, e := range ends {
		t := c.r.readings[e.reading].Rate
		switch outFull, inFull := same(t, rate(e.out)), same(t, rate(e.in)); {
		case outFull && inFull:
			set[root(e.out)] = root(e.in)
		case outFull: // the other end has carried more
			exact[e.out] = true
		case inFull:
			exact[e.in] = true
		}
	}
	count := make(map[int]int)
	for _, h := range f.hosts {
		count[root(c.g.ArcIndex(h, f.vertex))]++
		count[root(c.g.ArcIndex(f.vertex, h))]++
	}
	for _, h := range f.hosts {
		for _, arc := range []int{c.g.ArcIndex(h, f.vertex), c.g.ArcIndex(f.vertex, h)} {
			l := &c.r.Links[arc]
			l.AtLeast = !math.IsNaN(l.Rate) && !exact[arc] && count[root(arc)] <= 2
		}
	}
}
