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

func checkDuplex(what string, u float64) error {
	if u != 0 && !(u >= 1 && u <= fullDuplex) {
		return fmt.Errorf("%s is %g: want 0, or in [1, %d]", what, u, fullDuplex)
	}
	return nil
}

// checkDuplex tells whether the factors are in range and as many as classes.
func (c *LinkClasses) checkDuplex() error {
	if c.Duplex != nil && len(c.Duplex) != len(c.Classes) {
		return fmt.Errorf("duplex factors of %d link classes, want %d", len(c.Duplex), len(c.Classes))
	}
	for i, u := range c.Duplex {
		if err := checkDuplex("duplex factor of link class "+c.Classes[i].Name, u); err != nil {
			return err
		}
	}
	return checkDuplex("duplex factor of connections", c.Connection)
}

// BothWays is what two directions of the given bandwidths in B/s carry at once by a duplex factor:
// at least what one carries alone.
func BothWays(forth, back, u float64) float64 {
	return max(forth, back, u/fullDuplex*(forth+back))
}

// duplexLimits are the shared channels of a Predictor.
type duplexLimits struct {
	ofArc       []int32 // the channel that both directions share; -1: none
	connection  float64 // duplex factor of connections; 0: no limit
	first       int32   // channel of the first connection
	connections []float64
	numbers     map[[2]int]int32 // of the ranks that exchange data, the lower first; 0: one direction so far
	seen        map[[2]int]bool  // directions
}

// limitDuplex appends to the capacities those that both directions of links share.
func (p *Predictor) limitDuplex() {
	links := &p.n.links
	p.duplex.connection = 0
	if isDuplexLimit(links.Connection) {
		p.duplex.connection = links.Connection
		p.duplex.numbers, p.duplex.seen = make(map[[2]int]int32), make(map[[2]int]bool)
	}
	if slices.ContainsFunc(links.Duplex, isDuplexLimit) {
		arcs := p.n.graph.Arcs()
		p.duplex.ofArc = make([]int32, len(arcs))
		for i := range arcs {
			p.duplex.ofArc[i] = -1
			u := links.Duplex[links.OfArc[i]]
			back := p.n.graph.ArcIndex(arcs[i].To, arcs[i].From)
			if back < 0 || !isDuplexLimit(u) {
				continue
			}
			if back < i {
				p.duplex.ofArc[i] = p.duplex.ofArc[back]
				continue
			}
			p.duplex.ofArc[i] = int32(len(p.capacity))
			p.capacity = append(p.capacity, BothWays(p.capacity[i], p.capacity[back], u))
		}
	}
	p.duplex.first = int32(len(p.capacity))
}

// pairUp numbers the pairs of ranks that exchange data among the transfers of a prediction.
func (d *duplexLimits) pairUp(lists ...[]Transfer) {
	clear(d.numbers)
	clear(d.seen)
	count := int32(0)
	for _, list := range lists {
		for _, t := range list {
			d.seen[[2]int{t.Src, t.Dst}] = true
			if pair := ordered(t); d.seen[[2]int{t.Dst, t.Src}] && d.numbers[pair] == 0 && t.Src != t.Dst {
				count++
				d.numbers[pair] = count
			}
		}
	}
	for len(d.connections) < int(count) {
		d.connections = append(d.connections, math.Inf(1))
	}
}

func ordered(t Transfer) [2]int { return [2]int{min(t.Src, t.Dst), max(t.Src, t.Dst)} }

// appendShared appends the channels that both directions share on a route; back is the way of
// the answers.
func (p *Predictor) appendShared(route []int32, t Transfer, data, back []int32) []int32 {
	if p.duplex.ofArc != nil {
		for _, c := range data {
			if shared := p.duplex.ofArc[c]; shared >= 0 {
				route = append(route, shared)
			}
		}
	}
	if p.duplex.connection > 0 {
		if k := p.duplex.numbers[ordered(t)]; k > 0 {
			rate := func(way []int32) float64 {
				least := math.Inf(1)
				for _, c := range way {
					if x := p.capacity[c]; x < least { // what is not known holds up nothing
						least = x
					}
				}
				return least
			}
			p.duplex.connections[k-1] = BothWays(rate(data), rate(back), p.duplex.connection)
			route = append(route, p.duplex.first+k-1)
		}
	}
	return route
}
