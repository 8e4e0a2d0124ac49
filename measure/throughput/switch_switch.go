package throughput

import (
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
)

// switchSwitch measures links between switches by as many pairs at once as there
// are on both sides. Several links are measured at once where they need no host, link or switch in
// common (Bufe 2014, section 2.3.3). Switches that were seen to carry all their hosts at
// once do not count: nothing waits there.
func (c *campaign) switchSwitch() error {
	crossings := findCrossings(c.g, c.s.Pairs)
	if c.s.PerSwitch {
		crossings = onePerSwitch(crossings)
	}
	// A budget that ends early leaves out links of few hosts.
	slices.SortStableFunc(crossings, func(a, b crossing) int { return b.Hosts - a.Hosts })
	var loads []*load
	for _, x := range crossings {
		for _, pairs := range [][][2]int{x.Pairs, x.Other} {
			if len(pairs) > 0 {
				loads = append(loads, &load{from: x.U, to: x.V, pairs: pairs, messages: c.messages(len(pairs))})
			}
		}
	}
	return c.takeLinks(switchSwitch, loads)
}

// takeLinks measures loads for links, as many at once as do not meet, and judges them.
func (c *campaign) takeLinks(what target, loads []*load) error {
	first := len(c.r.readings)
	if err := c.take(what, harness.Greedy(loads, func(l *load) []int { return c.needs(l.pairs) })); err != nil {
		return err
	}
	for i := first; i < len(c.r.readings); i++ {
		x := &c.r.readings[i]
		c.tells(i, x.From, x.To)
	}
	for i := range c.r.Links {
		l := &c.r.Links[i]
		if n := len(l.readings); n > 0 && l.readings[n-1] >= first {
			l.AtLeast = c.unfilled(i)
		}
	}
	return nil
}

// unfilled tells whether no reading of a link came to less than what the other links on the
// way let through.
func (c *campaign) unfilled(arc int) bool {
	for _, i := range c.r.Links[arc].readings {
		x := &c.r.readings[i]
		if x.Rate >= (1-alike)*c.r.Links[arc].Rate && x.Rate < full*c.bound(x.Pairs, arc) {
			return false
		}
	}
	return true
}

// bound is what pairs could carry in B/s if only the other links on their way bounded them, and not the given one.
// Each lets as much of all pairs through as it was seen to carry. A link
// between switches that all pairs need, too, does not count: which of the two holds them up
// cannot be told. An arc of -1 is none. NaN if the rate of a host's link is not known.
func (c *campaign) bound(pairs [][2]int, arc int) float64 {
	users := make(map[int32]int)
	ways := make([][]int32, len(pairs))
	for i, p := range pairs {
		way, err := c.way(p[0], p[1])
		if err != nil {
			return math.NaN()
		}
		ways[i] = way
		for _, a := range way {
			users[a]++
		}
	}
	counts := func(a int32) bool {
		l := &c.r.Links[a]
		return l.what != switchSwitch || !math.IsNaN(l.Rate) && (arc < 0 || users[a] < len(pairs))
	}
	sum := 0.0
	for _, way := range ways {
		least := math.Inf(1)
		for _, a := range way {
			if int(a) != arc && counts(a) {
				least = math.Min(least, c.r.Links[a].Rate/float64(users[a]))
			}
		}
		sum += least
	}
	return sum
}

// way is the route between two vertices, as numbers of arcs.
func (c *campaign) way(from, to int) ([]int32, error) { return c.routes.AppendRoute(nil, from, to) }

// needs are the hosts, links and switches that pairs take, without the switches that
// carry whatever their links do: links have the numbers of their lower arcs, behind those of
// the vertices.
func (c *campaign) needs(pairs [][2]int) []int {
	var all []int
	for _, p := range pairs {
		all = append(all, p[0])
		for _, w := range [][2]int{p, {p[1], p[0]}} {
			way, err := c.way(w[0], w[1])
			if err != nil {
				continue // it will not be measured to any use
			}
			for _, a := range way {
				from, to := c.g.Arcs()[a].From, c.g.Arcs()[a].To
				link := int(a)
				if back := c.g.ArcIndex(to, from); back >= 0 {
					link = min(link, back)
				}
				all = append(all, c.g.Vertices()+link)
				if !c.g.IsSwitch(to) || !c.carriesAll(to) {
					all = append(all, to)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// carriesAll tells whether a switch was seen to carry all its hosts at once.
func (c *campaign) carriesAll(vertex int) bool {
	for i := range c.r.Switches {
		if s := &c.r.Switches[i]; s.Vertex == vertex {
			return s.Parallel
		}
	}
	return false
}

// lonely measures the links of hosts that have no other host on their switch, with the
// nearest one elsewhere.
func (c *campaign) lonely() error {
	var loads []*load
	for _, l := range c.r.Links {
		if l.what != nodeSwitch || c.g.IsSwitch(l.From) || !math.IsNaN(l.Rate) {
			continue
		}
		if other := c.nearest(l.From, l.To); other >= 0 && c.g.ArcIndex(l.To, l.From) >= 0 {
			loads = append(loads, &load{from: l.From, to: l.To, pairs: [][2]int{{l.From, other}}, messages: c.messages(1)})
		}
	}
	return c.takeLinks(nodeSwitch, loads)
}

// nearest is the host nearest to one, of those that it reaches over a switch; -1 if there is
// none.
func (c *campaign) nearest(host, over int) int {
	t := topology.NewPaths(c.g, nil).Tree(host)
	for _, v := range t.Order[1:] {
		if c.g.IsSwitch(v) {
			continue
		}
		if way, err := c.way(host, v); err == nil && c.g.Arcs()[way[0]].To == over {
			return v
		}
	}
	return -1
}
