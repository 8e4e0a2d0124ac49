package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

const (
	screenings = 8    // rounds of all hosts; 6 lose one slow cable among 3,072 in twenty at 3 % of noise
	narrowings = 32   // rounds of few pairs: as many fresh readings of what is doubtful
	doubtful   = 16   // candidates that are measured again
	nearlyFull = 0.95 // of a link's rate, in narrowing rounds
	perRound   = 64   // pairs of a narrowing round, half of them controls
	pairShare  = 0.01
	enoughHere = 1024 // hosts from which on pairShare of all pairs are read at most
)

// spread is into how many rounds a screening is spread without a graph, where neighbours are not
// read at once.
const spread = 4 * withoutGraph

// Find checks a machine of so many hosts by what the oracle reads. In the first part
// all hosts are read, in rounds of disjoint pairs (without a graph, in many rounds of pairs that are far from each other); then those few hosts and links again that explain
// best what was slow. Of 1,024 hosts and more it reads at most 1 % of the pairs, of fewer
// hosts at most 8 pairs per 2 hosts and 1,024 more.
//
// When the oracle ends the check early, what was read counts; it is an error if that is
// nothing. O(readings * length of a route) time and memory, and a factor of 32 to rank.
func Find(ctx context.Context, hosts int, oracle Oracle, settings *Settings) (*Result, error) {
	s, err := settings.validate(hosts)
	if err != nil {
		return nil, err
	}
	w, err := newWiring(&s, hosts)
	if err != nil {
		return nil, err
	}
	f := &finder{ctx: ctx, s: &s, oracle: oracle, r: &readings{w: w, c: newCandidates(w), bytes: float64(s.Bytes)}}
	f.r.explain = f.r.explainAlone
	f.p = newPlanner(w, rand.New(rand.NewPCG(s.Seed, 0x636865636b))) // "check": a stream of its own
	if err := f.run(); err != nil {
		return nil, err
	}
	return f.result(), nil
}

// A finder is a check under way.
type finder struct {
	ctx     context.Context
	s       *Settings
	oracle  Oracle
	p       *planner
	r       *readings
	done    int // rounds
	total   int // of them, an estimate
	ended   bool
	targets []int32
	effects []effect

	misplaced []misplaced
	loaded    bool     // all hosts were busy
	couples   []couple // of a busy machine
}

func (f *finder) run() error {
	f.total = screenings + narrowings
	screened := screenings * (f.r.w.hosts / 2) // pairs
	if f.r.w.graph == nil {
		f.total = screenings*spread + narrowings
	}
	for f.done < f.total-narrowings && f.r.pairs < screened && !f.ended {
		if err := f.round(f.p.screen(min(f.r.w.hosts/2, screened-f.r.pairs))); err != nil {
			return err
		}
	}
	f.total = f.done + narrowings
	if len(f.r.samples) == 0 {
		return fmt.Errorf("check: nothing was read before the end of the budget or the context")
	}
	f.r.screened = len(f.r.samples)
	f.r.compare()
	f.targets = f.r.likely(doubtful)
	left := narrowings * perRound
	if n := f.r.w.hosts; n >= enoughHere {
		left = min(left, int(pairShare*float64(n)*float64(n-1)/2)-f.r.pairs)
	}
	goals := make([]target, len(f.targets))
	for i, c := range f.targets {
		goals[i] = f.target(c)
	}
	for i := range narrowings {
		round := f.p.narrow(goals, min(perRound, left/(narrowings-i)))
		left -= len(round)
		if err := f.round(round); err != nil {
			return err
		}
	}
	f.r.compare()
	f.misplaced = f.r.misplacedHosts(f.s.Tolerance, f.s.FalseAlarms)
	f.effects = f.r.judge(f.targets, f.s.Tolerance, f.s.FalseAlarms)
	if f.s.Progress != nil {
		f.s.Progress(f.done, f.done)
	}
	return nil
}

// round lets the oracle read a round.
func (f *finder) round(pairs [][2]int) error {
	if f.s.Progress != nil {
		f.s.Progress(f.done, f.total)
	}
	f.done++
	if f.ended || len(pairs) == 0 {
		return nil
	}
	read, err := f.oracle(f.ctx, pairs)
	switch {
	case err != nil:
		return err
	case len(read) == 0:
		f.ended = true
		return nil
	case len(read) != len(pairs):
		return fmt.Errorf("check: %d measurements of %d pairs", len(read), len(pairs))
	}
	f.r.add(f.p, pairs, read)
	return nil
}

// target is what the planner needs to read a candidate again.
func (f *finder) target(candidate int32) target {
	r, p := f.r, f.p
	var t target
	r.crossed(candidate, 0, r.screened, func(s *sample, _ *crossing) { t.pairs = append(t.pairs, [2]int{s.from, s.to}) })
	if at := r.c.placeOf(candidate); at.v < 0 { // to the hosts beside it, too: one that hangs elsewhere is far from them
		for _, h := range r.besides(at.u) {
			t.pairs = append(t.pairs, [2]int{at.u, h}, [2]int{h, at.u})
		}
	}
	what, i := r.c.what(candidate)
	switch what {
	case slowRate:
		arc := int32(i)
		t.through = func(_, _ int, x *path) bool { return slices.Contains(x.there, arc) || slices.Contains(x.back, arc) }
		t.fills = func() bool { return max(p.load[0][arc], p.load[1][arc]) >= nearlyFull*r.w.rate[arc] }
	case slowLink:
		on := func(arc int32) bool { return r.w.link[arc] == int32(i) }
		t.through = func(_, _ int, x *path) bool {
			return slices.ContainsFunc(x.there, on) || slices.ContainsFunc(x.back, on)
		}
		ends := r.w.links[i]
		there, back := r.w.graph.ArcIndex(ends[0], ends[1]), r.w.graph.ArcIndex(ends[1], ends[0])
		t.fills = func() bool {
			busy := 0.0
			for _, arc := range [...]int{there, back} {
				if arc >= 0 {
					busy += p.load[0][arc] + p.load[1][arc]
				}
			}
			return busy > 0
		}
	default:
		t.through = func(a, b int, _ *path) bool { return a == i || b == i }
		t.fills = func() bool { return p.used[i] }
	}
	return t
}
