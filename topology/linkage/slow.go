package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// Slow hosts. A host may add to every message, or take longer for all it does: the first rank of
// a node, that a daemon shares the core with, or one with a slower clock. It is then farther from
// its own group than others are, and the group without it looks like one of its own. What tells it
// from a host that lies outside is that it is farther from all the others, too, by as much: so its
// row of readings is that of its nearest hosts but for a sum or a factor. Its own
// slowness does not change which hosts are nearest to it.
const (
	// Hosts that a host is compared with, and near readings of each of those. Few, as groups
	// may be small: of groups of three most of the readings are still fit.
	slowNear = 4
	// Readings to hosts anywhere that are compared for each of those.
	slowFar = 64
	// Share of those pairs that were measured, at least: a host of hardly any readings is
	// put into a group by the gaps between them.
	slowSeen = 0.25
	// What is less than 5 % of the near readings is left to the noise and to unequal links.
	slowLeast = 0.05
	// The sum or factor that far readings tell explains more than half of what near ones
	// show: for a host that lies outside they tell nothing, for a slow one all.
	slowShare = 0.5
	// Where links are unequal all hosts differ from their neighbours. A slow one stands
	// out by this times what is typical: of evenly spread links none does.
	slowTypical = 3
)

// A slowHost is slower than its neighbours by the same in all its readings.
type slowHost struct {
	host   int
	sum    float64 // s that each reading has more, unless there is a factor
	factor float64 // by which each reading is longer; 1: by the sum
	told   float64 // how much that is of its near readings, ln of the ratio
	level  float64 // s, of its near readings without that
	far    float64 // s, of its readings to others without that
	noise  float64 // s, standard deviation of a reading; while they are compared, relative
}

func (s slowHost) String() string {
	if s.factor != 1 {
		return fmt.Sprintf("%d (%.3g times)", s.host, s.factor)
	}
	return fmt.Sprintf("%d (%s more)", s.host, quantity.Seconds(s.sum))
}

// slowWarning names the slow hosts, "" if there are none.
func slowWarning(slow []slowHost) string {
	switch len(slow) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("host %v is slow on every message; its group is judged without that", slow[0])
	}
	names := make([]string, len(slow))
	for k, s := range slow {
		names[k] = s.String()
	}
	return fmt.Sprintf("hosts %s are slow on every message; their groups are judged without that", words.List(names))
}

// quicken takes what slow hosts add out of measurements: of each host a sum, and then a factor.
func quicken(r *readings.Symmetric, slow []slowHost) *readings.Symmetric {
	if len(slow) == 0 {
		return r
	}
	sum, factor := make([]float32, r.N()), slices.Repeat([]float32{1}, r.N())
	for _, s := range slow {
		sum[s.host], factor[s.host] = float32(s.sum), float32(s.factor)
	}
	return readings.NewSymmetric(r.N(), func(i, j int) float32 {
		x := r.At(i, j)
		size := max(x, -x)
		left := max(leastLeft*size, (size-sum[i]-sum[j])/(factor[i]*factor[j]))
		if x < 0 {
			return -left
		}
		return left
	})
}

// slowHosts finds the hosts that are slow to all others alike, nil if there are none. O(n^2).
func slowHosts(r *readings.Symmetric) []slowHost {
	if r.N() < unequalHosts {
		return nil
	}
	c := &slowComparison{r: r, near: r.AllNearest(slowNear), order: r.ByMean(), rank: make([]int, r.N())}
	for k, i := range c.order {
		c.rank[i] = k
	}
	all := make([]float64, 0, r.N())
	noises := make([]float64, 0, r.N())
	var slow []slowHost
	for i := range r.N() {
		h, ok := c.compare(i)
		all = append(all, math.Abs(h.told))
		noises = append(noises, h.noise)
		if ok {
			slow = append(slow, h)
		}
	}
	least := max(slowLeast, slowTypical*stats.LowerMedian(all))
	slow = slices.DeleteFunc(slow, func(h slowHost) bool { return h.told <= least })
	noise := stats.LowerMedian(noises)
	for k := range slow {
		slow[k].noise = noise * (slow[k].far + slow[k].sum)
	}
	return c.insiders(slow)
}

// A slowComparison holds hosts against their nearest.
type slowComparison struct {
	r          *readings.Symmetric
	near       [][]int32
	order      []int32   // hosts by mean reading, so that samples do not depend on their numbers
	rank       []int     // host -> place in it
	sums       []float64 // scratch: differences to the readings of each of the nearest
	ratios     []float64
	ends       []int // of each of the nearest, in both
	middle     []float64
	shown      []float64
	level, far []float64
}

