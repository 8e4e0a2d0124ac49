package oneway

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology/spanner"
)

// A Direction is a link of which one direction is slower than the other.
type Direction struct {
	From, To int     // ranks, in the slow direction
	Slow     float64 // s, from From to To
	Fast     float64 // s, back
	Doubt    float64 // s, of both
}

// A Result is what Measure has found, on rank 0.
type Result struct {
	Ranks    int
	OneClock bool // all clocks were taken to agree

	// Directions are the links that are surely slower in one direction, slowest first. Undecided are
	// those of which clocks and another link explain the stamps nearly as well.
	Directions, Undecided []Direction

	// Least is the least asymmetry that a typical pair shows, as a share of its latency. Of
	// one half and more, nothing is said about directions. It is infinite where ranks outnumber the cores of a host.
	Least float64

	Rounds, TotalRounds int
	Stopped             harness.Stopped // why it ended early, or ""
	Notes, Warnings     []string

	plan  plan
	trips []trip
	pairs []pair
}

const (
	falseAlarms = 1e-3 // share of the runs without slow directions in which any is named
	leastShare  = 0.05 // of half the round trip: a smaller excess is not named
	pull        = 1.5  // weight of a pair in the fit that its asymmetry has to stand
	mostDoubt   = 0.5  // of the latency
	mostNamed   = 10   // in warnings
	switched    = 0.9  // overhead over the shortest latency: hosts behind switches have 1, rings 0 to 0.8
	fewestWired = 4    // ranks whose wiring shows
)

// newResult works out what trips say. Trips below the step of the clock are left out.
func newResult(ranks int, p plan, trips []trip) *Result {
	trips = slices.DeleteFunc(trips, func(t trip) bool { return !(t.half() > 0) })
	slices.SortFunc(trips, func(a, b trip) int {
		return cmp.Or(a.from-b.from, a.to-b.to, a.repetition-b.repetition)
	})
	r := &Result{Ranks: ranks, OneClock: p.OneClock, plan: p, trips: trips}
	switch {
	case len(trips) == 0:
		return r
	case len(p.Oversubscribed) > 0:
		r.Least = math.Inf(1)
		r.Warnings = append(r.Warnings, fmt.Sprintf("one-way times say nothing about directions: ranks outnumber the cores on %s, run one rank per core", words.Few(p.Oversubscribed, mostNamed)))
		return r
	}
	if r.OneClock && slices.ContainsFunc(trips, func(t trip) bool { return t.there < 0 || t.back < 0 }) {
		r.OneClock = false
		r.Warnings = append(r.Warnings, "the clocks of the ranks differ, as messages arrive before they are sent: they were fitted")
	}
	r.pairs = pairsOf(ranks, trips, r.OneClock)
	if !r.OneClock {
		takeDrift(ranks, r.pairs)
	}
	noise := noiseOf(r.pairs)
	markLinks(ranks, r.pairs)
	r.doubt(noise)
	if r.OneClock {
		for i := range r.pairs {
			r.pairs[i].excess = r.pairs[i].lead()
		}
	} else {
		takeLeads(ranks, r.pairs)
	}
	r.Directions = directions(ranks, r.pairs)
	if r.Least >= mostDoubt {
		r.Directions = nil
	}
	if len(r.Directions) > 0 && !r.OneClock {
		r.decide()
	}
	slices.SortStableFunc(r.Directions, func(a, b Direction) int { return cmp.Compare(b.Slow/b.Fast, a.Slow/a.Fast) })
	r.tell()
	return r
}

