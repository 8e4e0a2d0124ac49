package schedule

import "slices"

// A Part is what one rank has to do in broadcasts of any length, if the root,
// the ranks, the tree and the costs of the problem stay the same.
type Part interface {
	// Ops is that of Algorithm, for a problem that differs in Bytes and Segment
	// at most from the one of which the part is. It allocates nothing but room in dst.
	Ops(dst []Op, p Problem) []Op
}

// A Preparer is an Algorithm that works something out for all ranks that does
// not depend on Bytes and Segment. Who needs all ranks, or the same rank again
// and again, asks for it once.
type Preparer interface {
	Algorithm

	// Prepare works it out for a problem that is valid, and returns the part of
	// each rank.
	Prepare(p Problem) func(rank int) Part
}

// PartOf returns the part of a rank in a problem that is valid, in the way that is
// cheapest if it is asked for steps again and again.
func PartOf(a Algorithm, p Problem, rank int) Part {
	switch a := a.(type) {
	case Planner:
		l := a.Plan(p).Links(rank)
		l.Children = slices.Clone(l.Children) // let go of the rest of the tree
		return l
	case Preparer:
		return a.Prepare(p)(rank)
	}
	return plain{a, rank}
}

// plain is a part of an algorithm that prepares nothing.
type plain struct {
	algorithm Algorithm
	rank      int
}

// Ops implements Part.
func (x plain) Ops(dst []Op, p Problem) []Op { return x.algorithm.Ops(dst, p, x.rank) }

// AllOps returns the steps of every rank in a problem that is valid, in the
// storage of dst as far as it reaches.
func AllOps(dst [][]Op, a Algorithm, p Problem) [][]Op {
	dst = slices.Grow(dst[:0], p.Ranks)[:p.Ranks]
	part := Parts(a, p)
	for rank := range dst {
		dst[rank] = part(rank).Ops(dst[rank][:0], p)
	}
	return dst
}

// Parts returns the part of each rank, for one goroutine, in a problem that is valid.
func Parts(a Algorithm, p Problem) func(rank int) Part {
	switch a := a.(type) {
	case Planner:
		t := a.Plan(p)
		return func(rank int) Part { return t.Links(rank) }
	case Preparer:
		return a.Prepare(p)
	}
	return func(rank int) Part { return plain{a, rank} }
}
