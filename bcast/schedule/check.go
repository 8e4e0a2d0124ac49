package schedule

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// Check proves from the schedules alone that the algorithm solves the problem. Of a broadcast:
//
//   - Every rank but the root receives every byte exactly once, and sends on only what it has.
//   - All ranks of a group perform its Natives in one order. The bytes are at the rank that is named and nowhere else.
//   - No rank waits for ever, even if a send ends only when its receive has begun. The steps of an exchange follow each
//     other, as OneByOne, and a Native ends only when all of the group have begun.
//
// Of a Reduction:
//
//   - The values of each rank are in the result exactly once, on the root or on all ranks.
//   - No rank waits for ever, even if a send ends only when its receive is posted. A rank posts ReceivesAhead receives ahead. It
//     waits for the sends of values before these change, and not earlier.
//
// Of both, the sends and receives of every two ranks agree in order, offset and length. The error names the first rank and step
// that is wrong. O(n log n) for n steps in all, and times the ranks for a Reduction.
func Check(a Algorithm, p Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	c := checker{
		problem: p, steps: make([][]checkedStep, p.Ranks), next: make([]int, p.Ranks),
		done: make([]int, p.Ranks), takes: make(map[connection][]int), sent: make(map[connection][]message), under: make([][]message, p.Ranks),
	}
	_, c.native = a.(NativeUser)
	c.reduction, _ = a.(Reduction)
	if p.Tree != nil {
		c.groups = p.Tree.Groups()
		c.calling = make([][]int, len(c.groups))
	}
	if err := c.run(AllOps(nil, a, p)); err != nil {
		return fmt.Errorf("schedule: check %s: %w", a.Name(), err)
	}
	return nil
}

type checker struct {
	problem   Problem
	reduction Reduction // nil: a broadcast
	steps     [][]checkedStep
	next      []int            // per rank: its current step
	cuts      []int            // where steps begin and end, ascending
	has       [][]contribution // per rank and gap between two cuts: whose values a rank has there
	held      [][]contribution // the same of what the last Hold has held back; nil: nothing
	native    bool             // the algorithm is a NativeUser
	groups    []topology.Group
	calling   [][]int // per group: the ranks that have come to its next Native

	done  []int                    // per rank: its receives so far
	takes map[connection][]int     // per receive to come: how many other receives the rank has before it
	sent  map[connection][]message // what is on its way, the oldest first
	under [][]message              // per rank: its sends that may be under way
}

// A contribution has a bit for each rank whose values are in a sum. In a broadcast the root alone has values.
type contribution = *big.Int

// A connection keeps the order of its messages.
type connection struct{ from, to int }

type message struct {
	step *checkedStep
	sums []contribution
	at   int // the receives of the peer before the one of this message
}

// A checkedStep is a step with its number among those of the rank.
type checkedStep struct {
	Op
	rank, number int
	later        *checkedStep // of an exchange that receives first: its send
}

// wrong is an error of the step.
func (s *checkedStep) wrong(format string, args ...any) error {
	return fmt.Errorf("rank %d, step %d: %w", s.rank, s.number, fmt.Errorf(format, args...))
}

// run lets every rank step on for as long as what it waits for is there.
func (c *checker) run(ops [][]Op) error {
	c.cuts = []int{0, c.problem.Bytes}
	for rank, list := range ops {
		steps, receives := make([]checkedStep, len(list)), 0
		for i, op := range list {
			steps[i] = checkedStep{Op: op, rank: rank, number: i}
			if err := c.valid(rank, op, list[i+1:]); err != nil {
				return steps[i].wrong("%v: %w", op, err)
			}
			c.cuts = append(c.cuts, op.Offset, op.Offset+op.Length)
			if op.Kind.Receives() {
				link := connection{op.Peer, rank}
				c.takes[link] = append(c.takes[link], receives)
				receives++
			}
		}
		for i, op := range list {
			if op.Exchange && receivesFirst(rank, op.Peer) {
				steps[i], steps[i+1] = steps[i+1], steps[i]
				steps[i].later = &steps[i+1]
			}
		}
		c.steps[rank] = steps
	}
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)
	for rank := range ops {
		own := new(big.Int)
		if c.reduction != nil || rank == c.problem.Root {
			own.SetBit(own, rank, 1)
		}
		c.has = append(c.has, slices.Repeat([]contribution{own}, len(c.cuts)-1))
		c.held = append(c.held, make([]contribution, len(c.cuts)-1))
	}
	for moved := true; moved; {
		moved = false
		for rank := range ops {
			for done := true; done && c.current(rank) != nil; {
				var err error
				if done, err = c.perform(c.current(rank)); err != nil {
					return err
				}
				moved = moved || done
			}
		}
	}
	return c.finished()
}

