package adaptive

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// levels are the latencies that the machine's groups have, ascending, in ln of s, each with
// the standard deviation of a reading around it.
type levels struct {
	at    []float64
	sigma []float64
	count []float64 // readings that tell of it
	noise float64   // least sigma
}

const (
	// A reading is a gross outlier in outlierShare of all cases: two in a hundred, and a slow
	// round now and then. It is then slower by a factor of 1.2 to 13.
	outlierShare            = 0.03
	outlierLeast, outlierTo = 0.2, 2.6
	// What else happens, in either direction, per ln unit: a reading never makes anything impossible.
	anything = 1e-5
	// Least noise of a reading: exact data is not infinitely precise, and links of one kind differ.
	leastNoise = 0.01
	// Levels nearer to each other than this, or than some standard deviations, are one: less than
	// linkage calls a step (7 % is a weak one, 11 % a firm one), as their mean is known to a part of it.
	leastStep, sigmasApart = 0.07, 2.5
)

// density is ln of how likely a reading z is of two hosts that the given level joins.
func density(z, at, sigma float64) float64 {
	d := z - at
	p := (1 - outlierShare) / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-d*d/(2*sigma*sigma))
	if d > outlierLeast && d < outlierTo {
		p += outlierShare / (outlierTo - outlierLeast)
	}
	return math.Log(p + anything)
}

func (l *levels) of(z float64, level int) float64 { return density(z, l.at[level], l.sigma[level]) }

// refine moves a level a little towards a reading that belongs to it.
func (l *levels) refine(level int, z float64) {
	const longest = 2000 // readings that a level remembers: it may drift
	s := l.sigma[level]
	d := z - l.at[level]
	if math.Abs(d) > 3*s {
		return
	}
	l.count[level] = min(l.count[level]+1, longest)
	l.at[level] += d / l.count[level]
}

// insert adds a level, and returns its index.
func (l *levels) insert(at, sigma, count float64) int {
	k, _ := slices.BinarySearch(l.at, at)
	l.at = slices.Insert(l.at, k, at)
	l.sigma = slices.Insert(l.sigma, k, max(sigma, l.noise))
	l.count = slices.Insert(l.count, k, count)
	return k
}

// news tells whether a value is as far from all levels as a level of its own must be.
func (l *levels) news(z float64) bool {
	for k, at := range l.at {
		if math.Abs(z-at) < max(leastStep, sigmasApart*l.sigma[k]) {
			return false
		}
	}
	return true
}

// firstLevels finds the levels of some values, in ln of s, whose noise is known: the peaks of their
// density. What few values stand for, or the pairs of one host, is left to be found again: that host may be slow.
func firstLevels(values []float64, pairs [][2]int, noise, tick float64) *levels {
	const (
		fewest = 4 // values of a level
		share  = 0.003
		tail   = 0.05 // of the neighbour's values: fewer next to it are its tail
		near   = 5    // standard deviations of a value
		// Pairs of a level that may be those of one host: of a slow one all are, and of a few slow ones a third.
		oneHost = 0.3
	)
	l := &levels{noise: noise}
	class := stats.Classes(values, nil, max(0.6*noise, leastNoise/2))
	byClass := make([][]float64, slices.Max(class)+1)
	hosts := make([]map[int]int, len(byClass)) // pairs of each
	for k, c := range class {
		if hosts[c] == nil {
			hosts[c] = make(map[int]int)
		}
		byClass[c] = append(byClass[c], values[k])
		hosts[c][pairs[k][0]]++
		hosts[c][pairs[k][1]]++
	}
	// The fullest first: a lesser one is held against it.
	order := make([]int, len(byClass))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(byClass[b]) - len(byClass[a]) })
	for _, c := range order {
		of, most := byClass[c], 0
		for _, count := range hosts[c] {
			most = max(most, count)
		}
		if float64(most) > oneHost*float64(len(of)) {
			continue
		}
		if len(of) < max(fewest, int(share*float64(len(values)))) {
			continue
		}
		at := stats.Median(of)
		// Values that are ticks of a coarse clock apart are no levels: noise makes them of one.
		if !l.news(at) || l.tail(at, float64(len(of)), tail, near*noise) || l.ticks(at, tick) {
			continue
		}
		off := make([]float64, len(of))
		for k, z := range of {
			off[k] = math.Abs(z - at)
		}
		sigma := max(noise, stats.Sigma(off), tick/math.Exp(at)/2)
		l.insert(at, sigma, float64(len(of)))
	}
	return l
}

func (l *levels) tail(at, count, share, near float64) bool {
	for k := range l.at {
		if math.Abs(at-l.at[k]) < near && count < share*l.count[k] {
			return true
		}
	}
	return false
}

// ticksApart is how many ticks of the clock levels are apart: linkage takes from 1.5 for weak evidence and 2.8 for
// firm.
const ticksApart = 2.2

func (l *levels) ticks(at, tick float64) bool {
	for _, other := range l.at {
		if math.Abs(math.Exp(at)-math.Exp(other)) < ticksApart*tick {
			return true
		}
	}
	return false
}

// A tally weighs readings of one question: which level joins two hosts.
type tally struct {
	z  []float64
	ll []float64 // per level, ln of the likelihood of the readings
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

const (
	// A level above that of the group in which a host lies contradicts what was decided before. One outlier
	// shall not: two in ten thousand are what two of them make.
	priorAbove = 1e-3
	// A level that nobody has seen. It is spread over unknownRange ln units.
	priorUnknown, unknownRange = 1e-3, 4.0
)

// A verdict is what a tally says.
type verdict struct {
	level   int     // the likeliest
	second  int     // the next
	doubt   float64 // that it is wrong
	unknown bool    // likelier than all levels: one that is not known yet, at value
	value   float64
}

// judge weighs the tally where levels up to most are expected.
func (y *tally) judge(l *levels, most int) verdict {
	v := verdict{level: -1, second: -1}
	best, next := math.Inf(-1), math.Inf(-1)
	for k, ll := range y.ll {
		if k > most {
			ll += math.Log(priorAbove)
		}
		switch {
		case ll > best:
			v.second, next = v.level, best
			v.level, best = k, ll
		case ll > next:
			v.second, next = k, ll
		}
	}
	sum := 0.0
	for k, ll := range y.ll {
		if k == v.level {
			continue
		}
		if k > most {
			ll += math.Log(priorAbove)
		}
		sum += math.Exp(ll - best)
	}
	// Of an unknown level the likeliest place is the readings' middle; that it could be anywhere costs as
	// much as the place is narrow (Laplace's method).
	z := slices.Clone(y.z)
	v.value = stats.LowerMedian(z)
	if v.level < 0 || l.news(v.value) {
		sigma := l.noise
		ll := math.Log(priorUnknown/unknownRange) + math.Log(sigma*math.Sqrt(2*math.Pi/float64(len(z))))
		for _, x := range y.z {
			ll += density(x, v.value, sigma)
		}
		if ll > best {
			v.unknown = true
			sum = (sum + 1) * math.Exp(best-ll)
			if v.level < 0 {
				sum = 0
			}
		} else {
			sum += math.Exp(ll - best)
		}
	}
	v.doubt = sum / (1 + sum)
	return v
}
