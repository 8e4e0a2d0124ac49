package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Core is a Reduction in which ranks exchange parts of the vector until all of them have the result.
//
// With Level, the leaders of the groups of a level do so: the lowest rank of each group, and ranks that are in none. In a
// group, the ranks give their leader what they have along binomial trees that follow finer groups (MultiLevel), and get
// the result back.
type Core struct {
	Kind  CoreKind
	Level int // of Problem.Tree, from 1 for the finest; 0: all ranks
	Radix int // of Multiplying: how many ranks exchange with each other in a round, at most; 0: 2

	// Flat lets the ranks of a group send to their leader without ranks between. It is faster for short vectors of small groups.
	Flat bool
}

// CoreKind is how ranks exchange parts of the vector.
type CoreKind uint8

// The kinds of cores.
const (
	// Multiplying is recursive doubling with any radix: in each round a rank exchanges the whole vector with those that have
	// combined as many others. The higher the radix, the fewer rounds and the more messages (M. Ruefenacht, M. Bull, S. Booth,
	// Generalisation of recursive doubling for Allreduce, 2017).
	Multiplying CoreKind = iota

	// Halving is Rabenseifner's: ranks halve the part that they combine in each round, and then collect the parts in the same
	// way. It sends each value about twice.
	Halving

	// Ring lets each rank's part of the vector go round twice. It sends as little as Halving, and to neighbours only (R. Thakur,
	// R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, 2005).
	Ring

	coreKinds
)

var (
	_ Reduction = Core{}
	_ Varied    = Core{}
)

// mostRadix is the highest one at which all receives of a round are posted ahead. So no send of a round waits for the end
// of another rank's round.
const mostRadix = ReceivesAhead + 1

// Settings implements Varied. The only setting is one of the cores of the kind that differ: of all ranks, and of the leaders of
// each level that has groups.
func (c Core) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	var list []Core
	for _, level := range levels(p) {
		places := len(clustersOf(p, level-1).leaders)
		if places < 2 {
			continue
		}
		for radix, before := 2, []int(nil); radix == 2 || c.Kind == Multiplying && radix <= mostRadix; radix++ {
			rounds := roundsOf(places, radix)
			if slices.Equal(rounds, before) {
				continue
			}
			before = rounds
			list = append(list, Core{Kind: c.Kind, Level: level, Radix: radix})
			if level > 0 {
				list = append(list, Core{Kind: c.Kind, Level: level, Radix: radix, Flat: true})
			}
		}
	}
	return []int{len(list)}, func(choice []int) Algorithm { return list[choice[0]] }
}

// levels are 0 and the levels that have groups, from 1 for the finest.
func levels(p Problem) []int {
	list := []int{0}
	for _, level := range GroupedLevels(p) {
		list = append(list, level+1)
	}
	return list
}

// Name is that of the kind.
func (c Core) Name() string {
	return [...]string{Multiplying: "multiplying", Halving: "halving", Ring: "ring"}[c.Kind]
}

// String names the settings, too.
func (c Core) String() string {
	text := c.Name()
	if c.Level > 0 {
		text += fmt.Sprintf("[%d]", c.Level)
	}
	if c.Kind == Multiplying {
		text += fmt.Sprintf(" by %d", c.radix())
	}
	if c.Flat {
		text += " flat"
	}
	return text
}

func (c Core) radix() int { return orDefault(c.Radix, 2, 2) }

// ToAll implements Reduction.
func (Core) ToAll() bool { return true }

// Prepare implements Algorithm.
func (c Core) Prepare(p Problem) Parts {
	p.Root = 0
	groups := clustersOf(p, c.Level-1)
	var tree MultiLevel
	if c.Flat {
		tree.Shapes = []Shape{ShapeFlat}
	}
	whole := tree.Prepare(p).(*Tree)
	return PartOf(func(rank int) Part {
		inside := groups.inside(whole, rank)
		exchange := Part(func(dst []Op, _ Problem) []Op { return dst })
		if inside.Parent < 0 {
			exchange = c.among(groups.leaders, groups.of[rank])
		}
		return func(dst []Op, p Problem) []Op {
			return inside.ops(exchange(inside.reduce(dst, p), p), p)
		}
	})
}

// inside is the place of a rank in the tree of its cluster, which is a part of the whole tree.
func (c *clusters) inside(whole *Tree, rank int) Links {
	links := Links{Parent: -1}
	if c.place[rank] > 0 {
		links.Parent = whole.Links(rank).Parent
	}
	for _, child := range whole.Links(rank).Children {
		if c.of[child] == c.of[rank] {
			links.Children = append(links.Children, child)
		}
	}
	return links
}

