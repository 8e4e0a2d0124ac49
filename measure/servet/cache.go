package servet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

const (
	smallestSet = 16 << 10 // B; below any first cache
	rise        = 1.3      // of the time per access from a size to twice that, which tells of a cache between; translations of addresses cost less
	evicted     = 0.5      // in the middle between what does not share and what does
)

// Caches measures which ranks share which caches, as Servet does (Gonzalez-Dominguez et al. 2013, section 3), by eviction:
// two ranks of a host each walk through a working set in random order. Where one alone
// takes longer for a set of twice the size, a cache holds the one set and not the other. Two ranks slow each other down
// as much if they share that cache, and not at all if they do not.
//
// First, the first rank of each host walks alone through sets of 16 KiB to InsideSettings.Bytes. Their sizes are the powers
// of two, and one and a half of each. Each range of sizes where the time rises is a cache, or two of sizes so near that the time
// rises all the way from one to the other: up to a factor of four apart. At the size where it rises most, all ranks walk alone, and each two of a host at once.
//
// It is collective, and as Memory in the rest. A step takes some passes through the working set, n^2/2 of them per
// cache for the n ranks of a host.
func Caches(ctx context.Context, comm mpi.Communicator, settings *InsideSettings) (*InsideResult, error) {
	return inside(ctx, comm, settings, true, func(r *insideRun) (*InsideResult, error) {
		largest, err := r.chooseBytes(walkingSize)
		if err != nil {
			return nil, err
		}
		result := &InsideResult{Kind: KindCache, Bytes: largest, hosts: r.hosts, values: make(values)}
		if err := r.run(result.values, []int{partCurve}, setSizes(largest)); err != nil {
			return nil, err
		}
		var sharpest, alone []int // the working sets to test with; and each size, and twice that
		for _, x := range result.curves() {
			sharpest, alone = append(sharpest, x.sharpest), append(alone, x.sharpest, 2*x.sharpest)
		}
		slices.Sort(alone)
		if err := r.run(result.values, []int{partAlone}, slices.Compact(alone)); err != nil {
			return nil, err
		}
		return result, r.run(result.values, []int{partPair}, sharpest)
	})
}

// setSizes are the sizes of working sets up to the largest: each power of two and one and a half of each.
func setSizes(largest int) []int {
	var all []int
	for size := smallestSet; size <= largest; size *= 2 {
		all = append(all, size)
		if half := size + size/2; half <= largest {
			all = append(all, half)
		}
	}
	return all
}

// walkingSize is that of the largest working set: so large that the rise beyond the last cache is seen.
func walkingSize(last, room int) int { return max(min(3*last, largestSet, room), smallestSet) }

// A riseOf is a range of sizes in which the time per access rises: a cache.
type riseOf struct {
	sharpest int // size from which it rises most to twice that
	capacity int // about as large as the cache
}

// risesOf finds the caches in the times per access of working sets of the sizes of setSizes.
func risesOf(sizes []int, access []float64) []riseOf {
	const octave = 2 // steps of the sizes from one to twice that
	steep := func(i int) float64 {
		if i+octave >= len(sizes) {
			return 0
		}
		return access[i+octave] / access[i]
	}
	var all []riseOf
	for i := 0; i < len(sizes); i++ {
		if !(steep(i) >= rise) {
			continue
		}
		first, best := i, i
		for ; steep(i) >= rise; i++ {
			if steep(i) > steep(best) {
				best = i
			}
		}
		// The cache is as large as the largest set that is nearer to the speed below than to that above.
		x := riseOf{sharpest: sizes[best], capacity: sizes[first]}
		for k := first; k < i+octave && access[k]*access[k] <= access[best]*access[best+octave]; k++ {
			x.capacity = sizes[k]
		}
		all = append(all, x)
	}
	return all
}

// alike makes one of caches that several hosts show at about one size.
func alike(found []riseOf) []riseOf {
	slices.SortFunc(found, func(a, b riseOf) int { return cmp.Or(a.sharpest-b.sharpest, a.capacity-b.capacity) })
	var all []riseOf
	for len(found) > 0 {
		n := 1
		for n < len(found) && 2*found[n].sharpest <= 3*found[n-1].sharpest { // the next size
			n++
		}
		all = append(all, found[(n-1)/2])
		found = found[n:]
	}
	return all
}

// curves finds the caches that the first ranks of the hosts see.
func (r *InsideResult) curves() []riseOf {
	var found []riseOf
	r.Sizes, r.Access = setSizes(r.Bytes), nil
	for _, ranks := range r.hosts {
		var curve []float64
		for _, size := range r.Sizes {
			curve = append(curve, r.values.median(partCurve, size, ranks[0], ranks[0]))
		}
		r.Access = append(r.Access, curve)
		found = append(found, risesOf(r.Sizes, curve)...)
	}
	return alike(found)
}

// concludeCaches makes caches of the values.
func (r *InsideResult) concludeCaches() (warnings []string) {
	found := r.curves()
	var all pairCount
	for _, x := range found {
		cache := model.Resource{Kind: topology.KindCache, Bytes: int64(x.capacity), Bandwidth: math.NaN()}
		var count pairCount
		for _, ranks := range r.hosts {
			// How far a rank is slowed down, on a scale of logarithms: 0 is its time alone, 1 that alone of twice the
			// set, as two in one cache are.
			share := func(rank, other int) float64 {
				a, b := r.values.median(partAlone, x.sharpest, rank, rank), r.values.median(partAlone, 2*x.sharpest, rank, rank)
				t := r.values.median(partPair, x.sharpest, rank, other)
				if b < rise*a && !math.IsNaN(t) {
					return 0 // a core without a cache of this size shares none
				}
				return math.Log(t/a) / math.Log(b/a)
			}
			cache.Groups = append(cache.Groups, count.join(ranks, func(a, b int) float64 { return (share(a, b)+share(b, a))/2 - evicted })...)
		}
		if count.pairs == 0 || count.missing < count.pairs {
			r.Resources = append(r.Resources, cache)
		}
		all = pairCount{all.pairs + count.pairs, all.missing + count.missing, all.against + count.against}
	}
	warnings = all.warnings("caches", "cache", r.Stopped)
	if len(found) == 0 && r.Stopped == "" {
		warnings = append(warnings, fmt.Sprintf("caches: up to %s no size of the working set makes a difference: no cache was seen", quantity.Bytes(r.Bytes)))
	}
	return warnings
}
