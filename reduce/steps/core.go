package steps

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/topology"
)

// A Core is an algorithm in which ranks exchange parts of the vector until all of them have the result.
//
// With Level, the leaders of the groups of a level do so: the lowest rank of each group, and ranks that are in none. In a
// group, the ranks give their leader what they have along binomial trees that follow finer groups (schedule.MultiLevel), and get
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

	// Ring lets each rank's part of the vector go round twice. It sends as little as Halving, and to neighbours only.
	Ring

	coreKinds
)

func (k CoreKind) String() string {
	names := [...]string{Multiplying: "multiplying", Halving: "halving", Ring: "ring"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("core %d", uint8(k))
}

// Cores are the cores that differ in a problem, the kinds one after the other: of all ranks, and of the leaders of each level
// that has groups.
func Cores(p Problem) (all []Core) {
	for kind := range coreKinds {
		for _, level := range append([]int{0}, Levels(p)...) {
			places := len(leaders(p, level))
			if places < 2 {
				continue
			}
			for radix, before := 2, []int(nil); radix == 2 || kind == Multiplying && radix <= mostRadix; radix++ {
				rounds := roundsOf(places, radix)
				if slices.Equal(rounds, before) {
					continue
				}
				before = rounds
				all = append(all, Core{Kind: kind, Level: level, Radix: radix})
				if level > 0 {
					all = append(all, Core{Kind: kind, Level: level, Radix: radix, Flat: true})
				}
			}
		}
	}
	return all
}

// mostRadix is the highest one at which all receives of a round are posted ahead. So no send of a round waits for the end
// of another rank's round.
const mostRadix = ReceivesAhead + 1

// Levels are the levels that have groups, from 1 for the finest.
func Levels(p Problem) (levels []int) {
	for _, level := range schedule.GroupedLevels(p.broadcast(0)) {
		levels = append(levels, level+1)
	}
	return levels
}

// Name is that of the kind.
func (c Core) Name() string { return c.Kind.String() }

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

func (c Core) radix() int { return max(2, c.Radix) }

// Prepare implements Algorithm. All ranks get the result, whatever the root is.
func (c Core) Prepare(p Problem) Parts {
	leading := leaders(p, c.Level)
	var tree schedule.MultiLevel
	if c.Flat {
		tree.Shapes = []schedule.Shape{schedule.ShapeFlat}
	}
	inside := tree.Prepare(p.broadcast(0)).(*schedule.Tree)
	return func(rank int) Part {
		links := c.inside(p, inside.Links(rank), rank)
		var exchange Part
		if links.Parent < 0 {
			exchange = c.among(leading, rank)
		}
		return func(dst []Step, values, segment int) []Step {
			s := dealt{0, values, segment}
			for k := range s.count() {
				dst = up(dst, links, s.piece(k))
			}
			if exchange != nil {
				dst = exchange(dst, values, segment)
			}
			for k := range s.count() {
				dst = down(dst, links, s.piece(k))
			}
			return dst
		}
	}
}

// inside is the place of a rank in the tree of its group, by its place in that of all ranks.
func (c Core) inside(p Problem, whole schedule.Links, rank int) schedule.Links {
	own := leaderOf(p.Tree, c.Level, rank)
	links := schedule.Links{Parent: whole.Parent}
	if rank == own {
		links.Parent = -1
	}
	for _, child := range whole.Children {
		if leaderOf(p.Tree, c.Level, child) == own {
			links.Children = append(links.Children, child)
		}
	}
	return links
}

// leaders are the leaders of the groups of a level, those near to each other one after the other.
func leaders(p Problem, level int) (ranks []int) {
	for _, r := range schedule.Line(p.broadcast(0)) {
		if leaderOf(p.Tree, level, r) == r {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// leaderOf is the leader of a rank's group of a level, the rank itself if it is in none.
func leaderOf(tree *topology.Hierarchy, level, rank int) int {
	if level == 0 {
		return rank
	}
	groups := tree.Groups()
	for g := tree.Smallest(rank); g > 0; g = groups[g].Parent {
		if groups[g].Level == level-1 {
			return groups[g].Hosts[0]
		}
	}
	return rank
}

// among is the part of a rank in an exchange among some ranks, of which it is one.
func (c Core) among(ranks []int, rank int) Part {
	place := slices.Index(ranks, rank)
	switch c.Kind {
	case Multiplying:
		rounds := roundsOf(len(ranks), c.radix())
		places := 1
		for _, r := range rounds {
			places *= r
		}
		return folded(ranks, place, places, func(dst []Step, partner func(int) int, place, values int) []Step {
			return multiplying(dst, partner, place, rounds, values)
		})
	case Halving:
		places := 1 << (bits.Len(uint(len(ranks))) - 1)
		return folded(ranks, place, places, func(dst []Step, partner func(int) int, place, values int) []Step {
			return halving(dst, partner, place, places, values)
		})
	default:
		return func(dst []Step, values, _ int) []Step { return ring(dst, ranks, place, values) }
	}
}

// folded brings the number of ranks down to some places, at least half as many, for an exchange: each of the first odd ranks
// leaves its values to the one before it, and gets the result from it.
func folded(ranks []int, own, places int, exchange func(dst []Step, partner func(int) int, place, values int) []Step) Part {
	extra := len(ranks) - places
	partner := func(place int) int {
		if place < extra {
			return ranks[2*place]
		}
		return ranks[place+extra]
	}
	return func(dst []Step, values, _ int) []Step {
		switch {
		case own >= 2*extra:
			return exchange(dst, partner, own-extra, values)
		case own%2 == 1:
			dst = add(dst, Send, ranks[own-1], 0, values)
			return add(dst, Replace, ranks[own-1], 0, values)
		}
		dst = add(dst, Combine, ranks[own+1], 0, values)
		dst = exchange(dst, partner, own/2, values)
		return add(dst, SendResult, ranks[own+1], 0, values)
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
func multiplying(dst []Step, partner func(int) int, place int, rounds []int, values int) []Step {
	stride := 1
	for _, r := range rounds {
		own := place / stride % r
		peer := func(i int) int { return partner(place + (i-own)*stride) }
		for i := 1; i < r; i++ {
			dst = add(dst, Send, peer((own+i)%r), 0, values)
		}
		for i := range r {
			switch {
			case i == own && own < 2: // the first two values are the same sum either way
			case i == own:
				dst = add(dst, CombineKept, partner(place), 0, values)
			case i == 0 && own >= 2:
				dst = add(dst, Swap, peer(0), 0, values)
			default:
				dst = add(dst, Combine, peer(i), 0, values)
			}
		}
		stride *= r
	}
	return dst
}

// halving is Rabenseifner's algorithm among a power of two of places. Neighbours exchange halves first: what goes far is
// short.
func halving(dst []Step, partner func(int) int, place, places, values int) []Step {
	for step := 1; step < places; step *= 2 {
		mine, other := halves(place, step, values)
		dst = add(dst, Send, partner(place^step), other.Lo, other.Hi)
		dst = add(dst, Combine, partner(place^step), mine.Lo, mine.Hi)
	}
	for step := places / 2; step > 0; step /= 2 {
		mine, other := halves(place, step, values)
		dst = add(dst, SendResult, partner(place^step), mine.Lo, mine.Hi)
		dst = add(dst, Replace, partner(place^step), other.Lo, other.Hi)
	}
	return dst
}

// halves are the parts of the vector after the exchange with the place that is a step away: the one with which a place goes on, and
// that of the other place.
func halves(place, step, values int) (mine, other schedule.Span) {
	whole := schedule.Span{Lo: 0, Hi: values}
	for s := 1; ; s *= 2 {
		middle := whole.Lo + (whole.Hi-whole.Lo)/2
		mine, other = schedule.Span{Lo: whole.Lo, Hi: middle}, schedule.Span{Lo: middle, Hi: whole.Hi}
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
func ring(dst []Step, ranks []int, place, values int) []Step {
	n := len(ranks)
	next, before := ranks[(place+1)%n], ranks[(place+n-1)%n]
	for round := range 2 * (n - 1) {
		send, receive, turned := Send, Combine, round
		if round >= n-1 {
			send, receive, turned = SendResult, Replace, round-n
		}
		out, in := partOf((place-turned+2*n)%n, n, values, 0), partOf((place-turned-1+2*n)%n, n, values, 0)
		dst = add(dst, send, next, out.from, out.to)
		dst = add(dst, receive, before, in.from, in.to)
	}
	return dst
}