// doubt sets the doubts of the pairs, so that few runs without slow directions name one.
func (r *Result) doubt(noise float64) {
	tail := falseAlarms / float64(2*len(r.pairs))
	normal := distuv.UnitNormal.Quantile(1 - tail)
	fitted := 1.0 // by how much more is in doubt because the clocks are, too
	if !r.OneClock {
		links := 0.0
		for i := range r.pairs {
			links += r.pairs[i].weight
		}
		// As many links as a tree of the ranks has tell the clocks and nothing else.
		fitted = math.Sqrt(links / max(0, links-float64(r.Ranks-1)))
	}
	var shares []float64
	for i := range r.pairs {
		x := &r.pairs[i]
		x.spread = stats.ErrorOfMedian(noise*x.half, len(x.leads))
		x.doubt = normal * x.spread * fitted
		lead := x.lead()
		for _, one := range x.leads { // a pair is in doubt with all that disturbed repetitions are off by
			if off := math.Abs(one - lead); off > normal*noise*x.half {
				x.spread, x.doubt = max(x.spread, off), max(x.doubt, off)
			}
		}
		if len(x.leads) < LeastRepetitions {
			x.doubt = math.Inf(1)
			continue
		}
		shares = append(shares, x.doubt/x.half)
	}
	if r.Least = math.Inf(1); len(shares) > 0 {
		r.Least = leastShare + stats.Median(shares)
	}
}

// counts tells whether a pair is surely asymmetric by more than the least share.
func (x *pair) counts() bool { return math.Abs(x.excess)-x.doubt > leastShare*x.half }

func (x *pair) direction() Direction {
	d := Direction{From: x.from, To: x.to, Slow: x.half + math.Abs(x.excess), Fast: max(0, x.half-math.Abs(x.excess)), Doubt: x.doubt}
	if x.excess < 0 {
		d.From, d.To = d.To, d.From
	}
	return d
}

// slowPairs are the indices of the pairs that surely differ, and are not made of others: links, and pairs whose
// asymmetry no way over a third rank has, though it may be as short. O(n) for each pair that differs.
func slowPairs(n int, pairs []pair) []int {
	var found []int
	var at []int // by from and to: 1 more than the index of the pair
	for i := range pairs {
		x := &pairs[i]
		if !x.counts() {
			continue
		}
		if x.weight == 0 && at == nil {
			at = make([]int, n*n)
			for k, p := range pairs {
				at[p.from*n+p.to], at[p.to*n+p.from] = k+1, k+1
			}
		}
		made := false
		for k := 0; k < n && x.weight == 0 && !made; k++ {
			if k != x.from && k != x.to {
				made = x.madeOf(pairs, at[x.from*n+k]-1, at[k*n+x.to]-1)
			}
		}
		if !made {
			found = append(found, i)
		}
	}
	return found
}

// madeOf tells whether two shorter pairs, over a third rank, have the asymmetry of x together. -1 stands for a
// pair that was not measured.
func (x *pair) madeOf(pairs []pair, first, second int) bool {
	if first < 0 || second < 0 {
		return false
	}
	a, b := &pairs[first], &pairs[second]
	there, on := a.excess, b.excess
	if a.from != x.from {
		there = -there
	}
	if b.to != x.to {
		on = -on
	}
	return max(a.half, b.half) < x.half && math.Abs(x.excess-there-on) <= x.doubt+a.doubt+b.doubt
}

func directions(n int, pairs []pair) []Direction {
	var all []Direction
	for _, i := range slowPairs(n, pairs) {
		all = append(all, pairs[i].direction())
	}
	return all
}

// decide fits the clocks again, so that the directions pull at them more. If any direction goes or comes,
// all of them hang together and none is decided.
func (r *Result) decide() {
	pulled := slices.Clone(r.pairs)
	for _, i := range slowPairs(r.Ranks, r.pairs) {
		pulled[i].weight = pull
	}
	takeLeads(r.Ranks, pulled)
	same := func(a, b Direction) bool { return a.From == b.From && a.To == b.To }
	if !slices.EqualFunc(r.Directions, directions(r.Ranks, pulled), same) {
		r.Directions, r.Undecided = nil, r.Directions
	}
}

