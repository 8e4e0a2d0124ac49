package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// The core is a few hosts of which all pairs are read, twice: its readings tell the noise,
	// the levels, and whether the machine is a tree. Of a few hosts it is some per cent of all pairs.
	coreLeast, coreMost = 16, 128
	corePerRoot         = 2 // times the root of the number of hosts
	coreRepetitions     = 2
)

// A core is what was read between a few hosts.
type core struct {
	hosts []int32
	value [][]float64 // per repetition, c*c, ln of s; NaN: none
	noise float64
	tick  float64 // s, of a coarse clock; 0: none is seen
}

// readCore reads all pairs of some random hosts. Whoever shares a hint with one of them comes with it, as
// hosts drawn at random seldom share the finest groups.
func readCore(l *ledger, hints []int, rng *rand.Rand) (*core, error) {
	n := l.hosts
	size := min(n, max(coreLeast, min(coreMost, int(corePerRoot*math.Sqrt(float64(n))))))
	k := &core{hosts: drawCore(n, size, hints, rng)}
	var err error
	if k.value, err = readAll(l, k.hosts, coreRepetitions, rng); err != nil {
		return nil, err
	}
	k.measureNoise()
	return k, nil
}

// readAll reads all pairs of the given hosts so many times, in rounds of disjoint pairs by the circle method: ln of s at
// i*len(hosts)+j, NaN on the diagonal and where there is none.
func readAll(l *ledger, hosts []int32, repetitions int, rng *rand.Rand) ([][]float64, error) {
	size := len(hosts)
	var all [][]float64
	for range repetitions {
		value := slices.Repeat([]float64{math.NaN()}, size*size)
		even := size + size%2
		order := rng.Perm(size)
		for _, round := range rng.Perm(even - 1) {
			// The last stands still, the others turn.
			l.open()
			var places [][2]int
			for p := range even / 2 {
				a, b := (round+p)%(even-1), (round-p+even-1)%(even-1)
				if p == 0 {
					b = even - 1
				}
				if a >= size || b >= size {
					continue
				}
				a, b = order[a], order[b]
				l.add(hosts[a], hosts[b])
				places = append(places, [2]int{a, b})
			}
			z, err := l.read()
			if err != nil {
				return nil, err
			}
			for i, p := range places {
				value[p[0]*size+p[1]], value[p[1]*size+p[0]] = z[i], z[i]
			}
		}
		all = append(all, value)
	}
	return all, nil
}

func drawCore(n, size int, hints []int, rng *rand.Rand) []int32 {
	var hosts []int32
	taken := make([]bool, n)
	take := func(h int) {
		if !taken[h] && len(hosts) < size {
			taken[h] = true
			hosts = append(hosts, int32(h))
		}
	}
	mates := make(map[int][]int)
	for h, label := range hints {
		if label >= 0 {
			mates[label] = append(mates[label], h)
		}
	}
	const mated = 4 // of so many one brings a mate
	for k, h := range rng.Perm(n) {
		if len(hosts) == size {
			break
		}
		take(h)
		if hints != nil && hints[h] >= 0 && k%mated == 0 {
			of := mates[hints[h]]
			take(of[rng.IntN(len(of))])
		}
	}
	return hosts
}

// measureNoise finds the standard deviation of a reading, and the tick of the clock.
func (k *core) measureNoise() {
	var differ, values []float64
	first, second := k.value[0], k.value[1]
	size := len(k.hosts)
	for i := range size {
		for j := range i {
			a, b := first[i*size+j], second[i*size+j]
			if d := math.Abs(a - b); !math.IsNaN(d) {
				differ = append(differ, d)
				values = append(values, math.Exp(a), math.Exp(b))
			}
		}
	}
	k.noise = leastNoise
	if len(differ) > 0 {
		k.noise = max(leastNoise, stats.SigmaOfOne(differ))
	}
	k.tick = tickOf(values)
}

// tickOf is the step of values that a coarse clock has read, 0 if they have none. Values come again then, and all are whole
// ticks, outliers too; exact latencies come again, too, but are no multiples of their differences.
func tickOf(values []float64) float64 {
	const (
		repeated = 4    // times that a value comes, in the mean
		whole    = 0.99 // share of the values that are whole ticks
		within   = 0.05 // of a tick
	)
	slices.Sort(values)
	tick, different := math.Inf(1), 1
	for k := 1; k < len(values); k++ {
		if d := values[k] - values[k-1]; d > 1e-6*values[k] {
			tick = min(tick, d)
			different++
		}
	}
	if different == 1 || repeated*different > len(values) {
		return 0
	}
	on := 0
	for _, v := range values {
		if ticks := v / tick; math.Abs(ticks-math.Round(ticks)) <= within {
			on++
		}
	}
	if float64(on) < whole*float64(len(values)) {
		return 0
	}
	return tick
}

// values are the readings of the pairs, in ln of s: the mean of those that agree, the lesser of those
// that do not.
func (k *core) values() (all []float64, pairs [][2]int) {
	const agree = 4 // standard deviations
	size := len(k.hosts)
	for i := range size {
		for j := range i {
			if z := k.pair(i, j, agree*k.noise); !math.IsNaN(z) {
				all, pairs = append(all, z), append(pairs, [2]int{i, j})
			}
		}
	}
	return all, pairs
}

func (k *core) pair(i, j int, agree float64) float64 {
	a, b := k.value[0][i*len(k.hosts)+j], k.value[1][i*len(k.hosts)+j]
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	case math.Abs(a-b) <= agree:
		return (a + b) / 2
	}
	return min(a, b)
}

// matrices are readings as a topology.Reconstructor takes them.
func matrices(values [][]float64, size int) []mat.Matrix {
	all := make([]mat.Matrix, len(values))
	for k, value := range values {
		d := make([]float64, len(value))
		for i, z := range value {
			d[i] = math.Exp(z)
		}
		all[k] = mat.NewDense(size, size, d)
	}
	return all
}

// uneven is the share of triples of hosts of which the two longest distances differ by more than noise: in nested groups
// of equal links none does.
func (k *core) uneven(rng *rand.Rand) float64 {
	const samples = 4000
	size := len(k.hosts)
	if size < 3 {
		return 0
	}
	bad, all := 0, 0
	for range samples {
		i, j, h := rng.IntN(size), rng.IntN(size), rng.IntN(size)
		if i == j || j == h || h == i {
			continue
		}
		agree := 4 * k.noise
		d := []float64{k.pair(i, j, agree), k.pair(j, h, agree), k.pair(h, i, agree)}
		slices.Sort(d)
		if math.IsNaN(d[0]) {
			continue
		}
		all++
		if d[2]-d[1] > 0.02+3*k.noise+k.tick/math.Exp(d[1]) {
			bad++
		}
	}
	return float64(bad) / float64(max(all, 1))
}
