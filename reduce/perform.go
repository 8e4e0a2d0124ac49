package reduce

import (
	"slices"
	"unsafe"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// A program is what this rank does in reductions by one plan and to one root.
type program struct {
	problem schedule.Problem // of the class, in bytes
	part    schedule.Part
	keeps   bool // the values of this rank are to stay, and it combines others with a copy of them

	// The steps for vectors of the last length.
	list   []schedule.Op
	values int
}

// A use is that of a decision for a root.
type use struct {
	decision *decisions.Decision
	root     int
}

// program makes the program of a plan for vectors of the class of so many bytes. All reductions of a class follow the same tree,
// that of at most 1 GiB.
func (r *Reducer) program(p predict.Plan, root, bytes int) *program {
	x := &program{problem: r.base.Problem(p, min(decisions.ClassBytes(bytes), longestPart), max(0, root))}
	x.part = p.Algorithm.Prepare(x.problem).Of(r.comm.Rank())
	one := x.problem
	one.Bytes = 1
	combines := slices.ContainsFunc(x.part(nil, one), func(s schedule.Op) bool { return s.Kind == schedule.Combine })
	x.keeps = combines && root != AllRanks && root != r.comm.Rank()
	return x
}

// perform reduces values by the best plan of a decision.
func perform[T any](r *Reducer, d *decisions.Decision, values []T, f func(into, from []T), root int) error {
	p := r.programs[use{d, root}]
	if p == nil {
		p = r.program(d.Best, root, len(bytesOf(values)))
		r.programs[use{d, root}] = p
	}
	return performProgram(r.exec, p, values, f)
}

const (
	longestPart  = 1 << 30 // bytes of a vector that are reduced as one, which MPI can count
	mostSegments = 4096    // of a part, which bounds the steps
)

// performProgram reduces values, in parts if they are long. A rank that is done with one goes on with the next.
func performProgram[T any](e *executor, p *program, values []T, f func(into, from []T)) error {
	var x T
	size := int(unsafe.Sizeof(x))
	segment := 0
	if p.problem.Segment > 0 {
		segment = max(1, p.problem.Segment/size)
	}
	part := longestPart / size
	if segment > 0 && segment < part/mostSegments {
		part = segment * mostSegments
	}
	for len(values) > 0 {
		n := min(part, len(values))
		if p.values != n {
			inValues := p.problem
			inValues.Bytes, inValues.Segment = n, segment
			p.list, p.values = p.part(p.list[:0], inValues), n
		}
		own := values[:n]
		if p.keeps {
			own = room[T](&e.copied, n)
			copy(own, values)
		}
		if err := run(e, p.list, own, f); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// incumbent reduces as package mpi/collective does.
func incumbent[T collective.Number](r *Reducer, values []T, with mpi.Reduction, root int) error {
	if root == AllRanks {
		return collective.Allreduce(r.incumbent, values, with)
	}
	return collective.Reduce(r.incumbent, values, with, root)
}
