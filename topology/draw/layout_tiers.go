package draw

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"github.com/topocast/topocast/internal/paths"
)

// tiers are those of a part that is wired in tiers, as trees and fat trees are; nil: it is not. Hosts are at the bottom, in
// tier 0. A tier has the switches of which all links but one lead to tiers below. Where there are none, as below the
// spines of a fat tree, it has the switches next to those below. No link joins two vertices of a tier, but for
// one between the two at the top.
func (p *part) tiers() []int {
	const unknown = -1
	tier, rest := make([]int, len(p.next)), []int{}
	for v := p.hosts; v < len(tier); v++ {
		tier[v] = unknown
		rest = append(rest, v)
	}
	top := 0
	for ; len(rest) > 0; top++ {
		above := func(v int) (links int) {
			for _, c := range p.next[v] {
				if tier[c.To] == unknown {
					links++
				}
			}
			return links
		}
		in := slices.DeleteFunc(slices.Clone(rest), func(v int) bool { return above(v) > 1 })
		if len(in) == 0 {
			in = slices.DeleteFunc(slices.Clone(rest), func(v int) bool { return above(v) == len(p.next[v]) })
		}
		if len(in) == 0 { // switches alone
			return nil
		}
		for _, v := range in {
			tier[v] = top + 1
		}
		rest = slices.DeleteFunc(rest, func(v int) bool { return tier[v] != unknown })
	}
	level, lowest := 0, top // ends of links within a tier, and the lowest such tier
	for v, cs := range p.next {
		for _, c := range cs {
			if tier[c.To] == tier[v] {
				level, lowest = level+1, min(lowest, tier[v])
			}
		}
	}
	if top == 0 || level > 2 || lowest < top {
		return nil
	}
	return tier
}

// rowOf is how many hosts of a switch stand side by side at most.
const rowOf = 8

// hang places a part in tiers in the plane y = 0. Trees are tidy (Wetherell and Shannon 1979): no two subtrees stand over each
// other, and each parent in the middle of its children. More than rowOf hosts of one switch stand in rows below each other.
// Tiers are so far apart that the whole is a third as high as it is wide.
func (p *part) hang(tier []int) {
	p.at = make([]r3.Vec, len(p.next))
	top := slices.Max(tier)
	in := make([][]int, top+1) // vertices by their tiers
	for v, t := range tier {
		in[t] = append(in[t], v)
	}
	seen, width := make([]bool, len(tier)), 0.0
	for _, vertices := range slices.Backward(in) {
		for _, v := range vertices {
			if !seen[v] {
				width = p.spread(v, width, tier, seen)
			}
		}
	}
	height := max(1.5, width/(3*float64(top)))
	for t, switches := range in[1:] {
		for _, v := range switches {
			p.at[v].Z = height * float64(t+1)
		}
		p.center(switches, tier)
	}
}

// spread places the hosts below v that stand nowhere yet from left on, those of a switch together. It returns where the next
// one may begin.
func (p *part) spread(v int, left float64, tier []int, seen []bool) (right float64) {
	seen[v] = true
	right = left
	hosts := 0
	for _, c := range p.next[v] {
		if tier[c.To] == 0 && !seen[c.To] {
			seen[c.To] = true
			p.at[c.To] = r3.Vec{X: left + float64(hosts%rowOf) + 0.5, Z: -float64(hosts / rowOf)}
			hosts++
			right = left + float64(min(hosts, rowOf))
		}
	}
	for _, c := range p.next[v] {
		if tier[c.To] < tier[v] && !seen[c.To] {
			right = p.spread(int(c.To), right, tier, seen)
		}
	}
	if right == left {
		if slices.ContainsFunc(p.next[v], func(c paths.Arc) bool { return tier[c.To] < tier[v] }) {
			return left // all below it stands already
		}
		right++
	}
	p.at[v].X = (left + right) / 2
	return right + 0.5 // between cousins is more than between siblings
}

// A crowd is switches of a tier that share the room above what is below them, as the spines of a fat tree do.
type crowd struct {
	below    span
	switches []int
}

// ends are where the first and the last switch stand, in the middle of the room.
func (c *crowd) ends() (first, last float64) {
	count := float64(len(c.switches))
	middle, gap := (c.below.low+c.below.high)/2, max(1, (c.below.high-c.below.low)/count)
	return middle - gap*(count-1)/2, middle + gap*(count-1)/2
}

// center places the switches of a tier over the middle of what is below them, in this order. Those that would be less
// than 1 apart share the room.
func (p *part) center(switches, tier []int) {
	var crowds []crowd
	for _, v := range switches {
		c := crowd{emptySpan(), []int{v}}
		for _, down := range p.next[v] {
			if tier[down.To] < tier[v] {
				c.below.add(p.at[down.To].X)
			}
		}
		if c.below.low > c.below.high {
			c.below.add(p.at[v].X)
		}
		crowds = append(crowds, c)
	}
	slices.SortStableFunc(crowds, func(a, b crowd) int { return cmp.Compare(a.below.low+a.below.high, b.below.low+b.below.high) })
	kept := crowds[:0]
	for _, c := range crowds {
		for k := len(kept) - 1; k >= 0; k-- {
			first, _ := c.ends()
			if _, last := kept[k].ends(); last+1 <= first {
				break
			}
			c.below.add(kept[k].below.low)
			c.below.add(kept[k].below.high)
			c.switches = append(kept[k].switches, c.switches...)
			kept = kept[:k]
		}
		kept = append(kept, c)
	}
	for _, c := range kept {
		first, last := c.ends()
		for k, v := range c.switches {
			p.at[v].X = first + (last-first)*float64(k)/float64(max(1, len(c.switches)-1))
		}
	}
}
