package linkage

import (
	"cmp"
	"slices"
)

// judge sets the support of group v, which is not the root.
func (g *judge) judge(v int32) {
	at := int(v) - g.t.N
	e, ok := g.gather(v)
	if !ok {
		g.support[at], g.border[at] = 0, border{} // nothing measured: nothing known
		return
	}
	g.support[at] = e.Support()
}

// keepAbove is the support below which a group is taken out of the tree, so
// that its parent and children are judged without it. Lenient, as a low support
// costs nothing.
const keepAbove = 0.05

// judgeAll judges all groups.
func (g *judge) judgeAll() {
	t := g.t
	g.support = make([]float64, len(t.Children))
	g.border = make([]border, len(t.Children))
	g.support[int(t.Root)-t.N] = 1
	for _, v := range t.Groups() {
		if v != t.Root {
			g.judge(v)
		}
	}
}

// eliminate takes out the groups without support until all that remain have some, the worst first. A group whose
// parent or child went stays for the next pass, as its verdict is out of date.
func (g *judge) eliminate() {
	t := g.t
	for {
		var out []int32
		for _, v := range t.Groups() {
			if v != t.Root && g.support[int(v)-t.N] < keepAbove {
				out = append(out, v)
			}
		}
		if len(out) == 0 {
			return
		}
		slices.SortStableFunc(out, func(a, b int32) int {
			return cmp.Compare(g.support[int(a)-t.N], g.support[int(b)-t.N])
		})
		touched := map[int32]bool{}
		for _, v := range out {
			if touched[v] {
				continue
			}
			touched[t.Parent[v]] = true
			for _, c := range t.Kids(v) {
				touched[c] = true
			}
			t.Splice(v)
		}
		g.judgeAll()
	}
}
