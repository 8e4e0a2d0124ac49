package schedule

import (
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
// that it may send keeps the last one for its own group, so that a tree in which
// everybody sends once is the depth-first chain.
type grower struct {
	tree  *topology.Hierarchy
	costs *Costs
	root  int
	edges []Edge

	// By level.
	wire []int64 // ps, from the moment at which the ways are free to the end of the receive
	busy []int64 // ps, for which a piece occupies the way of a host
	ways []int64 // ps, for which it occupies the ways of the groups that the level joins

	members  [][]member // per group, in the order in which they are entered
	next     []int      // per group: the next member to be entered
	place    []int      // of a rank among the members of its smallest group
	placeOf  []int      // of a group among the members of its parent
	free     []int64    // per rank: ps, when its software is free; only of ranks that have the piece
	out      []int64    // per rank: ps, when its way out is free
	sends    []int      // per rank: pieces that it may still send
	has      []bool     // per rank
	groupOut []int64    // per group: ps, when its way out is free
	groupIn  []int64
	leaves   []int // per group: pieces that may still leave it
	enters   []int
	lacks    []int        // per group: hosts without the piece
	spare    []int        // per group: sum of what its members may send out of themselves
	mayRank  []int        // per rank: what it counts for in the sum of its group
	mayGroup []int        // per group: the same
	ready    []tournament // per group: when each member can send
}

// unlimited is a pace that limits nothing.
const unlimited = most

// grow builds the tree for pieces of the given bytes, of which each rank and
// way handles one in pace ps. p is valid.
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
	g := &grower{tree: p.groups(), costs: p.costs(), root: p.Root, edges: make([]Edge, 0, p.Ranks-1)}
	for i := range g.costs.Levels {
		l := &g.costs.Levels[i]
		gap := min(l.gap(piece), most)
		g.wire = append(g.wire, max(0, l.Empty-g.costs.Send)+gap)
		g.busy = append(g.busy, gap)
		g.ways = append(g.ways, scale(gap, l.Ways, whole))
	}
	groups := g.tree.Groups()
	g.members, g.next = make([][]member, len(groups)), make([]int, len(groups))
	g.place, g.placeOf = make([]int, p.Ranks), make([]int, len(groups))
	g.free, g.out, g.sends, g.has = make([]int64, p.Ranks), make([]int64, p.Ranks), make([]int, p.Ranks), make([]bool, p.Ranks)
	g.groupOut, g.groupIn = make([]int64, len(groups)), make([]int64, len(groups))
	g.leaves, g.enters = make([]int, len(groups)), make([]int, len(groups))
	g.lacks, g.spare, g.ready = make([]int, len(groups)), make([]int, len(groups)), make([]tournament, len(groups))
	g.mayRank, g.mayGroup = make([]int, p.Ranks), make([]int, len(groups))
	for i := range groups {
		ms := members(g.tree, i)
		// Large groups first: they have the most to do afterwards.
		size := func(m member) int {
			if m.group < 0 {
				return 1
			}
			return len(groups[m.group].Hosts)
		}
		slices.SortStableFunc(ms, func(a, b member) int { return size(b) - size(a) })
		for k, m := range ms {
			if m.group < 0 {
				g.place[m.host] = k
			} else {
				g.placeOf[m.group] = k
			}
		}
		g.members[i], g.lacks[i], g.ready[i] = ms, len(groups[i].Hosts), newTournament(len(ms))
	}
	return g
}

// limit says how often per piece ranks may send, and groups be left and
// entered: at least once each.
func (g *grower) limit(pace int64) {
	times := func(cost, room int64) int {
		if cost <= 0 || room/cost >= int64(len(g.sends)) {
			return len(g.sends)
		}
		return int(max(1, room/cost))
	}
	groups := g.tree.Groups()
	for r := range g.sends {
		recv := g.costs.Recv
		if r == g.root {
			recv = 0
		}
		g.sends[r] = min(times(g.busy[groups[g.tree.Smallest(r)].Level], pace), times(g.costs.Send, pace-recv))
	}
	for i := range groups {
		if parent := groups[i].Parent; parent >= 0 {
			g.leaves[i] = times(g.ways[groups[parent].Level], pace)
			g.enters[i] = g.leaves[i]
		}
	}
}

