package schedule

import "fmt"

// KNomial is the tree of Binomial with a higher radix: in each of its rounds,
// ceil(log_radix ranks) of them, every rank that has the message serves radix-1
// others. It is good where several sends cost less than a hop. Subtrees are
// consecutive parts of the line that Chain follows.
type KNomial struct {
	Radix int // at least 2; 0: 4
}

var (
	_ Planner = KNomial{}
	_ Varied  = KNomial{}
)

// Name returns "k-nomial".
func (KNomial) Name() string { return "k-nomial" }

func (a KNomial) String() string { return fmt.Sprintf("k-nomial[%d]", a.radix()) }

func (a KNomial) radix() int {
	if a.Radix < 2 {
		return 4
	}
	return a.Radix
}

// Ops implements Algorithm. O(ranks log ranks).
func (a KNomial) Ops(dst []Op, p Problem, rank int) []Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner. O(ranks log ranks).
func (a KNomial) Plan(p Problem) *Tree {
	return NewTree(p.Ranks, nomial(make([]Edge, 0, p.Ranks-1), Line(p), a.radix()))
}

// Variants implements Varied: radix 2 (along the line, other than Binomial), 4
// and 8.
func (KNomial) Variants(p Problem) []Algorithm {
	var list []Algorithm
	for _, radix := range []int{2, 4, 8} {
		if radix < p.Ranks {
			list = append(list, KNomial{Radix: radix})
		}
	}
	return list
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
