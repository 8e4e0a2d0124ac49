package schedule

import (
	"fmt"
	"slices"
)

// KChain divides the ranks into chains of about equal length, all of which the
// root feeds: the fill of a pipeline gets shorter, and each piece costs the
// root several sends. With one chain it is Chain, with ranks-1 of them Flat.
// The chains are consecutive parts of the line that Chain follows. It is the
// "chain" of Open MPI with a fanout.
type KChain struct {
	Chains int // at least 1; 0: 2
}

var _ Varied = KChain{}

// Name returns "k-chain".
func (KChain) Name() string { return "k-chain" }

func (a KChain) String() string { return fmt.Sprintf("k-chain[%d]", a.chains()) }

func (a KChain) chains() int { return orDefault(a.Chains, 1, 2) }

// Prepare implements Algorithm. O(ranks log ranks).
func (a KChain) Prepare(p Problem) Parts {
	ranks := Line(p)
	root, others := ranks[0], ranks[1:]
	edges := make([]Edge, 0, len(others))
	for left := min(a.chains(), len(others)); left > 0; left-- {
		n := (len(others) + left - 1) / left
		edges = append(edges, Edge{root, others[0]})
		edges = ShapeChain.join(edges, others[:n])
		others = others[n:]
	}
	return NewTree(p.Ranks, edges)
}

// Settings implements Varied: two chains, and four as in Open MPI's default.
func (KChain) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	list := slices.DeleteFunc([]int{2, 4}, func(chains int) bool { return chains >= p.Ranks-1 })
	return oneOf(list, func(chains int) Algorithm { return KChain{chains} })
}
