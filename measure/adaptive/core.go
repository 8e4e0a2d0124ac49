package adaptive

import (
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

const (
	// The core is a few hosts of which all pairs are read, twice. Its readings tell the noise,
	// the levels, and whether the machine is a tree. Of a few hosts it is some per cent of all pairs.
	coreLeast, coreMost = 16, 128
	corePerRoot         = 2 // times the root of the number of hosts
	coreRepetitions     = 2
	withNeighbour       = 4 // of so many hosts one brings its neighbour in the order
)

// A core is what was read between a few hosts, and the tree that linkage makes of it.
type core struct {
	hosts []int32
	found *topology.Result
	noise float64 // standard deviation of a reading, in ln units
	tick  float64 // s, of a coarse clock; 0: none is seen
}

// readCore reads all pairs of some random hosts.
func readCore(l *ledger, o *order, rng *rand.Rand) (*core, error) {
	n := l.hosts
	size := min(n, max(coreLeast, min(coreMost, int(corePerRoot*math.Sqrt(float64(n))))))
	k := &core{hosts: drawCore(n, size, o, rng), noise: leastNoise}
	matrices, err := readAll(l, k.hosts, coreRepetitions, rng)
	if err != nil {
		return nil, err
	}
	if k.found, err = linkage.Reconstruct(matrices...); err != nil {
		return nil, err
	}
	measured, err := readings.New("adaptive", matrices)
	if err != nil {
		return nil, err
	}
	_, quality, err := measured.Symmetric()
	if err != nil {
		return nil, err
	}
	if quality.Noise > leastNoise {
		k.noise = quality.Noise
	}
	k.tick = quality.Tick
	return k, nil
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

// levels are those of the groups that linkage has found in the core.
func (k *core) levels() *levels {
	const count = 4 // readings that tell of a level
	l := &levels{noise: k.noise}
	add := func(latency float64) {
		if at := math.Log(latency); l.news(at) {
			l.insert(at, max(k.noise, k.tick/latency/2), count)
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