// valid tells what is impossible in a step of a rank, whatever comes before it.
func (c *checker) valid(rank int, op Op, after []Op) error {
	switch {
	case op.Kind >= kinds:
		return fmt.Errorf("want a kind of this package")
	case op.Kind > Native && c.reduction == nil:
		return fmt.Errorf("want no values to be combined in what is no Reduction")
	case op.Exchange && (op.Kind != Send || len(after) == 0 || after[0].Kind != Recv):
		return fmt.Errorf("want an exchange of a Send and the Recv after it")
	case op.Exchange && c.reduction != nil:
		return fmt.Errorf("want no exchange in a Reduction, whose sends do not wait")
	case op.Kind == Native && !c.native:
		return fmt.Errorf("want no Native in what is no NativeUser")
	case op.Kind == Native && (op.Group < 1 || int(op.Group) >= len(c.groups)):
		return fmt.Errorf("want a group of [1, %d)", len(c.groups))
	case op.Kind == Native:
		for _, r := range [...]int{rank, op.Peer} {
			if !holds(c.groups[op.Group].Hosts, r) {
				return fmt.Errorf("rank %d is not in the group", r)
			}
		}
	case op.Group != 0:
		return fmt.Errorf("want a group in a Native only")
	case op.Kind == CombineHeld && op.Peer != rank:
		return fmt.Errorf("want the rank itself")
	case op.Kind != CombineHeld && (op.Peer < 0 || op.Peer >= c.problem.Ranks || op.Peer == rank):
		return fmt.Errorf("want another rank of [0, %d)", c.problem.Ranks)
	}
	if op.Length < 1 || op.Length > MaxSegment || op.Offset < 0 || op.Offset > c.problem.Bytes-op.Length {
		return fmt.Errorf("want 1 to %d bytes within [0, %d)", MaxSegment, c.problem.Bytes)
	}
	return nil
}

// current is what the rank is about to do, nil if it is done.
func (c *checker) current(rank int) *checkedStep {
	if c.next[rank] == len(c.steps[rank]) {
		return nil
	}
	return &c.steps[rank][c.next[rank]]
}

// perform performs the current step of a rank, if what it waits for is there.
func (c *checker) perform(s *checkedStep) (bool, error) {
	switch s.Kind {
	case Native:
		return c.call(s)
	case Send:
		return c.send(s)
	case CombineHeld:
		if !c.mayChange(s) {
			return false, nil
		}
		held := c.cells(c.held, s)
		if slices.Contains(held, nil) {
			return false, s.wrong("combines [%d, %d), not all of which is held back", s.Offset, s.Offset+s.Length)
		}
		c.next[s.rank]++
		return true, c.take(s, held)
	default:
		return c.receive(s)
	}
}

// send sends. In a broadcast it waits for the receive, and performs that, too: the strictest meeting of the two.
func (c *checker) send(s *checkedStep) (bool, error) {
	link := connection{s.rank, s.Peer}
	if c.reduction == nil {
		if other := c.current(s.Peer); other == nil || other.Kind != Recv || other.Peer != s.rank {
			return false, nil
		}
	}
	if len(c.takes[link]) == 0 {
		return false, nil
	}
	if !c.holds(s) {
		return false, s.wrong("sends [%d, %d), which it does not have", s.Offset, s.Offset+s.Length)
	}
	m := message{s, slices.Clone(c.cells(c.has, s)), c.takes[link][0]}
	c.takes[link], c.sent[link] = c.takes[link][1:], append(c.sent[link], m)
	c.next[s.rank]++
	if c.reduction == nil {
		return c.receive(c.current(s.Peer))
	}
	c.under[s.rank] = append(c.under[s.rank], m)
	return true, nil
}

// mayChange tells whether no send of the values of a step is under way.
func (c *checker) mayChange(s *checkedStep) bool {
	c.under[s.rank] = slices.DeleteFunc(c.under[s.rank], func(m message) bool { return m.at < c.done[m.step.Peer]+ReceivesAhead })
	return !slices.ContainsFunc(c.under[s.rank], func(m message) bool {
		return m.step.Offset < s.Offset+s.Length && s.Offset < m.step.Offset+m.step.Length
	})
}

