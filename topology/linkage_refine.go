package topology

import (
	"math"

	"github.com/topocast/topocast/internal/readings"
)

// refineRounds bounds how often hosts are moved; they seldom are a second time.
const refineRounds = 3

// refine moves hosts that do not fit where they are to groups that they fit, as average linkage
// puts a host where its first few readings do, and does not come back to it. A host fits a
// group if its mean reading to the others in it is nearer to the group's level than to the
// parent's, in the geometric mean. It stays on its way down from the root as far
// as it fits, and then goes on where it fits best. Readings count up to the level of the
// root, as outliers do not. It returns whether any host moved. O(n^2).
func refine(t *tree, r *readings.Symmetric) bool {
	groups := t.groups()
	size := len(t.parent)
	count, sum := make([]float64, size), make([]float64, size)
	most := math.Exp(t.levelOf(t.root))
	to := make([]int32, t.n)
	moved := false
	way := make([]bool, size) // groups that hold host i
	for i := range int32(t.n) {
		for _, v := range groups {
			count[v], sum[v] = 0, 0
		}
		add := func(j int, x float32) {
			p := t.parent[j]
			count[p]++
			sum[p] += min(math.Abs(float64(x)), most)
		}
		for j, x := range r.Row(int(i)) {
			add(j, x)
		}
		for j := int(i) + 1; j < t.n; j++ {
			add(j, r.At(j, int(i)))
		}
		for k := len(groups) - 1; k > 0; k-- {
			v := groups[k]
			count[t.parent[v]] += count[v]
			sum[t.parent[v]] += sum[v]
		}
		for v := t.parent[i]; v >= 0; v = t.parent[v] {
			way[v] = true
		}
		at := t.root
		for next := at; next >= 0; {
			at, next = next, -1
			best := math.Inf(1)
			for _, v := range t.kids(at) {
				if !t.isGroup(v) || count[v] == 0 {
					continue
				}
				mean := sum[v] / count[v]
				if 2*math.Log(mean) >= t.levelOf(v)+t.levelOf(at) {
					continue
				}
				if way[v] {
					next = v
					break
				}
				if mean < best {
					next, best = v, mean
				}
			}
		}
		if way[at] { // it fits nowhere else
			at = t.parent[i]
		}
		to[i] = at
		moved = moved || at != t.parent[i]
		for v := t.parent[i]; v >= 0; v = t.parent[v] {
			way[v] = false
		}
	}
	if !moved {
		return false
	}
	copy(t.parent, to)
	t.rebuild()
	remeasure(t, r)
	return true
}
