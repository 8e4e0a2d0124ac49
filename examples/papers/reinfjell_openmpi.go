package main

import (
	_ "embed"
	"fmt"
	"math"
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

// A decision is the broadcast that is the fastest from a size on.
type decision struct {
	from   float64 // bytes
	chosen int     // of the broadcasts
}

// decide is section 6.5.2 of the thesis, as we read it: between neighbouring sizes, the time of each broadcast is the straight
// line through its two measurements, and the fastest at each size is chosen. times[k] are those of broadcast k in s, by size.
// The sizes in bytes ascend. Broadcasts that are equal keep the one chosen before.
func decide(sizes []int, times [][]float64) []decision {
	chosen := 0
	for k := range times {
		if times[k][0] < times[chosen][0] {
			chosen = k
		}
	}
	all := []decision{{float64(sizes[0]), chosen}}
	for i := 1; i < len(sizes); i++ {
		low, high := float64(sizes[i-1]), float64(sizes[i])
		slope := func(k int) float64 { return (times[k][i] - times[k][i-1]) / (high - low) }
		for at := low; ; {
			// The next one is that whose line crosses the chosen one first; of several, the one that is the fastest beyond.
			next, first := -1, math.Inf(1)
			for k := range times {
				if slope(k) >= slope(chosen) {
					continue
				}
				cross := low + (times[k][i-1]-times[chosen][i-1])/(slope(chosen)-slope(k))
				if cross >= at && cross < high && (cross < first || cross == first && slope(k) < slope(next)) {
					next, first = k, cross
				}
			}
			if next < 0 {
				break
			}
			chosen, at = next, first
			all = append(all, decision{at, chosen})
		}
	}
	return all
}