// among is the part of one of some ranks, by its place among them, in an exchange of all of these.
func (c Core) among(ranks []int, place int) Part {
	switch c.Kind {
	case Multiplying:
		rounds := roundsOf(len(ranks), c.radix())
		places := 1
		for _, r := range rounds {
			places *= r
		}
		return folded(ranks, place, places, func(dst []Op, partner func(int) int, place int, values Span) []Op {
			return multiplying(dst, partner, place, rounds, values)
		})
	case Halving:
		places := 1 << (bits.Len(uint(len(ranks))) - 1)
		return folded(ranks, place, places, func(dst []Op, partner func(int) int, place int, values Span) []Op {
			return halving(dst, partner, place, places, values)
		})
	default:
		return func(dst []Op, p Problem) []Op { return ring(dst, ranks, place, p.Bytes) }
	}
}

// folded brings the number of ranks down to some places, at least half as many, for an exchange: each of the first odd ranks
// leaves its values to the one before it, and gets the result from it.
func folded(ranks []int, own, places int, exchange func(dst []Op, partner func(int) int, place int, values Span) []Op) Part {
	extra := len(ranks) - places
	partner := func(place int) int {
		if place < extra {
			return ranks[2*place]
		}
		return ranks[place+extra]
	}
	return func(dst []Op, p Problem) []Op {
		all := p.whole()
		switch {
		case own >= 2*extra:
			return exchange(dst, partner, own-extra, all)
		case own%2 == 1:
			return receive(send(dst, ranks[own-1], all), ranks[own-1], all)
		}
		dst = combine(dst, Combine, ranks[own+1], all)
		dst = exchange(dst, partner, own/2, all)
		return send(dst, ranks[own+1], all)
	}
}

// roundsOf returns how many places exchange with each other in each round: the fewest rounds of at most radix, near places
// first. Their product is at most n, and more than half of it. Folding the others counts as two rounds. O(n * radix).
func roundsOf(n, radix int) (rounds []int) {
	needed, last := make([]int, n+1), make([]int, n+1) // by product: rounds, and the last of them
	best, least := 1, math.MaxInt
	for product := 1; product <= n; product++ {
		if product > 1 && needed[product] == 0 {
			continue
		}
		for r := 2; r <= radix && product*r <= n; r++ {
			if next := product * r; needed[next] == 0 || needed[next] > needed[product]+1 {
				needed[next], last[next] = needed[product]+1, r
			}
		}
		cost := needed[product]
		if product < n {
			cost += 2
		}
		if 2*product > n && cost <= least {
			best, least = product, cost
		}
	}
	for ; best > 1; best /= last[best] {
		rounds = append(rounds, last[best])
	}
	slices.Sort(rounds)
	return rounds
}

// multiplying is the exchange of Multiplying. All places combine what they get in the same order, so that they have the same
// bits.
func multiplying(dst []Op, partner func(int) int, place int, rounds []int, values Span) []Op {
	stride := 1
	for _, r := range rounds {
		own := place / stride % r
		peer := func(i int) int { return partner(place + (i-own)*stride) }
		for i := 1; i < r; i++ {
			dst = send(dst, peer((own+i)%r), values)
		}
		for i := range r {
			switch {
			case i == own && own < 2: // the first two values are the same sum either way
			case i == own:
				dst = combine(dst, CombineHeld, partner(place), values)
			case i == 0 && own >= 2:
				dst = combine(dst, Hold, peer(0), values)
			default:
				dst = combine(dst, Combine, peer(i), values)
			}
		}
		stride *= r
	}
	return dst
}

// halving is Rabenseifner's algorithm among a power of two of places. Neighbours exchange halves first: what goes far is
// short.
func halving(dst []Op, partner func(int) int, place, places int, values Span) []Op {
	for step := 1; step < places; step *= 2 {
		mine, other := halves(place, step, values)
		dst = combine(send(dst, partner(place^step), other), Combine, partner(place^step), mine)
	}
	for step := places / 2; step > 0; step /= 2 {
		mine, other := halves(place, step, values)
		dst = receive(send(dst, partner(place^step), mine), partner(place^step), other)
	}
	return dst
}

// halves are the parts of the vector after the exchange with the place that is a step away: the one with which a place goes on, and
// that of the other place.
func halves(place, step int, whole Span) (mine, other Span) {
	for s := 1; ; s *= 2 {
		middle := whole.Lo + (whole.Hi-whole.Lo)/2
		mine, other = Span{whole.Lo, middle}, Span{middle, whole.Hi}
		if place&s != 0 {
			mine, other = other, mine
		}
		if s == step {
			return mine, other
		}
		whole = mine
	}
}

// ring lets parts go round: in each round a rank sends its part to the next place, combined with what it has got of it. After
// one turn less a round each rank has one part of the result, which then goes round once more.
func ring(dst []Op, ranks []int, place, values int) []Op {
	n := len(ranks)
	next, before := ranks[(place+1)%n], ranks[(place+n-1)%n]
	for round := range 2 * (n - 1) {
		kind, turned := Combine, round
		if round >= n-1 {
			kind, turned = Recv, round-n
		}
		dst = send(dst, next, dealt(values, n, (place-turned+2*n)%n))
		dst = combine(dst, kind, before, dealt(values, n, (place-turned-1+2*n)%n))
	}
	return dst
}
