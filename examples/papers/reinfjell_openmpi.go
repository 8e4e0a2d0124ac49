package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
)

// openMPIRules is Open MPI 4.1's choice of broadcasts that nobody has tuned. All messages are whole. Its linear broadcast is flat. Its
// pipeline and its chain are one chain without segments. Its k-nomial tree has radix 4, and its scatter and allgather doubles.
//
//go:embed openmpi-4.1.txt
var openMPIRules string

// openMPIDefault is what Open MPI 4.1 takes for as many ranks and bytes.
func openMPIDefault(ranks, bytes int) schedule.Algorithm {
	algorithms := map[string]schedule.Algorithm{
		"flat":         schedule.Flat{},
		"chain":        schedule.Chain{},
		"split-binary": schedule.SplitBinary{},
		"binary":       levelBinary{},
		"binomial":     schedule.Binomial{},
		"k-nomial":     schedule.KNomial{Radix: 4},
		"scatter":      classic.ScatterDoubling{},
	}
	var name string
	for line := range strings.Lines(openMPIRules) {
		var belowRanks, belowBytes int // 0: any
		if _, err := fmt.Sscan(line, &belowRanks, &belowBytes, &name); err != nil {
			continue // a comment
		}
		if (belowRanks == 0 || ranks < belowRanks) && (belowBytes == 0 || bytes < belowBytes) {
			break // the last line at the latest
		}
	}
	return algorithms[name]
}

// levelBinary is the binary tree as Open MPI numbers its ranks, level by level, whatever hosts they are on: a rank of level l
// serves those 2^l and 2^(l+1) after it.
type levelBinary struct{}

// Name implements schedule.Algorithm.
func (levelBinary) Name() string { return "binary" }

// Prepare implements schedule.Algorithm.
func (levelBinary) Prepare(p schedule.Problem) schedule.Parts {
	edges := make([]schedule.Edge, 0, p.Ranks-1)
	at := func(place int) int { return (p.Root + place) % p.Ranks }
	for place, step := 0, 1; place < p.Ranks; place++ {
		for place+1 >= 2*step {
			step *= 2 // 2^l: level l has the places from 2^l - 1 on
		}
		for _, child := range []int{place + step, place + 2*step} {
			if child < p.Ranks {
				edges = append(edges, schedule.Edge{From: at(place), To: at(child)})
			}
		}
	}
	return schedule.NewTree(p.Ranks, edges)
}
