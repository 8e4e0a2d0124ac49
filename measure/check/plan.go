package check

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A planner chooses the pairs of a round. They are disjoint, and in a healthy
// machine no link gets more of their long messages than it can carry at full rate: what
// one pair reads is not another's doing, and a link on which several pairs
// are needed to fill it gets several.
//
// Each host in turn takes, of some random partners, the one whose paths tell most of what
// is known least: the gain is the logarithm of the information on each link, arc and host that
// the reading adds to (D-optimal design; Fedorov 1972). Partners are drawn from all distances
// alike, as near ones tell most of a host's own cable, and far ones of the links above.
type planner struct {
	w       *wiring
	rng     *rand.Rand
	load    [2][]float64 // B/s, per arc in this round: of long messages there, and then of those back
	used    []bool       // per host in this round
	onLinks []float64    // information so far: squares of the share of a reading's time that the link makes
	onArcs  []float64    // of how full the arc was
	onHosts []float64    // readings
	try     path
}

const (
	partners    = 12   // random partners that a host looks at; 6 leaves one in ten upper links with half the readings
	known       = 2e-3 // information on a link that is there before the first reading: one of share 0.045
	knownBefore = 0.25 // the same of an arc or a host, in readings
	roundingUp  = 1 + 1e-9
)

func newPlanner(w *wiring, rng *rand.Rand) *planner {
	p := &planner{w: w, rng: rng, used: make([]bool, w.hosts), onHosts: make([]float64, w.hosts)}
	if w.graph != nil {
		n := w.graph.NumArcs()
		p.load = [2][]float64{make([]float64, n), make([]float64, n)}
		p.onArcs, p.onLinks = make([]float64, n), make([]float64, len(w.links))
	}
	return p
}

func (p *planner) begin() {
	clear(p.load[0])
	clear(p.load[1])
	clear(p.used)
}

// screen is a round of as many pairs as there is room for, at most so many.
func (p *planner) screen(most int) [][2]int {
	p.begin()
	return p.others(most)
}

// others are as many pairs of the hosts that are left in this round as there is room for, at most so many.
func (p *planner) others(most int) [][2]int {
	order := p.rng.Perm(p.w.hosts)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.onHosts[a], p.onHosts[b]) })
	var round [][2]int
	for _, a := range order {
		if len(round) == most {
			break
		}
		if p.used[a] {
			continue
		}
		if b := p.partner(a); b >= 0 {
			round = append(round, [2]int{a, b})
			p.take(a, b)
			if p.w.graph == nil {
				p.block(a, b)
			}
		}
	}
	return round
}

// block keeps the neighbours of a pair out of the round: without a graph nobody knows
// which links they share.
func (p *planner) block(a, b int) {
	n := p.w.hosts
	from, to := min(p.w.place[a], p.w.place[b]), max(p.w.place[a], p.w.place[b])
	for place := max(0, from-withoutGraph); place <= min(n-1, to+withoutGraph); place++ {
		p.used[p.w.order[place]] = true
	}
}

