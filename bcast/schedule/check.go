package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// Check proves from the schedules alone that the algorithm solves the problem:
// every rank but the root receives every byte exactly once, and sends on only
// what it has; the sends and receives of every two ranks agree in order, offset
// and length; all ranks of a group perform its Natives in one order, with the bytes at the
// rank that is named and nowhere else; and no rank waits for ever, even if a send ends only when its
// receive has begun, the halves of an Exchange follow each other (Op.Halves), and a
// Native ends only when all of the group have begun.
// The error names the first rank and step that is wrong.
// O(total number of steps) while receives come in ascending order.
func Check(a Algorithm, p Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	c := checker{problem: p, ops: AllOps(nil, a, p)}
	c.next, c.half = make([]int, p.Ranks), make([]bool, p.Ranks)
	_, c.native = a.(NativeUser)
	if p.Tree != nil {
		c.groups = p.Tree.Groups()
		c.calling = make([][]int, len(c.groups))
	}
	c.has = make([]spans, p.Ranks)
	if p.Bytes > 0 {
		c.has[p.Root] = spans{{0, p.Bytes}}
	}
	if err := c.run(); err != nil {
		return fmt.Errorf("schedule: check %s: %w", a.Name(), err)
	}
	return nil
}

type checker struct {
	problem Problem
	ops     [][]Op
	next    []int   // per rank: its current step
	half    []bool  // per rank: that is an Exchange, of which one half is done
	has     []spans // per rank: the bytes it has
	native  bool    // the algorithm is a NativeUser
	groups  []topology.Group
	calling [][]int // per group: the ranks that have come to its next Native
	met     []int   // storage of meet
}

// run lets every rank step on as long as its current step and the current step
// of its peer belong together: the strictest meeting of sends and receives.
func (c *checker) run() error {
	for rank, ops := range c.ops {
		for i, op := range ops {
			if err := c.valid(rank, op); err != nil {
				return fmt.Errorf("rank %d, step %d: %v: %w", rank, i, op, err)
			}
		}
	}
	var ready []int // ranks that may be able to go on
	for rank := range c.ops {
		ready = append(ready, rank)
	}
	for len(ready) > 0 {
		rank := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for {
			met, err := c.meet(rank)
			if err != nil {
				return err
			}
			if len(met) == 0 {
				break
			}
			ready = append(ready, met...)
		}
	}
	return c.finished()
}

func (c *checker) valid(rank int, op Op) error {
	switch {
	case op.Kind == Exchange:
		if err := c.valid(rank, op.Sent()); err != nil {
			return err
		}
		return c.valid(rank, op.Received())
	case op.Kind > Native:
		return fmt.Errorf("want Send, Recv, Exchange or Native")
	case op.RecvPeer != 0 || op.RecvOffset != 0 || op.RecvLength != 0:
		return fmt.Errorf("want no second half but in an Exchange")
	case op.Kind == Native && !c.native:
		return fmt.Errorf("want no Native in what is no NativeUser")
	case op.Kind == Native:
		if op.Group < 1 || int(op.Group) >= len(c.groups) {
			return fmt.Errorf("want a group of [1, %d)", len(c.groups))
		}
		members := c.groups[op.Group].Hosts
		for _, r := range [...]int{rank, op.Peer} {
			if _, in := slices.BinarySearch(members, r); !in {
				return fmt.Errorf("rank %d is not in the group", r)
			}
		}
	case op.Group != 0:
		return fmt.Errorf("want a group in a Native only")
	case op.Peer < 0 || op.Peer >= c.problem.Ranks || op.Peer == rank:
		return fmt.Errorf("want another rank of [0, %d)", c.problem.Ranks)
	}
	switch {
	case op.Length < 1 || op.Length > MaxSegment || op.Offset < 0 || op.Offset > c.problem.Bytes-op.Length:
		return fmt.Errorf("want 1 to %d bytes within [0, %d)", MaxSegment, c.problem.Bytes)
	}
	return nil
}

// meet performs the current step of the rank together with that of its peer, or of all of its group,
// and returns these, or none if they do not meet now.
func (c *checker) meet(rank int) ([]int, error) {
	op, ok := c.current(rank)
	if !ok {
		return nil, nil
	}
	if op.Kind == Native {
		return c.call(rank, op)
	}
	other, ok := c.current(op.Peer)
	if !ok || other.Peer != rank || other.Kind == op.Kind || other.Kind == Native {
		return nil, nil
	}
	if other.Offset != op.Offset || other.Length != op.Length {
		return nil, fmt.Errorf("rank %d, step %d: %v: rank %d offers %v", rank, c.next[rank], op, op.Peer, other)
	}
	from, to := rank, op.Peer
	if op.Kind == Recv {
		from, to = to, from
	}
	lo, hi := op.Offset, op.Offset+op.Length
	if !c.has[from].hold(lo, hi) {
		return nil, fmt.Errorf("rank %d, step %d: sends [%d, %d), which it does not have", from, c.next[from], lo, hi)
	}
	if x := c.ops[to][c.next[to]]; x.Kind == Exchange && !c.half[to] && !c.has[to].hold(x.Offset, x.Offset+x.Length) {
		return nil, fmt.Errorf("rank %d, step %d: sends [%d, %d), which it does not have before the step", to, c.next[to], x.Offset, x.Offset+x.Length)
	}
	if !c.has[to].add(lo, hi) {
		return nil, fmt.Errorf("rank %d, step %d: receives part of [%d, %d) a second time", to, c.next[to], lo, hi)
	}
	c.proceed(rank)
	c.proceed(op.Peer)
	c.met = append(c.met[:0], op.Peer)
	return c.met, nil
}

