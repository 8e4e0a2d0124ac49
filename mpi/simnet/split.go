package simnet

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// A splitting gathers the ranks of a group until all have called Split.
type splitting struct {
	came  int
	calls []splitCall // per rank of the group
	made  []*Comm     // per rank of the group, nil for none
}

type splitCall struct{ color, key int }

// Split is collective. It takes no time but the wait for the last rank: what a library sends for it depends
// on the library.
func (c *Comm) Split(color, key int) (mpi.Communicator, error) {
	made, err := c.splitInto(color, key)
	if made == nil {
		return nil, err
	}
	return made, err
}

func (c *Comm) splitInto(color, key int) (*Comm, error) {
	const op = "Split"
	if err := c.usable(op, -1, -1); err != nil {
		return nil, err
	}
	s, r := &c.group.split, c.rank
	if s.calls == nil {
		s.calls, s.made = make([]splitCall, c.Size()), make([]*Comm, c.Size())
	}
	s.calls[c.me] = splitCall{color, key}
	if s.came++; s.came < c.Size() {
		if err := r.block(pending{op: op, comm: c, peer: -1, tag: -1}); err != nil {
			return nil, c.fail(op, -1, -1, err)
		}
		return c.group.take(c.me), nil
	}
	s.came = 0
	c.group.divide(c.world)
	last := r.clock
	for _, id := range c.group.ranks {
		last = max(last, c.world.ranks[id].clock)
	}
	for _, id := range c.group.ranks {
		other := &c.world.ranks[id]
		other.clock = last
		if other != r {
			c.world.ready = append(c.world.ready, other)
		}
	}
	return c.group.take(c.me), nil
}

// take hands a rank its new communicator.
func (g *group) take(me int) *Comm {
	made := g.split.made[me]
	g.split.made[me] = nil
	return made
}

// divide makes the communicators that the calls ask for: one per color, ranks
// ordered by key and then by old rank.
func (g *group) divide(w *world) {
	calls := g.split.calls
	order := make([]int, 0, len(calls))
	for i, call := range calls {
		if call.color >= 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(calls[a].color, calls[b].color), cmp.Compare(calls[a].key, calls[b].key), a-b)
	})
	var part *group
	for k, i := range order {
		if k == 0 || calls[i].color != calls[order[k-1]].color {
			part = &group{id: w.newContext()}
		}
		r := &w.ranks[g.ranks[i]]
		g.split.made[i] = &Comm{world: w, rank: r, group: part, me: len(part.ranks), isOpen: true}
		part.ranks = append(part.ranks, r.id)
	}
}
