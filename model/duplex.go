package model

import (
	"fmt"
	"math"
	"slices"
)

// fullDuplex is how many times one direction's bandwidth both directions together carry
// if nothing but the link holds them up.
const fullDuplex = 2

// isDuplexLimit tells whether a factor of LinkClasses limits anything.
func isDuplexLimit(u float64) bool { return u > 0 && u < fullDuplex }

// checkDuplex tells whether the factors are in range and as many as classes.
func (c *LinkClasses) checkDuplex() error {
	if c.Duplex != nil && len(c.Duplex) != len(c.Classes) {
		return fmt.Errorf("duplex factors of %d link classes, want %d", len(c.Duplex), len(c.Classes))
	}
	for i, u := range append(slices.Clone(c.Duplex), c.Connection) {
		name := "connections"
		if i < len(c.Duplex) {
			name = "link class " + c.Classes[i].Name
		}
		if u != 0 && !(u >= 1 && u <= fullDuplex) {
			return fmt.Errorf("duplex factor of %s is %g: want 0, or in [1, %d]", name, u, fullDuplex)
		}
	}
	return nil
}

// BothWays is what two directions of the given bandwidths in B/s carry at once by a duplex factor:
// at least what one carries alone.
func BothWays(forth, back, u float64) float64 {
	return max(forth, back, u/fullDuplex*(forth+back))
}

// Connections numbers the pairs of ranks that send to each other. of has the number of each transfer's pair, -1 if its
// receiver sends it nothing.
func Connections(transfers []Transfer) (of []int, count int) {
	sends := make(map[[2]int]bool, len(transfers))
	for _, t := range transfers {
		sends[[2]int{t.Src, t.Dst}] = true
	}
	numbers := make(map[[2]int]int)
	for _, t := range transfers {
		if !sends[[2]int{t.Dst, t.Src}] {
			of = append(of, -1)
			continue
		}
		pair := [2]int{min(t.Src, t.Dst), max(t.Src, t.Dst)}
		if _, known := numbers[pair]; !known {
			numbers[pair] = len(numbers)
		}
		of = append(of, numbers[pair])
	}
	return of, len(numbers)
}

// limitDuplex appends to the capacities those that both directions of links share, by the lower of their arcs: +Inf
// where nothing is shared. Connections come behind them.
func (p *Predictor) limitDuplex() {
	links, g := &p.n.links, p.n.graph
	p.limitsLinks = slices.ContainsFunc(links.Duplex, isDuplexLimit)
	p.limitsConnections = isDuplexLimit(links.Connection)
	if !p.limitsLinks && !p.limitsConnections {
		return
	}
	for i, a := range g.Arcs() {
		shared := math.Inf(1)
		if back := g.ArcIndex(a.To, a.From); p.limitsLinks && back > i && isDuplexLimit(links.Duplex[links.OfArc[i]]) {
			shared = BothWays(p.capacity[i], p.capacity[back], links.Duplex[links.OfArc[i]])
		}
		p.capacity = append(p.capacity, shared)
	}
}

// appendShared appends the channels that both directions share on a route; back is the way of
// the answers, and connection is -1 for none.
func (p *Predictor) appendShared(route, data, back []int32, connection int) ([]int32, error) {
	g := p.n.graph
	for _, c := range data {
		a := g.Arcs()[c]
		back := g.ArcIndex(a.To, a.From)
		if !p.limitsLinks || back < 0 {
			continue
		}
		if shared := g.NumArcs() + min(int(c), back); !math.IsInf(p.capacity[shared], 1) {
			route = append(route, int32(shared))
		}
	}
	if connection < 0 {
		return route, nil
	}
	rate := func(way []int32) float64 {
		least := math.Inf(1)
		for _, c := range way {
			if x := p.capacity[c]; x < least { // what is not known holds up nothing
				least = x
			}
		}
		return least
	}
	channel := 2*g.NumArcs() + connection
	return append(route, int32(channel)), p.solver.SetCapacity(channel, BothWays(rate(data), rate(back), p.n.links.Connection))
}
