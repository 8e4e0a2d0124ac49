package check

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A planner chooses the pairs of a round. One by one they are disjoint, and in a healthy machine no link gets more of their
// long messages than it can carry at full rate: what one pair reads is not another's doing. A link on which several pairs are
// needed to fill it gets several. Under load each host sends to one other and receives from one other, and links get as much
// as comes.
//
// Each host in turn takes, of some random partners, the one whose paths tell most of what is known least: the gain is the
// logarithm of the information on each link, channel and host that the measurement adds to (D-optimal design; Fedorov 1972).
// Partners are drawn from all distances alike, as near ones tell most of a host's own cable, and far ones of the links above.
// Under load messages across slow links leave the cables of hosts empty. So some rounds are of neighbours there.
type planner struct {
	w        *wiring
	rng      *rand.Rand
	blocking bool // a host sends or receives, also under load
	nearby   bool // this round is one of neighbours

	pairs           [][2]int    // of this round
	sends, receives []bool      // per host: no more in this round
	demand          [][]float64 // B/s in this round, per channel: of what goes there, and one by one of what comes back

	onHosts    []float64 // information so far: measurements
	onLinks    []float64 // squares of the share of a measurement's time that the link makes
	onChannels []float64 // of how full the channel was, see told
	try        path
	channels   []int32
}

const (
	partners    = 12   // random partners that a host looks at; 6 leaves one in ten upper links with half the measurements
	known       = 2e-3 // information on a link that is there before the first measurement: one of share 0.045
	knownBefore = 0.25 // the same of a channel or a host, in measurements
	roundingUp  = 1 + 1e-9
)

func newPlanner(w *wiring, rng *rand.Rand, blocking bool) *planner {
	p := &planner{
		w: w, rng: rng, blocking: blocking || !w.load,
		sends: make([]bool, w.hosts), receives: make([]bool, w.hosts),
		onHosts: make([]float64, w.hosts), onLinks: make([]float64, len(w.links)), onChannels: make([]float64, len(w.capacity)),
	}
	for range w.routesOf(&p.try) {
		p.demand = append(p.demand, make([]float64, len(w.capacity)))
	}
	return p
}

// begin begins a round, which may be one of neighbours.
func (p *planner) begin(nearby bool) {
	p.pairs, p.nearby = nil, nearby
	clear(p.sends)
	clear(p.receives)
	for _, demand := range p.demand {
		clear(demand)
	}
}

// told is what a channel that is full to this share tells of its rate: one that has room tells nearly nothing.
func told(full float64) float64 { return math.Pow(min(1, full), 4) }

// learn takes over how much channels have carried at one time, in B/s.
func (p *planner) learn(usage []float64) {
	for c, x := range usage {
		p.onChannels[c] += told(x / p.w.capacity[c])
	}
}

// others adds as many pairs of the hosts that are left in this round as there is room for, up to so many in all.
func (p *planner) others(most int) {
	order := p.rng.Perm(p.w.hosts)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.onHosts[a], p.onHosts[b]) })
	for _, a := range order {
		if len(p.pairs) >= most {
			break
		}
		if p.sends[a] {
			continue
		}
		if b := p.partner(a); b >= 0 {
			p.add(a, b)
			p.block(a, b)
		}
	}
}

// partner is the best of some partners of a host, -1 if none of them is free.
func (p *planner) partner(a int) int {
	best, most := -1, 0.0
	look := func(b int) {
		if !p.free(a, b) {
			return
		}
		if gain := p.gain(a, b); best < 0 || gain > most {
			best, most = b, gain
		}
	}
	for range partners {
		look(p.w.near(p.rng, a))
	}
	if p.w.load {
		for range partners {
			look(p.rng.IntN(p.w.hosts))
		}
	}
	for d := 1; best < 0 && d <= p.w.hosts/2 && d <= 2*partners; d++ { // the nearest that is left
		for _, place := range [...]int{p.w.place[a] - d, p.w.place[a] + d} {
			if place >= 0 && place < p.w.hosts {
				look(p.w.order[place])
			}
		}
	}
	return best
}

// withoutGraph is how far apart in the order of names partners are, at most, where there is no
// graph: those nearby are most likely of one kind, and share few links with others.
const withoutGraph = 8

// near is a random host about a distance 2^k in order from a, all k alike.
func (w *wiring) near(rng *rand.Rand, a int) int {
	reach := w.hosts
	if w.graph == nil {
		reach = min(reach, withoutGraph)
	}
	span := 1 << (1 + rng.IntN(bits.Len(uint(reach))))
	place := w.place[a] + 1 + rng.IntN(min(span, w.hosts-1))
	if rng.IntN(2) == 0 {
		place = 2*w.place[a] - place
	}
	n := w.hosts
	return w.order[((place%n)+n)%n]
}

