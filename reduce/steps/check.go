package steps

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Check proves from the steps alone that an algorithm solves a problem for vectors of so many values, in segments of so
// many values:
//
//   - The values of each rank are in the result exactly once, on the root or on all ranks.
//   - The sends and receives of every two ranks agree in order and in their values.
//   - No rank waits for ever, even if a send ends only when its receive is posted. A rank posts ReceivesAhead receives ahead. It waits
//     for the sends of values before these change, and not earlier.
//
// The error names the first rank and step that is wrong. O(steps * ranks).
func Check(a Algorithm, p Problem, values, segment int) error {
	c := checker{next: make([]int, p.Ranks), done: make([]int, p.Ranks), under: make([][]message, p.Ranks), sent: make(map[connection][]message)}
	parts := a.Prepare(p)
	for rank := range p.Ranks {
		c.steps = append(c.steps, parts(rank)(nil, values, segment))
	}
	err := c.run(p.Ranks, values)
	if err == nil {
		err = c.finished(p)
	}
	if err != nil {
		return fmt.Errorf("steps: check %s: %w", a.Name(), err)
	}
	return nil
}

// A contribution has a bit for each rank whose values are in a sum.
type contribution = *big.Int

// ReceivesAhead is how many receives a rank has posted at the least, of those that are left.
const ReceivesAhead = 4

type checker struct {
	steps [][]Step
	next  []int                    // per rank: its current step
	done  []int                    // per rank: the receives that are done
	under [][]message              // per rank: its sends that may be under way
	cuts  []int                    // where steps begin and end, ascending
	sums  [][]contribution         // per rank and gap between two cuts
	kept  [][]contribution         // those that a Swap has kept; nil: none
	takes map[connection][]int     // per receive to come: how many other receives the rank has before it
	sent  map[connection][]message // the oldest first
}

// A connection keeps the order of its messages.
type connection struct {
	from, to int
	results  bool
}

type message struct {
	step Step
	sums []contribution
	at   int // the receives of the peer before the one of this message
}

// run lets every rank step on for as long as what it waits for is there.
func (c *checker) run(ranks, values int) error {
	c.cuts, c.takes = []int{0, values}, make(map[connection][]int)
	for rank, list := range c.steps {
		receives := 0
		for i, s := range list {
			if s.Kind >= kinds || s.Peer < 0 || s.Peer >= ranks || (s.Peer == rank) != (s.Kind == CombineKept) || s.From < 0 || s.From >= s.To || s.To > values {
				return fmt.Errorf("rank %d, step %d: %v: want another rank of %d, and some of %d values", rank, i, s, ranks, values)
			}
			c.cuts = append(c.cuts, s.From, s.To)
			if s.Kind.IsReceive() {
				way := connection{s.Peer, rank, s.Kind.IsResult()}
				c.takes[way] = append(c.takes[way], receives)
				receives++
			}
		}
	}
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)
	for rank := range ranks {
		own := make([]contribution, len(c.cuts)-1)
		for i := range own {
			own[i] = new(big.Int).SetBit(new(big.Int), rank, 1)
		}
		c.sums = append(c.sums, own)
		c.kept = append(c.kept, make([]contribution, len(own)))
	}
	for moved := true; moved; {
		moved = false
		for rank := range ranks {
			for c.next[rank] < len(c.steps[rank]) {
				done, err := c.perform(rank, c.steps[rank][c.next[rank]])
				if err != nil {
					return fmt.Errorf("rank %d, step %d: %v: %w", rank, c.next[rank], c.steps[rank][c.next[rank]], err)
				}
				if !done {
					break
				}
				c.next[rank]++
				moved = true
			}
		}
	}
	return nil
}

// perform performs a step of a rank, if what it waits for is there.
func (c *checker) perform(rank int, s Step) (done bool, err error) {
	from, _ := slices.BinarySearch(c.cuts, s.From)
	to, _ := slices.BinarySearch(c.cuts, s.To)
	own := c.sums[rank][from:to]
	if s.Kind.IsSend() {
		way := connection{rank, s.Peer, s.Kind.IsResult()}
		if len(c.takes[way]) == 0 {
			return false, fmt.Errorf("the peer does not receive it")
		}
		m := message{s, slices.Clone(own), c.takes[way][0]}
		c.takes[way] = c.takes[way][1:]
		c.sent[way], c.under[rank] = append(c.sent[way], m), append(c.under[rank], m)
		return true, nil
	}
	c.under[rank] = slices.DeleteFunc(c.under[rank], func(m message) bool { return m.at < c.done[m.step.Peer]+ReceivesAhead })
	if slices.ContainsFunc(c.under[rank], func(m message) bool { return m.step.From < s.To && s.From < m.step.To }) {
		return false, nil
	}
	kept := c.kept[rank][from:to]
	if s.Kind == CombineKept {
		if slices.Contains(kept, nil) {
			return false, fmt.Errorf("some values are not kept")
		}
		defer clear(kept)
		return true, combine(own, kept)
	}
	way := connection{s.Peer, rank, s.Kind.IsResult()}
	if len(c.sent[way]) == 0 {
		return false, nil
	}
	m := c.sent[way][0]
	c.sent[way] = c.sent[way][1:]
	c.done[rank]++
	if m.step.From != s.From || m.step.To != s.To {
		return false, fmt.Errorf("the peer sends [%d, %d)", m.step.From, m.step.To)
	}
	switch s.Kind {
	case Swap:
		copy(kept, own)
		copy(own, m.sums)
	case Replace:
		copy(own, m.sums)
	default:
		return true, combine(own, m.sums)
	}
	return true, nil
}

// combine adds sums to others, unless they have a rank's values in common.
func combine(into, from []contribution) error {
	for i, sum := range from {
		if new(big.Int).And(into[i], sum).Sign() != 0 {
			return fmt.Errorf("some values are in the sum already")
		}
		into[i] = new(big.Int).Or(into[i], sum)
	}
	return nil
}

// finished tells whether all steps are done, and all values are where they are wanted.
func (c *checker) finished(p Problem) error {
	var stuck []string
	for rank, list := range c.steps {
		if next := c.next[rank]; next < len(list) {
			stuck = append(stuck, fmt.Sprintf("rank %d in step %d: %v", rank, next, list[next]))
		}
	}
	if n := len(stuck); n > 0 {
		return fmt.Errorf("%d of %d ranks wait for ever: %s", n, p.Ranks, strings.Join(stuck[:min(n, 4)], "; "))
	}
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(p.Ranks)), big.NewInt(1))
	for rank, sums := range c.sums {
		if rank != p.Root && !p.wantsAll() {
			continue
		}
		for i, sum := range sums {
			if sum.Cmp(all) != 0 {
				return fmt.Errorf("rank %d ends without the values [%d, %d) of some ranks", rank, c.cuts[i], c.cuts[i+1])
			}
		}
	}
	return nil
}
