package measure

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model/fit"
)

// A library sends messages of more than some size in another way: it asks their receiver first, and their time has a
// step there. Where times of two sizes differ by more than their bytes explain, sizes between them are read, too.
const (
	bendShare    = 0.25 // of a latency of a short message that bytes have to leave unexplained
	stepShare    = 0.5  // the same of a step: a question takes two latencies
	leastBend    = 0.02 // of the time of the longer message: less is not worth a measurement
	stepParts    = 128  // of the way from a size to its double: so near a step is known
	stepRounds   = 10   // bends, one byte more, seven halves, and again one byte more
	shortestStep = 256  // B; below, bytes hardly count
	stepPairs    = 3    // of a level, of which the median counts
)

// measureSteps reads sizes between those of Bandwidths: powers of two where the times of a level bend, and then one size after
// the other where they have a step between two of these. It is collective.
func (d *Discovery) measureSteps(c *harness.Conductor, s *DiscoverSettings, control harness.Control) error {
	left := c.Remaining(control.Budget)
	between := bends
	var alone map[[2]int]float64
	if c.Comm.Rank() == 0 {
		alone = d.latenciesOf(d.rates.observations)
	}
	for i := range stepRounds {
		var more *Settings
		wanted, err := harness.Share(c.Comm, c, func() (bool, error) {
			sizes, pairs := d.between(between, alone)
			control.Budget = left(stepRounds - i)
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
		between = steps
	}
	return nil
}

// latenciesOf are the latencies in s of the pairs of some observations, from one rank to the other. On a mesh they need not
// be those of the group of both.
func (d *Discovery) latenciesOf(observations []fit.Observation) map[[2]int]float64 {
	alone := make(map[[2]int]float64)
	for _, o := range observations {
		t := o.Transfers[0]
		alone[[2]int{t.Src, t.Dst}] = d.groups.Groups()[d.groups.Common(t.Src, t.Dst)].Latency
	}
	for _, x := range d.Latencies.measurements {
		pair := [2]int{x.From, x.To}
		if _, wanted := alone[pair]; wanted && x.Q1 > 0 {
			alone[pair] = x.Q1
		}
	}
	return alone
}

// between are the sizes that are to be read, of all levels, and the pairs: of each level with such sizes those whose
// own times are nearest to the level's. Alone are the latencies of pairs.
func (d *Discovery) between(sizesOf func(curve []point, latency float64) []int, alone map[[2]int]float64) (sizes []int, pairs [][2]int) {
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
			latencies = append(latencies, alone[[2]int{t.Src, t.Dst}])
			if t.Bytes == mediumSize {
				medium[[2]int{min(t.Src, t.Dst), max(t.Src, t.Dst)}] = o.Seconds[0]
			}
		}
		if len(times[pieceSize]) == 0 || len(times[mediumSize]) == 0 || len(times[longSize]) == 0 {
			continue // the budget was too small
		}
		latency := stats.Median(latencies)
		curve := []point{{latencySize, latency}}
		for bytes, all := range times {
			curve = append(curve, point{bytes, stats.Median(all)})
		}
		slices.SortFunc(curve, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
		if more := sizesOf(curve, latency); len(more) > 0 {
			sizes = append(sizes, more...)
			pairs = append(pairs, nearest(medium, stats.Median(times[mediumSize]))...)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), pairs
}

// bends are the powers of two between two sizes of a curve whose times differ by more than by what bytes take where it is least steep.
func bends(curve []point, latency float64) (sizes []int) {
	perByte := math.Inf(1)
	for i := 1; i < len(curve); i++ {
		perByte = min(perByte, steepness(curve, i))
	}
	for i := 1; i < len(curve); i++ {
		if unexplained(curve, i, perByte) > max(bendShare*latency, leastBend*curve[i].seconds) {
			for m := int64(shortestStep); m < curve[i].bytes; m *= 2 {
				if m > curve[i-1].bytes {
					sizes = append(sizes, int(m))
				}
			}
		}
	}
	return sizes
}

// steps are the sizes that tell more of where the steps of a curve are. A step is between two powers of two where the curve is
// steeper than both before and behind. Most limits are powers of two: the first size is one byte beyond the lower one. Many
// others are round: the last size is one byte beyond the last half.
func steps(curve []point, latency float64) (sizes []int) {
	var powers []point
	for _, p := range curve {
		if bits.OnesCount64(uint64(p.bytes)) == 1 {
			powers = append(powers, p)
		}
	}
	for i := 2; i < len(powers); i++ {
		a, b := powers[i-1], powers[i]
		perByte := steepness(powers, i-1)
		if i+1 < len(powers) {
			perByte = max(perByte, steepness(powers, i+1))
		}
		if b.bytes != 2*a.bytes || unexplained(powers, i, perByte) <= max(stepShare*latency, leastBend*b.seconds) {
			continue
		}
		from, to := a.bytes, b.bytes // of the greatest part of the step
		most := math.Inf(-1)
		for k := 1; k < len(curve); k++ {
			if low, high := curve[k-1].bytes, curve[k].bytes; low >= a.bytes && high <= b.bytes && unexplained(curve, k, perByte) > most {
				from, to, most = low, high, unexplained(curve, k, perByte)
			}
		}
		switch grain := a.bytes / stepParts; {
		case from == a.bytes && to == b.bytes:
			sizes = append(sizes, int(from)+1)
		case to-from > grain:
			sizes = append(sizes, int(from+to)/2)
		case from%grain == 0 && to > from+1:
			sizes = append(sizes, int(from)+1)
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
