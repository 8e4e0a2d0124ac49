package decisions

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
)

// Decisions are those of one collective.
type Decisions struct {
	*Base
	collective string // of table.Job
	timed      bool   // decisions are made by timing; otherwise each root follows its predictions
	toAll      bool   // there is no root: that of all problems is rank 0
	classes    []int  // of the ranks as roots (table.RootClasses); nil: one
	made       map[key]*Decision

	// What plans follow.
	Catalogue []schedule.Algorithm   // with each of their settings
	searched  [][]schedule.Algorithm // the first of the catalogue, by groups; the others are there for stored choices
}

// A Decision is the plan for a class of sizes and one of roots.
type Decision struct {
	predict.Plan              // without an Algorithm: the incumbent
	Best         predict.Plan // of the algorithms, though the incumbent may have beaten it; without an Algorithm: not known
	Decided      bool         // false: the time ran out, and so the incumbent stays
	Stored       bool         // it comes from the network's table, and is not confirmed yet
	pairs        int          // of samples that it rests on
}

// A key names a decision.
type key struct {
	size int // class of sizes
	root int // class of roots; where nothing is timed, the root
}

// Decisions returns those of a collective of which some algorithms come into question, with what the network's table says. The
// groups of the algorithms that follow none of their own are those of the network. timed says whether decisions are made by timing.
func (b *Base) Decisions(collective string, algorithms []schedule.Algorithm, timed bool) *Decisions {
	d := &Decisions{
		Base: b, collective: collective, timed: timed, toAll: collective == table.Allreduce,
		classes: table.RootClasses(b.Tree()), made: make(map[key]*Decision),
	}
	for _, wanted := range []bool{true, false} {
		for i := range b.Groupings {
			g := &b.Groupings[i]
			if g.Wanted != wanted {
				continue
			}
			list := schedule.Variants(g.along(algorithms), b.Problem(predict.Plan{}, 0, 0))
			d.Catalogue = append(d.Catalogue, list...)
			if wanted && len(list) > 0 {
				d.searched = append(d.searched, list)
			}
		}
	}
	if timed {
		d.takeTuned(b.Tuned[collective])
	}
	return d
}

// Incumbent is the plan that stays unless another one wins, of which nothing is predicted. It has no Algorithm.
func Incumbent() predict.Plan {
	nan := math.NaN()
	return predict.Plan{Index: tuner.Incumbent, Predicted: nan, Measured: nan, MeasuredNative: nan}
}

// PlanOf is a plan that has no times.
func (d *Decisions) PlanOf(v tuner.Variant) predict.Plan {
	p := Incumbent()
	if v.Index != tuner.Incumbent {
		p.Index, p.Algorithm, p.Segment, p.Blocking = v.Index, d.Catalogue[v.Index], v.Segment, v.Blocking
	}
	return p
}

// IsTimed tells whether decisions are made by timing.
func (d *Decisions) IsTimed() bool { return d.timed }

// key is that of the decision for a size of at least 1 and a root.
func (d *Decisions) key(bytes, root int) key {
	switch {
	case d.toAll:
		root = 0
	case d.timed:
		root = d.class(root)
	}
	return key{ClassOf(bytes), root}
}

// class is the class of a rank as a root.
func (d *Decisions) class(rank int) int { return table.RootClass(d.classes, rank) }

// AreAlike tells whether two roots share their decisions.
func (d *Decisions) AreAlike(a, b int) bool { return d.key(1, a) == d.key(1, b) }

// Of is the decision for a size of at least 1 and a root; nil: there is none.
func (d *Decisions) Of(bytes, root int) *Decision { return d.made[d.key(bytes, root)] }

// Set makes a decision the one for the class of a size and a root; nil: it is to be made anew.
func (d *Decisions) Set(bytes, root int, decision *Decision) {
	if d.made[d.key(bytes, root)] = decision; decision == nil {
		delete(d.made, d.key(bytes, root))
	}
}

// Roots are the first ranks of the classes of roots.
func (d *Decisions) Roots() (roots []int) {
	seen := make(map[int]bool)
	for rank := range d.Comm.Size() {
		if class := d.class(rank); !seen[class] {
			seen[class] = true
			roots = append(roots, rank)
		}
	}
	return roots
}

