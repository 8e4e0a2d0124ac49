package schedule

import "github.com/topocast/topocast/topology"

// among is the broadcast among some of the ranks, from the first of them, with the
// groups of the problem that hold several of them.
func (p Problem) among(ranks []int) Problem {
	part := Problem{Ranks: len(ranks), Bytes: p.Bytes, Segment: p.Segment, Costs: p.Costs}
	if p.Tree == nil {
		return part
	}
	members := map[int][]int{} // by group
	for i, r := range ranks {
		for g := p.Tree.Smallest(r); g > 0; g = p.Tree.Groups()[g].Parent {
			members[g] = append(members[g], i)
		}
	}
	var groups []topology.Group
	for g, group := range p.Tree.Groups() {
		// Levels without groups stay, so that Costs fit.
		if n := len(members[g]); n > 1 && n < len(ranks) && n > mostOf(group.Children, members) {
			groups = append(groups, topology.Group{Hosts: members[g], Level: group.Level, Latency: group.Latency, Support: group.Support})
		}
	}
	tree, err := topology.NewHierarchy(len(ranks), p.Tree.Levels(), groups, p.Tree.Groups()[0].Latency)
	if err != nil {
		panic("schedule: " + err.Error()) // groups that nest do so in any part
	}
	part.Tree = tree
	return part
}

// mostOf is the number of members of the largest group.
func mostOf(groups []int, members map[int][]int) int {
	most := 0
	for _, g := range groups {
		most = max(most, len(members[g]))
	}
	return most
}

// A company is some ranks and what they do among themselves.
type company struct {
	ranks   []int
	problem Problem
	parts   Parts
}

// newCompany lets an algorithm broadcast among the ranks, from the first of them.
func newCompany(a Algorithm, p Problem, ranks []int) company {
	sub := p.among(ranks)
	return company{ranks, sub, a.Prepare(sub)}
}

// stage is what ranks[i] does.
func (c company) stage(i int) stage { return stage{c.ranks, c.problem, c.parts.Of(i)} }

// A stage is a part in a broadcast among some of the ranks.
type stage struct {
	ranks   []int
	problem Problem // among them
	part    Part
}

// Ops implements Part.
func (x stage) Ops(dst []Op, p Problem) []Op {
	from := len(dst)
	x.problem.Bytes, x.problem.Segment = p.Bytes, p.Segment
	dst = x.part.Ops(dst, x.problem)
	for i := from; i < len(dst); i++ {
		op := &dst[i]
		op.Peer = x.ranks[op.Peer]
		if op.Kind == Exchange {
			op.RecvPeer = x.ranks[op.RecvPeer]
		}
	}
	return dst
}
