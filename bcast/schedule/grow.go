package schedule

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A grower builds a tree rank by rank. It keeps the time at which each rank
// and the uplinks of each group are free. It puts the next rank below the one from
// which its first piece is complete earliest. No rank and no uplink
// handles more per piece than the pace allows.
//
// Groups are entered from the outside in: the next target is a group that has
// nobody yet, of the coarsest level, and of those the farthest from the root;
// then the hosts of the finest groups, in turn. Who would run out of messages
// that it may send keeps the last one for its own group. A tree in which
// everybody sends once is then the depth-first chain.
type grower struct {
	tree   *topology.Hierarchy
	costs  *Costs
	root   int
	edges  []Edge
	levels []growingLevel
	groups []growingGroup
	ranks  []growingRank
}

// A growingLevel is what a piece takes at a level, in ps.
type growingLevel struct {
	wire  int64 // from the moment at which the links are free to the end of the receive
	busy  int64 // for which a piece occupies the link of a host
	links int64 // for which it occupies the links of the groups that the level joins
}

// A growingGroup is the state of a group. Times are in ps.
type growingGroup struct {
	topology.Group
	members []member // in the order in which they are entered
	next    int      // the next member to be entered
	ready   []int64  // when each member can send
	place   int      // among the members of the parent
	out, in int64    // when the links out of it and into it are free
	leaves  int      // pieces that may still leave it
	enters  int
	lacks   int // hosts without the piece
	spare   int // sum of what its members may send out of themselves
	may     int // what it counts for in the sum of its parent
}

// isEmpty tells whether nobody in the group has the piece.
func (g *growingGroup) isEmpty() bool { return g.lacks == len(g.Hosts) }

// A growingRank is the state of a rank. Times are in ps.
type growingRank struct {
	group *growingGroup // the smallest
	place int           // among its members
	has   bool          // the piece
	free  int64         // when its rank is free of overheads
	out   int64         // when its link out is free
	sends int           // pieces that it may still send
	may   int           // what it counts for in the sum of its group
}

const (
	never     = math.MaxInt64 // a time that is after all others
	unlimited = most          // a pace that limits nothing
)

// grow builds the tree for pieces of the given bytes, of which each rank and
// link handles one in pace ps. p is valid.
func grow(p Problem, piece int64, pace int64) *Tree {
	g := newGrower(p, piece)
	g.limit(pace)
	g.inform(g.root, 0)
	bands := g.bands()
	for todo := p.Ranks - 1; todo > 0; todo-- {
		for !g.step(bands) {
			g.relax()
		}
	}
	return NewTree(p.Ranks, g.edges)
}

func newGrower(p Problem, piece int64) *grower {
	g := &grower{tree: p.Groups(), costs: p.costs(), root: p.Root, edges: make([]Edge, 0, p.Ranks-1)}
	for i := range g.costs.Levels {
		l := &g.costs.Levels[i]
		gap := min(l.gap(piece), most)
		g.levels = append(g.levels, growingLevel{max(0, l.Empty-g.costs.Send) + gap, gap, scale(gap, l.Links, whole)})
	}
	groups := g.tree.Groups()
	g.groups, g.ranks = make([]growingGroup, len(groups)), make([]growingRank, p.Ranks)
	for i := range groups {
		x := &g.groups[i]
		x.Group, x.members, x.lacks = groups[i], members(g.tree, i, -1), len(groups[i].Hosts)
		// Large groups first: they have the most to do afterwards.
		slices.SortStableFunc(x.members, func(a, b member) int { return b.size - a.size })
		for k, m := range x.members {
			x.ready = append(x.ready, never)
			if m.group < 0 {
				g.ranks[m.host].group, g.ranks[m.host].place = x, k
			} else {
				g.groups[m.group].place = k
			}
		}
	}
	return g
}

// limit says how often per piece ranks may send, and groups be left and
// entered: at least once each.
func (g *grower) limit(pace int64) {
	times := func(cost, room int64) int {
		if cost <= 0 || room/cost >= int64(len(g.ranks)) {
			return len(g.ranks)
		}
		return int(max(1, room/cost))
	}
	for r := range g.ranks {
		x := &g.ranks[r]
		recv := g.costs.Recv
		if r == g.root {
			recv = 0
		}
		x.sends = min(times(g.levels[x.group.Level].busy, pace), times(g.costs.Send, pace-recv))
	}
	for i := range g.groups {
		if x := &g.groups[i]; x.Parent >= 0 {
			x.leaves = times(g.levels[g.groups[x.Parent].Level].links, pace)
			x.enters = x.leaves
		}
	}
}

// relax lets every rank and group send and receive once more. It is needed
// where all that may send are used up, which a hierarchy with hosts beside
// groups can bring about.
func (g *grower) relax() {
	for i := range g.groups {
		g.groups[i].leaves++
		g.groups[i].enters++
	}
	for r := range g.ranks {
		g.ranks[r].sends++
		if g.ranks[r].has {
			g.update(r)
		}
	}
}