// markLinks gives weight to the pairs that no third rank explains. Longer ones say nothing more about
// clocks, and a slow link is in many of them. Behind switches all pairs count: there the way over a neighbour
// is longer by what the shortest messages take, which looks like an overhead.
func markLinks(n int, pairs []pair) {
	halves := measured.Unmeasured(n)
	least := math.Inf(1)
	for _, x := range pairs {
		halves.Set(x.from, x.to, x.half)
		halves.Set(x.to, x.from, x.half)
		least = min(least, x.half)
	}
	found, err := (&spanner.Witness{}).Reconstruct(halves)
	wired := err == nil && n >= fewestWired && found.Fit.Overhead < switched*least
	for i := range pairs {
		x := &pairs[i]
		if !wired || found.Graph.ArcIndex(x.from, x.to) >= 0 {
			x.weight = 1
		}
	}
}

// tell writes notes and warnings.
func (r *Result) tell() {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case math.IsInf(r.Least, 1):
		warn("one-way times say nothing about directions: too few repetitions, or no links beyond those that tell the clocks")
		return
	case r.Least >= mostDoubt:
		warn("one-way times are too doubtful: directions would have to differ by %s of the latency to show", quantity.Percent(r.Least))
		return
	}
	list := func(all []Direction, what string) {
		blocks := blocksOf(all)
		for _, block := range blocks[:min(len(blocks), mostNamed)] {
			warn("%s: %s", what, block)
		}
		if more := len(blocks) - mostNamed; more > 0 {
			warn("%s: %d more", what, more)
		}
	}
	list(r.Directions, "slow in one direction")
	list(r.Undecided, "maybe slow in one direction, or the clocks and another link are")
	note("directions of a link count as different from %s of its latency on", quantity.Percent(2*r.Least))
	if !r.OneClock {
		note("the clocks were fitted: they hide a slow direction of all messages of a host, or of a link that alone joins two parts")
	}
}

// blocksOf tells directions in few words: ranks that are slow to the same others are named together.
func blocksOf(all []Direction) []string {
	to := make(map[int][]int)
	for _, d := range all {
		to[d.From] = append(to[d.From], d.To)
	}
	blocks := make(map[string][]Direction)
	var keys []string // in the order of all
	for _, d := range all {
		slices.Sort(to[d.From])
		key := fmt.Sprint(to[d.From])
		if blocks[key] == nil {
			keys = append(keys, key)
		}
		blocks[key] = append(blocks[key], d)
	}
	ranks := func(block []Direction, end func(Direction) int) string {
		var names []string
		for _, d := range block {
			names = append(names, strconv.Itoa(end(d)))
		}
		slices.Sort(names)
		return hostlist.Ranges(slices.Compact(names))
	}
	var texts []string
	for _, key := range keys {
		block := blocks[key]
		typical := block[len(block)/2] // they come in the order of their ratios
		texts = append(texts, fmt.Sprintf("%s > %s takes %s, back %s, each within %s",
			ranks(block, func(d Direction) int { return d.From }), ranks(block, func(d Direction) int { return d.To }),
			quantity.Seconds(typical.Slow), quantity.Seconds(typical.Fast), quantity.Seconds(typical.Doubt)))
	}
	return texts
}

// Split returns latencies, halved round trips in s, with those of surely asymmetric pairs split into their
// directions. All others stay as they are, and so do all if no link has a slow direction. The matrices
// must be of the same ranks.
func (r *Result) Split(latencies []mat.Matrix) []mat.Matrix {
	if len(r.Directions) == 0 {
		return latencies
	}
	split := make([]mat.Matrix, len(latencies))
	for k, m := range latencies {
		d := mat.DenseCopyOf(m)
		for i := range r.pairs {
			x := &r.pairs[i]
			if math.Abs(x.excess) <= x.doubt {
				continue
			}
			half := (d.At(x.from, x.to) + d.At(x.to, x.from)) / 2
			d.Set(x.from, x.to, max(0, half+x.excess))
			d.Set(x.to, x.from, max(0, half-x.excess))
		}
		split[k] = d
	}
	return split
}
