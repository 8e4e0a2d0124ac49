package reduce

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce/steps"
)

// A key names a decision.
type key struct {
	size int // class of sizes: from 2^(size-1)+1 to 2^size bytes
	root int // class of roots, or steps.AllRanks
}

// A decision is how reductions of a class are done.
type decision struct {
	plan plan // the best of the algorithms
	wins bool // it beats the incumbent

	decided  bool             // false: the time ran out
	stored   bool             // it comes from the network's table, and is not confirmed yet
	programs map[int]*program // of the plan, by root

	// On rank 0.
	measured, incumbent float64 // s, medians of what is used and of the incumbent
	pairs               int     // that these rest on
}

// A plan is one algorithm with the length of its segments.
type plan struct {
	Index     int // of the algorithm among those for its root
	Segment   int `json:",omitempty"` // bytes; 0: whole
	algorithm steps.Algorithm
}

func (r *Reducer) key(bytes, root int) key {
	if root != steps.AllRanks {
		root = table.RootClass(r.classes, root)
	}
	return key{classOf(bytes), root}
}

func classOf(bytes int) int { return bits.Len(uint(bytes - 1)) }

// sampled are the roots from which plans are compared on behalf of a root.
func (r *Reducer) sampled(root int) []int {
	if root == steps.AllRanks {
		return []int{0}
	}
	return tuner.SampleRoots(func(rank int) int { return table.RootClass(r.classes, rank) }, r.comm.Size(), root)
}

// Tune is collective: it decides how vectors of the given sizes in bytes are reduced, for results that all ranks want. The
// first AllreduceSlice of each is then as fast as the next. sizes are equal on all ranks. What is decided already
// stays.
func (r *Reducer) Tune(sizes ...int) error { return r.tune(steps.AllRanks, sizes) }

// TuneRoot is collective: it is Tune for results that a root wants, and those like it.
func (r *Reducer) TuneRoot(root int, sizes ...int) error {
	if err := r.checkRoot(root); err != nil {
		return err
	}
	return r.tune(root, sizes)
}

func (r *Reducer) tune(root int, sizes []int) error {
	for _, size := range sizes {
		if size < 0 {
			return fmt.Errorf("reduce: tune: size %d bytes: want at least 0", size)
		}
	}
	if err := r.usable(); err != nil {
		return err
	}
	if r.exec == nil || r.comm.Size() == 1 {
		return nil
	}
	watch, err := r.stopwatch()
	if err != nil {
		return err
	}
	end := watch.Now() + r.budget()
	for i, size := range sizes {
		if size == 0 {
			continue
		}
		if d := r.decisions[r.key(size, root)]; d != nil && d.decided && !d.stored {
			continue
		}
		left := end - watch.Now() // that of rank 0 counts
		if err := r.first(size, root, byFunction, left/float64(len(sizes)-i)); err != nil {
			return err
		}
	}
	return nil
}

// decide is the decision for vectors of so many bytes; nil if there is nothing to do. The first one of a class is
// collective.
func (r *Reducer) decide(bytes, root, operation int) (*decision, error) {
	if err := r.usable(); err != nil {
		return nil, err
	}
	switch {
	case bytes == 0 || r.comm.Size() == 1:
		return nil, nil
	case r.exec == nil:
		return new(decision), nil // the incumbent
	}
	k := r.key(bytes, root)
	if d := r.decisions[k]; d == nil || d.stored {
		if err := r.first(bytes, root, operation, r.budget()); err != nil {
			return nil, err
		}
	}
	return r.decisions[k], nil
}

// first is collective: it makes the decision for a class. budget is how long that may take in s.
func (r *Reducer) first(bytes, root, operation int, budget float64) error {
	if err := r.agree(bytes, root, operation); err != nil {
		return err
	}
	watch, err := r.stopwatch()
	if err != nil {
		return err
	}
	c := &contest{r: r, watch: watch, values: make([]float64, (bytes+7)/8), root: root, programs: make(map[programAt]*program)}
	if r.settings.Apart {
		c.apart = make([]float64, len(c.values))
	}
	d := r.decisions[r.key(bytes, root)]
	if d != nil && !d.stored { // time was too short for it
		d = nil
	}
	if r.comm.Rank() == 0 {
		d, err = c.search(d, bytes, watch.Now()+budget)
	} else {
		d, err = c.follow()
	}
	if err != nil {
		return r.failed(err)
	}
	d.programs = make(map[int]*program)
	r.decisions[r.key(bytes, root)] = d
	return nil
}