// A band is a set of groups that are filled in turn.
type band struct {
	groups []int
	turn   int
}

// bands returns the groups, coarse before fine, those far from the root first.
func (g *grower) bands() (all []band) {
	order, far := make([]int, len(g.groups)), make([]int, len(g.groups))
	for i := range g.groups {
		x := &g.groups[i]
		order[i] = i
		far[i] = max(x.Level, g.groups[g.tree.Common(g.root, x.Hosts[0])].Level) // its own if it holds the root
	}
	compare := func(a, b int) int {
		return cmp.Or(g.groups[b].Level-g.groups[a].Level, far[b]-far[a])
	}
	slices.SortStableFunc(order, compare)
	for k, i := range order {
		if k == 0 || compare(i, order[k-1]) != 0 {
			all = append(all, band{})
		}
		all[len(all)-1].groups = append(all[len(all)-1].groups, i)
	}
	return all
}

// step enters one more member of a group, and tells whether that was possible.
func (g *grower) step(bands []band) bool {
	for i := range bands {
		b := &bands[i]
		for tried := 0; tried < len(b.groups); {
			b.turn %= len(b.groups)
			group := b.groups[b.turn]
			target := -1
			if !g.groups[group].isEmpty() { // the one around it enters it otherwise
				if target = g.target(&g.groups[group]); target < 0 { // it is complete
					b.groups = slices.Delete(b.groups, b.turn, b.turn+1)
					continue
				}
			}
			b.turn++
			tried++
			if target >= 0 && g.enter(target) {
				return true
			}
		}
	}
	return false
}

// target is the next rank of the group's members to be entered, -1 if there is none.
func (g *grower) target(x *growingGroup) int {
	for ; x.next < len(x.members); x.next++ {
		m := x.members[x.next]
		for m.group >= 0 && g.groups[m.group].isEmpty() {
			m = g.groups[m.group].members[0] // the largest part, whose leader leads the group
		}
		if m.group < 0 && !g.ranks[m.host].has {
			return m.host
		}
	}
	return -1
}

// enter puts the target below the rank from which it gets its piece earliest, and tells whether any may send to it.
func (g *grower) enter(target int) bool {
	best, from := int64(never), (*growingGroup)(nil)
	entered := int64(0)
	for at := g.ranks[target].group; ; at = &g.groups[at.Parent] {
		if start := slices.Min(at.ready); start < never {
			if done := max(start, entered) + g.levels[at.Level].wire; done < best {
				best, from = done, at
			}
		}
		entered = max(entered, at.in)
		if at.Parent < 0 || at.enters <= 0 {
			break
		}
	}
	if from == nil {
		return false
	}
	for {
		m := from.members[slices.Index(from.ready, slices.Min(from.ready))]
		if m.group < 0 {
			g.join(m.host, target)
			return true
		}
		from = &g.groups[m.group]
	}
}

// join lets the sender serve the target.
func (g *grower) join(sender, target int) {
	g.edges = append(g.edges, Edge{sender, target})
	common := &g.groups[g.tree.Common(sender, target)]
	s := &g.ranks[sender]
	s.free += g.costs.Send
	s.sends--
	at := max(s.free, s.out)
	s.out = at + g.levels[s.group.Level].busy
	for x := s.group; x != common; x = &g.groups[x.Parent] {
		at = max(at, x.out)
		x.out = at + g.levels[g.groups[x.Parent].Level].links
		x.leaves--
	}
	for x := g.ranks[target].group; x != common; x = &g.groups[x.Parent] {
		at = max(at, x.in)
		x.in = at + g.levels[g.groups[x.Parent].Level].links
		x.enters--
	}
	g.update(sender)
	g.inform(target, at+g.levels[common.Level].wire)
}

// inform notes that a rank has the piece from the given time on.
func (g *grower) inform(rank int, at int64) {
	g.ranks[rank].has, g.ranks[rank].free = true, at
	for i := g.tree.Smallest(rank); i >= 0; i = g.groups[i].Parent {
		g.groups[i].lacks--
	}
	g.update(rank)
}

// update works out anew when the groups around a rank can send, and how often.
func (g *grower) update(rank int) {
	r := &g.ranks[rank]
	when := int64(never)
	if r.sends > 0 {
		when = max(r.free+g.costs.Send, r.out)
	}
	x := r.group
	x.ready[r.place] = when
	x.spare += r.sends - r.may
	r.may = r.sends
	for x.Parent >= 0 {
		may := x.spare
		if x.lacks > 0 {
			may-- // the last one is for the group itself
		}
		may = max(0, min(may, x.leaves))
		when = never
		if may > 0 {
			when = max(x.out, slices.Min(x.ready))
		}
		parent := &g.groups[x.Parent]
		parent.ready[x.place] = when
		parent.spare += may - x.may
		x.may = may
		x = parent
	}
}
