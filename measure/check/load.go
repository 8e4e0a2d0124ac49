package check

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/model/contention"
)

// Under load a transfer depends on all others of its round. What it should take follows from fair sharing of the links
// (package contention), which is played once for each round. A link that is found to be slow changes the times of transfers
// that never cross it. So all rounds are played again when a link is named.

const (
	loadScreenings = 20      // rounds that tell what is doubtful
	loadRounds     = 64      // in all; those after the screening test it
	resters        = 3       // one in so many of the hosts that seem slow rests in a round of the second part
	nearlyFilled   = 0.8     // of what a link or switch can carry: one that is slower by a quarter shows
	loadBytes      = 4 << 20 // B
	fewLatencies   = 30      // a transfer lasts at least as many: ranks leave a barrier within some
)

// findUnderLoad checks a machine of so many hosts while it is busy: what passes alone and fails together. In each of 64
// rounds every host sends and receives, so that links, switches and hosts are as full as they can be. What a transfer
// should take is what fair sharing of the links makes of its round. As in find the first rounds tell what is doubtful. Those
// after them test it by new measurements, less those of the same round which do not depend on it. Where two doubtful
// hosts are slow only while both transfer, the two together are named.
//
// The settings need a graph. Bytes is 4 MiB by default. Unless hosts do both at once, each sends or receives. O(rounds * hosts * length of a route) memory.
func findUnderLoad(ctx context.Context, hosts int, measure oracle[float64], settings *Settings, both bool) (*Result, error) {
	f, rng, err := newFinder(ctx, hosts, settings.underLoad(), 0x6c6f6164) // "load"
	if err != nil {
		return nil, err
	}
	s, w := f.s, f.r.w
	if w.graph == nil {
		return nil, fmt.Errorf("check: Settings.Graph: want the wiring: without it nobody knows what transfers share")
	}
	if err := w.longEnough(s.Bytes); err != nil {
		return nil, err
	}
	l, plan := newLoader(f.r), newLoadPlanner(w, rng, both)
	var resting []int // hosts that seem slow: now and then some of them rest
	round := func() error {
		transfers := plan.round(func(host int) bool { return slices.Contains(resting, host) && rng.IntN(resters) == 0 })
		if len(transfers) == 0 {
			return fmt.Errorf("check: Settings.Graph: no route leads from any host to another")
		}
		times, err := ask(f, measure, transfers)
		if err != nil || times == nil {
			return err
		}
		if err := l.add(transfers, times); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		plan.learn(l.usage, l.volume, f.targets, f.r.c)
		return nil
	}
	f.total = loadRounds
	if err := f.screen(loadScreenings, round); err != nil {
		return nil, err
	}
	resting = f.r.slowHosts(f.targets, s.Tolerance)
	plan.focus(f.targets, f.r.c)
	for range loadRounds - loadScreenings {
		if err := round(); err != nil {
			return nil, err
		}
	}
	f.r.compare()
	couples := f.r.couples(resting, s.Tolerance, s.FalseAlarms)
	for _, x := range couples {
		f.r.explainCouple(x)
	}
	result := f.finish(couples)
	if !both {
		result.Warnings = append(result.Warnings, "the communicator cannot send and receive at once: switches were not filled, and links between them by half of the hosts")
	}
	return result, nil
}

// longEnough refuses transfers that do not outlast the moment in which ranks leave a barrier.
func (w *wiring) longEnough(bytes int) error {
	if !w.specified[ofLatency] || !w.specified[ofRate] {
		return nil
	}
	longest, fastest := 0.0, 0.0 // s, B/s
	var x path
	for h := range w.hosts {
		for _, apart := range [...]int{1, w.hosts / 2} {
			if w.find(&x, h, w.order[(w.place[h]+apart)%w.hosts]) {
				longest, fastest = max(longest, w.oneWay(&x)), max(fastest, w.slowest(x.there))
			}
		}
	}
	if least := fewLatencies * longest * fastest; float64(bytes) < least {
		return fmt.Errorf("check: Settings.Bytes: %d take %.3g s, with latencies up to %.3g s: want at least %.0f, or ranks do not transfer at once",
			bytes, float64(bytes)/fastest, longest, math.Ceil(least))
	}
	return nil
}

// A loader knows what the transfers of a busy machine should take, and what they depend on.
type loader struct {
	r      *readings
	rounds [][]contention.Flow
	slow   []float64 // per candidate that is an arc or a switch: the product of the factors that were found

	users   []int     // per arc in the last round
	usage   []float64 // B/s per arc in the last round, when all of it begins
	level   []float64 // B/s per arc: what its fastest transfer gets then
	volume  []float64 // B/s per vertex
	fastest []float64 // B/s per vertex: what its fastest transfer gets
}

// newLoader makes readings those of a busy machine.
func newLoader(r *readings) *loader {
	vertices, arcs := r.w.graph.Vertices(), r.w.graph.NumArcs()
	r.busy = &loader{
		r: r, slow: slices.Repeat([]float64{1}, int(r.c.size)),
		users: make([]int, arcs), usage: make([]float64, arcs), level: make([]float64, arcs),
		volume: make([]float64, vertices), fastest: make([]float64, vertices),
	}
	return r.busy
}

