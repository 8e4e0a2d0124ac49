package linkage_test

import (
	"fmt"
	"math"
	"slices"
)

func pow(x, y float64) float64 { return math.Pow(x, y) }

// An order says how hosts are numbered.
type order int

const (
	anyOrder  order = iota // drawn: shuffled in three instances of five
	shuffled               // at random
	blockwise              // groups one after the other
	cyclic                 // one host of each group in turn, as a scheduler deals ranks to nodes
)

// A layout is a machine as it is: n hosts, the exact latencies of all pairs in
// s (row i, column j at i*n+j; symmetric), and the true groups.
type layout struct {
	n       int
	latency []float64
	groups  [][]int
	spatial bool

	order order
	deal  [][]int // groups dealt from in cyclic order; nil: the innermost

	offset []float64 // s that each host adds to all its measurements; nil: none
	factor []float64 // by which each host multiplies them; nil: 1
	pair   []float64 // factor of each direction of each pair; nil: 1
	spread float64   // standard deviation of ln of those that are drawn for each pair
}

func newLayout(n int) *layout { return &layout{n: n, latency: make([]float64, n*n)} }

func (l *layout) set(i, j int, s float64) {
	l.latency[i*l.n+j], l.latency[j*l.n+i] = s, s
}

func (l *layout) at(i, j int) float64 { return l.latency[i*l.n+j] }

// smallest is the smallest latency.
func (l *layout) smallest() float64 {
	least := math.Inf(1)
	for i := range l.n {
		for j := range i {
			least = min(least, l.at(i, j))
		}
	}
	return least
}

// offsets returns the offsets, to be changed.
func (l *layout) offsets() []float64 {
	if l.offset == nil {
		l.offset = make([]float64, l.n)
	}
	return l.offset
}

// factors returns the hosts' factors, to be changed.
func (l *layout) factors() []float64 {
	if l.factor == nil {
		l.factor = slices.Repeat([]float64{1}, l.n)
	}
	return l.factor
}

// pairs returns the pairs' factors, to be changed.
func (l *layout) pairs() []float64 {
	if l.pair == nil {
		l.pair = slices.Repeat([]float64{1}, l.n*l.n)
	}
	return l.pair
}

// number numbers the hosts anew.
func (l *layout) number(d *draw) {
	if l.order == anyOrder {
		l.order = pick(d, shuffled, shuffled, shuffled, blockwise, cyclic)
	}
	var old []int // by new number
	switch l.order {
	case shuffled:
		old = d.Perm(l.n)
	case cyclic:
		old = l.dealt()
	default:
		return
	}
	now := make([]int, l.n)
	for k, h := range old {
		now[h] = k
	}
	for _, g := range l.groups {
		for k := range g {
			g[k] = now[g[k]]
		}
	}
	hosts := func(a []float64) []float64 {
		if a == nil {
			return nil
		}
		b := make([]float64, l.n)
		for k, h := range old {
			b[k] = a[h]
		}
		return b
	}
	square := func(a []float64) []float64 {
		if a == nil {
			return nil
		}
		b := make([]float64, 0, l.n*l.n)
		for _, h := range old {
			for _, k := range old {
				b = append(b, a[h*l.n+k])
			}
		}
		return b
	}
	l.latency, l.pair = square(l.latency), square(l.pair)
	l.offset, l.factor = hosts(l.offset), hosts(l.factor)
}

// dealt is the cyclic order: the first hosts of all groups, then the second ones.
func (l *layout) dealt() []int {
	deal := l.deal
	if deal == nil {
		deal = l.groups
	}
	home := make([]int, l.n) // smallest group that holds the host, from 1
	for k, g := range deal {
		for _, h := range g {
			if at := home[h]; at == 0 || len(g) < len(deal[at-1]) {
				home[h] = k + 1
			}
		}
	}
	turn := make([]int, l.n)
	count := make([]int, len(deal)+1)
	for h, g := range home {
		if g > 0 {
			turn[h] = count[g]
			count[g]++
		}
	}
	old := make([]int, l.n)
	for h := range old {
		old[h] = h
	}
	slices.SortStableFunc(old, func(a, b int) int { return turn[a] - turn[b] })
	return old
}

// distinct returns the groups as ascending lists, without single hosts, all hosts and equal sets,
// the large ones first.
func (l *layout) distinct() [][]int {
	var out [][]int
	seen := map[string]bool{}
	for _, g := range l.groups {
		g = slices.Sorted(slices.Values(g))
		if k := fmt.Sprint(g); len(g) > 1 && len(g) < l.n && !seen[k] {
			seen[k] = true
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b []int) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return slices.Compare(a, b)
	})
	return out
}

// margins returns the largest latency inside the group and the smallest to the outside.
func (l *layout) margins(hosts []int) (inside, outside float64) {
	member := make([]bool, l.n)
	for _, h := range hosts {
		member[h] = true
	}
	outside = math.Inf(1)
	for _, h := range hosts {
		for k, s := range l.latency[h*l.n : (h+1)*l.n] {
			switch {
			case k == h:
			case member[k]:
				inside = max(inside, s)
			default:
				outside = min(outside, s)
			}
		}
	}
	return inside, outside
}

const (
	// A pair whose measurements are slower than its latency by this factor takes a detour.
	detour = 1.15
	// Of a group of which more pairs than this share take detours little can be said.
	mostDetours = 0.2
)

// detoured says whether too many pairs of the group take detours in both directions. Spread of
// pairs around their latency is none.
func (l *layout) detoured(hosts []int) bool {
	if l.pair == nil || !l.detours() {
		return false
	}
	count := 0
	for k, a := range hosts {
		for _, b := range hosts[:k] {
			if min(l.pair[a*l.n+b], l.pair[b*l.n+a]) > detour {
				count++
			}
		}
	}
	return float64(count) > mostDetours*float64(len(hosts)*(len(hosts)-1)/2)
}

// detours says whether the factors of pairs are those of detours: none is below 1.
func (l *layout) detours() bool { return slices.Min(l.pair) >= 1 }

// leastLinks is how many measurements have to join each part of a group to the rest of it, if there are as many pairs.
// So many have to join each group to what is around it.
const leastLinks = 2

// decides says whether the pairs that were measured could tell the group: each of its parts - largest
// groups inside, hosts - has measurements with the rest, and with hosts outside.
func (l *layout) told(hosts []int, missing []bool) bool {
	part := make([]int, l.n) // 0: outside
	size := make([]int, l.n) // of the group that made it a part
	for _, h := range hosts {
		part[h], size[h] = h+1, 1
	}
	for _, g := range l.groups {
		if len(g) >= len(hosts) || part[g[0]] == 0 {
			continue
		}
		for _, h := range g {
			if len(g) > size[h] {
				part[h], size[h] = slices.Min(g)+1, len(g)
			}
		}
	}
	inside := make([]int, l.n+1) // measurements of each part
	possible := make([]int, l.n+1)
	outside := make([]int, l.n+1)
	for _, a := range hosts {
		for b := range l.n {
			if part[a] == part[b] {
				continue
			}
			read := 0
			if !missing[a*l.n+b] {
				read = 1
			}
			if part[b] == 0 {
				outside[part[a]] += read
			} else {
				inside[part[a]] += read
				possible[part[a]]++
			}
		}
	}
	for _, a := range hosts {
		p := part[a]
		if inside[p] < min(leastLinks, possible[p]) || outside[p] < leastLinks {
			return false
		}
	}
	return true
}
