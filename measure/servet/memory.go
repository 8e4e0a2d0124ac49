package servet

import (
	"context"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// disturbed is the bandwidth, as a part of that alone, below which a pair shares a path to memory. Two that
// use all of one get a half; clocks that fall when more cores work cost up to a tenth.
const disturbed = 0.8

// contendedShare is the bandwidth of all together, as a part of that alone, below which something is
// shared though no two ranks show it.
const contendedShare = 0.5

// Memory measures the bandwidth of memory as seen by each rank alone, by each two ranks of a
// host at once, and by all. That tells which ranks share a path to memory (Servet 2012, after
// Gonzalez-Dominguez et al. 2013, section 3: rule 2). Ranks that are bound to no CPU are
// bound while it lasts, each to one of its own. Hosts are measured at the same time.
//
// Where one core cannot use up a path, pairs do not disturb each other, and only all together
// show that something is shared; a warning says so, and no group is made of it.
//
// It is collective; the settings of rank 0 count; the result is nil on other ranks. The end of the context or of the
// budget ends it as it does Distance. Some 15 ms per step, n^2/2 steps for the n ranks of a host.
func Memory(ctx context.Context, comm mpi.Communicator, settings *InsideSettings) (*InsideResult, error) {
	return inside(ctx, comm, settings, false, func(r *insideRun) (*InsideResult, error) {
		bytes, err := r.chooseBytes(copyingSize)
		if err != nil {
			return nil, err
		}
		result := &InsideResult{Kind: KindMemory, Bytes: bytes, values: make(values)}
		return result, r.run(result.values, []int{partAlone, partPair, partTogether}, []int{bytes})
	})
}

// copyingSize is that of a rank's two buffers.
func copyingSize(last, room int) int { return max(min(2*last, largestSet, room/2), copyPiece) }

// concludeMemory makes paths to memory of the values.
func (r *InsideResult) concludeMemory() (warnings []string) {
	for rank := range slices.Concat(r.hosts...) {
		r.Alone = append(r.Alone, r.values.median(partAlone, r.Bytes, rank, rank))
		r.Together = append(r.Together, r.values.median(partTogether, r.Bytes, rank, rank))
	}
	paths := model.Resource{Kind: topology.KindNUMA}
	var totals []float64
	var count pairCount
	hidden := 0
	for _, own := range r.hosts {
		groups := count.join(own, func(a, b int) float64 {
			left := (r.values.median(partPair, r.Bytes, a, b)/r.Alone[a] + r.values.median(partPair, r.Bytes, b, a)/r.Alone[b]) / 2
			return disturbed - left
		})
		paths.Groups = append(paths.Groups, groups...)
		for _, g := range groups {
			totals = append(totals, sum(r.Together, g))
		}
		if groups == nil && len(own) > 1 && sum(r.Together, own) < contendedShare*sum(r.Alone, own) {
			hidden++
		}
	}
	paths.Bandwidth = stats.MiddleMedian(stats.SortedFinite(totals))
	warnings = count.warnings("memory", "path to memory", r.Stopped)
	if hidden > 0 {
		warnings = append(warnings, fmt.Sprintf("memory: on %d hosts no two ranks disturb each other, but all together get less than %.0f %% of what they get alone: who shares a path to memory is not told by pairs", hidden, 100*contendedShare))
		return warnings // what the operating system tells is better than nothing
	}
	if count.pairs > count.missing {
		r.Resources = append(r.Resources, paths)
	}
	return warnings
}

// sum is that of values of ranks.
func sum(values []float64, ranks []int) float64 {
	total := 0.0
	for _, rank := range ranks {
		total += values[rank]
	}
	return total
}
