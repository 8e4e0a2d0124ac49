package model

import (
	"github.com/topocast/topocast/topology"
)

// LinkClasses say to which class each arc of a graph belongs, and how firmly
// the two directions of the class's links disturb each other: by what one takes from the
// other, Coupling, and by what they have in common, Duplex and Connection.
type LinkClasses struct {
	Classes []LinkClass
	OfArc   []int // arc -> class
	// Duplex says per class how many times one direction's bandwidth both directions of a link
	// carry together, from 1, half duplex, to 2, full duplex; 0: no limit. A host's card, bus or
	// memory often moves less than both directions of its link would. nil: no limits.
	Duplex []float64
	// Connection is the same for two ranks that send to each other: how many times the bandwidth
	// of the path both ways of their connection carry together, whose two directions many
	// libraries serve in turns. 0: no limit.
	Connection float64
}

// A LinkClass is a kind of links, such as those of hosts.
type LinkClass struct {
	Name     string
	Coupling float64 // in [0, 1]: 0 fair, 1 asymmetric; see Sharing
}

// ClassifyLinks puts the links of hosts in one class and those between
// switches in another, with coupling 0.
func ClassifyLinks(g *topology.Graph) LinkClasses {
	c := LinkClasses{Classes: []LinkClass{{Name: "host"}, {Name: "uplink"}}, OfArc: make([]int, g.NumArcs())}
	for i, a := range g.Arcs() {
		if g.IsSwitch(a.From) && g.IsSwitch(a.To) {
			c.OfArc[i] = 1
		}
	}
	return c
}
