package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
)

// A library sends messages of more than some size in another way: it asks their receiver first, and their time has a
// step there. Where times of two sizes differ by more than their bytes explain, sizes between them are read, too.
const (
	bendShare    = 0.25 // of a journey of a short message that bytes have to leave unexplained
	stepShare    = 0.5  // the same of a step: a question takes two journeys
	leastBend    = 0.02 // of the time of the longer message: less is not worth a reading
	stepSizes    = 8    // parts of the way from a size to its double: so near a step is known
	shortestStep = 256  // B; below, bytes hardly count
	stepPairs    = 3    // of a level, of which the median counts
)

// measureSteps reads sizes between those of Bandwidths: powers of two where the times of a level bend, and then eighths of the
// way from one of them to the next where they have a step. It is collective.
func (d *Discovery) measureSteps(c *harness.Conductor, s *DiscoverSettings, control harness.Control) error {
	ways := []func([]point, float64) []int{bends, steps}
	left := harness.Remaining(c.Comm, control.Budget)
	for i, between := range ways {
		var more *Settings
		wanted, err := harness.Share(c.Comm, c, func() (bool, error) {
			sizes, pairs := d.between(between)
			control.Budget = left(len(ways) - i)
			more = s.long(control, sizes, pairs)
			return len(sizes) > 0, nil
		})
		if err != nil || !wanted {
			return err
		}
		found, err := Run(c.Ctx, c.Comm, cmp.Or(more, &Settings{}))
		if err != nil {
			return err
		}
		if c.Comm.Rank() == 0 {
			d.Steps = append(d.Steps, found)
			d.rates.observations = append(d.rates.observations, found.Observations()...)
		}
	}
	return nil
}

// between are the sizes that are to be read, of all levels, and the pairs: of each level with such sizes those whose
// own times are nearest to the level's.
func (d *Discovery) between(sizesOf func(curve []point, journey float64) []int) (sizes []int, pairs [][2]int) {
	for level := range len(d.groups.Levels()) + 1 {
		times := make(map[int64][]float64)
		medium := make(map[[2]int]float64)
		var latencies []float64
		for _, o := range d.rates.observations {
			t := o.Transfers[0]
			g := d.groups.Groups()[d.groups.Common(t.Src, t.Dst)]
			if g.Level != level {
				continue
			}
			times[t.Bytes] = append(times[t.Bytes], o.Seconds[0])
			latencies = append(latencies, g.Latency)
			if t.Bytes == mediumSize {
				medium[[2]int{min(t.Src, t.Dst), max(t.Src, t.Dst)}] = o.Seconds[0]
			}
		}
		if len(times[pieceSize]) == 0 || len(times[mediumSize]) == 0 || len(times[longSize]) == 0 {
			continue // the budget was too small
		}
		journey := stats.Median(latencies)
		curve := []point{{latencySize, journey}}
		for bytes, all := range times {
			curve = append(curve, point{bytes, stats.Median(all)})
		}
		slices.SortFunc(curve, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
		if more := sizesOf(curve, journey); len(more) > 0 {
			sizes = append(sizes, more...)
			pairs = append(pairs, nearest(medium, stats.Median(times[mediumSize]))...)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), pairs
}

// bends are the powers of two between two sizes of a curve whose times differ by more than by what bytes take where it is least steep.
func bends(curve []point, journey float64) (sizes []int) {
	perByte := math.Inf(1)
	for i := 1; i < len(curve); i++ {
		perByte = min(perByte, steepness(curve, i))
	}
	for i := 1; i < len(curve); i++ {
		if unexplained(curve, i, perByte) > max(bendShare*journey, leastBend*curve[i].seconds) {
			for m := int64(shortestStep); m < curve[i].bytes; m *= 2 {
				if m > curve[i-1].bytes {
					sizes = append(sizes, int(m))
				}
			}
		}
	}
	return sizes
}

// steps are the eighths of the way from a size of a curve to its double where that is steeper than both before and behind.
func steps(curve []point, journey float64) (sizes []int) {
	for i := 2; i < len(curve); i++ {
		perByte := steepness(curve, i-1)
		if i+1 < len(curve) {
			perByte = max(perByte, steepness(curve, i+1))
		}
		a := curve[i-1].bytes
		if curve[i].bytes == 2*a && unexplained(curve, i, perByte) > max(stepShare*journey, leastBend*curve[i].seconds) {
			for k := int64(1); k < stepSizes; k++ {
				sizes = append(sizes, int(a+k*a/stepSizes))
			}
		}
	}
	return sizes
}

// steepness is what a byte takes in s from point i-1 of a curve to point i.
func steepness(curve []point, i int) float64 {
	a, b := curve[i-1], curve[i]
	return max(0, (b.seconds-a.seconds)/float64(b.bytes-a.bytes))
}

// unexplained is by how much in s point i of a curve is later than point i-1 and its further bytes.
func unexplained(curve []point, i int, perByte float64) float64 {
	a, b := curve[i-1], curve[i]
	return b.seconds - a.seconds - perByte*float64(b.bytes-a.bytes)
}

// A point is the time in s of messages of so many bytes.
type point struct {
	bytes   int64
	seconds float64
}

// nearest are some of the pairs whose times are nearest to the given one; of equal ones those of the lowest ranks.
func nearest(times map[[2]int]float64, to float64) [][2]int {
	var pairs [][2]int
	for p := range times {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(math.Abs(times[a]-to), math.Abs(times[b]-to)), slices.Compare(a[:], b[:]))
	})
	return pairs[:min(len(pairs), stepPairs)]
}
