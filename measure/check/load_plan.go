package check

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A loadPlanner chooses who sends to whom while the whole machine is busy: each host sends to one other and receives from
// one other, or does one of both. In some rounds that is a neighbour, as messages across slow links leave the cables of hosts
// empty. In the others each sender looks at some free receivers. It takes the one whose route fills best what earlier
// rounds have filled least (D-optimal design, as the planner of single pairs).
type loadPlanner struct {
	w                 *wiring
	rng               *rand.Rand
	both              bool      // a host sends and receives at once
	demand            []float64 // B/s per arc and switch in this round, if no link but the slowest of each route counted
	filled            []float64 // information on each of them, of all rounds so far
	share, neighbours float64   // of the rounds are of neighbours; how many are due
	near              bool      // the round is one of neighbours
	free              []int     // hosts that receive nothing so far in this round
	route             []int32
}

func newLoadPlanner(w *wiring, rng *rand.Rand, both bool) *loadPlanner {
	n := len(w.capacity)
	return &loadPlanner{w: w, rng: rng, both: both, share: 0.5, demand: make([]float64, n), filled: make([]float64, n)}
}

// round is one of transfers from and to all hosts but those that rest, in the order of the switches at their ends.
func (p *loadPlanner) round(rests func(host int) bool) [][2]int {
	clear(p.demand)
	var senders []int
	for _, h := range p.rng.Perm(p.w.hosts) {
		if !rests(h) {
			senders = append(senders, h)
		}
	}
	p.free = slices.Clone(senders)
	p.neighbours += p.share
	if p.near = p.neighbours >= 1; p.near {
		p.neighbours--
	}
	var transfers [][2]int
	for _, from := range senders {
		if !p.both && !slices.Contains(p.free, from) {
			continue
		}
		to := p.receiver(from)
		if to < 0 {
			continue
		}
		p.occupy(to)
		if !p.both {
			p.occupy(from)
		}
		p.take(from, to)
		transfers = append(transfers, [2]int{from, to})
	}
	p.w.sortBySwitches(transfers)
	return transfers
}

// occupy lets a host receive nothing more in this round.
func (p *loadPlanner) occupy(host int) {
	last := len(p.free) - 1
	p.free[slices.Index(p.free, host)] = p.free[last]
	p.free = p.free[:last]
}

// learn takes over how full a round has made links and switches. Of those that are doubtful it is never enough.
func (p *loadPlanner) learn(usage []float64, doubtful []int32, c *candidates) {
	for k, x := range usage {
		p.filled[k] += told(x / p.w.capacity[k])
	}
	for _, candidate := range doubtful {
		for _, k := range c.channelsOf(candidate) {
			p.filled[k] = 0
		}
	}
}

// focus makes more rounds of neighbours where the most doubtful are hosts and switches, and fewer where they are links
// between switches.
func (p *loadPlanner) focus(targets []int32, c *candidates) {
	first, local := targets[:min(foremost, len(targets))], 0.0
	for _, candidate := range first {
		if c.placeOf(candidate).v < 0 {
			local++
		}
	}
	p.share = fewNeighbours
	if len(first) > 0 {
		p.share += (1 - 2*fewNeighbours) * local / float64(len(first))
	}
}

const (
	foremost      = 4     // candidates that rounds are for
	fewNeighbours = 0.125 // of the rounds at least are of neighbours, and at least as many are not
)

// told is what a link that is full to this share tells of its rate: one that has room tells nearly nothing.
func told(full float64) float64 {
	return math.Pow(min(1, full), 8)
}

// receiver is the best of some hosts that receive nothing so far, -1 if none can be reached.
func (p *loadPlanner) receiver(from int) int {
	best, most := -1, math.Inf(-1)
	for i := range 2 * partners {
		to := p.free[p.rng.IntN(len(p.free))]
		if i%2 == 0 {
			to = p.w.near(p.rng, from)
		}
		if to == from || !slices.Contains(p.free, to) {
			continue
		}
		if gain, ok := p.gain(from, to); ok && gain > most {
			best, most = to, gain
		}
	}
	return best
}

// gain is how much a transfer adds to what is known of the links and switches on its route; in a round of neighbours it is
// the more the shorter that is.
func (p *loadPlanner) gain(from, to int) (gain float64, ok bool) {
	var err error
	if p.route, err = p.w.routes.AppendRoute(p.route[:0], from, to); err != nil {
		return 0, false
	}
	if p.near {
		return -float64(len(p.route)), true
	}
	rate := p.w.slowest(p.route)
	for _, e := range p.route { // what it gets if those on a link get equal parts
		rate = min(rate, p.w.rate[e]*p.w.rate[e]/(p.demand[e]+rate))
	}
	for _, k := range p.w.addSwitches(p.route) {
		load, capacity := p.demand[k], p.w.capacity[k]
		gain += math.Log1p((told((load+rate)/capacity) - told(load/capacity)) / (p.filled[k] + knownBefore))
	}
	return gain, true
}

// sortBySwitches puts transfers between the same two switches beside each other.
func (w *wiring) sortBySwitches(transfers [][2]int) {
	slices.SortStableFunc(transfers, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(w.switchOf(a[0]), w.switchOf(b[0])), cmp.Compare(w.switchOf(a[1]), w.switchOf(b[1])))
	})
}

func (p *loadPlanner) take(from, to int) {
	p.route, _ = p.w.routes.AppendRoute(p.route[:0], from, to) // gain has found it
	rate := p.w.slowest(p.route)
	for _, k := range p.w.addSwitches(p.route) {
		p.demand[k] += rate
	}
}
