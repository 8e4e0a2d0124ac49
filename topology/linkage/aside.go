package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
)

// What a slow host adds can be subtracted from its measurements, their noise cannot. Of 20 us, measured
// to 2 %, 19 us leave 1 +- 0.4 us, and the host looks near to anybody. Hosts whose noise
// is larger than a step between levels are set aside, and the groups found without them.
// Afterwards each goes to the group to which its measurements are shorter in the median than to
// the hosts beside that group.
const (
	// The step, relative to the near measurements, that noise must not hide.
	asideStep = 0.2
	// Nobody is set aside if more than a quarter would be: who is left tells too little.
	asideMost = 0.25
)

// setAside returns the hosts that are not to take part, and all others, both ascending.
func setAside(n int, slow []slowHost) (aside []slowHost, kept []int) {
	out := make([]bool, n)
	for _, s := range slow {
		if s.noise > asideStep*s.factor*s.level {
			aside, out[s.host] = append(aside, s), true
		}
	}
	if float64(len(aside)) > asideMost*float64(n) {
		aside, out = nil, make([]bool, n)
	}
	for i := range n {
		if !out[i] {
			kept = append(kept, i)
		}
	}
	return aside, kept
}

// only is the readings between some of the hosts, which keep their order.
func only(r *readings.Symmetric, hosts []int) *readings.Symmetric {
	if len(hosts) == r.N() {
		return r
	}
	return readings.NewSymmetric(len(hosts), func(i, j int) float32 { return r.At(hosts[i], hosts[j]) })
}

// place returns the judged tree of the kept hosts with those that were set aside in it. r is the
// readings of all. O(n) per host and level.
func (g *judge) place(r *readings.Symmetric, kept []int, aside []slowHost) *judge {
	if len(aside) == 0 {
		return g
	}
	t, n := g.t, r.N()
	groups := t.Groups()
	number := make([]int32, len(t.Parent)) // in the new tree
	for k, i := range kept {
		number[k] = int32(i)
	}
	for k, v := range groups {
		number[v] = int32(n + len(groups) - 1 - k) // the root is the last
	}
	parent := make([]int32, n+len(groups))
	for v, p := range t.Parent {
		if p >= 0 {
			parent[number[v]] = number[p]
		}
	}
	parent[number[t.Root]] = -1
	for _, s := range aside {
		parent[s.host] = number[g.placeOf(s, r, kept)]
	}
	all := nested.New(n, parent)
	support := make([]float64, len(all.Children))
	for _, v := range groups {
		support[int(number[v])-n] = g.support[int(v)-t.N]
		all.Level[int(number[v])-n] = t.LevelOf(v)
	}
	all.Arrange(r.Means())
	return &judge{t: all, support: support}
}

// placeOf is the group of the tree to which host s belongs. From the root down, it goes on to the child for
// which its measurements speak most, if they pay for the choice among the children. Unless
// they decide, that child is uncertain, with the host or without.
func (g *judge) placeOf(s slowHost, r *readings.Symmetric, kept []int) int32 {
	t := g.t
	to := func(hosts []int32) (x []float64) {
		for _, k := range hosts {
			if y := r.At(s.host, kept[k]); y > 0 {
				x = append(x, float64(y))
			}
		}
		return x
	}
	for at := t.Root; ; {
		best, nats := int32(-1), math.Inf(-1)
		for _, c := range t.Kids(at) {
			if !t.IsGroup(c) {
				continue
			}
			in := to(t.Leaves(c))
			out := append(to(t.Order[t.Lo[at]:t.Lo[c]]), to(t.Order[t.Hi[c]:t.Hi[at]])...)
			if len(in) == 0 || len(out) == 0 {
				continue
			}
			// Of a normal difference of medians: that it is the step, and not zero.
			variance := math.Pi / 2 * s.noise * s.noise * (1/float64(len(in)) + 1/float64(len(out)))
			step := math.Exp(t.LevelOf(at)) - math.Exp(t.LevelOf(c))
			if x := step * (middle(out) - middle(in) - step/2) / variance; x > nats {
				best, nats = c, x
			}
		}
		if best < 0 {
			return at
		}
		if nats -= math.Log(float64(len(t.Kids(at)))); math.Abs(nats) < gapEvidence {
			g.support[int(best)-t.N] = min(g.support[int(best)-t.N], weakCeiling)
		}
		if nats < 0 {
			return at
		}
		at = best
	}
}
