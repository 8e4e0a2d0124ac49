package schedule

import "fmt"

// Magpie2 broadcasts among the leaders of the clusters with one algorithm and then
// within each cluster with another: any two, which know of the machine what joins
// their ranks, with segments of their own. A leader goes on when it has the whole
// message. Reinfjell 2023, table 6.2.
type Magpie2 struct {
	Level   int       // as of MagPIe
	Between Algorithm // among the leaders; nil: Flat
	Within  Algorithm // in each cluster; nil: Binomial
}

var (
	_ Preparer = Magpie2{}
	_ Varied   = Magpie2{}
)

// Name returns "magpie2".
func (Magpie2) Name() string { return "magpie2" }

// String names the settings too.
func (a Magpie2) String() string {
	between, within := a.parts()
	return fmt.Sprintf("magpie2[level %d, %v, %v]", a.Level, named{between}, named{within})
}

// named prints an algorithm with its settings if it tells them, or its name.
type named struct{ Algorithm }

func (n named) String() string {
	if s, ok := n.Algorithm.(fmt.Stringer); ok {
		return s.String()
	}
	return n.Name()
}

func (a Magpie2) parts() (between, within Algorithm) {
	between, within = a.Between, a.Within
	if between == nil {
		between = Flat{}
	}
	if within == nil {
		within = Binomial{}
	}
	return between, within
}

// Ops implements Algorithm. O(ranks) and what the parts need.
func (a Magpie2) Ops(dst []Op, p Problem, rank int) []Op { return a.Prepare(p)(rank).Ops(dst, p) }

// Prepare implements Preparer.
func (a Magpie2) Prepare(p Problem) func(rank int) Part {
	parts := clusters(p, a.Level)
	between, within := a.parts()
	var leaders []int
	first := 0 // of the leaders: the root
	of, place := make([]int, p.Ranks), make([]int, p.Ranks)
	var inside []company
	for i, ranks := range parts {
		for k, r := range ranks {
			of[r], place[r] = i, k
		}
		if ranks[0] == p.Root {
			first = i
		}
		leaders = append(leaders, ranks[0])
		inside = append(inside, newCompany(within, p, ranks, 0))
	}
	outside := newCompany(between, p, leaders, first)
	return func(rank int) Part {
		var s stages
		if place[rank] == 0 {
			s = append(s, outside.stage(of[rank]))
		}
		return append(s, inside[of[rank]].stage(place[rank]))
	}
}

// Variants returns, for each level that has groups, those with a flat tree, a
// binomial tree or a chain among the leaders and within the clusters; and, where
// there are finer groups, those with a flat tree among the leaders and Leaders of
// the finest groups within the clusters.
func (Magpie2) Variants(p Problem) []Algorithm {
	parts := []Algorithm{Flat{}, Binomial{}, Chain{}}
	var all []Algorithm
	for _, a := range PerLevel(p, func(level int) Algorithm { return Magpie2{Level: level} }) {
		for _, between := range parts {
			for _, within := range parts {
				all = append(all, Magpie2{a.(Magpie2).Level, between, within})
			}
		}
		if level := a.(Magpie2).Level; level > 0 && hasGroups(p.Tree, 0) {
			for _, finest := range []Algorithm{KNomial{3}, Circulant{}} {
				all = append(all, Magpie2{level, Flat{}, Leaders{0, finest}})
			}
		}
	}
	return all
}
