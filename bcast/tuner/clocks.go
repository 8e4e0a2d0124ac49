package tuner

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// clocks translate the clock of each rank to that of rank 0.
//
// The ranks form a tree: rank 0, the lowest ranks of the hosts below it, and the ranks of
// each host below their lowest, all of it binomial. A rank sends its parent some empty
// messages, which the parent answers with the time t of its clock: sent at t1 and answered by t3,
// each says that the parent's clock is ahead by at least t-t3 and at most t-t1. Ranks
// ask at once unless they ask the same one, so that it takes log2(hosts) + log2(ranks of a
// host) times the round trips of one. (Serving all from rank 0 took ranks times as many.)
//
// If no difference at all is within these bounds on every rank, the clocks are taken to be
// one: ranks of one host, whose monotonic clock is shared, or of one process. Otherwise the
// middle of the narrowest bounds counts, but for ranks of one host for which none is within them.
type clocks struct {
	comm     mpi.Communicator
	tag      int
	now      func() float64
	parent   int   // -1: rank 0
	near     bool  // the parent is on the same host
	children []int // in the order in which they are answered
	oneHost  bool  // as far as is known, all ranks share a host

	one   bool    // all ranks read the same clock
	ahead float64 // s, of rank 0's clock
	doubt float64 // s, the largest possible error of ahead on any rank; 0 with one clock
	at    float64 // s, when they were compared
}

// newClocks is collective: it compares the clocks of the ranks. hosts says for each rank on which host it runs, as a
// number; nil: all on one.
func newClocks(comm mpi.Communicator, tag int, hosts []int) (*clocks, error) {
	c := &clocks{comm: comm, tag: tag, now: share.Clock(comm)}
	if hosts == nil {
		hosts = make([]int, comm.Size())
	}
	if len(hosts) != comm.Size() {
		return nil, fmt.Errorf("tuner: hosts of %d ranks: want %d", len(hosts), comm.Size())
	}
	c.join(hosts)
	return c, c.compare()
}

// join finds the place of this rank in the tree. Leaders come in the order of their ranks, so
// rank 0 is the first.
func (c *clocks) join(hosts []int) {
	me := c.comm.Rank()
	known := make(map[int]bool)
	var leaders, own []int
	for rank, h := range hosts {
		if !known[h] {
			leaders = append(leaders, rank)
		}
		known[h] = true
		if h == hosts[me] {
			own = append(own, rank)
		}
	}
	c.oneHost = len(leaders) == 1
	c.parent = -1
	for i, group := range [][]int{leaders, own} { // other hosts first: they take longer
		place := slices.Index(group, me)
		if place < 0 {
			continue
		}
		parent, children := share.BinomialPlace(place, len(group))
		if parent >= 0 {
			c.parent, c.near = group[parent], i > 0
		}
		for _, child := range slices.Backward(children) { // who has most to tell is told first
			c.children = append(c.children, group[child])
		}
	}
}

const (
	roundTrips = 8    // between two ranks: the shortest of them counts
	reply      = 24   // bytes: the time of the parent's clock, and what the parent knows of rank 0's clock
	drift      = 1e-4 // s per s by which the quartzes of two hosts differ
)

// stale tells rank 0 whether clocks that are not one may have drifted apart by as much as is doubtful anyway. Those of
// hosts do by up to 0.1 ms per second.
func (c *clocks) stale() bool { return !c.one && drift*(c.now()-c.at) >= c.doubt }

// compare is collective.
func (c *clocks) compare() error {
	least, most := math.Inf(-1), math.Inf(1) // bounds of how far the parent's clock is ahead
	buf := make([]byte, reply)
	c.ahead, c.doubt = 0, 0
	if c.parent >= 0 {
		for range roundTrips {
			sent := c.now()
			if err := c.comm.Send(nil, c.parent, c.tag); err != nil {
				return c.failed(c.parent, err)
			}
			if err := c.comm.Recv(buf, c.parent, c.tag); err != nil {
				return c.failed(c.parent, err)
			}
			received := c.now()
			told := share.Floats(buf)
			least, most = max(least, told[0]-received), min(most, told[0]-sent)
			c.ahead, c.doubt = told[1], told[2]
		}
	}
	differ := 0.0 // 1: the clocks of this rank and its parent do
	if least > 0 || most < 0 {
		differ = 1
	}
	if differ > 0 || c.parent >= 0 && !c.near {
		c.ahead += (least + most) / 2
		c.doubt += max(0, most-least) / 2
	}
	for _, child := range c.children {
		for range roundTrips {
			if err := c.comm.Recv(nil, child, c.tag); err != nil {
				return c.failed(child, err)
			}
			buf = share.AppendFloats(buf[:0], []float64{c.now(), c.ahead, c.doubt})
			if err := c.comm.Send(buf, child, c.tag); err != nil {
				return c.failed(child, err)
			}
		}
	}
	all := []float64{differ, c.doubt}
	if err := share.Binomial(c.comm, 0, c.tag).Max(all); err != nil {
		return err
	}
	c.one, c.doubt = all[0] == 0, all[1]
	if c.one {
		c.ahead, c.doubt = 0, 0
	}
	c.at = c.now()
	return nil
}

func (c *clocks) failed(peer int, err error) error {
	return fmt.Errorf("tuner: rank %d: compare clocks, peer %d: %w", c.comm.Rank(), peer, err)
}
