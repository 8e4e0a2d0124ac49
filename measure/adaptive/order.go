package adaptive

import (
	"cmp"
	"slices"
)

// An order of the hosts is one in which hosts next to each other are likely near each other, as the order of their
// names. Hosts of one place share a name. A host that looks for its place reads its neighbours in the order first.
// Nothing else follows from the order: where it is wrong, the measurement says so, and the host goes on from there.
type order struct {
	place []int   // of each host
	hosts []int32 // by place
}

// newOrder sorts the hosts by their keys; nil where there are none.
func newOrder(keys []int) *order {
	if keys == nil {
		return nil
	}
	o := &order{place: make([]int, len(keys)), hosts: everyHost(len(keys))}
	slices.SortStableFunc(o.hosts, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
	for at, x := range o.hosts {
		o.place[x] = at
	}
	return o
}

// farthest is how many places in the order a host looks for one to read. Of those beyond it does not matter which.
const farthest = 64

// next is the host next to that of t in the order that may answer it, in a child of its group that is not closed.
// It is none if there is none, or no order.
func (o *order) next(t *task, in *inserter, closed map[int32]bool) int32 {
	if o == nil {
		return none
	}
	at := o.place[t.x]
	for off := 1; off <= farthest; off++ {
		for _, k := range [...]int{at - off, at + off} {
			if k < 0 || k >= len(o.hosts) || !in.ledger.free(o.hosts[k]) {
				continue
			}
			if child := in.tree.childOf(t.v, o.hosts[k]); child != none && !closed[child] {
				return o.hosts[k]
			}
		}
	}
	return none
}
