package concurrent

import (
	"encoding/json"
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A campaign is one rank's part of a measurement. It goes round the patterns in passes, so that the
// measurements of each are spread over the time that all take: a stall of the machine spoils
// some measurements of a pattern, and not all. Rank 0 decides what comes next.
type campaign struct {
	*harness.Conductor
	set   mpi.Requests
	out   []byte // what is sent
	in    []byte // what is received, one message after the other
	fills int    // of the buffers

	// Of rank 0.
	settings *Settings
	tallies  []tally // of each pattern

	// Of rank 0, in a visit.
	deadline float64 // s, for the last iteration to end
	longest  float64 // s, of an iteration of the pattern
	clocks   drift   // at the ends of the visit
	count    int     // iterations
	took     float64
}

// A visit is the part of a pass that goes to one pattern, as it travels.
type visit struct {
	Pattern    int              `json:"pattern"`
	Iterations int              `json:"iterations"` // that count, at most
	Transfers  []model.Transfer `json:"transfers"`
	Cold       bool             `json:"cold"`   // another pattern was visited before
	Unread     []int            `json:"unread"` // rank 0, and those of the pattern whose clocks were not just read
}

// measure visits the patterns, pass by pass, until there is nothing to do. Rank 0 calls it.
func (c *campaign) measure(play harness.Play, progress func(done int)) error {
	visits, last := 0, -1
	for pass := c.nextPass(); len(pass) > 0; pass = c.nextPass() {
		for k, v := range pass {
			t := &c.tallies[v.Pattern]
			if t.iterations() > 0 && !c.fits(t) {
				continue
			}
			began := c.Now()
			c.deadline, c.longest = began+(c.End()-began)/float64(len(pass)-k), t.longest
			v.Cold, last = v.Pattern != last, v.Pattern
			for _, rank := range ranksOf(v.Transfers) {
				if _, isRead := c.clocks.after[rank]; !isRead || rank == 0 {
					v.Unread = append(v.Unread, rank)
				}
			}
			round, err := json.Marshal(&v)
			if err != nil {
				return err
			}
			found, err := play(round)
			if err != nil || c.Stopped() != "" {
				return err
			}
			t.longest, t.overhead = c.longest, c.Now()-began-c.took
			t.add(v.Transfers, c.stampsOf(v.Transfers, found), c.clocks)
			if visits++; visits == firstLook {
				c.look()
			}
			progress(c.done())
		}
	}
	return nil
}

// firstLook are the visits after which the time for all is held against the budget.
const firstLook = 3

// look says so if the budget is too small for a number of iterations that was asked for.
func (c *campaign) look() {
	s := c.settings
	if s.Budget == 0 || s.Notify == nil || s.MinIterations < s.MaxIterations {
		return
	}
	measured := min(firstLook, len(c.tallies))
	need := 0.0 // s
	for _, t := range c.tallies[:measured] {
		need += t.overhead + t.longest*float64(s.MinIterations)
	}
	need *= float64(len(c.tallies)) / float64(measured)
	if need > s.Budget.Seconds() {
		s.Notify(fmt.Sprintf("the budget is too small for %d iterations of %d patterns, which need about %s: fewer will be made", s.MinIterations, len(c.tallies), quantity.Seconds(need)))
	}
}

// nextPass is the next pass; empty when there is nothing to do.
//
// Visits of one pattern grow, so that clocks, which are read in each, cost little: by its end
// a pass has at most doubled the iterations of a pattern.
func (c *campaign) nextPass() []visit {
	var pass []visit
	for i := range c.tallies {
		t := &c.tallies[i]
		if n := min(t.wanted(c.settings), t.iterations()+1); n > 0 && (t.iterations() == 0 || c.fits(t)) {
			pass = append(pass, visit{Pattern: i, Iterations: n, Transfers: c.settings.Patterns[i]})
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
			share += float64(t.iterations()) / float64(t.iterations()+t.wanted(c.settings))
		}
	}
	if budget := c.settings.Budget.Seconds(); budget > 0 {
		spent := c.Elapsed() / budget * float64(len(c.tallies))
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
		p.Serial = !able && severalPerRank(p.Transfers)
		p.Converged = p.widest() <= c.settings.Width
		all = append(all, p)
	}
	return all
}