// receive performs a receive, if its message is there.
func (c *checker) receive(s *checkedStep) (bool, error) {
	link := connection{s.Peer, s.rank}
	if len(c.sent[link]) == 0 || !c.mayChange(s) {
		return false, nil
	}
	m := c.sent[link][0]
	c.sent[link] = c.sent[link][1:]
	c.done[s.rank]++
	c.next[s.rank]++
	switch {
	case m.step.Offset != s.Offset || m.step.Length != s.Length:
		return false, s.wrong("%v: rank %d offers %v", s, s.Peer, m.step)
	case s.later != nil && !c.holds(s.later):
		return false, s.later.wrong("sends [%d, %d), which it does not have before the step", s.later.Offset, s.later.Offset+s.later.Length)
	}
	return true, c.take(s, m.sums)
}

// take gives the rank of a step what it receives, or combines.
func (c *checker) take(s *checkedStep, sums []contribution) error {
	own, held := c.cells(c.has, s), c.cells(c.held, s)
	for i, x := range sums {
		common := new(big.Int).And(own[i], x)
		switch {
		case s.Kind == Hold:
			held[i], own[i] = own[i], x
		case s.Kind == Combine || s.Kind == CombineHeld:
			if common.Sign() != 0 {
				return s.wrong("some of [%d, %d) is in the sum already", s.Offset, s.Offset+s.Length)
			}
			own[i] = new(big.Int).Or(own[i], x)
		case common.Cmp(x) == 0:
			return s.wrong("receives part of [%d, %d) a second time", s.Offset, s.Offset+s.Length)
		case common.Cmp(own[i]) != 0:
			return s.wrong("receives [%d, %d) without some values that it has", s.Offset, s.Offset+s.Length)
		default:
			own[i] = x
		}
	}
	return nil
}

// call lets the rank come to a Native, and performs that with the last rank of the group.
func (c *checker) call(own *checkedStep) (bool, error) {
	calling := c.calling[own.Group]
	if slices.Contains(calling, own.rank) {
		return false, nil
	}
	if len(calling) > 0 {
		if other := c.current(calling[0]); other.Op != own.Op {
			return false, own.wrong("%v: rank %d calls %v", own, calling[0], other)
		}
	}
	calling = append(calling, own.rank)
	members := c.groups[own.Group].Hosts
	if c.calling[own.Group] = calling; len(calling) < len(members) {
		return false, nil
	}
	c.calling[own.Group] = nil
	from := c.current(own.Peer)
	if !c.holds(from) {
		return false, from.wrong("broadcasts [%d, %d), which it does not have", own.Offset, own.Offset+own.Length)
	}
	for _, r := range members {
		if s := c.current(r); r != own.Peer {
			if err := c.take(s, c.cells(c.has, from)); err != nil {
				return false, err
			}
		}
		c.next[r]++
	}
	return true, nil
}

// finished tells whether all steps are done and all bytes, or values, are where they are wanted.
func (c *checker) finished() error {
	var stuck []string
	for rank := range c.steps {
		if x := c.current(rank); x != nil {
			stuck = append(stuck, fmt.Sprintf("rank %d in step %d: %v", rank, x.number, x))
		}
	}
	if n := len(stuck); n > 0 {
		const shown = 4
		if n > shown {
			stuck = append(stuck[:shown], fmt.Sprintf("and %d more", n-shown))
		}
		return fmt.Errorf("%d of %d ranks wait for ever: %s", n, len(c.steps), strings.Join(stuck, "; "))
	}
	all := new(big.Int).SetBit(new(big.Int), c.problem.Root, 1)
	if c.reduction != nil {
		all.Lsh(big.NewInt(1), uint(c.problem.Ranks)).Sub(all, big.NewInt(1))
	}
	for rank, has := range c.has {
		if c.reduction != nil && !c.reduction.ToAll() && rank != c.problem.Root {
			continue
		}
		if i := slices.IndexFunc(has, func(x contribution) bool { return x.Cmp(all) != 0 }); i >= 0 {
			return fmt.Errorf("rank %d ends without all of [%d, %d)", rank, c.cuts[i], c.cuts[i+1])
		}
	}
	return nil
}

// cells are those of the bytes of a step at its rank, in a table of all ranks.
func (c *checker) cells(table [][]contribution, s *checkedStep) []contribution {
	from, _ := slices.BinarySearch(c.cuts, s.Offset)
	to, _ := slices.BinarySearch(c.cuts, s.Offset+s.Length)
	return table[s.rank][from:to]
}

// holds tells whether the rank of a step has all of its bytes.
func (c *checker) holds(s *checkedStep) bool {
	return !slices.ContainsFunc(c.cells(c.has, s), func(x contribution) bool { return x.Sign() == 0 })
}
