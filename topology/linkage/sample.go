package linkage

import "github.com/topocast/topocast/internal/nested"

// What is read of a group, and how much of it.
const (
	// Measurements looked at inside groups of hosts, and members whose measurements to each other are
	// looked at in groups of groups. Half and four times as many: no verdict changes.
	mostWithin, mostInner = 4096, 128
	// Members of a child that speak for it: averages of eight halve the noise and more. 4 to 16 do as well.
	mostOfChild = 8
)

// some returns up to most members of v, evenly chosen, as many of each child as
// children are large: a large switch must not outvote those beside it.
func (g *judge) some(v int32, most int) []int32 {
	t := g.t
	kids := t.Kids(v)
	each := 1
	if !t.HostsOnly(v) {
		each = max(1, min(mostOfChild, most/len(kids)))
	}
	skip := (len(kids)*each-1)/most + 1
	var list []int32
	for k := 0; k < len(kids); k += skip {
		leaves := t.Order[t.Lo[kids[k]]:t.Hi[kids[k]]]
		count := min(each, len(leaves))
		for x := range count {
			list = append(list, leaves[x*len(leaves)/count])
		}
	}
	return list
}

// inner returns the measurements between different children of v: of some members.
func (g *judge) inner(v int32) []float32 {
	t := g.t
	if t.HostsOnly(v) {
		g.within = appendWithin(g.within[:0], t, v, g.r.At)
		return g.within
	}
	in := g.some(v, mostInner)
	child := make([]int32, len(in))
	for k, i := range in {
		for child[k] = i; t.Parent[child[k]] != v; {
			child[k] = t.Parent[child[k]]
		}
	}
	g.within = g.within[:0]
	for k, i := range in {
		for l, j := range in[:k] {
			if x := g.r.At(int(i), int(j)); x > 0 && child[k] != child[l] {
				g.within = append(g.within, x)
			}
		}
	}
	return g.within
}

// appendWithin appends the measurements between different children of v: all, or an even
// sample.
func appendWithin(dst []float32, t *nested.Tree, v int32, at func(i, j int) float32) []float32 {
	pairsWithin(t, v, func(i, j int32) {
		if x := at(int(i), int(j)); x > 0 {
			dst = append(dst, x)
		}
	})
	return dst
}

// pairsWithin calls with the pairs of hosts in different children of v: all, or an even sample of mostWithin.
func pairsWithin(t *nested.Tree, v int32, with func(i, j int32)) {
	pairs := t.Size(v) * t.Size(v)
	for _, c := range t.Kids(v) {
		pairs -= t.Size(c) * t.Size(c)
	}
	stride := (pairs/2-1)/mostWithin + 1
	skip := 0
	for _, c := range t.Kids(v) {
		for _, i := range t.Leaves(c) {
			partners := t.Order[t.Hi[c]:t.Hi[v]]
			for ; skip < len(partners); skip += stride {
				with(i, partners[skip])
			}
			skip -= len(partners)
		}
	}
}
