package concurrent

import (
	"context"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Words of the barrier before an iteration. The greatest of all ranks' counts.
const (
	enough byte = iota // the times of my receives are known well enough
	more
	last // the time is over: this iteration is the last
)

// A campaign is one rank's part of a measurement.
type campaign struct {
	ctx    context.Context
	comm   mpi.Communicator
	watch  *harness.Watch
	now    func() float64
	plan   *plan
	start  float64 // s
	budget float64 // s, on rank 0; 0: none
	left   int     // patterns, with the one to come
	out    []byte  // what is sent
	in     []byte  // what is received, one message after the other
}

func newCampaign(ctx context.Context, comm mpi.Communicator, p *plan) *campaign {
	c := &campaign{ctx: ctx, comm: comm, now: harness.Clock(comm), plan: p, left: len(p.Patterns)}
	c.start = c.now()
	var in, out int64
	for _, pattern := range p.Patterns {
		var sum int64
		for _, t := range pattern {
			if t.Dst == comm.Rank() {
				sum += t.Bytes
			}
			if t.Src == comm.Rank() {
				out = max(out, t.Bytes)
			}
		}
		in = max(in, sum)
	}
	c.in, c.out = make([]byte, in), make([]byte, out)
	return c
}

// mayBegin is the word of this rank before a pattern.
func (c *campaign) mayBegin() byte {
	switch {
	case c.ctx.Err() != nil:
		return stopContext
	case c.budget > 0 && c.now()-c.start >= c.budget:
		return stopBudget
	}
	return goOn
}

// deadline is when the pattern has used its part of the budget.
func (c *campaign) deadline() float64 {
	if c.budget == 0 {
		return math.Inf(1)
	}
	now := c.now()
	return now + (c.start+c.budget-now)/float64(c.left)
}

// measure measures one pattern. It is called by all ranks.
func (c *campaign) measure(i int) (Pattern, error) {
	transfers := c.plan.Patterns[i]
	ranks := ranksOf(transfers)
	deadline := c.deadline()
	c.left--
	if !slices.Contains(ranks, c.comm.Rank()) {
		return Pattern{}, nil
	}
	before, err := c.readClocks(ranks)
	if err != nil {
		return Pattern{}, err
	}
	own := c.newPart(transfers)
	if err := c.iterate(own, ranks, deadline); err != nil {
		return Pattern{}, err
	}
	after, err := c.readClocks(ranks)
	if err != nil {
		return Pattern{}, err
	}
	stamps, err := c.collect(transfers, own)
	if err != nil || c.comm.Rank() != 0 {
		return Pattern{}, err
	}
	p := newPattern(transfers, stamps, drift{before, after})
	_, able := c.comm.(mpi.NonBlocking)
	p.Serial = !able && isCrowded(transfers)
	p.Converged = p.widest() <= c.plan.Width
	return p, nil
}

// ranksOf are the ranks of a pattern, ascending, and rank 0, which decides.
func ranksOf(transfers []model.Transfer) []int {
	ranks := []int{0}
	for _, t := range transfers {
		ranks = append(ranks, t.Src, t.Dst)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// isCrowded tells whether a rank has several transfers.
func isCrowded(transfers []model.Transfer) bool {
	var ends []int
	for _, t := range transfers {
		ends = append(ends, t.Src, t.Dst)
	}
	slices.Sort(ends)
	return len(slices.Compact(slices.Clone(ends))) < len(ends)
}

// iterate repeats the pattern until its times are known, or time is over. The
// word of the barrier that starts an iteration says whether it is the last.
func (c *campaign) iterate(own *part, ranks []int, deadline float64) error {
	barrier := harness.NewSubsetBarrier(c.comm, ranks).Under(c.watch)
	first := -1 // whom this rank exchanges with; there may be others
	for _, i := range own.receives {
		first = own.transfers[i].Src
	}
	for _, i := range own.sends {
		first = own.transfers[i].Dst
	}
	own.known = make([]running, len(own.receives))
	word, longest := more, 0.0
	for k := 0; word == more && k < c.plan.Most+warmUp; k++ {
		began := c.now()
		if err := own.post(c, k); err != nil {
			return err
		}
		word = c.word(own, k, began+longest, deadline)
		var err error
		if word, err = barrier.Wait(word); err != nil {
			return err
		}
		left := c.now()
		if first >= 0 {
			c.watch.Wait(first, harness.Sharing, 1)
		}
		err = own.run(c)
		if c.watch.Done(); err != nil {
			return err
		}
		longest = max(longest, c.now()-began)
		if k < warmUp && word == more {
			own.forget()
			continue
		}
		for i, end := range own.ends {
			if t := end[len(end)-1]; !math.IsNaN(t) {
				own.known[i].add(t - left)
			}
		}
	}
	return nil
}

// word is what this rank wishes before iteration k, which will probably end at
// the given time. Each pattern has a receiver, who wants the least number of iterations.
func (c *campaign) word(own *part, k int, end, deadline float64) byte {
	if c.ctx.Err() != nil || k > 0 && end > deadline {
		return last
	}
	for i := range own.known {
		known := &own.known[i]
		if known.count < c.plan.Least || 2*known.halfWidth() > c.plan.Width*known.mean {
			return more
		}
	}
	return enough
}
