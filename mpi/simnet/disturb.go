package simnet

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A disturbance is a fault on the channels of a network.
type disturbance struct {
	Slow
	seed     uint64
	channels []int32
	strength float64 // at present
}

// A passage is a channel that flows over an arc have to pass, too: of all pairs of hosts, or of one half of them.
type passage struct {
	channel int32
	half    int // 0: all; 1 or 2
}

// addFaults prepares the faults, and adds their channels. No fault is there before disturb.
func (n *network) addFaults(s *Settings) {
	g := n.graph
	add := func(capacity float64, half int, arcs []int) int32 {
		if n.passages == nil {
			n.passages = make([][]passage, n.arcs)
		}
		c := int32(len(n.capacity))
		n.capacity = append(n.capacity, capacity)
		for _, a := range arcs {
			n.passages[a] = append(n.passages[a], passage{c, half})
		}
		return c
	}
	for k, x := range s.Faults.Slow {
		d := disturbance{Slow: x, seed: s.Seed + faultStream + uint64(k)}
		for _, a := range x.Arcs {
			d.channels = append(d.channels, int32(a))
		}
		for _, h := range x.Software {
			d.channels = append(d.channels, int32(n.arcs+h))
		}
		for _, a := range x.Cables {
			half := g.Arcs()[a].Bandwidth / 2
			add(half, 1, []int{a})
			d.channels = append(d.channels, add(half, 2, []int{a}))
		}
		for _, v := range x.Through {
			all, arcs := 0.0, []int(nil)
			for i, a := range g.Arcs() {
				if a.To == v || a.From == v && v < g.Hosts() {
					all, arcs = all+a.Bandwidth, append(arcs, i)
				}
			}
			d.channels = append(d.channels, add(all, 0, arcs))
		}
		n.faults = append(n.faults, d)
	}
	n.whole, n.faultsOf = slices.Clone(n.capacity), make([][]int32, len(n.capacity))
	for k := range n.faults {
		for _, c := range n.faults[k].channels {
			n.faultsOf[c] = append(n.faultsOf[c], int32(k))
		}
	}
}

// appendPassages appends to a route what else it passes.
func (n *network) appendPassages(route []int32, src, dst int) []int32 {
	if n.passages == nil {
		return route
	}
	half := 1 + rand.New(rand.NewPCG(uint64(src), uint64(dst))).IntN(2)
	for _, a := range route {
		for _, p := range n.passages[a] {
			if p.half == 0 || p.half == half {
				route = append(route, p.channel)
			}
		}
	}
	return route
}

// slower is by what faults multiply the latency of an arc, or the overheads of a host by the channel of its memory.
func (n *network) slower(channel int32, at instant) float64 {
	factor := 1.0
	for _, k := range n.faultsOf[channel] {
		f := &n.faults[k]
		if f.Latency > 1 {
			strength, _ := f.When.at(at, f.seed)
			factor *= math.Pow(f.Latency, strength)
		}
	}
	return factor
}

// disturb brings the capacities of channels to what faults leave of them now, as one of the faults has changed, and
// returns when that fault changes next.
func (n *network) disturb(k int, now instant) (changes instant, err error) {
	d := &n.faults[k]
	d.strength, changes = d.When.at(now, d.seed)
	for _, c := range d.channels {
		capacity := n.whole[c]
		for _, i := range n.faultsOf[c] {
			capacity *= math.Pow(cmp.Or(n.faults[i].Rate, 1), n.faults[i].strength)
		}
		if capacity == n.capacity[c] {
			continue
		}
		n.capacity[c], n.stale = capacity, true
		if err := n.solver.SetCapacity(int(c), capacity); err != nil {
			return forever, err
		}
		// A message that is alone goes to the solver, which tells its new rate.
		if m := n.lone[c]; m != nil {
			if err := n.admit(m); err != nil {
				return forever, err
			}
		}
	}
	return changes, nil
}
