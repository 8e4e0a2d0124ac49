package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

const (
	// The core is a few hosts of which all pairs are read, twice. Its measurements tell the noise,
	// the levels, and whether the machine is a tree. Of a few hosts it is some per cent of all pairs.
	coreLeast, coreMost = 16, 128
	corePerRoot         = 2 // times the root of the number of hosts
	coreRepetitions     = 2
	withNeighbour       = 4 // of so many hosts one brings its neighbour in the order
)

// A core is what was read between a few hosts, and the tree that linkage makes of it.
type core struct {
	hosts []int32
	slow  []int32 // hosts that were drawn for the core, and are left out as slow
	found *topology.Result
	noise float64 // standard deviation of a measurement, in ln units
}

// readCore reads all pairs of some random hosts.
func readCore(l *ledger, o *order, rng *rand.Rand) (*core, error) {
	n := l.hosts
	size := min(n, max(coreLeast, min(coreMost, int(corePerRoot*math.Sqrt(float64(n))))))
	k := &core{hosts: drawCore(n, size, o, rng)}
	matrices, err := readAll(l, k.hosts, coreRepetitions, rng)
	if err != nil {
		return nil, err
	}
	for {
		if k.found, err = linkage.Reconstruct(matrices...); err != nil {
			return nil, err
		}
		slow := k.slower(matrices)
		if len(slow) == 0 || len(k.hosts)-len(slow) < coreLeast/2 {
			if k.noise = k.found.Fit.Noise; !(k.noise > leastNoise) {
				k.noise = leastNoise
			}
			return k, nil
		}
		matrices = k.leaveOut(slow, matrices)
	}
}

// slower are the places in the core of slow hosts, which are farther from most others than their groups are. Linkage gives them their place all the same, but what is read with them tells nobody else's.
func (k *core) slower(matrices []mat.Matrix) (slow []int) {
	groups := k.found.Hierarchy.Groups()
	for x := range k.hosts {
		var off []float64
		for y := range k.hosts {
			for _, m := range matrices {
				if d := m.At(x, y); d > 0 {
					off = append(off, math.Log(d/groups[k.found.Hierarchy.Common(x, y)].Latency))
				}
			}
		}
		if stats.Median(off) > leastStep {
			slow = append(slow, x)
		}
	}
	return slow
}

// leaveOut takes hosts out of the core, and returns the measurements of the others.
func (k *core) leaveOut(gone []int, matrices []mat.Matrix) (rest []mat.Matrix) {
	var kept []int
	var hosts []int32
	for x, h := range k.hosts {
		if slices.Contains(gone, x) {
			k.slow = append(k.slow, h)
		} else {
			kept, hosts = append(kept, x), append(hosts, h)
		}
	}
	for _, m := range matrices {
		rest = append(rest, measured.Among(m, kept))
	}
	k.hosts = hosts
	return rest
}

// drawCore draws hosts. Hosts drawn at random seldom share the finest groups, so some bring their neighbour in the
// order with them.
func drawCore(n, size int, o *order, rng *rand.Rand) []int32 {
	var hosts []int32
	taken := make([]bool, n)
	take := func(h int32) {
		if !taken[h] && len(hosts) < size {
			taken[h] = true
			hosts = append(hosts, h)
		}
	}
	for k, h := range shuffled(n, rng) {
		take(h)
		if o != nil && k%withNeighbour == 0 {
			take(o.hosts[(o.place[h]+1)%n])
		}
	}
	return hosts
}

// readAll reads all pairs of the given hosts so many times, in rounds of disjoint pairs by the circle method. It returns
// latencies in s, NaN on the diagonal and where there is none.
func readAll(l *ledger, hosts []int32, repetitions int, rng *rand.Rand) ([]mat.Matrix, error) {
	size := len(hosts)
	var all []mat.Matrix
	for range repetitions {
		latencies := measured.Unmeasured(size)
		rounds := harness.CircleOf(rng.Perm(size))
		for _, number := range rng.Perm(len(rounds)) {
			_, err := round(l, rounds[number], func(m [2]int) pair { return pair{hosts[m[0]], hosts[m[1]]} }, func(m [2]int, _ pair, z float64) bool {
				latencies.Set(m[0], m[1], math.Exp(z))
				latencies.Set(m[1], m[0], math.Exp(z))
				return true
			})
			if err != nil {
				return nil, err
			}
		}
		all = append(all, latencies)
	}
	return all, nil
}

// levels are those of the groups that linkage has found in the core.
func (k *core) levels() *levels {
	const count = 4 // measurements that tell of a level
	l := &levels{noise: k.noise}
	add := func(latency float64) {
		if at := math.Log(latency); l.news(at) {
			l.insert(at, count)
		}
	}
	add(k.found.Hierarchy.Groups()[0].Latency)
	for _, level := range k.found.Hierarchy.Levels() {
		add(level.Latency)
	}
	return l
}

// tree is the tree of the core's hosts among n hosts. A group whose level is that of the group around it is no group.
func (k *core) tree(n int, l *levels) *tree {
	t := newTree(n)
	groups := k.found.Hierarchy.Groups()
	vertex := make([]int32, len(groups))
	for i, g := range groups { // parents first
		vertex[i] = t.top()
		if i > 0 {
			vertex[i] = vertex[g.Parent]
		}
		if level := l.nearest(math.Log(g.Latency)); level < t.levelOf(vertex[i]) {
			vertex[i] = t.open(level, vertex[i])
		}
	}
	for x, h := range k.hosts {
		t.add(h, vertex[k.found.Hierarchy.Smallest(x)])
	}
	return t
}
