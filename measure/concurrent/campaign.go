package concurrent

import (
	"context"
	"encoding/json"
	"math"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// A campaign is one rank's part of a measurement. It goes round the patterns in passes, so that the
// readings of each are spread over the time that all take: a stall of the machine spoils
// some readings of a pattern, and not all. Rank 0 decides what comes next.
type campaign struct {
	ctx     context.Context
	comm    mpi.Communicator
	watch   *harness.Watch
	now     func() float64
	plan    *plan
	way     way
	start   float64 // s
	budget  float64 // s, on rank 0; 0: none
	out     []byte  // what is sent
	in      []byte  // what is received, one message after the other
	tallies []tally // of each pattern, on rank 0

	last     int                  // pattern that was visited; -1: none
	readings map[int]clockReading // at the end of the last visit, on rank 0
}

func newCampaign(ctx context.Context, comm mpi.Communicator, p *plan) *campaign {
	c := &campaign{ctx: ctx, comm: comm, now: harness.Clock(comm), plan: p, way: newWay(comm), last: -1}
	c.start = c.now()
	c.tallies = make([]tally, len(p.Patterns))
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

// A visit is the part of a pass that goes to one pattern.
type visit struct {
	Pattern    int `json:"pattern"`
	Iterations int `json:"iterations"` // that count, at most
}

// nextPass is the next pass, which rank 0 plans; empty when there is nothing to do. It is collective.
//
// Visits of one pattern grow, so that clocks, which are read in each, cost little: by its end
// a pass has at most doubled the iterations of a pattern.
func (c *campaign) nextPass() ([]visit, error) {
	var data []byte
	if c.comm.Rank() == 0 {
		var pass []visit
		for i := range c.tallies {
			t := &c.tallies[i]
			if n := min(t.wanted(c.plan), t.iterations()+1); n > 0 && (t.iterations() == 0 || c.fits(t)) {
				pass = append(pass, visit{i, n})
			}
		}
		var err error
		if data, err = json.Marshal(pass); err != nil {
			return nil, err
		}
	}
	data, err := c.watch.Tell(c.comm, data)
	if err != nil {
		return nil, err
	}
	var pass []visit
	return pass, json.Unmarshal(data, &pass)
}

// end is when the budget is spent.
func (c *campaign) end() float64 {
	if c.budget == 0 {
		return math.Inf(1)
	}
	return c.start + c.budget
}

// fits tells whether there is time for another iteration of a pattern, in a visit of its own.
func (c *campaign) fits(t *tally) bool { return c.now()+t.overhead+t.longest <= c.end() }

// mayBegin is the word of this rank before a visit.
func (c *campaign) mayBegin(pattern int) byte {
	switch t := &c.tallies[pattern]; {
	case c.ctx.Err() != nil:
		return stopContext
	case c.comm.Rank() != 0:
		return goOn
	case t.iterations() == 0 && c.now() >= c.end():
		return stopBudget
	case t.iterations() > 0 && !c.fits(t):
		return skip
	}
	return goOn
}

// done is how much of the work is over, in patterns: see Settings.Progress.
func (c *campaign) done() int {
	share, measured := 0.0, 0
	for i := range c.tallies {
		if t := &c.tallies[i]; t.iterations() > 0 {
			measured++
			share += float64(t.iterations()) / float64(t.iterations()+t.wanted(c.plan))
		}
	}
	if c.budget > 0 {
		spent := (c.now() - c.start) / c.budget * float64(len(c.tallies))
		share = max(share, min(spent, float64(measured)))
	}
	return int(share)
}

// patterns are those that were measured: all, or the first ones.
func (c *campaign) patterns() []Pattern {
	var all []Pattern
	_, able := c.comm.(mpi.NonBlocking)
	for i := range c.tallies {
		t := &c.tallies[i]
		if t.iterations() == 0 {
			break
		}
		p := t.pattern
		p.Serial = !able && isCrowded(p.Transfers)
		p.Converged = p.widest() <= c.plan.Width
		all = append(all, p)
	}
	return all
}