// agree is collective: it returns an error on all ranks if they disagree about a reduction.
func (r *Reducer) agree(bytes, root, operation int) error {
	n, at, op := float64(bytes), float64(root), float64(operation)
	most := []float64{n, -n, at, -at, op, -op}
	if err := share.Binomial(r.comm, 0, r.settings.Tag).Max(most); err != nil {
		return r.failed(err)
	}
	for i, name := range []string{"length in bytes", "root", "reduction"} {
		if most[2*i] != -most[2*i+1] {
			return fmt.Errorf("reduce: rank %d: the ranks disagree about the %s: this rank says %.0f, and the ranks say %.0f to %.0f", r.comm.Rank(), name, []float64{n, at, op}[i], -most[2*i+1], most[2*i])
		}
	}
	return nil
}

// stopwatch is collective when it is called first.
func (r *Reducer) stopwatch() (*tuner.Stopwatch, error) {
	if r.watch == nil {
		watch, err := tuner.NewStopwatch(r.comm, r.settings.Tag, r.hosts, r.settings.Oversubscribed)
		if err != nil {
			return nil, r.failed(err)
		}
		r.watch = watch.Together(func() error { return collective.Barrier(r.incumbent) })
	}
	return r.watch, nil
}

// algorithmsFor are those for a root.
func (r *Reducer) algorithmsFor(root int) []steps.Algorithm {
	if root == steps.AllRanks {
		return r.toAll
	}
	return r.toRoot
}

// withAlgorithm is a plan that rank 0 has told for a root.
func (r *Reducer) withAlgorithm(p plan, root int) plan {
	if p.Index != incumbentPlan {
		p.algorithm = r.algorithmsFor(root)[p.Index]
	}
	return p
}

// incumbentPlan is the Index of the plan that is the incumbent.
const incumbentPlan = -1

// mostTimed is how many plans are timed, the best by prediction.
const mostTimed = 8

// candidates are the plans that are worth timing. Rank 0 alone calls it.
func (r *Reducer) candidates(bytes, root int) (plans []plan) {
	list := predictedOf(r.algorithmsFor(root), root == steps.AllRanks)
	for _, p := range r.evaluator.Shortlist(list, bytes, max(0, root), mostTimed) {
		plans = append(plans, plan{Index: p.Index, Segment: p.Segment})
	}
	return plans
}

// A contest is the making of one decision. Rank 0 has the sessions of package tuner and says in each round what is timed.
// The others follow.
type contest struct {
	r        *Reducer
	watch    *tuner.Stopwatch
	values   []float64
	apart    []float64 // for copies; nil without Settings.Apart
	root     int
	plans    []plan // of rank 0; the incumbent is the first
	programs map[programAt]*program
}

type programAt struct{ index, segment, root int }

// An order is what rank 0 tells the others: to perform a round, or what is decided.
type order struct {
	Plans   []plan
	Roots   []int // nil: it is decided
	Head    bool
	Wins    bool
	Decided bool
}

// follow performs the rounds that rank 0 tells, and returns the decision.
func (c *contest) follow() (*decision, error) {
	for {
		var o order
		if err := c.tell(&o); err != nil {
			return nil, err
		}
		if o.Roots == nil {
			return c.decision(&o), nil
		}
		if _, err := c.round(&o); err != nil {
			return nil, err
		}
	}
}

func (c *contest) tell(o *order) error {
	refused, failed := share.Binomial(c.r.comm, 0, c.r.settings.Tag).TellValue(o, nil)
	return cmp.Or(failed, refused)
}

func (c *contest) decision(o *order) *decision {
	return &decision{plan: c.r.withAlgorithm(o.Plans[0], c.root), wins: o.Wins, decided: o.Decided}
}

