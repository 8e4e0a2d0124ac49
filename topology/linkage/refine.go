package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/nested"
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
func refine(t *nested.Tree, r *readings.Symmetric) bool {
	groups := t.Groups()
	size := len(t.Parent)
	count, sum := make([]float64, size), make([]float64, size)
	most := math.Exp(t.LevelOf(t.Root))
	to := make([]int32, t.N)
	moved := false
	way := make([]bool, size) // groups that hold host i
	for i := range int32(t.N) {
		for _, v := range groups {
			count[v], sum[v] = 0, 0
		}
		add := func(j int, x float32) {
			p := t.Parent[j]
			count[p]++
			sum[p] += min(math.Abs(float64(x)), most)
		}
		for j, x := range r.Row(int(i)) {
			add(j, x)
		}
		for j := int(i) + 1; j < t.N; j++ {
			add(j, r.At(j, int(i)))
		}
		for k := len(groups) - 1; k > 0; k-- {
			v := groups[k]
			count[t.Parent[v]] += count[v]
			sum[t.Parent[v]] += sum[v]
		}
		for v := t.Parent[i]; v >= 0; v = t.Parent[v] {
			way[v] = true
		}
		at := t.Root
		for next := at; next >= 0; {
			at, next = next, -1
			best := math.Inf(1)
			for _, v := range t.Kids(at) {
				if !t.IsGroup(v) || count[v] == 0 {
					continue
				}
				mean := sum[v] / count[v]
				if 2*math.Log(mean) >= t.LevelOf(v)+t.LevelOf(at) {
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
			at = t.Parent[i]
		}
		to[i] = at
		moved = moved || at != t.Parent[i]
		for v := t.Parent[i]; v >= 0; v = t.Parent[v] {
			way[v] = false
		}
	}
	if !moved {
		return false
	}
	copy(t.Parent, to)
	t.Rebuild()
	remeasure(t, r)
	return true
}
