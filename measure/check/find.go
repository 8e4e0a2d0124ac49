package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	screenings     = 8  // rounds of all hosts; 6 lose one slow cable among 3,072 in twenty at 3 % of noise
	narrowings     = 32 // rounds of few pairs: as many fresh measurements of what is doubtful
	loadScreenings = 20 // the same under load
	loadNarrowings = 44 // of all hosts, too
	secondLook     = 8  // narrowing rounds after which what comes and goes is looked for again
	doubtful       = 8  // candidates that are measured again
	intermittent   = 4  // more of them at either look, for what comes and goes
	perRound       = 64 // pairs of a narrowing round
	pairShare      = 0.01
	enoughHere     = 1024 // hosts from which on pairShare of all pairs are read at most
	resters        = 3    // under load one in so many of the hosts that seem slow rests in a narrowing round
	fewLatencies   = 30   // under load a transfer lasts at least as many: ranks leave a barrier within some
)

// spread is into how many rounds a screening is spread without a graph, where neighbours are not
// read at once.
const spread = 4 * withoutGraph

// errEnded is the error of a check, or of a sample, without a measurement.
var errEnded = errors.New("check: nothing was measured before the end of the budget or the signal to stop")

// find checks the hosts of a job by what its oracle measures. In the first part, the screening,
// all hosts are read. Without a graph these are many rounds of pairs that are far from each
// other. Then those few hosts and links are read again that explain best what was slow, and others to compare with. After 8 of
// these rounds, what has been slow now and then joins them, and is tested by the rounds that follow. Pair by pair, of 1,024
// hosts and more it reads at most 1 % of the pairs. Of fewer hosts it reads at most 8 pairs per 2 hosts, and 2,048 more. Under load
// each host sends and receives in each of 64 rounds, but for hosts that seem slow: now and then some of them rest.
//
// When the oracle ends the check early, what was read counts; it is an error if that is
// nothing. O(measurements * length of a route) time and memory, and a factor of 32 to rank.
func find(ctx context.Context, j *job, settings *Settings) (*Result, error) {
	f, err := newFinder(ctx, j, settings, 0x636865636b) // "check"
	if err != nil {
		return nil, err
	}
	r, w := f.r, f.r.w
	rounds, later := screenings, narrowings
	pairs := rounds * (w.hosts / 2) // of the screening
	switch {
	case w.load:
		rounds, later, pairs = loadScreenings, loadNarrowings, math.MaxInt
	case w.graph == nil:
		rounds *= spread
	}
	for i := range rounds {
		f.plan.begin(w.load && i%2 == 0)
		f.plan.others(min(w.hosts, pairs-r.pairs))
		if err := f.round(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(r.samples) == 0 && f.ended:
		return nil, errEnded
	case len(r.samples) == 0:
		return nil, fmt.Errorf("check: Settings.Graph: no route leads from any host to another")
	}
	r.screened = len(r.samples)
	r.compare()
	f.pick(r.likelySometimes(nil, intermittent))
	f.pick(r.likely(f.targets, doubtful))
	resting := r.slowHosts(f.targets, f.s.Tolerance)
	if pairs = r.pairs + later*perRound; w.hosts >= enoughHere {
		pairs = min(pairs, int(pairShare*float64(w.hosts)*float64(w.hosts-1)/2))
	}
	for i := range later {
		if i == secondLook {
			r.compare()
			f.pick(r.likelySometimes(f.targets, intermittent))
		}
		if w.load {
			f.planLoaded(i, resting)
		} else {
			f.plan.begin(false)
			most := min(perRound, (pairs-r.pairs)/(later-i))
			f.plan.again(f.goals, most/2)
			f.plan.others(most)
		}
		if err := f.round(); err != nil {
			return nil, err
		}
	}
	r.compare()
	const apart = 0.2 // share of the false alarms for what is tested apart from candidates (Bonferroni): it stands out far
	level := apart * f.s.FalseAlarms
	effects := r.misplacedHosts(f.targets, f.s.Tolerance, level)
	if w.load {
		effects = append(effects, r.couples(resting, f.s.Tolerance, level)...)
	}
	for i := range effects {
		effects[i].P = min(1, effects[i].P/apart)
	}
	for _, e := range r.judge(f.targets, f.s.Tolerance, (1-apart)*f.s.FalseAlarms) {
		e.P = min(1, e.P/(1-apart))
		effects = append(effects, e)
	}
	result := f.result(effects)
	if w.load && j.blocking {
		result.Warnings = append(result.Warnings, "the communicator cannot send and receive at once: switches were not filled, and links between them by half of the hosts")
	}
	return result, nil
}

// planLoaded plans round i of the second part under load. Hosts that seem slow rest in some of them. Every third round is of
// neighbours, every third is not, and the others are if hosts seem slow: messages from afar leave their cables empty.
func (f *finder) planLoaded(i int, resting map[int]int32) {
	f.plan.begin(i%3 == 0 || i%3 == 1 && len(resting) > 0)
	left := f.r.w.hosts
	for _, h := range slices.Sorted(maps.Keys(resting)) {
		if f.rng.IntN(resters) == 0 && left > 2 {
			f.plan.sends[h], f.plan.receives[h] = true, true
			left--
		}
	}
	f.plan.others(f.r.w.hosts)
}

// A finder is a check under way.
type finder struct {
	ctx     context.Context
	s       *Settings
	measure oracle
	rng     *rand.Rand
	plan    *planner
	r       *measurements
	done    int // rounds
	ended   bool
	targets []int32
	goals   []target // of them
}

// newFinder prepares a check of a job. Each kind of check has a stream of random numbers of its own.
func newFinder(ctx context.Context, j *job, settings *Settings, stream uint64) (*finder, error) {
	s, err := settings.validate(j.hosts)
	if err != nil {
		return nil, err
	}
	w, err := newWiring(&s, j.hosts, j.names)
	if err != nil {
		return nil, err
	}
	least, usual := w.leastBytes(), defaultBytes
	if s.Load {
		const mega = 1 << 20
		usual = max(loadBytes, min(math.MaxInt32, (least+mega-1)/mega*mega))
	}
	if j.bytes = cmp.Or(s.Bytes, usual); j.bytes < least {
		return nil, fmt.Errorf("check: Settings.Bytes: %d: want at least %d with Load, or ranks do not transfer at once", j.bytes, least)
	}
	r, err := newMeasurements(w, j.bytes)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	rng := rand.New(rand.NewPCG(s.Seed, stream))
	return &finder{ctx: ctx, s: &s, measure: j.measure, rng: rng, plan: newPlanner(w, rng, j.blocking), r: r}, nil
}

// round measures the pairs that are planned.
func (f *finder) round() error {
	f.r.w.sortBySwitches(f.plan.pairs)
	read, err := f.ask(f.plan.pairs)
	if err != nil || read == nil {
		return err
	}
	if err := f.r.add(f.plan.pairs, read, f.plan.learn); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, t := range f.goals { // of what is doubtful it is never enough
		for _, c := range t.channels {
			f.plan.onChannels[c] = 0
		}
	}
	return nil
}

// ask lets the oracle measure pairs in one round. It returns nothing if there are none, or if the check has ended.
func (f *finder) ask(pairs [][2]int) ([]measurement, error) {
	if f.ended || len(pairs) == 0 {
		return nil, nil
	}
	read, err := f.measure(f.ctx, pairs)
	switch {
	case err != nil:
		return nil, err
	case len(read) == 0:
		f.ended = true
		return nil, nil
	case len(read) != len(pairs):
		return nil, fmt.Errorf("check: %d measurements of %d pairs", len(read), len(pairs))
	}
	f.done++
	return read, nil
}

// pick lets candidates be measured again, and tested by the measurements that follow.
func (f *finder) pick(candidates []int32) {
	for _, c := range candidates {
		f.r.tested[c] = len(f.r.samples)
		f.targets, f.goals = append(f.targets, c), append(f.goals, f.r.target(c))
	}
}

// target is what the planner needs to measure a candidate again.
func (r *measurements) target(candidate int32) target {
	t := target{candidate: &r.c.all[candidate]}
	for s := range r.ofAll(candidate) {
		t.pairs = append(t.pairs, [2]int{s.from, s.to})
	}
	for h := range r.w.hosts { // to the hosts beside it, too: one that hangs elsewhere is far from them
		if at := r.w.switchOf(h); r.w.isHost(t.place) && h != t.u && at >= 0 && at == r.w.switchOf(t.u) {
			t.pairs = append(t.pairs, [2]int{t.u, h}, [2]int{h, t.u})
		}
	}
	return t
}