// partner is the best of some partners of a host, -1 if none of them is free.
func (p *planner) partner(a int) int {
	best, most := -1, 0.0
	look := func(b int) {
		if !p.free(a, b) {
			return
		}
		if gain := p.gain(a, b, &p.try); best < 0 || gain > most {
			best, most = b, gain
		}
	}
	for range partners {
		look(p.w.near(p.rng, a))
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
// and the links have room for its long messages, each way. The path is in p.try then.
func (p *planner) free(a, b int) bool {
	if a == b || p.used[a] || p.used[b] || !p.w.find(&p.try, a, b) {
		return false
	}
	room := true
	p.w.eachArc(&p.try, func(way int, e int32, rate float64) {
		room = room && p.load[way][e]+rate <= p.w.rate[e]*roundingUp
	})
	return room
}

func (p *planner) gain(a, b int, x *path) float64 {
	gain := math.Log1p(1/(p.onHosts[a]+knownBefore)) + math.Log1p(1/(p.onHosts[b]+knownBefore))
	p.w.eachLink(x, func(link int32, share float64) {
		gain += math.Log1p(share * share / (p.onLinks[link] + known))
	})
	p.w.eachArc(x, func(way int, e int32, rate float64) {
		full := (p.load[way][e] + rate) / p.w.rate[e]
		gain += math.Log1p(full * full / (p.onArcs[e] + knownBefore))
	})
	return gain
}

// take reserves a pair in this round and counts what its reading will tell.
func (p *planner) take(a, b int) {
	p.used[a], p.used[b] = true, true
	p.onHosts[a]++
	p.onHosts[b]++
	p.w.find(&p.try, a, b)
	p.w.eachLink(&p.try, func(link int32, share float64) { p.onLinks[link] += share * share })
	p.w.eachArc(&p.try, func(way int, e int32, rate float64) {
		p.load[way][e] += rate
		full := p.load[way][e] / p.w.rate[e]
		p.onArcs[e] += full * full
	})
}

// A target is a host, a link or a direction of a link that is to be measured again.
type target struct {
	pairs [][2]int // that led through it, or may
	host  int      // -1: it is a link
	arcs  []int32  // of the link or direction
	full  float64  // of a direction, the share of its rate from which on a round fills it
}

// isOn tells whether a pair leads through the target, there or back.
func (t *target) isOn(a, b int, x *path) bool {
	on := func(arc int32) bool { return slices.Contains(t.arcs, arc) }
	return a == t.host || b == t.host || slices.ContainsFunc(x.there, on) || slices.ContainsFunc(x.back, on)
}

// fills tells whether the pairs of this round fill a target.
func (p *planner) fills(t *target) bool {
	if t.host >= 0 {
		return p.used[t.host]
	}
	return slices.ContainsFunc(t.arcs, func(e int32) bool {
		busy := max(p.load[0][e], p.load[1][e])
		return busy > 0 && busy >= t.full*p.w.rate[e]
	})
}

// tries is how many pairs are tried to find one that leads through a target: on a fat tree whose
// routes are hashed one in tens does.
const tries = 200

// narrow is a round of pairs through each of the targets, and of as many controls: pairs of the same length that do not
// lead through the target. What they read tells the load at that time. Hosts that are left meet as in a screening: they are
// controls, too, and what is slow now and then shows. At most so many pairs in all.
func (p *planner) narrow(targets []target, most int) [][2]int {
	p.begin()
	var round [][2]int
	add := func(a, b int) {
		round = append(round, [2]int{a, b})
		p.take(a, b)
	}
	for _, i := range p.rng.Perm(len(targets)) {
		t := &targets[i]
		for len(round)+2 <= most && !p.fills(t) {
			a, b := p.through(t)
			if a < 0 {
				break
			}
			add(a, b)
			if a, b = p.control(t, a, b); a >= 0 {
				add(a, b)
			}
		}
	}
	return append(round, p.others(most-len(round))...)
}

// control is a free pair that does not lead through a target, if possible of the length of a pair that does.
func (p *planner) control(t *target, through, other int) (int, int) {
	p.w.find(&p.try, through, other)
	length := p.w.oneWay(&p.try)
	return p.draw(func() (a, b int) {
		a = p.rng.IntN(p.w.hosts)
		return a, p.w.near(p.rng, a)
	}, func(a, b int) bool {
		return !t.isOn(a, b, &p.try) && math.Abs(p.w.oneWay(&p.try)-length) <= gapAlike*length
	})
}

// through is a free pair through a target: one end of a pair that was, with any partner, and else
// a pair that was.
func (p *planner) through(t *target) (int, int) {
	return p.draw(func() (a, b int) {
		a, b = t.pairs[p.rng.IntN(len(t.pairs))][0], t.pairs[p.rng.IntN(len(t.pairs))][1]
		switch p.rng.IntN(4) {
		case 0:
			b = p.w.near(p.rng, a)
		case 1:
			a = p.w.near(p.rng, b)
		}
		return a, b
	}, func(a, b int) bool { return t.isOn(a, b, &p.try) })
}

// draw picks pairs until one is free and wanted; -1 if none of many is.
func (p *planner) draw(pick func() (a, b int), wanted func(a, b int) bool) (int, int) {
	for range tries {
		if a, b := pick(); p.free(a, b) && wanted(a, b) {
			return a, b
		}
	}
	return -1, -1
}
