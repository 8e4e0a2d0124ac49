package simnet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/topology"
)

// Faults are the faults of a cluster. Several faults of one thing multiply.
type Faults struct {
	Slow []Slow
	Lost []LostRank
}

// Slow makes parts of a cluster slower, all at the same times. Messages that move go on at the new rate.
type Slow struct {
	Arcs     []int   // of the graph, by their numbers
	Cables   []int   // arcs that are two cables of half the bandwidth: one of the two, which half of the pairs of hosts use
	Software []int   // hosts: their overheads, and the bandwidth of their memory
	Through  []int   // vertices: what a switch carries in all, or the network card of a host both ways, of all that its links bring
	Latency  float64 // multiplies latencies and overheads; at least 1, and 0 for 1
	Rate     float64 // multiplies bandwidths; at most 1, and 0 for 1
	When     When
}

// When says when a fault is there. The zero value means always.
type When struct {
	From, Until float64 // s; an Until of 0 never comes
	Over        float64 // s in which the fault grows after From, in 32 steps; 0: it is there at once
	Share       float64 // of the time in which it is there, in random spells; 0: all
	Every       float64 // s, the length of a spell; default 1 ms
}

// LostRank ends a rank. A lost rank takes part in nothing: its own operations
// return ErrLost, and operations of others that wait for it do not end.
type LostRank struct {
	Rank int
	From float64 // s
}

const (
	growthSteps  = 32
	defaultSpell = 1e-3 // s
	// faultStream keeps the spells of faults apart from the noise, the stalls and the clocks, see stallStream.
	faultStream = 1 << 40
)

// at is how much of the fault is there at an instant, from 0 to 1, and when that changes next.
func (w *When) at(now instant, seed uint64) (strength float64, changes instant) {
	from := picoseconds(w.From)
	if changes = forever; w.Until > 0 {
		changes = picoseconds(w.Until)
	}
	switch {
	case now < from:
		return 0, from
	case now >= changes:
		return 0, forever
	}
	spell := func(seconds float64) instant { // the number of the spell of this length, and when it ends
		length := max(1, picoseconds(seconds))
		number := (now - from) / length
		changes = min(changes, from+(number+1)*length)
		return number
	}
	strength = 1
	if now-from < picoseconds(w.Over) {
		strength = min(1, float64(spell(w.Over/growthSteps)+1)/growthSteps)
	}
	if w.flickers() {
		number := spell(cmp.Or(w.Every, defaultSpell))
		if rand.New(rand.NewPCG(seed, uint64(number))).Float64() >= w.Share {
			strength = 0
		}
	}
	return strength, changes
}

func (w *When) flickers() bool { return w.Share > 0 && w.Share < 1 }

// recurs tells whether the fault changes for ever.
func (w *When) recurs() bool { return w.flickers() && w.Until == 0 }

// validate finds faults of what the graph and the job do not have, and factors out of range.
func (f *Faults) validate(g *topology.Graph, ranks int) error {
	bad := func(field string, i int, value any, want string) error {
		return fmt.Errorf("simnet: Settings.Faults.%s[%d]: %v: want %s", field, i, value, want)
	}
	within := func(most int, list []int) bool {
		return !slices.ContainsFunc(list, func(x int) bool { return x < 0 || x >= most })
	}
	for i, s := range f.Slow {
		switch w := s.When; {
		case !within(g.NumArcs(), slices.Concat(s.Arcs, s.Cables)) || !within(g.Hosts(), s.Software) || !within(g.Vertices(), s.Through):
			return bad("Slow", i, s, "arcs, hosts and vertices of the graph")
		case !finite(s.Latency, s.Rate) || s.Latency > 0 && s.Latency < 1 || s.Rate > 1:
			return bad("Slow", i, s, "Latency at least 1, Rate above 0 and at most 1")
		case !finite(w.From, w.Until, w.Over, w.Every, w.Share) || w.Share > 1:
			return bad("Slow", i, s, "times at least 0, Share at most 1")
		}
	}
	for i, l := range f.Lost {
		if l.Rank < 0 || l.Rank >= ranks || !finite(l.From) {
			return bad("Lost", i, l, fmt.Sprintf("a rank of %d, From at least 0", ranks))
		}
	}
	return nil
}
