package draw

import "slices"

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
	tier     int // 0 for leaves, else one above the highest child
}

// hang places a tree in the plane y = 0, as tidy trees are drawn (Wetherell and Shannon 1979): all leaves at the
// bottom in the order of the tree, no two subtrees over each other, and each parent in the middle of its children.
// More than rowOf leaves of one switch stand in rows below each other. Tiers are so far apart that the whole is a
// third as high as it is wide.
func (p *part) hang() {
	root := p.crown()
	p.at = make([][3]float64, len(p.next))
	width := p.spread(root, 0)
	height := max(1.5, width/(3*float64(max(1, root.tier))))
	root.each(func(b *bough) {
		if b.vertex >= 0 {
			p.at[b.vertex][2] += height * float64(b.tier)
		}
	})
}

// rowOf is how many leaves of a switch stand side by side at most.
const rowOf = 8

// spread places what hangs on a bough from left on, and returns where the next one may begin.
func (p *part) spread(b *bough, left float64) (right float64) {
	if len(b.children) == 0 {
		p.place(b, left+0.5, 0)
		return left + 1
	}
	leaves := !slices.ContainsFunc(b.children, func(c *bough) bool { return len(c.children) > 0 })
	right = left
	if columns := rowOf; leaves && len(b.children) > columns {
		for i, c := range b.children {
			p.place(c, left+float64(i%columns)+0.5, -float64(i/columns))
		}
		right += float64(columns)
	} else {
		for _, c := range b.children {
			right = p.spread(c, right)
		}
	}
	p.place(b, (left+right)/2, 0)
	return right + 0.5 // between cousins is more than between siblings
}

func (p *part) place(b *bough, x, z float64) {
	if b.vertex >= 0 {
		p.at[b.vertex] = [3]float64{x, 0, z}
	}
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
