package schedule

import "fmt"

// A Shape is the form of the tree among the members of one group.
type Shape uint8

// The shapes.
const (
	ShapeBinomial Shape = iota // doubling
	ShapeFlat                  // the leader serves all, by lowest rank
	ShapeChain                 // each serves the next, by lowest rank
	ShapeBinary                // each serves two

	// ShapeNone passes over a level: the members of its groups are taken to be
	// members of the groups around, as if the level were not known. Fewer levels
	// can win (Reinfjell 2023, section 6.7.2). The group of all ranks takes it for
	// ShapeBinomial.
	ShapeNone
)

func (s Shape) String() string {
	names := [...]string{ShapeBinomial: "binomial", ShapeFlat: "flat", ShapeChain: "chain", ShapeBinary: "binary", ShapeNone: "none"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("shape %d", uint8(s))
}

// tree is the tree of a shape over all ranks, the first of which is its root.
func (s Shape) tree(ranks []int) *Tree { return NewTree(len(ranks), s.join(nil, ranks)) }

// join appends the edges of a tree of the given shape over the ranks, the
// first of which is its root.
func (s Shape) join(edges []Edge, ranks []int) []Edge {
	switch s {
	case ShapeFlat:
		for _, r := range ranks[1:] {
			edges = append(edges, Edge{ranks[0], r})
		}
	case ShapeChain:
		for i := range ranks[1:] {
			edges = append(edges, Edge{ranks[i], ranks[i+1]})
		}
	case ShapeBinary:
		return halved(edges, ranks)
	default:
		return nomial(edges, ranks, 2)
	}
	return edges
}

// halved appends the edges of the balanced binary tree over the ranks, whose root
// is the first of them; the first half of the others is one subtree.
func halved(edges []Edge, ranks []int) []Edge {
	others := ranks[1:]
	middle := (len(others) + 1) / 2
	for _, part := range [][]int{others[:middle], others[middle:]} {
		if len(part) > 0 {
			edges = append(edges, Edge{ranks[0], part[0]})
			edges = halved(edges, part)
		}
	}
	return edges
}

// nomial appends the edges of the tree over the ranks, whose root is the first
// of them: position i is served by i without its lowest digit of the radix,
// largest subtrees first.
func nomial(edges []Edge, ranks []int, radix int) []Edge {
	step := 1
	for step < (len(ranks)+radix-1)/radix {
		step *= radix
	}
	for ; step > 0; step /= radix {
		for i := 0; i < len(ranks); i += radix * step {
			for k := i + step; k < min(i+radix*step, len(ranks)); k += step {
				edges = append(edges, Edge{ranks[i], ranks[k]})
			}
		}
	}
	return edges
}
