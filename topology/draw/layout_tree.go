package draw

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

// rowOf is how many leaves of a switch stand side by side at most.
const rowOf = 8

// hang places a tree in the plane y = 0, as tidy trees are drawn (Wetherell and Shannon 1979): all leaves at the
// bottom in the order of the tree, no two subtrees over each other, and each parent in the middle of its children.
// More than rowOf leaves of one switch stand in rows below each other. Tiers are so far apart that the whole is a
// third as high as it is wide. A tree with two middles hangs from both, side by side.
func (p *part) hang() {
	p.at = make([][3]float64, len(p.next))
	tier := make([]int, len(p.next))
	middle := p.middle()
	width, most := 0.0, 1
	for i, v := range middle {
		width = p.spread(v, middle[len(middle)-1-i], width, tier)
		most = max(most, tier[v])
	}
	height := max(1.5, width/(3*float64(most)))
	for v := range p.at {
		p.at[v][2] += height * float64(tier[v])
	}
}

// spread places v and what hangs below it from left on, and returns where the next one may begin. parent is the neighbour
// of v that does not hang below it. The tier of a leaf is 0, of another vertex one above its highest child.
func (p *part) spread(v, parent int, left float64, tier []int) (right float64) {
	right = left
	leaves := 0
	for _, c := range p.next[v] {
		if int(c.To) == parent {
			continue
		}
		if len(p.next[c.To]) == 1 {
			p.at[c.To] = [3]float64{left + float64(leaves%rowOf) + 0.5, 0, -float64(leaves / rowOf)}
			leaves++
			right = max(right, left+float64(min(leaves, rowOf)))
		}
	}
	for _, c := range p.next[v] {
		if int(c.To) != parent && len(p.next[c.To]) > 1 {
			right = p.spread(int(c.To), v, right, tier)
			tier[v] = max(tier[v], tier[c.To])
		}
	}
	tier[v]++
	p.at[v] = [3]float64{(left + right) / 2, 0, 0}
	return right + 0.5 // between cousins is more than between siblings
}

// middle is the one vertex, or the two with a link, that remain when leaves are taken away, all at once, again and again. Of
// a host and its switch it is the switch.
func (p *part) middle() []int {
	degree := make([]int, len(p.next))
	var rest []int
	for v, cs := range p.next {
		degree[v] = len(cs)
		if v >= p.hosts || len(p.next) > p.hosts+1 {
			rest = append(rest, v)
		}
	}
	for len(rest) > 2 {
		var leaves, inner []int
		for _, v := range rest {
			if degree[v] > 1 {
				inner = append(inner, v)
			} else {
				leaves = append(leaves, v)
			}
		}
		for _, v := range leaves {
			for _, c := range p.next[v] {
				degree[c.To]--
			}
		}
		rest = inner
	}
	return rest
}
