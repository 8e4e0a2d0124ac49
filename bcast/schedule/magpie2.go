package schedule

import (
	"cmp"
	"fmt"
)

// Magpie2 broadcasts among the leaders of the clusters with one algorithm and then
// within each cluster with another: any two, which take their ranks in the order of the line. A leader goes on when it has the whole
// message. Reinfjell 2023, table 6.2. The root leads its cluster; elsewhere the first
// rank of the line does.
type Magpie2 struct {
	Level   int       // of Problem.Tree, whose groups are the clusters, finest 0; a rank in none is a cluster itself
	Between Algorithm // among the leaders; nil: Flat
	Within  Algorithm // in each cluster; nil: Binomial
}

var _ Varied = Magpie2{}

// Name returns "magpie2".
func (Magpie2) Name() string { return "magpie2" }

// String names the settings too.
func (a Magpie2) String() string {
	between, within := a.parts()
	return fmt.Sprintf("magpie2[level %d, %s, %s]", a.Level, Text(between), Text(within))
}

func (a Magpie2) parts() (between, within Algorithm) {
	return cmp.Or[Algorithm](a.Between, Flat{}), cmp.Or[Algorithm](a.Within, Binomial{})
}

// Prepare implements Algorithm. O(ranks) and what the parts need.
func (a Magpie2) Prepare(p Problem) Parts {
	between, within := a.parts()
	c := clustersOf(p, a.Level)
	outside := among(between, p, c.leaders)
	var inside []func(place int) Part
	for _, ranks := range c.members {
		inside = append(inside, among(within, p, ranks))
	}
	return PartOf(func(rank int) Part {
		i, place := c.of[rank], c.place[rank]
		part := inside[i](place)
		if place > 0 {
			return part
		}
		leader := outside(i) // first among the leaders, then in its cluster
		return func(dst []Op, p Problem) []Op { return part(leader(dst, p), p) }
	})
}

// Settings implements Varied: the levels that have groups, and a flat tree, a binomial tree or a chain among the leaders
// and within the clusters.
func (Magpie2) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	levels, parts := GroupedLevels(p), []Algorithm{Flat{}, Binomial{}, Chain{}}
	return []int{len(levels), len(parts), len(parts)}, func(choice []int) Algorithm {
		return Magpie2{levels[choice[0]], parts[choice[1]], parts[choice[2]]}
	}
}
