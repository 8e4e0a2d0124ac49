package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// Check proves from the schedules alone that the algorithm solves the problem:
//
//   - Every rank but the root receives every byte exactly once, and sends on only what it has.
//   - The sends and receives of every two ranks agree in order, offset and length.
//   - All ranks of a group perform its Natives in one order. The bytes are at the rank that is named and nowhere else.
//   - No rank waits for ever, even if a send ends only when its receive has begun. The steps of an exchange follow each
//     other, as OneByOne, and a Native ends only when all of the group have begun.
//
// The error names the first rank and step that is wrong. O(n log n) for n steps in all.
func Check(a Algorithm, p Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	c := checker{problem: p, steps: make([][]checkedStep, p.Ranks), next: make([]int, p.Ranks)}
	_, c.native = a.(NativeUser)
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
	problem Problem
	steps   [][]checkedStep
	next    []int    // per rank: its current step
	cuts    []int    // where steps begin and end, ascending: a rank has all bytes between two of them or none
	has     [][]bool // per rank and gap between two cuts: it has these bytes
	native  bool     // the algorithm is a NativeUser
	groups  []topology.Group
	calling [][]int // per group: the ranks that have come to its next Native
}

// A checkedStep is a step with its number among those of the rank.
type checkedStep struct {
	Op
	number int
	later  *checkedStep // of an exchange that receives first: its send
}

// run lets every rank step on as long as its current step and the current step
// of its peer belong together: the strictest meeting of sends and receives.
func (c *checker) run(ops [][]Op) error {
	c.cuts = []int{0, c.problem.Bytes}
	for rank, list := range ops {
		steps := make([]checkedStep, len(list))
		for i, op := range list {
			if err := c.valid(rank, op, list[i+1:]); err != nil {
				return fmt.Errorf("rank %d, step %d: %v: %w", rank, i, op, err)
			}
			steps[i] = checkedStep{Op: op, number: i}
			c.cuts = append(c.cuts, op.Offset, op.Offset+op.Length)
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
	for range ops {
		c.has = append(c.has, make([]bool, len(c.cuts)-1))
	}
	c.give(c.problem.Root, 0, c.problem.Bytes)
	for moved := true; moved; {
		moved = false
		for rank := range ops {
			for met := true; met; {
				var err error
				if met, err = c.meet(rank); err != nil {
					return err
				}
				moved = moved || met
			}
		}
	}
	return c.finished()
}

// valid tells what is impossible in a step of a rank, whatever comes before it.
func (c *checker) valid(rank int, op Op, after []Op) error {
	switch {
	case op.Kind > Native:
		return fmt.Errorf("want Send, Recv or Native")
	case op.Exchange && (op.Kind != Send || len(after) == 0 || after[0].Kind != Recv):
		return fmt.Errorf("want an exchange of a Send and the Recv after it")
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
	case op.Peer < 0 || op.Peer >= c.problem.Ranks || op.Peer == rank:
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

// meet performs the current step of the rank together with that of its peer, or of all of its group, if they meet now.
func (c *checker) meet(rank int) (bool, error) {
	own := c.current(rank)
	if own == nil {
		return false, nil
	}
	if own.Kind == Native {
		return c.call(rank, own)
	}
	other := c.current(own.Peer)
	if other == nil || other.Peer != rank || other.Kind == own.Kind || other.Kind == Native {
		return false, nil
	}
	if other.Offset != own.Offset || other.Length != own.Length {
		return false, fmt.Errorf("rank %d, step %d: %v: rank %d offers %v", rank, own.number, own, own.Peer, other)
	}
	from, sent, to, received := rank, own, own.Peer, other
	if own.Kind == Recv {
		from, sent, to, received = to, received, from, sent
	}
	lo, hi := own.Offset, own.Offset+own.Length
	switch {
	case !c.holds(from, lo, hi):
		return false, fmt.Errorf("rank %d, step %d: sends [%d, %d), which it does not have", from, sent.number, lo, hi)
	case received.later != nil && !c.holds(to, received.later.Offset, received.later.Offset+received.later.Length):
		return false, fmt.Errorf("rank %d, step %d: sends [%d, %d), which it does not have before the step", to, received.later.number, received.later.Offset, received.later.Offset+received.later.Length)
	case !c.give(to, lo, hi):
		return false, fmt.Errorf("rank %d, step %d: receives part of [%d, %d) a second time", to, received.number, lo, hi)
	}
	c.next[from]++
	c.next[to]++
	return true, nil
}

// call lets the rank come to a Native, and performs that with the last rank of the group.
func (c *checker) call(rank int, own *checkedStep) (bool, error) {
	calling := c.calling[own.Group]
	if slices.Contains(calling, rank) {
		return false, nil
	}
	if len(calling) > 0 {
		if other := c.current(calling[0]); other.Op != own.Op {
			return false, fmt.Errorf("rank %d, step %d: %v: rank %d calls %v", rank, own.number, own, calling[0], other)
		}
	}
	calling = append(calling, rank)
	members := c.groups[own.Group].Hosts
	if c.calling[own.Group] = calling; len(calling) < len(members) {
		return false, nil
	}
	c.calling[own.Group] = nil
	lo, hi := own.Offset, own.Offset+own.Length
	if !c.holds(own.Peer, lo, hi) {
		return false, fmt.Errorf("rank %d, step %d: broadcasts [%d, %d), which it does not have", own.Peer, c.current(own.Peer).number, lo, hi)
	}
	for _, r := range members {
		if r != own.Peer && !c.give(r, lo, hi) {
			return false, fmt.Errorf("rank %d, step %d: receives part of [%d, %d) a second time", r, c.current(r).number, lo, hi)
		}
		c.next[r]++
	}
	return true, nil
}

// finished tells whether all steps are done and all bytes are everywhere.
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
	for rank, has := range c.has {
		if i := slices.Index(has, false); i >= 0 {
			return fmt.Errorf("rank %d ends without [%d, %d)", rank, c.cuts[i], c.cuts[i+1])
		}
	}
	return nil
}

// cells are those of the bytes [lo, hi) at a rank: whether it has them.
func (c *checker) cells(rank, lo, hi int) []bool {
	from, _ := slices.BinarySearch(c.cuts, lo)
	to, _ := slices.BinarySearch(c.cuts, hi)
	return c.has[rank][from:to]
}

// holds tells whether a rank has all of [lo, hi).
func (c *checker) holds(rank, lo, hi int) bool { return !slices.Contains(c.cells(rank, lo, hi), false) }

// give gives [lo, hi) to a rank, and tells whether all of it was new.
func (c *checker) give(rank, lo, hi int) bool {
	cells := c.cells(rank, lo, hi)
	if slices.Contains(cells, true) {
		return false
	}
	for i := range cells {
		cells[i] = true
	}
	return true
}
