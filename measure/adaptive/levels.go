package adaptive

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// levels are the latencies that the machine's groups have, ascending, in ln of s.
type levels struct {
	at    []float64
	count []float64 // measurements that tell of it
	noise float64   // standard deviation of a measurement around its level
}

const (
	// A measurement is a gross outlier in outlierShare of all cases: two in a hundred, and a slow
	// round now and then. It is then slower by a factor of 1.2 to 13.
	outlierShare            = 0.03
	outlierLeast, outlierTo = 0.2, 2.6
	// What else happens, in either direction, per ln unit: a measurement never makes anything impossible.
	anything = 1e-5
	// Least noise of a measurement: exact data is not infinitely precise, and links of one kind differ.
	leastNoise = 0.01
	// Levels nearer to each other than this, or than some standard deviations, are one: less than
	// linkage calls a step (7 % is an uncertain one, 11 % a confident one), as their mean is known to a part of it.
	leastStep, sigmasApart = 0.07, 2.5
	// Measurements that are farther from a level than so many standard deviations are outliers.
	sigmasOut = 4
)

// of is ln of how likely a measurement z is of two hosts that the given level joins.
func (l *levels) of(z float64, level int) float64 {
	d := z - l.at[level]
	p := (1 - outlierShare) / (l.noise * math.Sqrt(2*math.Pi)) * math.Exp(-d*d/(2*l.noise*l.noise))
	if d > outlierLeast && d < outlierTo {
		p += outlierShare / (outlierTo - outlierLeast)
	}
	return math.Log(p + anything)
}

// refine moves a level a little towards a measurement that belongs to it.
func (l *levels) refine(level int, z float64) {
	const longest = 2000 // measurements that a level remembers: it may drift
	d := z - l.at[level]
	if math.Abs(d) > 3*l.noise {
		return
	}
	l.count[level] = min(l.count[level]+1, longest)
	l.at[level] += d / l.count[level]
}

// insert adds a level.
func (l *levels) insert(at, count float64) {
	k, _ := slices.BinarySearch(l.at, at)
	l.at = slices.Insert(l.at, k, at)
	l.count = slices.Insert(l.count, k, count)
}

// news tells whether a value is as far from all levels as a level of its own must be.
func (l *levels) news(z float64) bool {
	for _, at := range l.at {
		if math.Abs(z-at) < max(leastStep, sigmasApart*l.noise) {
			return false
		}
	}
	return true
}

// explains tells whether a measurement is of the level, and no outlier from it.
func (l *levels) explains(z float64, level int) bool {
	return math.Abs(z-l.at[level]) < max(leastStep, sigmasOut*l.noise)
}

// nearest is the level that is nearest to a value.
func (l *levels) nearest(z float64) int {
	best := 0
	for k, at := range l.at {
		if math.Abs(z-at) < math.Abs(z-l.at[best]) {
			best = k
		}
	}
	return best
}

// A tally weighs measurements of one question: which level joins two hosts.
type tally struct {
	z  []float64
	ll []float64 // per level, ln of the likelihood of the measurements
}

func (y *tally) clear(levels int) {
	y.z = y.z[:0]
	y.ll = append(y.ll[:0], make([]float64, levels)...)
}

func (y *tally) add(z float64, l *levels) {
	y.z = append(y.z, z)
	for k := range y.ll {
		y.ll[k] += l.of(z, k)
	}
}

// priorAbove is how likely a level is that lies above that of the group in which a host lies. It contradicts what was decided
// before. One outlier shall not: two in ten thousand are what two of them make.
const priorAbove = 1e-3

// A verdict is what a tally says.
type verdict struct {
	level   int     // the likeliest
	second  int     // the next; -1: there is none
	doubt   float64 // that it is the level, if it is one that is known
	unknown bool    // it explains fewer than half of the measurements
	value   float64 // the middle of the measurements, ln of s
	agree   bool    // most of the measurements are near that value
}

// judge weighs the tally where levels up to most are expected. A level of which most measurements would be outliers
// is none: it is only the likeliest of those that are known.
func (y *tally) judge(l *levels, most int) verdict {
	v := verdict{level: -1, second: -1, value: stats.LowerMedian(slices.Clone(y.z))}
	best, next := math.Inf(-1), math.Inf(-1)
	prior := func(k int, ll float64) float64 {
		if k > most {
			ll += math.Log(priorAbove)
		}
		return ll
	}
	for k, ll := range y.ll {
		switch ll = prior(k, ll); {
		case ll > best:
			v.second, next = v.level, best
			v.level, best = k, ll
		case ll > next:
			v.second, next = k, ll
		}
	}
	sum := 0.0
	for k, ll := range y.ll {
		if k != v.level {
			sum += math.Exp(prior(k, ll) - best)
		}
	}
	v.doubt = sum / (1 + sum)
	at, near := 0, 0
	for _, z := range y.z {
		if l.explains(z, v.level) {
			at++
		}
		if math.Abs(z-v.value) < max(leastStep, sigmasApart*l.noise) {
			near++
		}
	}
	v.unknown, v.agree = 2*at < len(y.z), 2*near > len(y.z)
	return v
}
