package reduce

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// Tune is collective: it decides how vectors of the given sizes in bytes are reduced, for results that all ranks want. The
// first AllreduceSlice of each is then as fast as the next. sizes are equal on all ranks. What is decided already
// stays.
func (r *Reducer) Tune(sizes ...int) error { return r.tune(AllRanks, sizes) }

// TuneRoot is collective: it is Tune for results that a root wants, and those like it; AllRanks: Tune.
func (r *Reducer) TuneRoot(root int, sizes ...int) error { return r.tune(root, sizes) }

func (r *Reducer) tune(root int, sizes []int) error {
	if err := r.usable(); err != nil {
		return err
	}
	differ, err := r.base.AgreeLists(decisions.TuneReductions, &r.calls, sizes, []int{root})
	switch {
	case err != nil:
		return r.failed(err)
	case differ != nil:
		return differ
	case root != AllRanks && r.checkRoot(root) != nil: // on all ranks
		return r.checkRoot(root)
	case len(sizes) > 0 && slices.Min(sizes) < 0:
		return fmt.Errorf("reduce: tune: size %d bytes: want at least 0", slices.Min(sizes))
	case r.comm.Size() == 1:
		return nil
	}
	for _, size := range sizes {
		r.agreed[call{class: decisions.ClassOf(size), root: root}] = true
	}
	if r.exec == nil {
		return nil
	}
	if _, err := r.base.Stopwatch(); err != nil {
		return r.failed(err)
	}
	all := r.reductions(sizes, root)
	return r.base.Each(len(all), func(i int, budget float64) error {
		x := all[i]
		if x.bytes == 0 {
			return nil
		}
		if d := r.decision(x.bytes, x.root); d != nil && d.Decided && !d.Stored {
			return nil
		}
		_, err := r.first(x.bytes, x.root, budget)
		return err
	})
}

// decisionsFor are those for a root.
func (r *Reducer) decisionsFor(root int) *decisions.Decisions {
	if root == AllRanks {
		return r.toAll
	}
	return r.toRoot
}

// decision is the one for vectors of so many bytes and a root; nil: there is none.
func (r *Reducer) decision(bytes, root int) *decisions.Decision {
	return r.decisionsFor(root).Of(bytes, root)
}

// A call is what the calls of a kind have in common. After Tune ranks agree about any operation on any elements, which have the zero
// values then.
type call struct {
	class     int // of sizes
	root      int
	operation int
	elements  reflect.Kind
}

// agree notes a call with vectors of so many bytes. The first one of a kind is collective: it returns an error on all ranks if they
// disagree. wrong is why this rank refuses the call, if it does. If nothing of the class was agreed on, the other ranks are about to
// agree: this rank takes part, so that they get an error, too. Otherwise the next agreement tells them, as they have made a call more.
func (r *Reducer) agree(bytes, root, operation int, elements reflect.Kind, wrong error) error {
	if err := r.usable(); err != nil || r.comm.Size() == 1 {
		return cmp.Or(err, wrong)
	}
	c := call{decisions.ClassOf(bytes), root, operation, elements}
	isAgreed := c == r.last || r.agreed[c] || r.agreed[call{class: c.class, root: root}]
	switch {
	case wrong != nil && r.hasAgreed(c.class):
		return wrong
	case !isAgreed:
		differ, err := r.base.Agree(decisions.Reduction, &r.calls, wrong, decisions.Number{Name: "length in bytes", Value: bytes}, decisions.Number{Name: "root", Value: root},
			decisions.Number{Name: "reduction", Value: operation, Word: operationName},
			decisions.Number{Name: "type of elements", Value: int(elements), Word: func(kind int) string { return reflect.Kind(kind).String() }})
		if err != nil {
			return r.failed(err)
		}
		if differ != nil {
			return differ
		}
		r.agreed[c] = true
	}
	r.last = c
	r.calls.Add(bytes, root, operation<<8|int(elements))
	return nil
}

// hasAgreed tells whether ranks have agreed on a call of a class.
func (r *Reducer) hasAgreed(class int) bool {
	for c := range r.agreed {
		if c.class == class {
			return true
		}
	}
	return false
}

// operationName names a mpi.Reduction, or byFunction.
func operationName(operation int) string {
	names := [...]string{"a function", "mpi.Sum", "mpi.Product", "mpi.Min", "mpi.Max"}
	if i := operation - byFunction; i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("mpi.Reduction(%d)", operation)
}

// decide is the decision for vectors of so many bytes; nil if there is nothing to do. The first one of a class is
// collective.
func (r *Reducer) decide(bytes, root int) (*decisions.Decision, error) {
	switch {
	case bytes == 0 || r.comm.Size() == 1:
		return nil, nil
	case r.exec == nil:
		return new(decisions.Decision), nil // the incumbent
	}
	if d := r.decision(bytes, root); d != nil && !d.Stored {
		return d, nil
	}
	return r.first(bytes, root, r.base.Seconds())
}

// first is collective: it makes the decision for a class. budget is how long that may take in s.
func (r *Reducer) first(bytes, root int, budget float64) (*decisions.Decision, error) {
	all := r.decisionsFor(root)
	if !all.IsTimed() {
		plan, err := all.Fastest(bytes, max(0, root))
		if err != nil {
			return nil, r.failed(err)
		}
		d := &decisions.Decision{Plan: plan, Best: plan, Decided: true}
		all.Set(bytes, root, d)
		return d, nil
	}
	watch, err := r.base.Stopwatch()
	if err != nil {
		return nil, r.failed(err)
	}
	values := make([]float64, (bytes+7)/8)
	d, err := all.Contest(decisions.Contest{
		Bytes: bytes, Root: root, Limit: watch.Now() + budget,
		Compile: func(p predict.Plan, sampled int) func(bytes int) error {
			if root == AllRanks {
				sampled = AllRanks
			}
			return r.timed(p, sampled, values)
		},
	})
	return d, r.failed(err)
}

// timed returns a function that sums the first so many bytes of values by a plan.
func (r *Reducer) timed(p predict.Plan, root int, values []float64) func(bytes int) error {
	if p.Algorithm == nil {
		return func(bytes int) error { return incumbent(r, values[:(bytes+7)/8], mpi.Sum, root) }
	}
	program := r.program(p, root, 8*len(values))
	copies := 0
	if r.apart && (root == AllRanks || root == r.comm.Rank()) {
		copies = 2 // one is of ours, the other is the incumbent's, which cannot be left out there
	}
	return func(bytes int) error {
		own := values[:(bytes+7)/8]
		for range copies {
			copy(room[float64](&r.copies, len(own)), own)
		}
		return performProgram(r.exec, program, own, func(into, from []float64) { collective.Combine(mpi.Sum, into, from) })
	}
}

// Chosen tells how vectors of so many bytes are reduced, if that is decided: by the name of an algorithm with its settings, or
// "" for the incumbent. The root is a rank, or AllRanks.
func (r *Reducer) Chosen(bytes, root int) (name string, segment int, decided bool) {
	if bytes < 1 || root != AllRanks && r.checkRoot(root) != nil {
		return "", 0, false
	}
	d := r.decision(bytes, root)
	if d == nil || d.Algorithm == nil {
		return "", 0, d != nil && d.Decided
	}
	return schedule.Text(d.Algorithm), d.Segment, true
}
