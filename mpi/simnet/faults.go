package simnet

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/topology"
)

// Faults are the faults of a cluster. Several faults of one link, direction or host multiply.
type Faults struct {
	SlowLinks      []SlowLink
	SlowDirections []SlowDirection
	SlowHosts      []SlowHost
	SlowSwitches   []SlowSwitch
	LostRanks      []LostRank
}

// SlowLink makes both directions between two vertices slower.
type SlowLink struct {
	From, To int     // vertices
	Factor   float64 // divides bandwidth and multiplies latency; at least 1
}

// SlowDirection makes one direction between two vertices slower.
type SlowDirection struct {
	From, To int     // vertices
	Latency  float64 // multiplies the latency; at least 1, and 0 for 1
	Rate     float64 // multiplies the bandwidth; at most 1, and 0 for 1
	At       float64 // s; messages that move at this time go on at the new rate
}

// SlowHost makes all software on a host of the graph slower.
type SlowHost struct {
	Host   int
	Factor float64 // multiplies overheads, divides memory bandwidth; at least 1
}

// SlowSwitch bounds what a switch carries in all.
type SlowSwitch struct {
	Switch int     // vertex
	Rate   float64 // of what all of its links bring at most; above 0 and at most 1
}

// LostRank ends a rank. A lost rank takes part in nothing: its own operations
// return ErrLost, and operations of others that wait for it do not end.
type LostRank struct {
	Rank int
	At   float64 // s
}

// validate finds faults of what the graph and the job do not have, and factors out of range.
func (f *Faults) validate(g *topology.Graph, ranks int) error {
	bad := func(field string, i int, value any, want string) error {
		return fmt.Errorf("simnet: Settings.Faults.%s[%d]: %v: want %s", field, i, value, want)
	}
	atLeastOne := func(x float64) bool { return x >= 1 && !math.IsInf(x, 1) }
	for i, l := range f.SlowLinks {
		if g.ArcIndex(l.From, l.To) < 0 && g.ArcIndex(l.To, l.From) < 0 || !atLeastOne(l.Factor) {
			return bad("SlowLinks", i, l, "a link of the graph, Factor at least 1")
		}
	}
	for i, d := range f.SlowDirections {
		if g.ArcIndex(d.From, d.To) < 0 || d.Latency != 0 && !atLeastOne(d.Latency) || !(d.Rate >= 0 && d.Rate <= 1) || !(d.At >= 0) || math.IsInf(d.At, 1) {
			return bad("SlowDirections", i, d, "an arc of the graph, Latency at least 1, Rate above 0 and at most 1, At at least 0")
		}
	}
	for i, h := range f.SlowHosts {
		if h.Host < 0 || h.Host >= g.Hosts() || !atLeastOne(h.Factor) {
			return bad("SlowHosts", i, h, fmt.Sprintf("a host of %d, Factor at least 1", g.Hosts()))
		}
	}
	for i, v := range f.SlowSwitches {
		if v.Switch < g.Hosts() || v.Switch >= g.Vertices() || !(v.Rate > 0 && v.Rate <= 1) {
			return bad("SlowSwitches", i, v, "a switch of the graph, Rate above 0 and at most 1")
		}
	}
	for i, l := range f.LostRanks {
		if l.Rank < 0 || l.Rank >= ranks || !(l.At >= 0) || math.IsInf(l.At, 1) {
			return bad("LostRanks", i, l, fmt.Sprintf("a rank of %d, At at least 0", ranks))
		}
	}
	return nil
}

// onArcs returns per arc the factors of latency and bandwidth at the start of the simulation.
func (f *Faults) onArcs(g *topology.Graph) (latency, rate []float64) {
	latency, rate = make([]float64, g.NumArcs()), make([]float64, g.NumArcs())
	for i := range latency {
		latency[i], rate[i] = 1, 1
	}
	for _, l := range f.SlowLinks {
		for _, a := range []int{g.ArcIndex(l.From, l.To), g.ArcIndex(l.To, l.From)} {
			if a >= 0 {
				latency[a], rate[a] = latency[a]*l.Factor, rate[a]/l.Factor
			}
		}
	}
	for _, d := range f.SlowDirections {
		if d.At > 0 {
			continue
		}
		a := g.ArcIndex(d.From, d.To)
		if d.Latency > 0 {
			latency[a] *= d.Latency
		}
		if d.Rate > 0 {
			rate[a] *= d.Rate
		}
	}
	return latency, rate
}

// onSwitches returns what slow switches carry in B/s, given what links do.
func (f *Faults) onSwitches(g *topology.Graph, capacity []float64) map[int]float64 {
	carried := map[int]float64{}
	for _, v := range f.SlowSwitches {
		if _, seen := carried[v.Switch]; !seen {
			for _, a := range g.In(v.Switch) {
				carried[v.Switch] += capacity[a]
			}
		}
		carried[v.Switch] *= v.Rate
	}
	return carried
}