// free tells whether a pair can be measured in this round, too: whether both hosts are left, there is a path between them,
// and one by one the links have room for its long messages, each way. The path is in p.try then.
func (p *planner) free(a, b int) bool {
	if a == b || p.sends[a] || p.receives[b] || !p.w.find(&p.try, a, b) {
		return false
	}
	if p.w.load {
		return true
	}
	for k, route := range p.w.routesOf(&p.try) {
		rate := p.w.slowest(route)
		for _, e := range route {
			if p.demand[k][e]+rate > p.w.rate[e]*roundingUp {
				return false
			}
		}
	}
	return true
}

// gain is how much the pair on p.try adds to what is known. In a round of neighbours it is the more the shorter the path is.
func (p *planner) gain(a, b int) float64 {
	if p.nearby {
		return -float64(p.try.turn)
	}
	gain := math.Log1p(1/(p.onHosts[a]+knownBefore)) + math.Log1p(1/(p.onHosts[b]+knownBefore))
	if !p.w.load { // or else no latency is measured
		p.w.eachLink(&p.try, func(link int32, share float64) {
			gain += math.Log1p(share * share / (p.onLinks[link] + known))
		})
	}
	for k, route := range p.w.routesOf(&p.try) {
		rate := p.w.slowest(route)
		for _, e := range route { // what it gets if those on a link get equal parts
			rate = min(rate, p.w.rate[e]*p.w.rate[e]/(p.demand[k][e]+rate))
		}
		for _, c := range p.crossed(route) {
			load, capacity := p.demand[k][c], p.w.capacity[c]
			gain += math.Log1p((told((load+rate)/capacity) - told(load/capacity)) / (p.onChannels[c] + knownBefore))
		}
	}
	return gain
}

// crossed are the channels that messages over some arcs take a share of.
func (p *planner) crossed(arcs []int32) []int32 {
	p.channels = p.w.addSwitches(append(p.channels[:0], arcs...))
	return p.channels
}

// add adds a pair to this round.
func (p *planner) add(a, b int) {
	p.pairs = append(p.pairs, [2]int{a, b})
	p.sends[a], p.receives[b] = true, true
	if p.blocking {
		p.receives[a], p.sends[b] = true, true
	}
	p.onHosts[a]++
	p.onHosts[b]++
	p.w.find(&p.try, a, b)
	p.w.eachLink(&p.try, func(link int32, share float64) { p.onLinks[link] += share * share })
	for k, route := range p.w.routesOf(&p.try) {
		rate := p.w.slowest(route)
		for _, c := range p.crossed(route) {
			p.demand[k][c] += rate
		}
	}
}

// block keeps the neighbours of a pair out of the round: without a graph nobody knows which links they share.
func (p *planner) block(a, b int) {
	if p.w.graph != nil {
		return
	}
	from, to := min(p.w.place[a], p.w.place[b])-withoutGraph, max(p.w.place[a], p.w.place[b])+withoutGraph
	for _, h := range p.w.order[max(0, from):min(p.w.hosts, to+1)] {
		p.sends[h], p.receives[h] = true, true
	}
}

// A target is a host, a link or a direction of a link that is to be measured again.
type target struct {
	*candidate
	pairs [][2]int // that led through it, or may
}

const nearlyFull = 0.95 // of a link's rate, that pairs through a target fill

// filled tells whether the pairs of this round fill a target.
func (p *planner) filled(t *target) bool {
	if t.v < 0 {
		return p.sends[t.u]
	}
	return slices.ContainsFunc(t.channels, func(c int32) bool {
		busy := max(p.demand[0][c], p.demand[1][c])
		return busy > 0 && (t.What == linkLatency || busy >= nearlyFull*p.w.capacity[c])
	})
}

// tries is how many pairs are tried to find one that leads through a target: on a fat tree whose
// routes are hashed one in tens does.
const tries = 200

// again adds pairs through each of the targets, up to so many in all: one end of a pair that led through it, with any
// partner, and else a pair that did. What others read in the same round tells the load at that time.
func (p *planner) again(targets []target, most int) {
	for _, i := range p.rng.Perm(len(targets)) {
		t := &targets[i]
		for range tries {
			if len(p.pairs) >= most || p.filled(t) {
				break
			}
			a, b := t.pairs[p.rng.IntN(len(t.pairs))][0], t.pairs[p.rng.IntN(len(t.pairs))][1]
			switch p.rng.IntN(4) {
			case 0:
				b = p.w.near(p.rng, a)
			case 1:
				a = p.w.near(p.rng, b)
			}
			if p.free(a, b) && p.w.touches(t.place, a, b, p.try.arcs...) {
				p.add(a, b)
			}
		}
	}
}
