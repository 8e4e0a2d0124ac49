package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/stats"
)

// wideSpread is the relative spread of a level's times from which Fit warns.
// Cores of one class differ by up to 40 %.
const wideSpread = 0.5

// fewestTimes are of two pairs at least, which have two directions each.
const fewestTimes = 3

// fitLevels are the medians of the times of single transfers, by level and
// size, made to rise with the size: the smallest size gives the latency, the
// others the gap. Levels with transfers of one size or none keep what the
// hierarchy says, but for the spread.
//
// The time of a message of the measuring size is the latency that the
// hierarchy gives to the level: wiring, queries and broadcasts are to tell one
// figure, which a disturbance of the machine does not reach.
func fitLevels(n *model.Network, observations []Observation) (levels []model.LevelParams, warnings []string) {
	for i, alike := range singleTimes(n, observations) {
		bySize := alike.times
		var sizes []int64
		for m := range bySize {
			sizes = append(sizes, m)
		}
		slices.Sort(sizes)
		spread := spreadOf(sizes, bySize)
		if spread > wideSpread {
			warnings = append(warnings, fmt.Sprintf("level %d: times of equal messages spread by %.0f %%: the machine was busy while they were measured, or pairs of ranks that the level joins are not alike", i, 100*spread))
		}
		if len(sizes) < 2 {
			kept := model.LevelParams{PLogP: n.Levels()[i].PLogP, Spread: spread}
			levels = append(levels, kept)
			if n.Ranks() > 1 {
				warnings = append(warnings, fmt.Sprintf("level %d: single transfers of %d sizes: its bandwidth is not determined", i, len(sizes)))
			}
			continue
		}
		if _, is := bySize[n.Measured().Bytes]; !is && !math.IsNaN(n.Levels()[i].Time(n.Measured().Bytes)) {
			at, _ := slices.BinarySearch(sizes, n.Measured().Bytes)
			sizes = slices.Insert(sizes, at, n.Measured().Bytes)
			bySize[n.Measured().Bytes] = []float64{n.Levels()[i].Time(n.Measured().Bytes)}
		}
		middle, known := make([]float64, len(sizes)), -1
		for k, m := range sizes {
			middle[k] = quantile(bySize[m], 0.5)
			if latency := n.Levels()[i].Time(m); m == n.Measured().Bytes && !math.IsNaN(latency) {
				middle[k], known = latency, k
			}
		}
		if long := len(bySize[sizes[len(sizes)-1]]); long < fewestTimes && len(bySize[sizes[0]]) >= fewestTimes {
			warnings = append(warnings, fmt.Sprintf("level %d: long messages between one pair of ranks only were timed: its bandwidth is that pair's, allow more time", i))
		}
		rising(middle, known)
		l := model.LevelParams{PLogP: model.PLogP{Latency: middle[0], Sizes: sizes}, Spread: spread}
		for _, t := range middle {
			l.Gap = append(l.Gap, t-l.Latency)
		}
		timed := l.PLogP
		l.Gap = slices.Clone(l.Gap)
		for k, m := range sizes {
			l.Gap[k] += (1/alike.share - 1) * timed.Handshake(m)
		}
		levels = append(levels, l)
	}
	return levels, warnings
}

// levelTimes are the times in s of single transfers of a level by size, of pairs whose routes are about equally long.
type levelTimes struct {
	times map[int64][]float64
	share float64 // model.Network.RouteShare of these pairs
}

// likeLength is by what share two routes of one class may differ in length.
const likeLength = 0.10

// singleTimes are the times of each level. On a mesh a level has routes of several lengths. Times are then those of
// the level's typical route but for the handshake. They are of the length that was timed with the most sizes.
func singleTimes(n *model.Network, observations []Observation) []*levelTimes {
	type class struct{ level, length int }
	classes := make(map[class]*levelTimes)
	most := make([]*levelTimes, len(n.Levels()))
	for i := range most {
		most[i] = &levelTimes{share: 1}
	}
	for _, o := range observations {
		if len(o.Transfers) > 1 || o.Streamed {
			continue
		}
		t, seconds := o.Transfers[0], o.Seconds[0]
		level := n.LevelOf(t.Src, t.Dst)
		share := n.RouteShare(t.Src, t.Dst)
		if more := n.Time(t.Src, t.Dst, n.Measured().Bytes) - n.Levels()[level].Time(n.Measured().Bytes); !math.IsNaN(more) {
			seconds -= more
		}
		key := class{level, int(math.Round(math.Log(share) / math.Log1p(likeLength)))}
		own := classes[key]
		if own == nil {
			own = &levelTimes{times: make(map[int64][]float64), share: share}
			classes[key] = own
		}
		own.times[t.Bytes] = append(own.times[t.Bytes], seconds)
		if len(own.times) > len(most[level].times) {
			most[level] = own
		}
	}
	return most
}

// addOverhead gives a level the overhead in s of a short message at every size. One that is
// more than half of the time of the shortest message cannot be: then it is that half.
func addOverhead(l *model.LevelParams, overhead float64) {
	if most := l.Time(l.Sizes[0]) / 2; overhead > most {
		overhead = most
	}
	l.Send = slices.Repeat([]float64{overhead}, len(l.Sizes))
	l.Recv = slices.Clone(l.Send)
}

// spreadOf is the relative spread of times about the median of their size,
// as their median deviation tells it, of the one of the sizes where it is largest;
// NaN if none has two measurements.
func spreadOf(sizes []int64, bySize map[int64][]float64) float64 {
	most := math.NaN()
	for _, m := range sizes {
		times := bySize[m]
		if len(times) < 2 {
			continue
		}
		middle := stats.MiddleMedian(slices.Clone(times))
		off := make([]float64, len(times))
		for k, x := range times {
			off[k] = math.Abs(x/middle - 1)
		}
		if s := stats.SigmaPerMAD * stats.MiddleMedian(off); !(s <= most) {
			most = s
		}
	}
	return most
}

// rising makes times rise with the size. A disturbance only ever adds, so a message takes at most as long as a longer
// one. The time at index known, if that is not -1, stays.
func rising(times []float64, known int) {
	for i := range times {
		if known >= 0 && i > known {
			times[i] = max(times[i], times[known])
		}
	}
	for i := len(times) - 2; i >= 0; i-- {
		times[i] = min(times[i], times[i+1])
	}
}
