package simnet

import (
	"github.com/topocast/topocast/internal/split"
	"github.com/topocast/topocast/mpi"
)

// A splitting gathers the arguments of Split until all ranks of a group have called it.
type splitting struct {
	came         int
	colors, keys []int              // by rank of the group
	made         []mpi.Communicator // by rank of the group; nil for none
}

// Split is collective. It takes no virtual time but the wait for the last rank: what an MPI library sends for it
// depends on the library.
func (c *Comm) Split(color, key int) (mpi.Communicator, error) {
	const op = "Split"
	if err := c.usable(op, -1, -1); err != nil {
		return nil, err
	}
	s, r := &c.group.split, c.rank
	if s.colors == nil {
		s.colors, s.keys, s.made = make([]int, c.Size()), make([]int, c.Size()), make([]mpi.Communicator, c.Size())
	}
	s.colors[c.me], s.keys[c.me] = color, key
	if s.came++; s.came == c.Size() {
		s.came = 0
		c.group.divide(r)
	} else if err := r.block(pending{op: op, comm: c, peer: -1, tag: -1}); err != nil {
		return nil, c.fail(op, -1, -1, err)
	}
	made := s.made[c.me]
	s.made[c.me] = nil
	return made, nil
}

// divide makes the new communicators and resumes the ranks of the group at the time of the last one. The caller goes
// on by itself.
func (g *group) divide(caller *rank) {
	w := caller.world
	for _, members := range split.Groups(g.split.colors, g.split.keys) {
		w.groups++
		part := &group{id: w.groups}
		for me, i := range members {
			r := &w.ranks[g.ranks[i]]
			part.ranks = append(part.ranks, r.id)
			g.split.made[i] = &Comm{world: w, rank: r, group: part, me: me, isOpen: true}
		}
	}
	last := caller.clock
	for _, id := range g.ranks {
		last = max(last, w.ranks[id].clock)
	}
	for _, id := range g.ranks {
		r := &w.ranks[id]
		r.clock = last
		if r != caller {
			w.ready = append(w.ready, r)
		}
	}
}
