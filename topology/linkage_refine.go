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
func (t *tree) refine(r *readings.Symmetric) bool {
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
	t.remeasure(r)
	return true
}

// rebuild makes the tree anew from the parents; groups that are left with one child or none go.
func (t *tree) rebuild() {
	root := t.root
	for again := true; again; {
		again = false
		for k := range t.children {
			t.children[k] = nil
		}
		for v, p := range t.parent {
			if p >= 0 {
				t.children[int(p)-t.n] = append(t.children[int(p)-t.n], int32(v))
			}
		}
		for k, kids := range t.children {
			v := int32(t.n + k)
			if v == root && len(kids) == 1 { // its only child is the root, then
				if v = kids[0]; !t.isGroup(v) {
					continue
				}
			} else if v == root || t.parent[v] < 0 || len(kids) >= 2 {
				continue
			}
			t.splice(v) // at once: of a chain of such groups each takes up what the one below left
			again = true
		}
	}
	next := int32(0)
	var lay func(v int32)
	lay = func(v int32) {
		t.lo[v] = next
		if !t.isGroup(v) {
			t.order[next] = v
			next++
		} else {
			for _, c := range t.kids(v) {
				lay(c)
			}
		}
		t.hi[v] = next
	}
	lay(root)
	for k, kids := range t.children {
		if kids == nil {
			continue
		}
		n := float64(t.size(int32(t.n + k)))
		pairs := n * n
		for _, c := range kids {
			pairs -= float64(t.size(c)) * float64(t.size(c))
		}
		t.weight[k] = pairs / 2
	}
}
