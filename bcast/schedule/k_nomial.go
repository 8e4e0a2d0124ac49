package schedule

import (
	"fmt"
	"slices"
)

// KNomial is the tree of Binomial with a higher radix: in each of its rounds,
// ceil(log_radix ranks) of them, every rank that has the message serves radix-1
// others. It is good where several sends cost less than a hop. Subtrees are
// consecutive parts of the line that Chain follows.
type KNomial struct {
	Radix int // at least 2; 0: 4
}

var _ Varied = KNomial{}

// Name returns "k-nomial".
func (KNomial) Name() string { return "k-nomial" }

func (a KNomial) String() string { return fmt.Sprintf("k-nomial[%d]", a.radix()) }

func (a KNomial) radix() int { return orDefault(a.Radix, 2, 4) }

// Prepare implements Algorithm. O(ranks log ranks).
func (a KNomial) Prepare(p Problem) Parts {
	return NewTree(p.Ranks, nomial(nil, Line(p), a.radix()))
}

// Settings implements Varied: radix 2 (along the line, other than Binomial), 4
// and 8.
func (KNomial) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	list := slices.DeleteFunc([]int{2, 4, 8}, func(radix int) bool { return radix >= p.Ranks })
	return oneOf(list, func(radix int) Algorithm { return KNomial{radix} })
}
