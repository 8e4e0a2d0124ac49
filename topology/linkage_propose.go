package topology

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/stats"
)

// propose builds the tree of nested groups that the readings suggest, on the
// assumption that the noise is alike everywhere: cap, average linkage, collapse. It also
// returns its estimate of the noise. w is scratch of n*nnchain.Stride(n).
// O(n^2).
func propose(r *readings, w []float32) (t *tree, sigma float64) {
	r.square(w)
	s := prim(w, r.n)
	sigma = spread(w, r.n)
	kappa := float32(1 + max(0.1, 8*sigma))
	s.capAt(w, kappa)
	t = dendrogram(nnchain.Merges(w, r.n, nnchain.Average), r.n)
	t.measureLevels(func(i, j int32) float32 {
		v := r.at(int(i), int(j))
		return min(max(v, -v), kappa*s.ultrametric(i, j))
	})
	t.collapse(sigma)
	return t, sigma
}

// dendrogram is the binary tree of the given merges.
func dendrogram(merges []nnchain.Merge, n int) *tree {
	vertices := n + len(merges)
	t := &tree{
		n: n, root: int32(vertices - 1),
		parent:   make([]int32, vertices),
		children: make([][]int32, len(merges)),
		level:    make([]float64, len(merges)),
		weight:   make([]float64, len(merges)),
		order:    make([]int32, n),
		lo:       make([]int32, vertices),
		hi:       make([]int32, vertices),
	}
	t.parent[t.root] = -1
	t.hi[t.root] = int32(n)
	for k := len(merges) - 1; k >= 0; k-- {
		v, m := int32(n+k), merges[k]
		t.children[k] = []int32{m.A, m.B}
		t.parent[m.A], t.parent[m.B] = v, v
		sizeA := int32(1)
		if int(m.A) >= n {
			sizeA = merges[int(m.A)-n].Size
		}
		middle := t.lo[v] + sizeA
		t.lo[m.A], t.hi[m.A] = t.lo[v], middle
		t.lo[m.B], t.hi[m.B] = middle, t.hi[v]
		t.weight[k] = float64(sizeA) * float64(m.Size-sizeA)
	}
	for i := range n {
		t.order[t.lo[i]] = int32(i)
	}
	return t
}

// golden spreads samples evenly over a range whatever their number.
const golden = 0.6180339887498949

// measureLevels sets the level of every merge of a dendrogram: ln of the lower
// median of the distances between its two sides, of up to 4096 of them.
func (t *tree) measureLevels(distance func(i, j int32) float32) {
	const most = 4096
	sample := make([]float32, 0, most)
	for k, kids := range t.children {
		a, b := t.leaves(kids[0]), t.leaves(kids[1])
		sample = sample[:0]
		if len(a)*len(b) <= most {
			for _, i := range a {
				for _, j := range b {
					sample = append(sample, distance(i, j))
				}
			}
		} else {
			at := 0.0
			for s := range most {
				i, j := a[s*len(a)/most], b[int(at*float64(len(b)))]
				sample = append(sample, distance(i, j))
				if at += golden; at >= 1 {
					at--
				}
			}
		}
		t.level[k] = math.Log(float64(stats.LowerMedian(sample)))
	}
}

// minStep is the step between levels, in ln units, below which a group is never
// told from its parent: 3 %, less than what neighbouring cores of one kind differ by.
const minStep = 0.03

// collapse removes groups whose level is not worth describing, by minimum
// description length: two levels, of m_c and m_p readings with noise sigma, are
// worth it when the gain in likelihood pays for naming which j of the k
// children make the group, and for a level. The least worthy go first. The
// parent's level becomes the mean weighted by readings. It runs to a fixpoint.
//
// "First" is kept within a pass over all groups; a group changed in the pass is
// weighed anew when its turn comes. O(n log n) per pass, few passes.
func (t *tree) collapse(sigma float64) {
	lnFactorial := make([]float64, t.n+1)
	for k := 2; k <= t.n; k++ {
		lnFactorial[k] = lnFactorial[k-1] + math.Log(float64(k))
	}
	price := 2*math.Log(float64(t.n)) + 3
	// excess is below zero if the group is to go.
	excess := func(c int32) float64 {
		p := t.parent[c]
		step := t.levelOf(p) - t.levelOf(c)
		if step < minStep {
			return step - minStep - 1e9
		}
		j := len(t.kids(c))
		k := len(t.kids(p)) - 1 + j
		mc, mp := t.weightOf(c), t.weightOf(p)
		gain := mc * mp / (mc + mp) * step * step / (2 * sigma * sigma)
		return gain - (lnFactorial[k] - lnFactorial[j] - lnFactorial[k-j] + price)
	}
	type candidate struct {
		v      int32
		excess float64
	}
	for again := true; again; {
		again = false
		var list []candidate
		for _, v := range t.groups() {
			if v != t.root {
				if e := excess(v); e < 0 {
					list = append(list, candidate{v, e})
				}
			}
		}
		slices.SortFunc(list, func(a, b candidate) int {
			switch {
			case a.excess < b.excess:
				return -1
			case a.excess > b.excess:
				return 1
			}
			return int(a.v - b.v)
		})
		for _, c := range list {
			if excess(c.v) >= 0 {
				continue
			}
			p := t.parent[c.v]
			mc, mp := t.weightOf(c.v), t.weightOf(p)
			t.level[int(p)-t.n] = (mc*t.levelOf(c.v) + mp*t.levelOf(p)) / (mc + mp)
			t.weight[int(p)-t.n] = mc + mp
			t.splice(c.v)
			again = true
		}
	}
}
