package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
)

// The measurements of one host may be too noisy to show the step between two levels, however clear the groups of all
// others are. Such a host may be a member of any group, and then the group without the host does not exist. So a group
// is uncertain unless the measurements of every host that stands alone decide whether the host belongs to it. Hosts
// that stand alone are those that were set aside, and those with groups beside them in the tree.
//
// The decision is a log-likelihood ratio. The times of a host to the members of its group are shorter than its
// times to hosts outside, by the step between the two levels. For all other groups they are not.

// elsewhereEvidence rules out, at one in thirty, that a host belongs to a group less likely than another. With
// gapEvidence one jittery host would make the groups of most racks uncertain.
const elsewhereEvidence = 3.5

// placeLone makes those groups uncertain to which a host with groups beside it may belong. O(n) per such host and level.
func (g *judge) placeLone(r *measured.Symmetric, kept []int) {
	t := g.t
	for _, v := range t.Groups() {
		if t.HostsOnly(v) {
			continue
		}
		for _, c := range t.Kids(v) {
			if !t.IsGroup(c) {
				g.placeOf(kept[c], 0, r, kept)
			}
		}
	}
}

// place returns the judged tree of the kept hosts with the hosts in it that were set aside. r holds the measurements of
// all hosts. O(n) per host that was set aside and level.
func (g *judge) place(r *measured.Symmetric, kept []int, aside []slowHost) *judge {
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
		parent[s.host] = number[g.placeOf(s.host, s.noise/s.slow(s.far), r, kept)]
	}
	all := nested.New(n, parent)
	confidence := make([]float64, len(all.Children))
	for _, v := range groups {
		confidence[int(number[v])-n] = g.confidence[int(v)-t.N]
		all.Level[int(number[v])-n] = t.LevelOf(v)
	}
	all.Arrange(r.Means())
	return &judge{t: all, confidence: confidence}
}

// placeOf is the group of the tree to which a host belongs, and makes those groups uncertain to which it may belong. From
// the root down, the host goes to the child with the largest ratio above zero. noise is its relative noise, 0 if it is
// not known.
func (g *judge) placeOf(host int, noise float64, r *measured.Symmetric, kept []int) int32 {
	place := g.t.Root
	for possible := []int32{place}; len(possible) > 0; possible = possible[1:] {
		at := possible[0]
		children, ratios := g.placeRatios(host, noise, at, r, kept)
		first, second := 0.0, math.Inf(-1) // the two largest ratios; the ratio of no child is 0
		best := at
		for k, x := range ratios {
			if x > first {
				first, second, best = x, first, children[k]
			} else {
				second = max(second, x)
			}
		}
		for k, c := range children {
			others := first
			if c == best {
				others = second
			}
			lead := ratios[k] - others
			if lead <= -elsewhereEvidence {
				continue
			}
			possible = append(possible, c)
			if lead < gapEvidence {
				g.confidence[int(c)-g.t.N] = min(g.confidence[int(c)-g.t.N], uncertainCeiling)
			}
		}
		if at == place {
			place = best
		}
	}
	return place
}

// placeRatios returns the child groups of group at, and for each the log-likelihood ratio, in nats, that the host belongs
// to this child and to none. The ratio is NaN if no host outside was measured.
func (g *judge) placeRatios(host int, noise float64, at int32, r *measured.Symmetric, kept []int) (children []int32, ratios []float64) {
	t := g.t
	to := func(hosts []int32) (x []float64) {
		for _, k := range hosts {
			if kept[k] != host {
				if y := r.At(host, kept[k]); y > 0 {
					x = append(x, float64(y))
				}
			}
		}
		return x
	}
	var inside [][]float64
	var near []float64 // the medians of inside
	nearest := 0
	for _, c := range t.Kids(at) {
		if !t.IsGroup(c) {
			continue
		}
		if in := to(t.Leaves(c)); len(in) > 0 {
			children, inside, near = append(children, c), append(inside, in), append(near, middle(in))
			if last := len(near) - 1; near[last] < near[nearest] {
				nearest = last
			}
		}
	}
	if len(children) == 0 {
		return nil, nil
	}
	// The host may belong to the nearest child. All others are outside, or those around at if there are no others.
	inner, around := children[nearest], at
	out := to(outside(t, around, inner))
	for len(out) == 0 && around != t.Root {
		inner, around = around, t.Parent[around]
		out = to(outside(t, around, inner))
	}
	ratios = make([]float64, len(children))
	if len(out) == 0 {
		ratios[nearest] = math.NaN()
		return children, ratios
	}
	far := middle(out)
	if noise == 0 {
		var off []float64
		for _, x := range inside[nearest] {
			off = append(off, math.Abs(x-near[nearest]))
		}
		for _, x := range out {
			off = append(off, math.Abs(x-far))
		}
		noise = max(g.residualNoise, stats.SigmaPerMAD*middle(off)/far)
	}
	noise *= far
	for k, c := range children {
		// A normal difference of medians is the step, and not zero. The choice among all children has its price.
		variance := math.Pi / 2 * noise * noise * (1/float64(len(inside[k])) + 1/float64(len(out)))
		step := math.Exp(t.LevelOf(at)) - math.Exp(t.LevelOf(c))
		beyond := math.Exp(t.LevelOf(around)) - math.Exp(t.LevelOf(at))
		ratios[k] = step*(far-near[k]-beyond-step/2)/variance - math.Log(float64(len(t.Kids(at))))
	}
	return children, ratios
}

// outside are the hosts of group v that are not in its group c.
func outside(t *nested.Tree, v, c int32) []int32 {
	return slices.Concat(t.Order[t.Lo[v]:t.Lo[c]], t.Order[t.Hi[c]:t.Hi[v]])
}