// round is collective: it times the plans of an order, one after the other. Rank 0 gets the samples.
func (c *contest) round(o *order) (samples []tuner.Sample, err error) {
	if err := c.watch.Refresh(); err != nil {
		return nil, err
	}
	values := c.values
	if o.Head {
		values = values[:min(len(values), tuner.HeadBytes/8)]
	}
	for _, p := range o.Plans {
		p = c.r.withAlgorithm(p, c.root)
		sample, err := c.watch.Time(func(_ []byte, root int) error {
			if c.root == steps.AllRanks {
				root = c.root
			}
			if p.Index == incumbentPlan {
				return incumbent(c.r, values, mpi.Sum, root)
			}
			at := programAt{p.Index, p.Segment, root}
			if c.programs[at] == nil {
				c.programs[at] = c.r.program(&p, root, 8*len(c.values))
			}
			if c.apart != nil && (root == steps.AllRanks || root == c.r.comm.Rank()) {
				// One copy is of ours. The other is the incumbent's, which cannot be left out there.
				copy(c.apart, values)
				copy(c.apart, values)
			}
			return performProgram(c.r.exec, c.programs[at], values, func(into, from []float64) { collective.Combine(mpi.Sum, into, from) })
		}, nil, o.Roots...)
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

// conduct performs the rounds of a session. Rank 0 alone calls it. Its errors are those of the communicator.
func (c *contest) conduct(s tuner.Session) error {
	for {
		round, on := s.Next(c.watch.Now())
		if !on {
			return nil
		}
		o := order{Roots: round.Roots, Head: round.Head}
		for _, variant := range round.Variants {
			o.Plans = append(o.Plans, c.plans[variant])
		}
		if err := c.tell(&o); err != nil {
			return err
		}
		samples, err := c.round(&o)
		if err != nil {
			return err
		}
		s.Add(samples)
	}
}

// search decides. A stored plan is confirmed first; nil: there is none. If it is not, the candidates are ranked, and the best one
// is refined. What comes out of that has to win a duel with the incumbent.
func (c *contest) search(stored *decision, bytes int, limit float64) (*decision, error) {
	rules := tuner.NewContest(tuner.Settings{Roots: c.r.sampled(c.root), OneHost: c.watch.OneHost(), Oversubscribed: c.r.settings.Oversubscribed, Limit: limit}, c.watch.Now())
	c.plans = []plan{{Index: incumbentPlan}}
	if stored != nil {
		c.plans = append(c.plans, stored.plan)
		if err := c.conduct(rules.WarmUp([]int{0, 1})); err != nil {
			return nil, err
		}
		duel := rules.Confirm(1, 0)
		if err := c.conduct(duel); err != nil {
			return nil, err
		}
		if v := duel.Verdict(); v.Wins {
			return c.conclude(1, v)
		}
		c.plans = c.plans[:1]
	}
	c.plans = append(c.plans, c.r.candidates(bytes, c.root)...)
	if c.r.settings.ModelOnly {
		return c.conclude(1, tuner.Verdict{Wins: true})
	}
	var all []int
	for i := range c.plans {
		all = append(all, i)
	}
	if err := c.conduct(rules.WarmUp(all)); err != nil {
		return nil, err
	}
	best, err := c.best(rules, all[1:])
	if err == nil {
		best, err = c.refine(rules, best, bytes)
	}
	if err != nil {
		return nil, err
	}
	duel := rules.Duel(best, 0)
	if err := c.conduct(duel); err != nil {
		return nil, err
	}
	return c.conclude(best, duel.Verdict())
}

// conclude tells the decision that a verdict on a plan leads to.
func (c *contest) conclude(challenger int, v tuner.Verdict) (*decision, error) {
	end := order{Plans: []plan{c.plans[challenger]}, Wins: v.Wins, Decided: v.Decided}
	d := c.decision(&end)
	d.measured, d.incumbent, d.pairs = v.Incumbent.Cold, v.Incumbent.Cold, v.Pairs
	if v.Wins {
		d.measured = v.Challenger.Cold
	}
	return d, c.tell(&end)
}

// best is the fastest of some plans.
func (c *contest) best(rules *tuner.Contest, plans []int) (int, error) {
	ranking := rules.Rank(plans)
	err := c.conduct(ranking)
	return ranking.Ranked()[0], err
}

// refine halves or doubles the segment for as long as that helps.
func (c *contest) refine(rules *tuner.Contest, best, bytes int) (int, error) {
	tried := map[int]bool{c.plans[best].Segment: true}
	for moved := -1; moved != best; {
		moved = best
		near := []int{best}
		whole := cmp.Or(c.plans[best].Segment, bytes)
		for _, segment := range []int{whole / 2, whole * 2} {
			if segment >= predict.MinSegment && segment < bytes && !tried[segment] {
				tried[segment] = true
				c.plans = append(c.plans, plan{Index: c.plans[best].Index, Segment: segment})
				near = append(near, len(c.plans)-1)
			}
		}
		if len(near) == 1 {
			return best, nil
		}
		var err error
		if best, err = c.best(rules, near); err != nil {
			return best, err
		}
	}
	return best, nil
}

// Chosen tells how vectors of so many bytes are reduced, if that is decided: by the name of an algorithm with its settings, or
// "" for the incumbent. The root is a rank, or steps.AllRanks.
func (r *Reducer) Chosen(bytes, root int) (name string, segment int, decided bool) {
	if bytes < 1 || root != steps.AllRanks && r.checkRoot(root) != nil {
		return "", 0, false
	}
	d := r.decisions[r.key(bytes, root)]
	if d == nil || !d.wins {
		return "", 0, d != nil && d.decided
	}
	return fmt.Sprint(d.plan.algorithm), d.plan.Segment, true
}