// sampled are the roots from which plans are compared on behalf of a root.
func (d *Decisions) sampled(root int) []int {
	if d.toAll {
		return []int{0}
	}
	return tuner.SampleRoots(d.class, d.Comm.Size(), root)
}

// mostTimed is how many plans are timed first, the best by prediction and different from each other. Where overheads were
// not measured, predictions guess them, and order plans for short messages no better than within a third.
const mostTimed = 8

// Shortlist are the plans of the class of the size that are worth timing: as many along each of the groups. Rank 0 alone calls it.
func (d *Decisions) Shortlist(bytes, root int) (plans []tuner.Variant) {
	from := 0
	for _, list := range d.searched {
		for _, p := range d.Evaluator().Shortlist(list, ClassBytes(bytes), root, max(1, mostTimed/len(d.searched))) {
			plans = append(plans, tuner.Variant{Index: from + p.Index, Segment: p.Segment})
		}
		from += len(list)
	}
	return plans
}

// Fastest is collective: it returns the plan that rank 0 predicts to be the fastest.
func (d *Decisions) Fastest(bytes, root int) (predict.Plan, error) {
	var best tuner.Variant
	if d.Control.IsRoot() {
		best = d.Shortlist(bytes, root)[0]
	}
	refused, failed := d.Control.TellValue(&best, nil)
	return d.PlanOf(best), cmp.Or(failed, refused)
}

// Candidates is collective: it returns each algorithm with its best plan by prediction, the fastest first. They are those
// of rank 0, as two processors may round predictions apart.
func (d *Decisions) Candidates(bytes, root int) (plans []predict.Plan, err error) {
	const values = 3 // that rank 0 tells of a plan
	var told []float64
	if d.Control.IsRoot() && d.searched != nil {
		for _, p := range d.Evaluator().Candidates(slices.Concat(d.searched...), ClassBytes(bytes), root) {
			told = append(told, float64(p.Index), float64(p.Segment), p.Predicted)
		}
	}
	data, err := d.Control.TellAny(share.AppendFloats(nil, told))
	if err != nil {
		return nil, err
	}
	for x := range slices.Chunk(share.Floats(data), values) {
		p := d.PlanOf(tuner.Variant{Index: int(x[0]), Segment: int(x[1])})
		p.Predicted = x[2]
		plans = append(plans, p)
	}
	return plans, nil
}

// A Contest is what it takes to compare plans with the incumbent.
type Contest struct {
	Bytes, Root int
	Limit       float64 // s, when the decision has to be there, by the clock of rank 0
	Blocking    bool    // the kind of transfers is refined, too

	// Compile returns a function that performs a plan from a root, for the first so many bytes. It sends nothing. Its function
	// is collective.
	Compile func(p predict.Plan, root int) func(bytes int) error
}

// Contest is collective: it finds the decision for a class, and keeps it. What is stored is confirmed.
func (d *Decisions) Contest(c Contest) (*Decision, error) {
	roots := d.sampled(c.Root)
	search := tuner.Search{
		Watch: d.watch, Bytes: c.Bytes, Roots: roots, MinSegment: predict.MinSegment, Blocking: c.Blocking, Limit: c.Limit,
		Compile:    func(v tuner.Variant, root int) func(bytes int) error { return c.Compile(d.PlanOf(v), root) },
		Candidates: func() []tuner.Variant { return d.Shortlist(c.Bytes, roots[0]) },
		Predict: func(v tuner.Variant) float64 {
			p := d.PlanOf(v)
			return d.Evaluator().Sure(p.Algorithm, d.Problem(p, ClassBytes(c.Bytes), roots[0]))
		},
	}
	if stored := d.Of(c.Bytes, c.Root); stored != nil && stored.Stored {
		search.Stored = &tuner.Variant{Index: stored.Index, Segment: stored.Segment, Blocking: stored.Blocking}
	}
	found, err := search.Decide()
	if err != nil {
		return nil, err
	}
	x := &Decision{Plan: Incumbent(), Best: d.PlanOf(found.Variant), Decided: found.Decided, pairs: found.Pairs}
	if found.Wins {
		x.Plan = x.Best
	}
	x.Predicted, x.Measured, x.MeasuredNative = found.Predicted, found.Measured, found.Incumbent
	d.Set(c.Bytes, c.Root, x)
	return x, nil
}
