package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// Slow hosts. A host may add to every message, or take longer for all it does. The first rank of a node does, if a daemon
// shares its core, and so does a host with a slower clock. Such a host is farther from its own group than others are, and the
// group without it looks like one of its own. A host that lies outside looks alike in this. But a slow host is farther from
// all the others, too, by as much. Its row of measurements is that of its nearest hosts, but for a sum or a factor. Its
// slowness does not change which hosts are nearest to it.
const (
	// Hosts that a host is compared with, and near hosts of each of those. They are few, as groups may be small: of groups
	// of three most of the measurements are still usable.
	slowNear = 4
	// Far hosts, from the whole machine, that are compared for each of those.
	slowFar = 64
	// Least share of those pairs that were measured. With fewer, the gaps decide in which group a host comes to lie.
	slowSeen = 0.25
	// What is less than 5 % of the near measurements is left to the noise and to unequal links.
	slowLeast = 0.05
	// The sum or factor of the far measurements must explain more than half of what the near ones show. Of a host that lies
	// outside it explains nothing, of a slow host all.
	slowShare = 0.5
	// If three in four far measurements show half of the sum or factor, the host is slow.
	slowMost = 0.75
	// A measurement counts as farther than the near ones from this ratio on. Such measurements decide if more than this
	// share are.
	slowFarther, slowFartherShare = 1.15, 0.1
	// Where links are unequal all hosts differ from their neighbours. A slow host differs by this many times the typical
	// difference: of evenly spread links none does.
	slowTypical = 3
)

// A slowHost is slower than its neighbours by the same sum or factor in all its measurements.
type slowHost struct {
	host   int
	sum    float64 // s that are added to each measurement, unless there is a factor
	factor float64 // by which each measurement is longer; 1: by the sum
	told   float64 // size of the sum or factor against the near measurements, ln of the ratio
	level  float64 // s, of its near measurements without the sum or factor
	far    float64 // s, of its measurements to others without the sum or factor
	noise  float64 // s, standard deviation of a measurement
}

// slow is the latency of the host, in s, where that of its neighbours is y.
func (s slowHost) slow(y float64) float64 { return s.factor*y + s.sum }

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

