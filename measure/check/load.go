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
func findUnderLoad(ctx context.Context, hosts int, measure oracle, settings *Settings, both bool) (*Result, error) {
	f, rng, err := newFinder(ctx, hosts, measure, settings.underLoad(), 0x6c6f6164) // "load"
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
		read, err := f.ask(transfers)
		if err != nil || read == nil {
			return err
		}
		if err := l.add(transfers, read); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		plan.learn(l.usage, f.targets, f.r.c)
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

// A loader knows what the transfers of a busy machine should take, and what they depend on. Transfers take shares of arcs and
// of switches.
type loader struct {
	r      *readings
	rounds [][]contention.Flow
	slow   []float64 // per arc and switch: the product of the factors that were found

	users []int     // per arc and switch in the last round
	usage []float64 // B/s, when all of it begins
	level []float64 // B/s: what its fastest transfer gets then
}

// newLoader makes readings those of a busy machine.
func newLoader(r *readings) *loader {
	n := len(r.w.capacity)
	r.busy = &loader{r: r, slow: slices.Repeat([]float64{1}, n), users: make([]int, n), usage: make([]float64, n), level: make([]float64, n)}
	return r.busy
}

// add takes over the times of a round.
func (l *loader) add(transfers [][2]int, read []reading) error {
	r := l.r
	flows, routes := make([]contention.Flow, len(transfers)), make([][]int32, len(transfers))
	for i, t := range transfers {
		var err error
		if routes[i], err = r.w.routes.AppendRoute(nil, t[0], t[1]); err != nil {
			return err
		}
		flows[i] = contention.Flow{Data: r.w.addSwitches(routes[i]), Bytes: r.bytes}
	}
	l.rounds = append(l.rounds, flows)
	solver, err := contention.NewSolver(r.w.capacity, nil)
	if err != nil {
		return err
	}
	rates, err := l.share(solver, flows)
	if err != nil {
		return err
	}
	nominal, err := contention.NewPlayback(solver).Times(nil, flows)
	if err != nil {
		return err
	}
	for i, t := range transfers {
		r.pairs++
		r.addSample(sample{
			kind: ofRate, group: int32(r.groups), from: t[0], to: t[1], value: read[i].Forward, nominal: nominal[i],
			limit: l.limit(routes[i]), flow: i, route: routes[i],
		}, func(s *sample) {
			for _, k := range flows[i].Data {
				full := min(1, rates[i]/l.level[k]*l.usage[k]/r.w.capacity[k])
				switch isArc := k < r.c.arcs; {
				case isArc && full >= nearlyFilled:
					r.cross(s, r.c.ofArc(k), 1, full)
					r.cross(s, r.c.ofLink(r.w.link[k]), 1, full)
				case !isArc && full >= fullEnough:
					r.cross(s, r.c.ofArc(k), 1, full) // switches are numbered behind the arcs
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

// explain takes out of the samples what a candidate that is slower by a factor makes of all transfers: also of those that
// have more of other links, as those over it have less. All rounds are played over links and switches as slow as they were
// found to be.
func (l *loader) explain(candidate int32, factor float64) {
	channels := l.r.c.channelsOf(candidate)
	if channels == nil {
		l.r.explain(candidate, factor, true)
		return
	}
	capacity := slices.Clone(l.r.w.capacity)
	for _, k := range channels {
		l.slow[k] *= factor
	}
	for k := range capacity {
		capacity[k] /= l.slow[k]
	}
	solver, err := contention.NewSolver(capacity, nil)
	if err != nil {
		return // with one more slow link they play as they did before
	}
	player := contention.NewPlayback(solver)
	var times []float64
	round := int32(-1)
	for i := range l.r.samples {
		s := &l.r.samples[i]
		if s.group != round {
			round = s.group
			if times, err = player.Times(times[:0], l.rounds[round]); err != nil {
				return
			}
		}
		s.excess -= math.Log(times[s.flow] / s.nominal)
		s.nominal = times[s.flow]
	}
}

// share finds the rates of transfers while all are under way, and how full they make links and switches.
func (l *loader) share(solver *contention.Solver, flows []contention.Flow) (rates []float64, err error) {
	clear(l.users)
	clear(l.usage)
	clear(l.level)
	ids := make([]int, len(flows))
	for i := range flows {
		if ids[i], err = solver.Add(flows[i].Data, nil, math.Inf(1), 1); err != nil {
			return nil, err
		}
	}
	solver.Solve(nil)
	for i, id := range ids {
		rate := solver.Rate(id)
		rates = append(rates, rate)
		for _, k := range flows[i].Data {
			l.users[k]++
			l.usage[k] += rate
			l.level[k] = max(l.level[k], rate)
		}
	}
	for _, id := range ids {
		solver.Remove(id)
	}
	return rates, nil
}