// relax lets every rank and group send and receive once more. It is needed
// where all that may send are used up, which a hierarchy with hosts beside
// groups can bring about.
func (g *grower) relax() {
	for r := range g.sends {
		g.sends[r]++
	}
	for i := range g.leaves {
		g.leaves[i]++
		g.enters[i]++
	}
	for r, has := range g.has {
		if has {
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
func (g *grower) bands() []band {
	groups := g.tree.Groups()
	order := make([]int, len(groups))
	far := make([]int, len(groups))
	for i := range groups {
		order[i] = i
		far[i] = groups[g.tree.Common(g.root, groups[i].Hosts[0])].Level
		if far[i] < groups[i].Level || i == 0 {
			far[i] = groups[i].Level // it holds the root
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if groups[a].Level != groups[b].Level {
			return groups[b].Level - groups[a].Level
		}
		return far[b] - far[a]
	})
	var all []band
	for k, i := range order {
		if k == 0 || groups[i].Level != groups[order[k-1]].Level || far[i] != far[order[k-1]] {
			all = append(all, band{})
		}
		b := &all[len(all)-1]
		b.groups = append(b.groups, i)
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
			if g.lacks[group] == len(g.tree.Groups()[group].Hosts) { // the one around it enters it
				b.turn++
				tried++
				continue
			}
			target := g.target(group)
			if target < 0 { // it is complete
				b.groups = slices.Delete(b.groups, b.turn, b.turn+1)
				continue
			}
			b.turn++
			tried++
			if sender := g.sender(target, group); sender >= 0 {
				g.join(sender, target)
				return true
			}
		}
	}
	return false
}

// target is the next rank of the group's members to be entered, -1 if there is none.
func (g *grower) target(group int) int {
	ms := g.members[group]
	for ; g.next[group] < len(ms); g.next[group]++ {
		m := ms[g.next[group]]
		for m.group >= 0 && g.lacks[m.group] == len(g.tree.Groups()[m.group].Hosts) {
			m = g.members[m.group][0] // nobody there has it: who leads it leads its largest part
		}
		if m.group < 0 && !g.has[m.host] {
			return m.host
		}
	}
	return -1
}

// sender is the rank from which the target, a rank in the group, gets its piece
// earliest; -1 if nobody may send to it.
func (g *grower) sender(target, group int) int {
	groups := g.tree.Groups()
	best, from := int64(never), -1
	entered, mayEnter := int64(0), true
	for at := g.tree.Smallest(target); at >= 0 && mayEnter; at = groups[at].Parent {
		if start := g.ready[at].min(); start < never {
			if done := max(start, entered) + g.wire[groups[at].Level]; done < best {
				best, from = done, at
			}
		}
		entered = max(entered, g.groupIn[at])
		mayEnter = g.enters[at] > 0
	}
	if from < 0 {
		return -1
	}
	for {
		m := g.members[from][g.ready[from].first()]
		if m.group < 0 {
			return m.host
		}
		from = m.group
	}
}

// join lets the sender serve the target.
func (g *grower) join(sender, target int) {
	groups := g.tree.Groups()
	g.edges = append(g.edges, Edge{sender, target})
	common := g.tree.Common(sender, target)
	g.free[sender] += g.costs.Send
	g.sends[sender]--
	at := max(g.free[sender], g.out[sender])
	g.out[sender] = at + g.busy[groups[g.tree.Smallest(sender)].Level]
	for i := g.tree.Smallest(sender); i != common; i = groups[i].Parent {
		at = max(at, g.groupOut[i])
		g.groupOut[i] = at + g.ways[groups[groups[i].Parent].Level]
		g.leaves[i]--
	}
	for i := g.tree.Smallest(target); i != common; i = groups[i].Parent {
		at = max(at, g.groupIn[i])
		g.groupIn[i] = at + g.ways[groups[groups[i].Parent].Level]
		g.enters[i]--
	}
	g.update(sender)
	g.inform(target, at+g.wire[groups[common].Level])
}

// inform notes that a rank has the piece from the given time on.
func (g *grower) inform(rank int, at int64) {
	g.has[rank], g.free[rank] = true, at
	for i := g.tree.Smallest(rank); i >= 0; i = g.tree.Groups()[i].Parent {
		g.lacks[i]--
	}
	g.update(rank)
}

// update works out anew when the groups around a rank can send, and how often.
func (g *grower) update(rank int) {
	groups := g.tree.Groups()
	when := int64(never)
	if g.sends[rank] > 0 {
		when = max(g.free[rank]+g.costs.Send, g.out[rank])
	}
	i := g.tree.Smallest(rank)
	g.ready[i].set(g.place[rank], when)
	g.spare[i] += g.sends[rank] - g.mayRank[rank]
	g.mayRank[rank] = g.sends[rank]
	for ; groups[i].Parent >= 0; i = groups[i].Parent {
		parent := groups[i].Parent
		may := g.spare[i]
		if g.lacks[i] > 0 {
			may-- // the last one is for the group itself
		}
		may = max(0, min(may, g.leaves[i]))
		when = never
		if may > 0 {
			when = max(g.groupOut[i], g.ready[i].min())
		}
		g.ready[parent].set(g.placeOf[i], when)
		g.spare[parent] += may - g.mayGroup[i]
		g.mayGroup[i] = may
	}
}
