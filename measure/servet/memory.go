package servet

import (
	"context"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// A MemoryResult is what Memory has measured. Bandwidths are of bytes that are read and written, as STREAM's
// copy counts them (McCalpin 1995), in B/s; NaN where nothing was measured.
type MemoryResult struct {
	Bytes     int       // size of each buffer in B
	Alone     []float64 // of each rank
	Together  []float64 // of each rank while all of its host copy
	Resources []model.Resource
	Stopped   harness.Stopped // "" if all was measured
	Took      float64         // s
	Warnings  []string

	hosts    [][]int      // ranks, by core
	pairs    []memoryPair // of one host each
	readings readings
}

// A memoryPair is two ranks that copy at once.
type memoryPair struct {
	A, B       int
	BandwidthA float64 // B/s
	BandwidthB float64 // B/s
}

// disturbed is the bandwidth, as a part of that alone, below which a pair shares a path to memory. Two that
// use all of one get a half; clocks that fall when more cores work cost up to a tenth.
const disturbed = 0.8

// crowdedOut is the bandwidth of all together, as a part of that alone, below which something is
// shared though no two ranks show it.
const crowdedOut = 0.5

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
func Memory(ctx context.Context, comm mpi.Communicator, settings *InsideSettings) (*MemoryResult, error) {
	return inside(ctx, comm, settings, func(c *crew, places []mpi.Place) (*MemoryResult, error) {
		bytes, err := c.chooseBytes(copyingSize)
		if err != nil {
			return nil, err
		}
		values, err := c.run(insideRound{Parts: []int{partAlone, partPair, partTogether}, Sizes: []int{bytes}})
		if err != nil {
			return nil, err
		}
		result := &MemoryResult{Bytes: bytes, Stopped: c.Stopped(), Took: c.Elapsed(), hosts: c.Ranks, readings: values}
		result.Warnings = append(insideWarnings(places), result.take()...)
		return result, nil
	})
}

// copyingSize is that of a rank's two buffers.
func copyingSize(last, room int) int { return max(min(2*last, largestSet, room/2), copyPiece) }

// take makes the rest of the result of the readings, and returns what is weak about it.
func (r *MemoryResult) take() (warnings []string) {
	value := r.readings.medians()
	ranks := 0
	for _, own := range r.hosts {
		ranks += len(own)
	}
	for rank := range ranks {
		r.Alone = append(r.Alone, value(key{partAlone, r.Bytes, rank, rank}))
		r.Together = append(r.Together, value(key{partTogether, r.Bytes, rank, rank}))
	}
	paths := model.Resource{Kind: topology.KindNUMA, Bandwidth: math.NaN()}
	var totals []float64
	missing, against, hidden := 0, 0, 0
	for _, own := range r.hosts {
		groups, unknown, odd := joined(own, func(a, b int) (bool, bool) {
			ofA, ofB := value(key{partPair, r.Bytes, a, b}), value(key{partPair, r.Bytes, b, a})
			r.pairs = append(r.pairs, memoryPair{a, b, ofA, ofB})
			ratio := (ofA/r.Alone[a] + ofB/r.Alone[b]) / 2
			return ratio < disturbed, !math.IsNaN(ratio)
		})
		missing, against = missing+unknown, against+odd
		paths.Groups = append(paths.Groups, groups...)
		for _, g := range groups {
			totals = append(totals, r.total(g))
		}
		if groups == nil && len(own) > 1 && r.lost(own) {
			hidden++
		}
	}
	if known := stats.SortedFinite(totals); len(known) > 0 {
		paths.Bandwidth = stats.MiddleMedian(known)
	}
	if missing > 0 {
		warnings = append(warnings, fmt.Sprintf("memory: stopped by the %s: %d of %d pairs of ranks were not measured", r.Stopped, missing, len(r.pairs)))
	}
	if against > 0 {
		warnings = append(warnings, fmt.Sprintf("memory: %d pairs of ranks that share a path to memory by way of others do not disturb each other", against))
	}
	if hidden > 0 {
		warnings = append(warnings, fmt.Sprintf("memory: on %d hosts no two ranks disturb each other, but all together get less than %.0f %% of what they get alone: who shares a path to memory is not told by pairs", hidden, 100*crowdedOut))
		return warnings // what the operating system tells is better than nothing
	}
	if len(r.pairs) > missing {
		r.Resources = append(r.Resources, paths)
	}
	return warnings
}

// total is what ranks get together while all of their host copy.
func (r *MemoryResult) total(ranks []int) float64 {
	sum := 0.0
	for _, rank := range ranks {
		sum += r.Together[rank]
	}
	return sum
}

// lost tells whether the ranks of a host lose much when all copy.
func (r *MemoryResult) lost(ranks []int) bool {
	alone := 0.0
	for _, rank := range ranks {
		alone += r.Alone[rank]
	}
	return r.total(ranks) < crowdedOut*alone
}

// insideWarnings are of ranks that have no core of their own.
func insideWarnings(places []mpi.Place) []string {
	warnings := crowded(places)
	unbound := 0
	for _, p := range places {
		if p.Core < 0 {
			unbound++
		}
	}
	if unbound > 0 {
		warnings = append(warnings, fmt.Sprintf("%d ranks are bound to no single CPU: what they share holds for the CPUs to which they were bound while it was measured", unbound))
	}
	return warnings
}