// add takes over the times of a round.
func (l *loader) add(transfers [][2]int, times []float64) error {
	r := l.r
	flows := make([]contention.Flow, len(transfers))
	for i, t := range transfers {
		route, err := r.w.routes.AppendRoute(nil, t[0], t[1])
		if err != nil {
			return err
		}
		flows[i] = contention.Flow{Data: route, Bytes: r.bytes}
	}
	l.rounds = append(l.rounds, flows)
	player, rates, err := l.play(flows)
	if err != nil {
		return err
	}
	nominal, err := player.Times(nil, flows)
	if err != nil {
		return err
	}
	for i, t := range transfers {
		r.pairs++
		r.addSample(sample{
			kind: ofRate, group: int32(r.groups), from: t[0], to: t[1], value: times[i], nominal: nominal[i], share: 1,
			limit: l.limit(flows[i].Data), flow: i, route: flows[i].Data,
		}, func(s *sample) {
			for _, e := range s.route {
				full := rates[i] / l.level[e] * l.usage[e] / r.w.rate[e]
				l.cross(s, r.c.ofArc(e), full, nearlyFilled)
				l.cross(s, r.c.ofLink(r.w.link[e]), full, nearlyFilled)
				if v := r.w.graph.Arcs()[e].To; v >= r.w.hosts {
					l.cross(s, r.c.ofSwitch(v), rates[i]/l.fastest[v]*l.volume[v]/r.w.ports[v], fullEnough)
				}
			}
			r.crossEnds(s)
		})
	}
	r.groups++
	return nil
}

// A limit is what bounds the rate of a transfer, as far as others may be like it: whether that is the link of a host, 1 or 0;
// its rate, as twice the logarithm to the base 2; and how many transfers share it, as a number of bits. Zero: none is known.
type limit [3]int

func (l *loader) limit(route []int32) limit {
	w, least := l.r.w, route[0]
	most := func(e int32) float64 { return l.level[e] * w.rate[e] / l.usage[e] } // B/s: what a transfer over it could get
	for _, e := range route {
		if most(e) < most(least) {
			least = e
		}
	}
	cable := 0
	if a := w.graph.Arcs()[least]; a.From < w.hosts || a.To < w.hosts {
		cable = 1
	}
	return limit{cable, int(math.Round(2 * math.Log2(w.rate[least]))), bits.Len(uint(l.users[least]))}
}

func (l *loader) cross(s *sample, candidate int32, full, least float64) {
	if full = min(1, full); full >= least {
		l.r.cross(s, candidate, 1, full)
	}
}

// player plays transfers over links and switches, as slow as they were found to be. A switch that was found slow is a
// channel of its own, which its transfers get.
func (l *loader) player(flows []contention.Flow) (*contention.Solver, []contention.Flow, error) {
	w, c := l.r.w, l.r.c
	capacity := make([]float64, len(w.rate))
	for e, rate := range w.rate {
		capacity[e] = rate / l.slow[c.ofArc(int32(e))]
	}
	channel := map[int]int32{}
	for v := w.hosts; v < w.graph.Vertices(); v++ {
		if slow := l.slow[c.ofSwitch(v)]; slow > 1 {
			channel[v] = int32(len(capacity))
			capacity = append(capacity, l.r.w.ports[v]/slow)
		}
	}
	if len(channel) > 0 {
		flows = slices.Clone(flows)
		for i := range flows {
			data := slices.Clone(flows[i].Data)
			for _, e := range flows[i].Data {
				if ch, slow := channel[w.graph.Arcs()[e].To]; slow {
					data = append(data, ch)
				}
			}
			flows[i].Data = data
		}
	}
	solver, err := contention.NewSolver(capacity, nil)
	return solver, flows, err
}

// explain takes out of the samples what a candidate that is slower by a factor makes of all transfers: also of those that
// have more of other links, as those over it have less.
func (l *loader) explain(candidate int32, factor float64) {
	switch what, _ := l.r.c.what(candidate); what {
	case slowLink, slowRate:
		for _, arc := range l.r.c.arcsOf(candidate) {
			l.slow[l.r.c.ofArc(arc)] *= factor
		}
	case slowSwitch:
		l.slow[candidate] *= factor
	default:
		l.r.explain(candidate, factor, true)
		return
	}
	var times []float64
	round := int32(-1)
	for i := range l.r.samples {
		s := &l.r.samples[i]
		if s.group != round {
			round = s.group
			solver, flows, err := l.player(l.rounds[round])
			if err == nil {
				times, err = contention.NewPlayback(solver).Times(times[:0], flows)
			}
			if err != nil {
				return // with one more slow link they play as they did before
			}
		}
		s.excess -= math.Log(times[s.flow] / s.nominal)
		s.nominal = times[s.flow]
	}
}

// play finds the rates of transfers while all are under way, and how full they make links and switches.
func (l *loader) play(flows []contention.Flow) (player *contention.Playback, rates []float64, err error) {
	solver, err := contention.NewSolver(l.r.w.rate, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range [][]float64{l.usage, l.level, l.volume, l.fastest} {
		clear(x)
	}
	clear(l.users)
	ids := make([]int, len(flows))
	for i := range flows {
		if ids[i], err = solver.Add(flows[i].Data, nil, math.Inf(1), 1); err != nil {
			return nil, nil, err
		}
	}
	solver.Solve(nil)
	for i, id := range ids {
		rate := solver.Rate(id)
		rates = append(rates, rate)
		for _, e := range flows[i].Data {
			v := l.r.w.graph.Arcs()[e].To
			l.users[e]++
			l.usage[e] += rate
			l.volume[v] += rate
			l.level[e], l.fastest[v] = max(l.level[e], rate), max(l.fastest[v], rate)
		}
	}
	for _, id := range ids {
		solver.Remove(id)
	}
	return contention.NewPlayback(solver), rates, nil
}
