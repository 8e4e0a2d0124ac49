package linkage

import (
	"cmp"
	"slices"
)

// keepAbove is the confidence below which a group is taken out of the tree, so
// that its parent and children are judged without it. Lenient, as a low confidence
// costs nothing.
const keepAbove = 0.05

// judgeAll judges all groups but the root. Of a group of which nothing was measured nothing is known.
func (g *judge) judgeAll() {
	t := g.t
	g.confidence = make([]float64, len(t.Children))
	g.margin = make([]margin, len(t.Children))
	g.confidence[int(t.Root)-t.N] = 1
	for _, v := range t.Groups()[1:] {
		if e, ok := g.gather(v); ok {
			g.confidence[int(v)-t.N] = e.Confidence()
		}
	}
}

// eliminate takes out the groups without confidence until all that remain have some, the worst first. A group whose
// parent or child went stays for the next pass, as its verdict is out of date.
func (g *judge) eliminate() {
	t := g.t
	for {
		var out []int32
		for _, v := range t.Groups() {
			if v != t.Root && g.confidence[int(v)-t.N] < keepAbove {
				out = append(out, v)
			}
		}
		if len(out) == 0 {
			return
		}
		slices.SortStableFunc(out, func(a, b int32) int {
			return cmp.Compare(g.confidence[int(a)-t.N], g.confidence[int(b)-t.N])
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
