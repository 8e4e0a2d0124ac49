package schedule

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/topocast/topocast/topology"
)

// Costs say what messages cost on a machine, for algorithms that shape their
// trees by it. They are whole picoseconds, as every rank works out the whole
// tree: two processors may round floating-point numbers apart, and then the
// trees would not fit together.
type Costs struct {
	Send, Recv int64       // ps, overhead of a message, during which its rank does nothing else
	Levels     []LevelCost // by level of Problem.Tree, that of all ranks last
}

// A LevelCost is that of messages between ranks that a level joins and no finer one.
type LevelCost struct {
	Empty int64       // ps, a message of 0 bytes from the start of its send to the end of its receive
	Gap   []SizedCost // what bytes add to that, and for how long they occupy their link, ascending; linear in between and beyond
	// Links is the part of Gap, in thousandths, for which a message occupies the
	// links out of and into the groups that the level joins: less than 1000 where
	// those carry more than one host can send.
	Links int64
}

// A SizedCost is what a message of some bytes costs.
type SizedCost struct {
	Bytes int64
	Time  int64 // ps
}

// whole is LevelCost.Links where a message takes all that a group's link carries.
const whole = 1000

// Default costs stand for a machine of which the levels are known and nothing
// else. A message takes its overheads at both ends, and as long as one of them on the link.
// Each level is four times as far as the one within, and 8 KiB double the time.
const (
	defaultOverhead = 300_000 // ps
	defaultFarther  = 4
	defaultDoubling = 8 << 10 // bytes
)

// defaultCosts are those of a machine with so many levels, that of all ranks
// included.
func defaultCosts(levels int) *Costs {
	c := &Costs{Send: defaultOverhead, Recv: defaultOverhead}
	latency := int64(3 * defaultOverhead)
	for range levels {
		c.Levels = append(c.Levels, LevelCost{Empty: latency, Gap: []SizedCost{{0, 0}, {defaultDoubling, latency}}, Links: whole})
		latency *= defaultFarther
	}
	return c
}

func (c *Costs) validate(levels int) error {
	if len(c.Levels) != levels {
		return fmt.Errorf("schedule: problem: costs of %d levels: want %d, the root's included", len(c.Levels), levels)
	}
	for i, l := range c.Levels {
		last := SizedCost{Bytes: -1}
		for _, g := range l.Gap {
			if g.Bytes <= last.Bytes || g.Time < last.Time {
				return fmt.Errorf("schedule: problem: costs of level %d: %d ps for %d bytes: want sizes and times ascending, from 0 on", i, g.Time, g.Bytes)
			}
			last = g
		}
		if l.Empty < 0 || l.Links < 0 || l.Links > whole {
			return fmt.Errorf("schedule: problem: costs of level %d: %d ps, links %d: want at least 0, and at most %d", i, l.Empty, l.Links, whole)
		}
	}
	if c.Send < 0 || c.Recv < 0 {
		return fmt.Errorf("schedule: problem: costs: overheads of %d and %d ps: want at least 0", c.Send, c.Recv)
	}
	return nil
}

// gap is the time in ps that so many bytes add to an empty message.
func (l *LevelCost) gap(bytes int64) int64 {
	n := len(l.Gap)
	switch {
	case n == 0:
		return 0
	case n == 1 || bytes <= l.Gap[0].Bytes:
		return l.Gap[0].Time
	}
	i := 1
	for i < n-1 && l.Gap[i].Bytes < bytes {
		i++
	}
	lo, hi := l.Gap[i-1], l.Gap[i]
	return lo.Time + scale(hi.Time-lo.Time, bytes-lo.Bytes, hi.Bytes-lo.Bytes)
}

// most bounds a time in ps, a year or so: sums of many stay below 2^63.
const most = 1 << 55

// scale is x*num/den, at most most, without overflow; x, num >= 0, den > 0.
func scale(x, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(num))
	if hi >= uint64(den) {
		return most
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, most))
}

// costs are Costs, or those of a machine of which nothing is known.
func (p *Problem) costs() *Costs {
	if p.Costs != nil {
		return p.Costs
	}
	return defaultCosts(p.levels())
}

// levels is the number of levels of the ranks, that of all of them included.
func (p *Problem) levels() int { return len(p.Groups().Levels()) + 1 }

// shapedFor is the number of bytes for whose messages trees are shaped: the
// segment, or the power of two from the message on, so that messages of about one
// size share a tree.
func (p *Problem) shapedFor() int64 {
	piece := 1
	for piece < p.Bytes && piece < MaxSegment {
		piece *= 2
	}
	if p.Segment > 0 {
		piece = min(piece, p.Segment)
	}
	return int64(piece)
}

// leastPace is the time in ps for which a piece of the given bytes occupies
// what it occupies longest: a rank, or the link of a group.
func (p *Problem) leastPace(piece int64) int64 {
	c := p.costs()
	least := c.Send + c.Recv
	for i := range c.Levels {
		l := &c.Levels[i]
		gap := min(l.gap(piece), most)
		if i > 0 {
			gap = scale(gap, l.Links, whole)
		}
		least = max(least, gap)
	}
	return least
}

// Groups is Tree, or the hierarchy of one group.
func (p *Problem) Groups() *topology.Hierarchy {
	if p.Tree != nil {
		return p.Tree
	}
	h, err := topology.NewHierarchy(p.Ranks, nil, nil, math.NaN())
	if err != nil {
		panic("schedule: " + err.Error())
	}
	return h
}
