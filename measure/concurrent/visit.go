package concurrent

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// warmUpBytes bounds the messages that open connections and grow windows before a visit. It is beyond
// the sizes up to which libraries send at once, so that buffers of long messages are there; and a
// window of TCP, which doubles with each round trip, is by then as large as what was sent: 10 Gbit/s over
// 200 us. An idle connection forgets it after some 200 ms (RFC 2861), so that each visit begins with it.
const warmUpBytes = 256 << 10

// Words of the barrier before an iteration. The greatest of all ranks' counts.
const (
	more byte = iota
	last      // the time is over: this iteration is the last
)

// visit measures a pattern a few times, and returns the stamps of this rank. All ranks act in it.
func (c *campaign) visit(round []byte) ([]float64, error) {
	var v visit
	if err := json.Unmarshal(round, &v); err != nil {
		return nil, err
	}
	if going, err := c.Meet(); err != nil || !going {
		return nil, err
	}
	ranks := ranksOf(v.Transfers)
	if !slices.Contains(ranks, c.Comm.Rank()) {
		c.Idle()
		return nil, nil
	}
	own, err := c.measureWith(&v, ranks)
	if err != nil {
		return nil, fmt.Errorf("pattern %d: %w", v.Pattern, err)
	}
	return own.stamps(), nil
}

// measureWith is the part of the pattern's ranks in a visit.
func (c *campaign) measureWith(v *visit, ranks []int) (*part, error) {
	before, err := c.readClocks(v.Unread)
	if err != nil {
		return nil, err
	}
	maps.Copy(c.clocks.after, before)
	before = c.clocks.after
	barrier := c.Barrier(ranks)
	if v.Cold {
		if err := c.warmUp(barrier, v.Transfers); err != nil {
			return nil, err
		}
	}
	own := c.newPart(v.Transfers)
	if err = c.iterate(own, barrier, v.Iterations); err != nil {
		return nil, err
	}
	c.count = len(own.starts)
	after, err := c.readClocks(ranks)
	c.clocks = drift{before, after}
	return own, err
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

// severalPerRank tells whether a rank has several transfers.
func severalPerRank(transfers []model.Transfer) bool {
	var ends []int
	for _, t := range transfers {
		ends = append(ends, t.Src, t.Dst)
	}
	slices.Sort(ends)
	return len(slices.Compact(slices.Clone(ends))) < len(ends)
}

// warmUp moves the pattern once with short messages.
func (c *campaign) warmUp(barrier *harness.Barrier, transfers []model.Transfer) error {
	short := slices.Clone(transfers)
	for i := range short {
		short[i].Bytes = min(short[i].Bytes, warmUpBytes)
	}
	_, err := c.once(c.newPart(short), barrier, more)
	return err
}

// iterate repeats the pattern at most so many times, until the deadline of rank 0 or the end of a context.
func (c *campaign) iterate(own *part, barrier *harness.Barrier, most int) (err error) {
	c.took = 0
	for word := more; word == more && len(own.starts) < most; {
		began := c.Now()
		if c.Ctx.Err() != nil || c.Comm.Rank() == 0 && began+2*c.longest > c.deadline { // there is no time for the next one
			word = last
		}
		if word, err = c.once(own, barrier, word); err != nil {
			return err
		}
		one := c.Now() - began
		c.longest, c.took = max(c.longest, one), c.took+one
	}
	return nil
}

// once moves the messages of a part once, after the barrier of its ranks, whose word it returns.
func (c *campaign) once(own *part, barrier *harness.Barrier, word byte) (byte, error) {
	if err := own.post(c); err != nil {
		return word, err
	}
	word, err := barrier.Wait(word)
	if err != nil {
		return word, err
	}
	peer := own.peer()
	if peer < 0 { // rank 0 without a part in the pattern
		return word, own.run(c)
	}
	return word, c.Among(peer, func() error { return own.run(c) })
}

// A tally is what rank 0 knows of a pattern.
type tally struct {
	pattern  Pattern   // all of it
	skews    []float64 // s, per iteration
	longest  float64   // s, of an iteration
	overhead float64   // s, of the last visit besides iterations
}

func (t *tally) iterations() int { return len(t.skews) }

// add takes up what was measured in a visit, whose stamps it makes times by the clock of rank 0.
func (t *tally) add(transfers []model.Transfer, all []stamps, clocks drift) {
	p := &t.pattern
	if p.Transfers == nil {
		p.Transfers, p.Seconds = slices.Clone(transfers), make([][]float64, len(transfers))
	}
	for k := range all[0].starts {
		earliest, latest := math.Inf(1), math.Inf(-1)
		for i, x := range transfers {
			start := clocks.common(x.Src, all[i].starts[k])
			earliest, latest = min(earliest, start), max(latest, start)
			p.Seconds[i] = append(p.Seconds[i], clocks.common(x.Dst, all[i].ends[k])-start)
		}
		t.skews = append(t.skews, latest-earliest)
	}
	for _, x := range transfers {
		p.ClockError = max(p.ClockError, clocks.error(x.Src, x.Dst))
	}
	p.sum(t.skews)
}

// wanted is how many more iterations are probably needed for intervals that are narrow enough, whose width falls
// with the root of the number; 0: no more, or there may be no more.
func (t *tally) wanted(s *Settings) int {
	done := t.iterations()
	if done == 0 {
		return s.MinIterations
	}
	n := s.MinIterations - done
	if widest := t.pattern.widest(); widest > s.Width {
		ratio := widest / s.Width
		further := math.Min(float64(s.MaxIterations), float64(done)*(ratio*ratio-1))
		n = max(n, int(further), done/surely, 1)
	}
	return max(0, min(n, s.MaxIterations-done))
}

// surely bounds the visits of a pattern that is nearly known: each adds an eighth of its iterations, at least.
const surely = 8