// compare returns by what sum or factor host i is slower than its nearest ones, and whether near
// and far readings agree on it.
func (c *slowComparison) compare(i int) (h slowHost, ok bool) {
	r := c.r
	c.sums, c.ratios, c.ends, c.shown, c.level, c.far = c.sums[:0], c.ratios[:0], c.ends[:0], c.shown[:0], c.level[:0], c.far[:0]
	pairs, far := 0, min(slowFar, r.N())
	nearest := math.NaN() // what the nearest one shows: of a small group, the only one that tells
	for _, j := range c.near[i] {
		for _, k := range c.near[j] {
			if int(k) == i {
				continue
			}
			if x, y := r.At(i, int(k)), r.At(int(j), int(k)); x > 0 && y > 0 {
				c.shown = append(c.shown, math.Log(float64(x)/float64(y)))
				c.level = append(c.level, float64(y))
			}
		}
		if nearest != nearest && len(c.shown) > 0 {
			nearest = stats.LowerMedian(slices.Clone(c.shown))
		}
		for k := range far {
			k = int(c.order[(c.rank[i]+k*r.N()/far)%r.N()])
			if k == i || k == int(j) || slices.Contains(c.near[i], int32(k)) || slices.Contains(c.near[j], int32(k)) {
				continue
			}
			pairs++
			if x, y := float64(r.At(i, k)), float64(r.At(int(j), k)); x > 0 && y > 0 {
				c.sums = append(c.sums, x-y)
				c.ratios = append(c.ratios, x/y)
				c.far = append(c.far, y)
			}
		}
		c.ends = append(c.ends, len(c.sums))
	}
	if len(c.sums) == 0 || len(c.shown) == 0 || float64(len(c.sums)) < slowSeen*float64(pairs) {
		return slowHost{}, false
	}
	c.middle = append(c.middle[:0], c.sums...)
	sum := stats.LowerMedian(c.middle)
	level, shown, typical := stats.LowerMedian(c.level), stats.LowerMedian(c.shown), stats.LowerMedian(c.far)
	for k, x := range c.sums {
		c.middle[k] = math.Abs(x - sum)
	}
	h = slowHost{
		host: i, sum: sum, factor: 1,
		told:  math.Copysign(math.Log1p(math.Abs(sum)/level), sum),
		level: level, far: typical, noise: stats.SigmaOfOne(c.middle) / typical,
	}
	if h.told <= slowLeast {
		return h, false
	}
	c.middle = append(c.middle[:0], c.ratios...)
	ln := math.Log(stats.LowerMedian(c.middle)) // it is monotone
	// Each of the nearest says so, and three hosts of four that are seen from both.
	ok = c.agreed(c.sums, 0, slowShare*sum)
	off := func(told float64) float64 {
		return min(math.Abs(shown-told), math.Abs(nearest-told))
	}
	if off(ln) < off(h.told) {
		h.sum, h.factor, h.told = 0, math.Exp(ln), ln
		ok = ln > slowLeast && c.agreed(c.ratios, 1, math.Expm1(slowShare*ln))
	}
	return h, ok && off(h.told) < slowShare*h.told
}

// agreed tells whether the differences to each of the nearest are more than least above none in the
// median, and three of four of all of them.
func (c *slowComparison) agreed(x []float64, none, least float64) bool {
	from := 0
	for _, to := range c.ends {
		if to > from && stats.LowerMedian(x[from:to])-none <= least {
			return false
		}
		from = to
	}
	return stats.Quantile(x, 0.25)-none > least
}

// insiders drops the hosts that lie outside a group rather than are slow. Between two slow hosts the times of both add
// up, or the factors. Between two hosts outside only the longer one counts. Of all slow hosts elsewhere together
// more than half of what the shorter times would add must be there. Hosts that are near tell nothing: their level
// is that of a group or of two.
func (c *slowComparison) insiders(slow []slowHost) []slowHost {
	r, near := c.r, c.near
	var kept []slowHost
	var typical []float64
	for _, a := range slow {
		var added, expected float64 // s
		for _, b := range slow {
			if a.host == b.host || slices.Contains(near[a.host], int32(b.host)) || slices.Contains(near[b.host], int32(a.host)) {
				continue
			}
			x := float64(r.At(a.host, b.host))
			typical = typical[:0]
			for _, i := range near[a.host] {
				for _, j := range near[b.host] {
					if i != j {
						if y := r.At(int(i), int(j)); y > 0 {
							typical = append(typical, float64(y))
						}
					}
				}
			}
			if x <= 0 || len(typical) == 0 {
				continue
			}
			y := stats.LowerMedian(typical)
			one := max((y+a.sum)*a.factor, (y+b.sum)*b.factor)
			both := (y + a.sum + b.sum) * a.factor * b.factor
			added += min(x, both) - one
			expected += both - one
		}
		if expected == 0 || added > expected/2 {
			kept = append(kept, a)
		}
	}
	return kept
}
