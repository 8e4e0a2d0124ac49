package reduce

import (
	"cmp"
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// Tune is collective: it decides how vectors of the given sizes in bytes are reduced, for results that all ranks want. The
// first AllreduceSlice of each is then as fast as the next. sizes are equal on all ranks. What is decided already
// stays.
func (r *Reducer) Tune(sizes ...int) error { return r.tune(AllRanks, sizes) }

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
	all := r.reductions(sizes, root)
	for i, x := range all {
		if x.bytes == 0 {
			continue
		}
		if d := r.decisions[r.key(x.bytes, x.root)]; d != nil && d.decided && !d.stored {
			continue
		}
		left := end - watch.Now() // that of rank 0 counts
		if err := r.first(x.bytes, x.root, byFunction, left/float64(len(all)-i)); err != nil {
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
	if r.settings.ModelOnly {
		return r.predict(bytes, root)
	}
	watch, err := r.stopwatch()
	if err != nil {
		return err
	}
	values := make([]float64, (bytes+7)/8)
	search := tuner.Search{
		Watch: watch, Bytes: bytes, Roots: r.sampled(root),
		MinSegment: predict.MinSegment, Limit: watch.Now() + budget,
		Compile:    func(v tuner.Variant, root int) func(bytes int) error { return r.timed(v, root, values) },
		Candidates: func() []tuner.Variant { return r.candidates(bytes, root) },
	}
	if d := r.decisions[r.key(bytes, root)]; d != nil && d.stored {
		search.Stored = &d.plan.Variant
	}
	found, err := search.Decide()
	if err != nil {
		return r.failed(err)
	}
	r.decisions[r.key(bytes, root)] = &decision{
		plan: r.planOf(found.Variant, root), wins: found.Wins, decided: found.Decided, programs: make(map[int]*program),
		measured: found.Measured, incumbent: found.Incumbent, pairs: found.Pairs,
	}
	return nil
}

// predict is collective: its decision is what rank 0 predicts to be the fastest. That is not kept: nothing was measured.
func (r *Reducer) predict(bytes, root int) error {
	var best tuner.Variant
	if r.comm.Rank() == 0 {
		best = r.candidates(bytes, root)[0]
	}
	refused, failed := share.Binomial(r.comm, 0, r.settings.Tag).TellValue(&best, nil)
	if err := cmp.Or(failed, refused); err != nil {
		return r.failed(err)
	}
	r.decisions[r.key(bytes, root)] = &decision{plan: r.planOf(best, root), wins: true, programs: make(map[int]*program)}
	return nil
}

// timed returns a function that sums the first so many bytes of values by a variant.
func (r *Reducer) timed(v tuner.Variant, root int, values []float64) func(bytes int) error {
	if v.Index == tuner.Incumbent {
		return func(bytes int) error { return incumbent(r, values[:(bytes+7)/8], mpi.Sum, root) }
	}
	p := r.planOf(v, root)
	program := r.program(&p, root, 8*len(values))
	var apart []float64
	if r.settings.Apart && (root == AllRanks || root == r.comm.Rank()) {
		apart = make([]float64, len(values))
	}
	return func(bytes int) error {
		// One copy is of ours. The other is the incumbent's, which cannot be left out there.
		copy(apart, values[:(bytes+7)/8])
		copy(apart, values[:(bytes+7)/8])
		return performProgram(r.exec, program, values[:(bytes+7)/8], func(into, from []float64) { collective.Combine(mpi.Sum, into, from) })
	}
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
		m := newMeeting(watch, share.Binomial(r.comm, 0, r.settings.Tag), func() error { return collective.Barrier(r.incumbent) })
		r.watch = watch.Together(m.begin)
	}
	return r.watch, nil
}

// mostTimed is how many plans are timed, the best by prediction.
const mostTimed = 8

// candidates are the plans that are worth timing. Rank 0 alone calls it.
func (r *Reducer) candidates(bytes, root int) (plans []tuner.Variant) {
	for _, p := range r.evaluator.Shortlist(r.algorithmsFor(root), bytes, max(0, root), mostTimed) {
		plans = append(plans, tuner.Variant{Index: p.Index, Segment: p.Segment})
	}
	return plans
}

// Chosen tells how vectors of so many bytes are reduced, if that is decided: by the name of an algorithm with its settings, or
// "" for the incumbent. The root is a rank, or AllRanks.
func (r *Reducer) Chosen(bytes, root int) (name string, segment int, decided bool) {
	if bytes < 1 || root != AllRanks && r.checkRoot(root) != nil {
		return "", 0, false
	}
	d := r.decisions[r.key(bytes, root)]
	if d == nil || !d.wins {
		return "", 0, d != nil && d.decided
	}
	return fmt.Sprint(d.plan.algorithm), d.plan.Segment, true
}
