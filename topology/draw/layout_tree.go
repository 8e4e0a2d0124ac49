package draw

import (
	"cmp"
	"math"
	"slices"
)

// isTree tells whether the part is a tree in which every host is a leaf below a switch.
func (p *part) isTree() bool {
	ends := 0
	for v, cs := range p.next {
		ends += len(cs)
		if v < p.hosts && len(cs) > 1 {
			return false
		}
	}
	return ends == 2*(len(p.next)-1) && p.hosts < len(p.next)
}

// A bough is a vertex of a tree with what hangs below it.
type bough struct {
	vertex   int // -1: the middle of a link
	children []*bough
	tier     int     // 0 for leaves, else one above the highest child
	radius   float64 // of the disc that holds all below it
	at       [2]float64
}

// hang places a tree: the switch in its middle on top, and below each switch its children
// in a disc. Leaves are in the plane of all leaves; other tiers are the higher the wider their discs are.
func (p *part) hang() {
	root := p.crown()
	root.spread()
	heights := make([]float64, root.tier+1)
	root.each(func(b *bough) { heights[b.tier] = max(heights[b.tier], b.radius/2, 1) })
	heights[0] = 0
	for t := 1; t < len(heights); t++ {
		heights[t] += heights[t-1]
	}
	p.at = make([][3]float64, len(p.next))
	root.each(func(b *bough) {
		for _, c := range b.children {
			c.at[0] += b.at[0]
			c.at[1] += b.at[1]
		}
		if b.vertex >= 0 {
			p.at[b.vertex] = [3]float64{b.at[0], b.at[1], heights[b.tier]}
		}
	})
}

// crown is the tree with its middle as root: the vertex, or the link, that is left when
// leaves are taken away, all at once, again and again.
func (p *part) crown() *bough {
	degree := make([]int, len(p.next))
	var leaves []int
	for v, cs := range p.next {
		degree[v] = len(cs)
		if len(cs) <= 1 {
			leaves = append(leaves, v)
		}
	}
	for left := len(p.next) - len(leaves); left > 0; left -= len(leaves) {
		var inner []int
		for _, v := range leaves {
			for _, c := range p.next[v] {
				if degree[c.to]--; degree[c.to] == 1 {
					inner = append(inner, c.to)
				}
			}
		}
		leaves = inner
		if len(leaves) == 0 {
			break
		}
	}
	slices.Sort(leaves)
	if len(leaves) == 1 {
		return p.below(leaves[0], -1)
	}
	a, b := leaves[0], leaves[1]
	if a < p.hosts { // a host and its only switch
		return p.below(b, -1)
	}
	one, two := p.below(a, b), p.below(b, a)
	return &bough{vertex: -1, children: []*bough{one, two}, tier: max(one.tier, two.tier)}
}

func (p *part) below(v, parent int) *bough {
	b := &bough{vertex: v}
	for _, c := range p.next[v] {
		if c.to != parent {
			child := p.below(c.to, v)
			b.children = append(b.children, child)
			b.tier = max(b.tier, child.tier+1)
		}
	}
	return b
}

// each calls f for the bough and all below, parents first.
func (b *bough) each(f func(*bough)) {
	f(b)
	for _, c := range b.children {
		c.each(f)
	}
}

const (
	leafRadius = 0.5 // half the gap between neighbours
	oneRing    = 12  // so many children stand on one ring, more fill a disc
)

// spread places the children around the bough, at offsets from it, without overlaps, and sets its radius.
func (b *bough) spread() {
	if len(b.children) == 0 {
		b.radius = leafRadius
		return
	}
	for _, c := range b.children {
		c.spread()
	}
	if len(b.children) == 1 {
		b.radius = b.children[0].radius
		return
	}
	// Wide ones stand inside, where few have place; of equals the order is that of the tree.
	order := slices.Clone(b.children)
	slices.SortStableFunc(order, func(x, y *bough) int { return cmp.Compare(y.radius, x.radius) })
	if len(order) <= oneRing {
		b.radius = ringRadius(order)
		onRing(b.children, b.radius)
		b.radius += order[0].radius
		return
	}
	// As few rings as hold all, each about equally full.
	full := len(rings(order, 1))
	low, high := 0.0, 1.0
	for range 20 {
		middle := (low + high) / 2
		if len(rings(order, middle)) > full {
			low = middle
		} else {
			high = middle
		}
	}
	for _, r := range rings(order, high) {
		onRing(r.children, r.radius)
		b.radius = r.radius + r.children[0].radius
	}
}

// A ring is a circle of children.
type ring struct {
	radius   float64
	children []*bough // the widest first
}

// rings fills rings from the inside with children by descending radius, each to the
// given share of its circumference.
func rings(order []*bough, share float64) []ring {
	var all []ring
	edge := order[0].radius // of the place in the middle, which stays free
	for len(order) > 0 {
		r := ring{radius: edge + order[0].radius}
		angle := 0.0
		k := 0
		for k < len(order) {
			angle += 2 * math.Asin(order[k].radius/r.radius)
			if k > 0 && angle > 2*math.Pi*share+1e-9 {
				break
			}
			k++
		}
		r.children, order = order[:k], order[k:]
		all = append(all, r)
		edge = r.radius + r.children[0].radius
	}
	return all
}

// ringRadius is that of the least circle on which the children stand side by side.
func ringRadius(children []*bough) float64 {
	low, high := children[0].radius, 0.0
	for _, c := range children {
		high += c.radius
	}
	for range 50 {
		middle, angle := (low+high)/2, 0.0
		for _, c := range children {
			angle += 2 * math.Asin(min(1, c.radius/middle))
		}
		if angle > 2*math.Pi {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// onRing places children on a circle, the gaps between them equal.
func onRing(children []*bough, radius float64) {
	half := make([]float64, len(children))
	gap := 2 * math.Pi
	for i, c := range children {
		half[i] = math.Asin(min(1, c.radius/radius))
		gap -= 2 * half[i]
	}
	gap /= float64(len(children))
	angle := 0.0
	for i, c := range children {
		if i > 0 {
			angle += half[i-1] + gap + half[i]
		}
		c.at = [2]float64{radius * math.Cos(angle), radius * math.Sin(angle)}
	}
}
