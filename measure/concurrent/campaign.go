package concurrent

import (
	"encoding/json"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// A campaign is one rank's part of a measurement. It goes round the patterns in passes, so that the
// readings of each are spread over the time that all take: a stall of the machine spoils
// some readings of a pattern, and not all. Rank 0 decides what comes next.
type campaign struct {
	*harness.Conductor
	plan    *Settings // of rank 0
	set     mpi.Requests
	budget  float64 // s, on rank 0; 0: none
	out     []byte  // what is sent
	in      []byte  // what is received, one message after the other
	tallies []tally // of each pattern, on rank 0
	last    int     // pattern that was visited; -1: none

	// Of rank 0, in a visit.
	left   int   // visits of the pass, with this one
	clocks drift // at its ends
	count  int   // iterations
	took   float64
}

func newCampaign(conductor *harness.Conductor, p *Settings) *campaign {
	c := &campaign{Conductor: conductor, plan: p, set: mpi.NewRequests(conductor.Comm), last: -1}
	c.tallies = make([]tally, len(p.Patterns))
	var in, out int64
	for _, pattern := range p.Patterns {
		var sum int64
		for _, t := range pattern {
			if t.Dst == c.Comm.Rank() {
				sum += t.Bytes
			}
			if t.Src == c.Comm.Rank() {
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

// measure visits the patterns, pass by pass, until there is nothing to do. Rank 0 calls it.
func (c *campaign) measure(play harness.Play, progress func(done int)) error {
	for pass := c.nextPass(); len(pass) > 0; pass = c.nextPass() {
		for k, v := range pass {
			t := &c.tallies[v.Pattern]
			if t.iterations() > 0 && !c.fits(t) {
				continue
			}
			round, err := json.Marshal(v)
			if err != nil {
				return err
			}
			c.left = len(pass) - k
			began := c.Now()
			found, err := play(round)
			if err != nil || c.Stopped() != "" {
				return err
			}
			t.overhead = c.Now() - began - c.took
			transfers := c.plan.Patterns[v.Pattern]
			t.add(transfers, c.stampsOf(transfers, found), c.clocks)
			progress(c.done())
		}
	}
	return nil
}

// nextPass is the next pass; empty when there is nothing to do.
//
// Visits of one pattern grow, so that clocks, which are read in each, cost little: by its end
// a pass has at most doubled the iterations of a pattern.
func (c *campaign) nextPass() []visit {
	var pass []visit
	for i := range c.tallies {
		t := &c.tallies[i]
		if n := min(t.wanted(c.plan), t.iterations()+1); n > 0 && (t.iterations() == 0 || c.fits(t)) {
			pass = append(pass, visit{i, n})
		}
	}
	return pass
}

// fits tells whether there is time for another iteration of a pattern, in a visit of its own.
func (c *campaign) fits(t *tally) bool { return c.Now()+t.overhead+t.longest <= c.End() }

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
		spent := c.Elapsed() / c.budget * float64(len(c.tallies))
		share = max(share, min(spent, float64(measured)))
	}
	return int(share)
}

// patterns are those that were measured: all, or the first ones.
func (c *campaign) patterns() []Pattern {
	var all []Pattern
	_, able := c.Comm.(mpi.NonBlocking)
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
