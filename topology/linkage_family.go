package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/graph/path"
)

// Machines that are no trees. Nested groups describe a ring or torus of
// switches badly, and a torus of hosts not at all.
const (
	// Share of quadruples that a tree satisfies at least. Trees reach 99.7 %
	// with 5 % of noise, a dragonfly at most 94.5 %, tori 76 %.
	treeLike = 0.98
	// Another graph must leave a third less to explain than the tree.
	familyGain = 0.65
	// Residuals of trees of hosts wired to each other are above 35 %.
	meshTree = 0.2
	// And leave little: no graph explains the Internet.
	familyRest = 0.15
	// And it must say less than all its pairs: a full mesh of links explains
	// everything, and cannot be told from one switch. Of switches a ring of four is the
	// densest that is no full mesh; of hosts a ring of five.
	sparseSwitches = 2.0 / 3
	sparseHosts    = 0.5
	// Noise allowed for when the repetitions do not tell it, at least and at most.
	noiseGuess = 0.01
	noiseMost  = 0.06
	quartile   = 1.15 // of |N(0,1)|, its 75 % quantile
	// Hosts per block of which readings are looked at: 256 per pair of blocks.
	blockSample = 16
	// Fewer hosts than this tell too little, more are not searched for a mesh of
	// hosts: the search needs 8 bytes per pair, several times over.
	meshLeast = 6
	meshMost  = 8192
)

// fourPoints is the share of 2000 random quadruples of hosts that satisfy the
// four-point condition within tol: of the three ways to sum two disjoint pairs,
// the two largest are equal. It holds for all quadruples of a tree, whatever
// its links (Buneman 1974), and for those of rings and tori it fails. NaN if
// there are fewer than four hosts or too few readings. O(1).
func fourPoints(r *readings, tol float64) float64 {
	const samples = 2000
	if r.n < 4 {
		return math.NaN()
	}
	rng := rand.New(rand.NewPCG(uint64(r.n), 4))
	var good, all int
	for range samples {
		var q [4]int
		for k := 0; k < 4; {
			q[k] = rng.IntN(r.n)
			if !slices.Contains(q[:k], q[k]) {
				k++
			}
		}
		pairs := [6]float32{r.at(q[0], q[1]), r.at(q[2], q[3]), r.at(q[0], q[2]), r.at(q[1], q[3]), r.at(q[0], q[3]), r.at(q[1], q[2])}
		if slices.Min(pairs[:]) < 0 {
			continue
		}
		sums := [3]float64{float64(pairs[0] + pairs[1]), float64(pairs[2] + pairs[3]), float64(pairs[4] + pairs[5])}
		slices.Sort(sums[:])
		all++
		if sums[2]-sums[1] <= tol*sums[2] {
			good++
		}
	}
	if all < samples/10 {
		return math.NaN()
	}
	return float64(good) / float64(all)
}

// A wired is a graph that may describe a machine better than its tree.
type wired struct {
	family   Family
	graph    *Graph
	overhead float64 // s, paid once per message on top of the links
	apart    []int   // host -> block; pairs inside a block do not count; nil: all count
	warnings []string
}

// untree looks for switches that form a line, a ring, a torus or the like, and,
// if hosts says so, for hosts wired to each other. It returns what it finds if that
// explains the readings clearly better than the tree f; nil otherwise. noise
// is that of a reading, NaN if not known.
func untree(r *readings, f *treeFit, noise float64, hosts bool) (*wired, error) {
	if w, err := switchMesh(r, f.t); err != nil || w != nil && w.better(r, f) {
		return w, err
	}
	if !hosts {
		return nil, nil
	}
	known := !math.IsNaN(noise)
	if !known || noise < noiseGuess {
		noise = noiseGuess
	}
	w, err := hostMesh(r, noise)
	if err != nil || w == nil {
		return nil, err
	}
	if !known {
		// What paths leave unexplained tells the noise: look again with that.
		if again := min(noiseMost, w.compare(r, f).other/quartile); again > noise {
			v, err := hostMesh(r, again)
			if err != nil {
				return nil, err
			}
			if v != nil {
				w = v
			}
		}
	}
	if !w.better(r, f) {
		return nil, nil
	}
	return w, nil
}

// better tells whether the graph explains the readings clearly better than f.
// Weak groups at the edge of a sample make a tree a little worse than a mesh at times;
// of a real mesh of hosts it explains nothing.
func (w *wired) better(r *readings, f *treeFit) bool {
	c := w.compare(r, f)
	return c.other <= min(familyRest, familyGain*c.tree) && (w.family != FamilyMesh || c.tree >= meshTree)
}

