package throughput

import (
	"math"
	"slices"
)

// The rate of a link is the highest of all measurements that tell of it, for what passes a route is the least of what its links
// carry. It is a lower bound unless a measurement of about that rate came to less than what the other links
// on the route let through. Then the link itself held the messages up.

const (
	// full is the share of what pairs could carry from which on nothing between
	// has held them up: measurements of long messages differ by some percent.
	full = 0.9

	// alike are rates of single pairs that differ no more.
	alike = 0.05

	// fewestAlike arcs are enough to take all of them for what they look like.
	fewestAlike = 3
)

// judge tells which rates are only lower bounds.
//
// Where two links on the route of a measurement are both no faster in any other, one of them is that fast, and
// nothing says which. Where three and more are alike, at most one of them is faster than it
// looks. All are taken to be what they look like.
func (c *campaign) judge() {
	links := c.r.Links
	filled := make([]bool, len(links))
	doubtful := make([][]int, len(c.r.measurements)) // by measurement: the arcs that it fills, or others on its route
	for arc := range links {
		share := full
		if !c.isBetweenSwitches(arc) {
			share = 1 - alike
		}
		for _, i := range links[arc].measurements {
			switch x := &c.r.measurements[i]; {
			case x.Rate < (1-alike)*links[arc].Rate: // something else held it up
			case x.Rate < share*c.bound(x.Pairs, arc):
				filled[arc] = true
			default:
				doubtful[i] = append(doubtful[i], arc)
			}
		}
	}
	set := make([]int, len(links)) // of arcs that are alike
	for arc := range set {
		set[arc] = arc
	}
	root := func(arc int) int {
		for set[arc] != arc {
			set[arc] = set[set[arc]]
			arc = set[arc]
		}
		return arc
	}
	for _, arcs := range doubtful {
		if slices.ContainsFunc(arcs, func(arc int) bool { return filled[arc] }) {
			continue // it is known what held the measurement up, which tells nothing of the others
		}
		for _, arc := range arcs {
			set[root(arc)] = root(arcs[0])
		}
	}
	count := make([]int, len(links)) // by root
	for arc := range links {
		count[root(arc)]++
	}
	for arc := range links {
		l := &links[arc]
		l.AtLeast = !math.IsNaN(l.Rate) && !filled[arc] && count[root(arc)] < fewestAlike
	}
}

// isBetweenSwitches tells whether both ends of an arc are switches.
func (c *campaign) isBetweenSwitches(arc int) bool {
	a := c.g.Arcs()[arc]
	return c.g.IsSwitch(a.From) && c.g.IsSwitch(a.To)
}

// bound is what pairs could carry in B/s if only the other links on their way bounded them, and not the given one.
// Each lets as much of all pairs through as it was seen to carry. Of a link between switches, another one does not count
// if no measurement of either goes without the other: they are as one. An arc of -1 is none. NaN if the rate of a link on
// the route is not known, which may hold them up.
func (c *campaign) bound(pairs [][2]int, arc int) float64 {
	users := make(map[int32]int)
	routes := make([][]int32, len(pairs))
	for i, p := range pairs {
		route, err := c.route(p[0], p[1])
		if err != nil {
			return math.NaN()
		}
		routes[i] = route
		for _, a := range route {
			users[a]++
		}
	}
	counts := make(map[int32]bool)
	for a := range users {
		counts[a] = int(a) != arc
		if c.isBetweenSwitches(int(a)) {
			isKnown := !math.IsNaN(c.r.Links[a].Rate) || !c.s.PerSwitch
			isOne := arc >= 0 && c.isBetweenSwitches(arc) && c.always(arc, int(a)) && c.always(int(a), arc)
			counts[a] = counts[a] && isKnown && !isOne
		}
	}
	sum := 0.0
	for _, route := range routes {
		least := math.Inf(1)
		for _, a := range route {
			if counts[a] {
				least = math.Min(least, c.r.Links[a].Rate/float64(users[a]))
			}
		}
		sum += least
	}
	return sum
}

// always tells whether all messages that tell of a link pass another one, too.
func (c *campaign) always(arc, other int) bool {
	for _, i := range c.r.Links[arc].measurements {
		for _, p := range c.r.measurements[i].Pairs {
			if route, _ := c.route(p[0], p[1]); !slices.Contains(route, int32(other)) {
				return false
			}
		}
	}
	return len(c.r.Links[arc].measurements) > 0
}