// call lets the rank come to a Native, and performs that with the last rank of the group.
func (c *checker) call(rank int, op Op) ([]int, error) {
	calling := c.calling[op.Group]
	if slices.Contains(calling, rank) {
		return nil, nil
	}
	if len(calling) > 0 {
		if other, _ := c.current(calling[0]); other != op {
			return nil, fmt.Errorf("rank %d, step %d: %v: rank %d calls %v", rank, c.next[rank], op, calling[0], other)
		}
	}
	calling = append(calling, rank)
	members := c.groups[op.Group].Hosts
	if c.calling[op.Group] = calling; len(calling) < len(members) {
		return nil, nil
	}
	c.calling[op.Group] = calling[:0]
	lo, hi := op.Offset, op.Offset+op.Length
	if !c.has[op.Peer].hold(lo, hi) {
		return nil, fmt.Errorf("rank %d, step %d: broadcasts [%d, %d), which it does not have", op.Peer, c.next[op.Peer], lo, hi)
	}
	for _, r := range members {
		if r != op.Peer && !c.has[r].add(lo, hi) {
			return nil, fmt.Errorf("rank %d, step %d: receives part of [%d, %d) a second time", r, c.next[r], lo, hi)
		}
		c.proceed(r)
	}
	return members, nil
}

// current is what the rank is about to do, a Send or a Recv.
func (c *checker) current(rank int) (Op, bool) {
	if c.next[rank] == len(c.ops[rank]) {
		return Op{}, false
	}
	op := c.ops[rank][c.next[rank]]
	if op.Kind == Exchange {
		first, second := op.Halves(rank)
		if op = first; c.half[rank] {
			op = second
		}
	}
	return op, true
}

// proceed goes on to the next step or half of one.
func (c *checker) proceed(rank int) {
	c.half[rank] = c.ops[rank][c.next[rank]].Kind == Exchange && !c.half[rank]
	if !c.half[rank] {
		c.next[rank]++
	}
}

// finished tells whether all steps are done and all bytes are everywhere.
func (c *checker) finished() error {
	var stuck []string
	for rank := range c.ops {
		if op, waits := c.current(rank); waits {
			stuck = append(stuck, fmt.Sprintf("rank %d in step %d: %v", rank, c.next[rank], op))
		}
	}
	if n := len(stuck); n > 0 {
		const shown = 4
		if n > shown {
			stuck = append(stuck[:shown], fmt.Sprintf("and %d more", n-shown))
		}
		return fmt.Errorf("%d of %d ranks wait for ever: %s", n, len(c.ops), strings.Join(stuck, "; "))
	}
	for rank, has := range c.has {
		if c.problem.Bytes > 0 && !has.hold(0, c.problem.Bytes) {
			return fmt.Errorf("rank %d ends with %v of [0, %d)", rank, has, c.problem.Bytes)
		}
	}
	return nil
}

// spans is a set of bytes: disjoint, not touching, ascending half-open ranges.
type spans []Span

// A Span is the bytes [Lo, Hi) of a message.
type Span struct{ Lo, Hi int }

// at is the index of the first span that ends at or after x.
func (s spans) at(x int) int {
	if n := len(s); n > 0 && s[n-1].Lo <= x { // the usual case: at the end
		if x <= s[n-1].Hi {
			return n - 1
		}
		return n
	}
	i, _ := slices.BinarySearchFunc(s, x, func(s Span, x int) int { return s.Hi - x })
	return i
}

// hold tells whether the set holds all of [lo, hi).
func (s spans) hold(lo, hi int) bool {
	i := s.at(lo)
	if i < len(s) && s[i].Hi == lo {
		i++
	}
	return i < len(s) && s[i].Lo <= lo && hi <= s[i].Hi
}

// add adds [lo, hi) and tells whether all of it was new.
func (s *spans) add(lo, hi int) bool {
	i := s.at(lo)
	from := i
	if i < len(*s) && (*s)[i].Hi == lo { // touches on the left
		lo = (*s)[i].Lo
		i++
	}
	if i < len(*s) && (*s)[i].Lo < hi {
		return false
	}
	if i < len(*s) && (*s)[i].Lo == hi { // touches on the right
		hi = (*s)[i].Hi
		i++
	}
	*s = slices.Replace(*s, from, i, Span{lo, hi})
	return true
}