// switchMesh is the quotient of the tree's leaf blocks, if it has four blocks or
// more that hold most hosts, and sparse links.
func switchMesh(r *readings, t *tree) (*wired, error) {
	var blocks [][]int
	block := make([]int, r.n)
	for h := range block {
		block[h] = -1
	}
	held := 0
	for _, v := range t.groups() {
		if v != t.root && t.hostsOnly(v) {
			var hosts []int
			for _, h := range t.leaves(v) {
				hosts = append(hosts, int(h))
			}
			slices.Sort(hosts)
			blocks = append(blocks, hosts)
			held += len(hosts)
		}
	}
	if len(blocks) < 4 || 2*held <= r.n {
		return nil, nil
	}
	slices.SortFunc(blocks, func(a, b []int) int { return a[0] - b[0] })
	for k, hosts := range blocks {
		for _, h := range hosts {
			block[h] = k
		}
	}
	for h := range block {
		if block[h] < 0 {
			block[h] = len(blocks)
			blocks = append(blocks, []int{h})
		}
	}
	var sample []int
	some := make([][]int, len(blocks))
	for k, hosts := range blocks {
		for s := range min(blockSample, len(hosts)) {
			some[k] = append(some[k], len(sample))
			sample = append(sample, hosts[s*len(hosts)/min(blockSample, len(hosts))])
		}
	}
	q := newQuotient(len(sample), r.dense(sample), some)
	if float64(len(q.links)) > sparseSwitches*float64(len(blocks)*(len(blocks)-1)/2) {
		return nil, nil
	}
	q.blocks = blocks
	graph, err := q.graph(r.n)
	if err != nil {
		return nil, err
	}
	return &wired{family: FamilyQuotient, graph: graph, apart: block, warnings: q.warnings()}, nil
}

// hostMesh is the witness spanner of the hosts, if that is sparse.
func hostMesh(r *readings, noise float64) (*wired, error) {
	if r.n < meshLeast || r.n > meshMost {
		return nil, nil
	}
	hosts := make([]int, r.n)
	for i := range hosts {
		hosts[i] = i
	}
	d := r.dense(hosts)
	overhead := endpointOverhead(r.n, d, noise)
	links, mended := mendedSpanner(r.n, d, spannerTest{relative: 0.02 + 3*noise, absolute: overhead})
	if float64(len(links)) > sparseHosts*float64(r.n*(r.n-1)/2) {
		return nil, nil
	}
	var arcs []Arc
	for _, p := range links {
		pair := Link(p.from, p.to, max(0, d[p.from*r.n+p.to]-overhead), math.NaN())
		arcs = append(arcs, pair[:]...)
	}
	graph, err := NewGraph(r.n, 0, nil, arcs)
	if err != nil {
		return nil, err
	}
	w := &wired{family: FamilyMesh, graph: graph, overhead: overhead}
	if overhead > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("every message pays %.3g s at its ends, on top of the latencies of the links", overhead))
	}
	if len(mended) > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("%d readings between neighbours contradict all around them and were replaced, the first that of hosts %d and %d",
			len(mended), mended[0].from, mended[0].to))
	}
	return w, nil
}

// dense copies the readings between the given hosts into a square matrix; NaN
// on the diagonal and where nothing was measured.
func (r *readings) dense(hosts []int) []float64 {
	n := len(hosts)
	d := make([]float64, n*n)
	for a, i := range hosts {
		d[a*n+a] = math.NaN()
		for b, j := range hosts[:a] {
			v := float64(r.at(i, j))
			if v < 0 {
				v = math.NaN()
			}
			d[a*n+b], d[b*n+a] = v, v
		}
	}
	return d
}

// direct tells whether hosts i and j, or their switches, are linked.
func (w *wired) direct(i, j int) bool {
	if w.apart != nil {
		i, j = w.graph.Hosts()+w.apart[i], w.graph.Hosts()+w.apart[j]
	}
	return w.graph.ArcIndex(i, j) >= 0
}

// A comparison is how well a tree and another graph explain the readings of up
// to 32 hosts.
type comparison struct {
	// 75 % quantiles of the relative residuals over pairs that are not linked
	// directly, as a link explains its own reading. Not medians: the root of a tree
	// explains the most frequent distance of any ring.
	tree, other float64

	residual float64 // median relative residual that the other graph leaves over all pairs
	r2       float64 // share of variance that it explains over all pairs
}

func (w *wired) compare(r *readings, f *treeFit) comparison {
	const most = 32
	var (
		treeRest, otherRest []float64 // not directly linked
		all                 []float64 // residuals
		values, squares     []float64
		join                = make([]int32, r.n)
		sources             = min(most, r.n)
	)
	for s := range sources {
		i := s * r.n / sources
		way := path.DijkstraFrom(w.graph.Node(int64(i)), w.graph)
		f.t.joins(i, join)
		for j := range r.n {
			if j == i || w.apart != nil && w.apart[i] == w.apart[j] {
				continue
			}
			v := float64(r.at(i, j))
			if v < 0 {
				continue
			}
			fit := w.overhead + way.WeightTo(int64(j))
			tree := f.between(i, j, join[j])
			if !w.direct(i, j) {
				otherRest = append(otherRest, math.Abs(v-fit)/v)
				treeRest = append(treeRest, math.Abs(v-tree)/v)
			}
			all = append(all, math.Abs(v-fit)/v)
			values = append(values, v)
			squares = append(squares, (v-fit)*(v-fit))
		}
	}
	if len(otherRest) == 0 {
		return comparison{0, math.Inf(1), math.NaN(), math.NaN()} // nothing but links
	}
	var mean, total, rest float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for k, v := range values {
		total += (v - mean) * (v - mean)
		rest += squares[k]
	}
	r2 := math.NaN()
	if total > 0 {
		r2 = 1 - rest/total
	}
	return comparison{
		tree: stats.Quantile(treeRest, 0.75), other: stats.Quantile(otherRest, 0.75),
		residual: stats.LowerMedian(all), r2: r2,
	}
}
