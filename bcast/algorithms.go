package bcast

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// Algorithms returns one of each algorithm with its default settings.
func Algorithms() []Algorithm {
	return []Algorithm{Flat{}, Binomial{}, Chain{}, MultiLevel{}}
}

// catalogue lists the algorithms with the settings that come into question.
func catalogue(h *topology.Hierarchy) []Algorithm {
	all := []Algorithm{Flat{}, Binomial{}, Chain{}}
	if h == nil || len(h.Groups()) < 2 {
		return all // MultiLevel would be one of those
	}
	for _, a := range shapings(len(h.Levels()) + 1) {
		all = append(all, a)
	}
	return all
}

// shapedLevels is the number of levels, from the coarsest, whose shapes are tried: three shapes each make
// 27 plans, and the finer levels take the least of the time.
const shapedLevels = 3

// shapings returns MultiLevel with all combinations of shapes on the given
// number of levels; from the level after shapedLevels on inwards they are those of the last.
func shapings(levels int) []MultiLevel {
	all := []MultiLevel{{}}
	for range min(shapedLevels, levels) {
		var longer []MultiLevel
		for _, a := range all {
			for s := ShapeBinomial; s <= ShapeChain; s++ {
				longer = append(longer, MultiLevel{append(slices.Clone(a.Shapes), s)})
			}
		}
		all = longer
	}
	return all
}