// subtractHostDelay subtracts what slow hosts add to measurements: first the sum of each host, then its factor.
func subtractHostDelay(r *measured.Symmetric, slow []slowHost) *measured.Symmetric {
	if len(slow) == 0 {
		return r
	}
	sum, factor := make([]float32, r.N()), slices.Repeat([]float32{1}, r.N())
	for _, s := range slow {
		sum[s.host], factor[s.host] = float32(s.sum), float32(s.factor)
	}
	return measured.NewSymmetric(r.N(), func(i, j int) float32 {
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
func slowHosts(r *measured.Symmetric) []slowHost {
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
		if h.far > 0 {
			noises = append(noises, h.noise/math.Sqrt2/h.far)
		}
		if ok {
			slow = append(slow, h)
		}
	}
	least := max(slowLeast, slowTypical*stats.LowerMedian(all))
	slow = slices.DeleteFunc(slow, func(h slowHost) bool { return h.told <= least })
	if len(slow) == 0 {
		return nil
	}
	// The noise of one host may be more than that of others, but when it looks less that is luck.
	noise := stats.LowerMedian(noises)
	for k, h := range slow {
		slow[k].noise = max(h.noise, noise*h.slow(h.far))
	}
	return c.insiders(slow)
}

// A slowComparison compares hosts with their nearest.
type slowComparison struct {
	r           *measured.Symmetric
	near        [][]int32
	order       []int32 // hosts by mean measurement, so that samples do not depend on their numbers
	rank        []int   // host -> place in it
	close, away []slowPair
	ends        []int     // of each of the nearest, in away
	values      []float64 // scratch
}

// A slowPair is the measurement of a host and a third one, and that of one of its nearest hosts and the same third one.
type slowPair struct{ x, y float64 } // s

// compare returns by what sum or factor host i is slower than its nearest ones, and whether near and far measurements agree
// on it.
func (c *slowComparison) compare(i int) (h slowHost, ok bool) {
	c.close, c.away, c.ends = c.close[:0], c.away[:0], c.ends[:0]
	pairs, far := 0, min(slowFar, c.r.N())
	both := func(list []slowPair, j, k int) []slowPair {
		if x, y := c.r.At(i, k), c.r.At(j, k); x > 0 && y > 0 {
			list = append(list, slowPair{float64(x), float64(y)})
		}
		return list
	}
	for _, j := range c.near[i] {
		for _, k := range c.near[j] {
			if int(k) != i {
				c.close = both(c.close, int(j), int(k))
			}
		}
		for k := range far {
			k := c.order[(c.rank[i]+k*c.r.N()/far)%c.r.N()]
			if int(k) != i && k != j && !slices.Contains(c.near[i], k) && !slices.Contains(c.near[j], k) {
				pairs++
				c.away = both(c.away, int(j), int(k))
			}
		}
		c.ends = append(c.ends, len(c.away))
	}
	if len(c.away) == 0 || len(c.close) == 0 || float64(len(c.away)) < slowSeen*float64(pairs) {
		return slowHost{}, false
	}
	own := func(p slowPair) float64 { return p.y }
	h = slowHost{
		host: i, factor: 1, sum: c.median(c.away, func(p slowPair) float64 { return p.x - p.y }),
		level: c.median(c.close, own), far: c.median(c.away, own),
	}
	h.told = math.Copysign(math.Log1p(math.Abs(h.sum)/h.level), h.sum)
	half := slowHost{factor: 1, sum: slowShare * h.sum}
	if h.told > slowLeast {
		other := h
		other.sum, other.factor = 0, c.median(c.away, func(p slowPair) float64 { return p.x / p.y })
		if c.unexplained(other) < c.unexplained(h) {
			h, half = other, slowHost{factor: math.Pow(other.factor, slowShare)}
			h.told = math.Log(h.factor)
		}
	}
	h.noise = stats.SigmaPerMAD * c.median(c.away, func(p slowPair) float64 { return math.Abs(p.x - h.slow(p.y)) })
	rest := c.median(c.close, func(p slowPair) float64 { return math.Log(p.x / h.slow(p.y)) })
	return h, h.told > slowLeast && math.Abs(rest) < slowShare*h.told && c.agree(half, h.level)
}

// median is the lower median of the results of with over pairs.
func (c *slowComparison) median(pairs []slowPair, with func(slowPair) float64) float64 {
	c.values = c.values[:0]
	for _, p := range pairs {
		c.values = append(c.values, with(p))
	}
	return stats.LowerMedian(c.values)
}

// unexplained is by how much near measurements differ from those of a host that is slow as h says: a sum over all of them, of
// logarithms. A median would not do. In a small group half of the near hosts are outside, and only the others tell a sum from
// a factor.
func (c *slowComparison) unexplained(h slowHost) (sum float64) {
	for _, p := range c.close {
		sum += math.Abs(math.Log(p.x / h.slow(p.y)))
	}
	return sum
}

// agree tells whether far measurements show at least half of the slowness of the host:
//   - three of four of all,
//   - more than half of those that are compared with each of the nearest hosts,
//   - three of four of those to hosts farther than the near ones, unless these are few. Most hosts may be of one large group,
//     and only the others tell a slow member from a host outside.
func (c *slowComparison) agree(half slowHost, level float64) bool {
	above := func(pairs []slowPair, share float64) bool {
		count := 0
		for _, p := range pairs {
			if p.x > half.slow(p.y) {
				count++
			}
		}
		return float64(count) > share*float64(len(pairs))
	}
	from := 0
	for _, to := range c.ends {
		if to > from && !above(c.away[from:to], 0.5) {
			return false
		}
		from = to
	}
	farther := slices.DeleteFunc(slices.Clone(c.away), func(p slowPair) bool { return p.y <= slowFarther*level })
	few := float64(len(farther)) <= slowFartherShare*float64(len(c.away))
	return above(c.away, slowMost) && (few || above(farther, slowMost))
}

// insiders drops the hosts that are not slow but lie outside a group. Between two slow hosts the sums of both add up, or their
// factors multiply. Between two hosts outside only the longer one counts. Measurements with all other slow hosts together must
// show more than half of what the shorter ones would add. Hosts that are near tell nothing: their level is that of one group
// or of two.
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
