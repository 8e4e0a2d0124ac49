package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/twolevel"
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

// groups makes each list of two ranks and more a group.
func groups(ranks int, lists [][]int) (*topology.Hierarchy, error) {
	var all []topology.Group
	for _, list := range lists {
		if len(list) > 1 {
			all = append(all, topology.Group{Hosts: list})
		}
	}
	return topology.NewHierarchy(ranks, []topology.Level{{}}, all, 0)
}

// insides are the ranks of the nodes whose inside is measured.
func (n *nodes) insides() (lists [][]int) {
	for i, ranks := range n.ranks {
		if n.like[i] == i {
			lists = append(lists, ranks)
		}
	}
	return lists
}

// leaders are the first ranks of the nodes, which stand for them.
func (n *nodes) leaders() []int {
	leaders := make([]int, len(n.ranks))
	for i, ranks := range n.ranks {
		leaders[i] = ranks[0]
	}
	return leaders
}

// doors are the pairs of all ranks of a node but its leader, whose pair is among
// those between nodes, with the leader of the next one.
func (n *nodes) doors() (pairs [][2]int) {
	for i, ranks := range n.ranks {
		if n.like[i] != i {
			continue
		}
		outside := n.ranks[(i+1)%len(n.ranks)][0]
		for _, rank := range ranks[1:] {
			pairs = append(pairs, [2]int{rank, outside})
		}
	}
	return pairs
}

// reconstructor finds each level by the given method.
func (n *nodes) reconstructor(method topology.Reconstructor) topology.Reconstructor {
	return &twolevel.Reconstructor{Nodes: n.ranks, Names: n.names, Like: n.like, Inside: method, Between: method}
}

// steps are what is measured one after the other: the inside of nodes, the ways
// out of them, and between them. Measured at once they spoil each other (Bufe
// 2014, sections 2.7 and 3.3.4).
func (n *nodes) steps(ranks int, s Settings) ([]Settings, error) {
	inside, doors, between := s, s, s
	var err error
	if inside.Groups, err = groups(ranks, n.insides()); err != nil {
		return nil, err
	}
	if between.Groups, err = groups(ranks, [][]int{n.leaders()}); err != nil {
		return nil, err
	}
	inside.WithinGroups, between.WithinGroups = true, true
	doors.Pairs = harness.OneByOne(n.doors())
	return []Settings{inside, doors, between}, nil
}

// oneAfterTheOther measures the steps of rank 0, which share its budget evenly, and returns all
// readings there. It is collective.
func oneAfterTheOther(ctx context.Context, comm mpi.Communicator, budget time.Duration, steps []Settings) (*Result, error) {
	now := harness.Clock(comm)
	start := now()
	var all *Result
	for i, step := range steps {
		if budget > 0 {
			left := budget - time.Duration((now()-start)*float64(time.Second))
			step.Budget = max(left/time.Duration(len(steps)-i), 1)
		}
		r, err := run(ctx, comm, &step)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
		} else if r != nil {
			all.add(r)
		}
	}
	return all, nil
}

// add takes over the readings of other pairs, measured later.
func (r *Result) add(later *Result) {
	for _, x := range later.readings {
		x.Round += r.Rounds // rounds of both stay apart
		r.readings = append(r.readings, x)
	}
	slices.SortFunc(r.readings, compareReadings)
	r.Repetitions = max(r.Repetitions, later.Repetitions)
	r.Rounds += later.Rounds
	r.TotalRounds += later.TotalRounds
	if r.Stopped == "" {
		r.Stopped = later.Stopped
	}
	r.Notes = append(r.Notes, later.Notes...)
	for _, w := range later.Warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
}
