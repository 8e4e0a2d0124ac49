package check

import (
	"context"
	"fmt"
	"math/rand/v2"
)

const (
	screenings   = 8    // rounds of all hosts; 6 lose one slow cable among 3,072 in twenty at 3 % of noise
	narrowings   = 32   // rounds of few pairs: as many fresh readings of what is doubtful
	secondLook   = 8    // narrowing rounds after which what comes and goes is looked for again
	doubtful     = 16   // candidates that are measured again
	intermittent = 4    // of them at either look, for what comes and goes
	nearlyFull   = 0.95 // of a link's rate, in narrowing rounds
	perRound     = 64   // pairs of a narrowing round
	pairShare    = 0.01
	enoughHere   = 1024 // hosts from which on pairShare of all pairs are read at most
)

// spread is into how many rounds a screening is spread without a graph, where neighbours are not
// read at once.
const spread = 4 * withoutGraph

// find checks a machine of so many hosts by what an oracle measures. In the first part
// all hosts are read, in rounds of disjoint pairs. Without a graph these are many rounds of pairs that are far from each
// other. Then those few hosts and links are read again that explain best what was slow. After a quarter of these rounds, what
// has been slow now and then joins them, and is tested by the rounds that follow. Of 1,024 hosts and more it reads at
// most 1 % of the pairs. Of fewer hosts it reads at most 8 pairs per 2 hosts, and 2,048 more.
//
// When the oracle ends the check early, what was read counts; it is an error if that is
// nothing. O(readings * length of a route) time and memory, and a factor of 32 to rank.
func find(ctx context.Context, hosts int, measure oracle, settings *Settings) (*Result, error) {
	f, rng, err := newFinder(ctx, hosts, measure, settings, 0x636865636b) // "check"
	if err != nil {
		return nil, err
	}
	w := f.r.w
	p := newPlanner(w, rng)
	round := func(pairs [][2]int) error {
		read, err := f.ask(pairs)
		f.r.add(p, pairs[:len(read)], read)
		return err
	}
	rounds, screened := screenings, screenings*(w.hosts/2) // pairs
	if w.graph == nil {
		rounds *= spread
	}
	f.total = rounds + narrowings
	err = f.screen(rounds, func() error { return round(p.screen(min(w.hosts/2, screened-f.r.pairs))) })
	if err != nil {
		return nil, err
	}
	f.total = f.done + narrowings
	left := narrowings * perRound
	if n := w.hosts; n >= enoughHere {
		left = min(left, int(pairShare*float64(n)*float64(n-1)/2)-f.r.pairs)
	}
	goals := make([]target, len(f.targets))
	for i, c := range f.targets {
		goals[i] = f.r.target(c)
	}
	for i := range narrowings {
		if i == secondLook {
			f.r.compare()
			f.r.late = map[int32]int{}
			for _, c := range f.r.likelySometimes(f.targets, intermittent) {
				f.r.late[c] = len(f.r.samples)
				f.targets = append(f.targets, c)
				goals = append(goals, f.r.target(c))
			}
		}
		pairs := p.narrow(goals, min(perRound, left/(narrowings-i)))
		left -= len(pairs)
		if err := round(pairs); err != nil {
			return nil, err
		}
	}
	f.r.compare()
	return f.finish(f.r.misplacedHosts(f.s.Tolerance, f.s.FalseAlarms)), nil
}

// A finder is a check under way.
type finder struct {
	ctx     context.Context
	s       *Settings
	measure oracle
	r       *readings
	done    int // rounds
	total   int // of them, an estimate
	ended   bool
	targets []int32
}

// newFinder prepares a check of so many hosts. Each kind of check has a stream of random numbers of its own.
func newFinder(ctx context.Context, hosts int, measure oracle, settings *Settings, stream uint64) (*finder, *rand.Rand, error) {
	s, err := settings.validate(hosts)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWiring(&s, hosts)
	if err != nil {
		return nil, nil, err
	}
	f := &finder{ctx: ctx, s: &s, measure: measure, r: &readings{w: w, c: newCandidates(w), bytes: float64(s.Bytes)}}
	return f, rand.New(rand.NewPCG(s.Seed, stream)), nil
}

// ask lets the oracle measure pairs in one round. It returns nothing if there are none, or if the check has ended.
func (f *finder) ask(pairs [][2]int) ([]reading, error) {
	if f.ended || len(pairs) == 0 {
		return nil, nil
	}
	if f.s.Progress != nil {
		f.s.Progress(f.done, f.total)
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

// screen is the first part: so many rounds, which tell what is doubtful.
func (f *finder) screen(rounds int, round func() error) error {
	for range rounds {
		if err := round(); err != nil {
			return err
		}
	}
	if len(f.r.samples) == 0 {
		return fmt.Errorf("check: nothing was read before the end of the budget or the context")
	}
	f.r.screened = len(f.r.samples)
	f.r.compare()
	f.targets = f.r.likely(doubtful - intermittent)
	return nil
}

// finish tests what is doubtful, once all samples are compared, and makes the result.
func (f *finder) finish(certain []effect) *Result {
	if f.s.Progress != nil {
		f.s.Progress(f.done, f.done)
	}
	return f.result(append(certain, f.r.judge(f.targets, f.s.Tolerance, f.s.FalseAlarms)...))
}

// target is what the planner needs to measure a candidate again.
func (r *readings) target(candidate int32) target {
	t := target{host: -1}
	r.crossed(candidate, 0, len(r.samples), func(s *sample, _ *crossing) { t.pairs = append(t.pairs, [2]int{s.from, s.to}) })
	if at := r.c.placeOf(candidate); at.v < 0 { // to the hosts beside it, too: one that hangs elsewhere is far from them
		for _, h := range r.besides(at.u) {
			t.pairs = append(t.pairs, [2]int{at.u, h}, [2]int{h, at.u})
		}
	}
	switch what, i := r.c.what(candidate); what {
	case slowLink:
		t.arcs = r.c.channelsOf(candidate)
	case slowRate:
		t.arcs, t.full = r.c.channelsOf(candidate), nearlyFull
	default:
		t.host = i
	}
	return t
}
