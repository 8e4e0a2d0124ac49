package adaptive

import (
	"cmp"
	"math"
	"slices"
)

// remembered is what the core has read of a host and another one.
type remembered struct {
	other int32
	z     float64 // ln of s
}

// remember sorts readings, those of the core, by host, the lowest first. They tell the same as if they were taken again. That
// is not so of those that have placed hosts before a level came up that nobody knew: what has misled once would again.
// O(r log r) for r readings.
func (in *inserter) remember(readings []Reading) {
	in.memory = make([][]remembered, in.ledger.hosts)
	for _, r := range readings {
		z := math.Log(float64(r.Latency))
		in.memory[r.A] = append(in.memory[r.A], remembered{r.B, z})
		in.memory[r.B] = append(in.memory[r.B], remembered{r.A, z})
	}
	for _, list := range in.memory {
		slices.SortStableFunc(list, func(a, b remembered) int { return cmp.Compare(a.z, b.z) })
	}
}

// recall is what is remembered of a host.
func (in *inserter) recall(x int32) []remembered {
	if in.memory == nil {
		return nil
	}
	return slices.Clone(in.memory[x])
}

// remind decides what can be decided without a reading, and returns the tasks that are left.
func (in *inserter) remind(active []*task) (left []*task, again bool) {
	left = active[:0]
	for _, t := range active {
		done := false
		for t.y == none && !done && in.fromMemory(t) {
			if done, again = in.decide(t); again {
				return nil, true
			}
		}
		if !done {
			left = append(left, t)
		}
	}
	return left, false
}

// fromMemory asks t what is remembered of it and the nearest host that is in question; false if there is none. A reading
// is used once: a second look takes others.
func (in *inserter) fromMemory(t *task) bool {
	if len(t.known) == 0 {
		return false
	}
	closed := in.closed(t)
	for _, k := range t.known {
		child := in.tree.childOf(t.v, k.other)
		if child == none || closed[child] {
			continue
		}
		in.question(t, k.other)
		t.known = slices.DeleteFunc(t.known, func(r remembered) bool {
			if r.other == k.other {
				t.tally.add(r.z, in.levels)
			}
			return r.other == k.other
		})
		return true
	}
	return false
}
