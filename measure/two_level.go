package measure

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// nodes are the hosts of a job and their ranks.
type nodes struct {
	names []string
	ranks [][]int // by node, ascending; nodes by their first rank
	like  []int   // by node: the one whose inside is measured for it
}

// newNodes finds the nodes of the places of ranks, by the name of the host. Where equal ones
// are to be copied, those are equal whose ranks have the same places in them.
func newNodes(places []mpi.Place, copied bool) *nodes {
	hosts, names := mpi.NumberHosts(places)
	n := &nodes{names: names, ranks: make([][]int, len(names))}
	for rank, i := range hosts {
		n.ranks[i] = append(n.ranks[i], rank)
	}
	first := map[string]int{}
	for i, ranks := range n.ranks {
		n.like = append(n.like, i)
		if !copied {
			continue
		}
		kind := ""
		for _, rank := range ranks {
			kind += fmt.Sprint(places[rank].Core, places[rank].CPUs, ";")
		}
		if k, known := first[kind]; known {
			n.like[i] = k
		} else {
			first[kind] = i
		}
	}
	return n
}

// several tells whether two levels are to be told apart: some node has several
// ranks, but none all.
func (n *nodes) several() bool {
	return len(n.ranks) > 1 && slices.ContainsFunc(n.ranks, func(ranks []int) bool { return len(ranks) > 1 })
}

// rounds are those in which the inside of nodes is measured, then the ways out of them, and then what is between them.
// Measured at once they spoil each other (Bufe 2014, sections 2.7 and 3.3.4).
func (n *nodes) rounds() (all [][][2]int) {
	for i, ranks := range n.ranks {
		if n.like[i] != i {
			continue
		}
		for k, round := range harness.CircleOf(ranks) {
			if k == len(all) {
				all = append(all, nil)
			}
			all[k] = append(all[k], round...)
		}
	}
	return slices.Concat(all, harness.OneByOne(n.doors()).Chosen, harness.CircleOf(n.leaders()))
}

// leaders are the first ranks of the nodes, which stand for them.
func (n *nodes) leaders() (leaders []int) {
	for _, ranks := range n.ranks {
		leaders = append(leaders, ranks[0])
	}
	return leaders
}

// outside is the leader of the next node, which stands for all that is outside of a node.
func (n *nodes) outside(node int) int { return n.ranks[(node+1)%len(n.ranks)][0] }

// doors pair each rank of a node with the leader of the next node. The leader's own pair is among those between nodes.
func (n *nodes) doors() (pairs [][2]int) {
	for i, ranks := range n.ranks {
		if n.like[i] != i {
			continue
		}
		for _, rank := range ranks[1:] {
			pairs = append(pairs, [2]int{rank, n.outside(i)})
		}
	}
	return pairs
}
