package throughput

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cut"
)

// fewestParallel hosts of a switch can be measured in two pairs at once.
const fewestParallel = 4

// parallel finds by three measurements whether the links of a switch's hosts can be measured
// at once: that two hosts and all others, when both are under way, are as fast as each
// by itself (Bufe 2014, section 2.3.2).
func (c *campaign) parallel() error {
	for _, batch := range harness.Greedy(c.fans(fewestParallel), func(f fan) []int { return f.hosts }) {
		steps := make([]round, 3)
		for _, f := range batch {
			var pairs [][2]int
			for both := range slices.Chunk(f.hosts, 2) {
				if len(both) == 2 {
					pairs = append(pairs, [2]int(both))
				}
			}
			rest := len(pairs) - 1
			for k, part := range [3][][2]int{pairs[:rest], pairs[rest:], pairs} {
				l := c.load(part)
				l.messages = c.messages(len(pairs))
				steps[k] = append(steps[k], l)
			}
		}
		if err := c.take(steps); err != nil {
			return err
		}
		for i, f := range batch {
			if all := steps[2][i]; !math.IsNaN(all.rate) { // it comes last
				s := c.switchOf(f.vertex, all)
				s.Rest, s.Alone, s.All = steps[0][i].rate, steps[1][i].rate, all.rate
				s.Parallel = s.All >= full*(s.Alone+s.Rest)
			}
		}
	}
	return nil
}

// carriesAll tells whether a switch was seen to carry all its hosts at once.
func (c *campaign) carriesAll(vertex int) bool {
	at, ok := c.findSwitch(vertex)
	return ok && c.r.Switches[at].Parallel
}

// findSwitch finds the entry of a switch in the result, or where it belongs.
func (c *campaign) findSwitch(vertex int) (at int, ok bool) {
	return slices.BinarySearchFunc(c.r.Switches, vertex, func(s Switch, v int) int { return cmp.Compare(s.Vertex, v) })
}

// switchOf is the entry of a switch in the result, new if there is none before a load tells of it.
func (c *campaign) switchOf(vertex int, l *load) *Switch {
	at, ok := c.findSwitch(vertex)
	if !ok {
		nan := math.NaN()
		c.r.Switches = slices.Insert(c.r.Switches, at, Switch{Vertex: vertex, Alone: nan, Rest: nan, All: nan, Maximum: [2]float64{nan, nan}, pair: l.pairs[0]})
	}
	return &c.r.Switches[at]
}

// maximum measures what each switch carries from one side to the other, if that is wanted. Its links are put on two sides of
// about as many hosts (Bufe 2014, section 2.3.4).
func (c *campaign) maximum() error {
	if !c.s.Switches {
		return nil
	}
	type sides struct {
		vertex int
		*load
	}
	var all []sides
	var rounds []round
	for s := c.g.Hosts(); s < c.g.Vertices(); s++ {
		left, right, err := cut.AtSwitch(c.g, s)
		if err != nil {
			return err
		}
		var pairs [][2]int
		for i := range min(len(left), len(right)) {
			pairs = append(pairs, [2]int{left[i], right[i]})
		}
		if len(pairs) > 0 {
			l := c.load(pairs)
			all, rounds = append(all, sides{s, l}), append(rounds, round{l})
		}
	}
	if err := c.take(c.steps(rounds)); err != nil {
		return err
	}
	var limited []string
	least := math.Inf(1)
	for _, x := range all {
		isLimit := false
		for direction, l := range [2]*load{x.load, x.back} {
			if math.IsNaN(l.rate) {
				continue
			}
			s := c.switchOf(x.vertex, x.load)
			s.Maximum[direction], s.AtLeast[direction] = l.rate, !(c.routesAreKnown(l.pairs) && l.rate < full*c.bound(l.pairs, -1))
			if !s.AtLeast[direction] {
				isLimit, least = true, min(least, l.rate)
			}
		}
		if isLimit {
			limited = append(limited, c.g.Name(x.vertex))
		}
	}
	if limited != nil {
		c.r.Warnings = append(c.r.Warnings, fmt.Sprintf("from one side to the other of %s pass down to %s, less than the links carry: a switch there is the limit, which predictions leave out",
			words.List(limited), quantity.Rate(least)))
	}
	return nil
}

// routesAreKnown tells whether all messages of pairs take the routes of the graph: no others are about as short.
func (c *campaign) routesAreKnown(pairs [][2]int) bool {
	if c.g.IsForest() {
		return true
	}
	finder := topology.NewPaths(c.g, nil)
	return !slices.ContainsFunc(pairs, func(p [2]int) bool { return !finder.Tree(p[0]).Only(p[1]) })
}
