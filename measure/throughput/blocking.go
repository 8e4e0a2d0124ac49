package throughput

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

const (
	// untouched is the share of its rate that a pair keeps while others are busy, if they
	// are on no link of its route: those that share one leave it a half.
	untouched = 0.8

	// noticeable is the rate of a pair, as a share of that of others, by the half of which those are seen to give way:
	// measurements of long messages differ by some percent.
	noticeable = 0.2

	// outlast is how many times as many messages those send that are to be busy until the last of
	// the measured ones has come.
	outlast = 4
)

// blocking measures pairs of hosts alone, and while data move between the hosts on the
// shortest path that the graph has: if there is a direct connection, the rate does not
// change (Bufe 2014, section 2.2.1, before its example). Nor does that of the others, which on a link with room for both
// give way by as much as the pair gets.
func (c *campaign) blocking() error {
	finder := topology.NewPaths(c.g, nil)
	for _, p := range c.s.Direct {
		unseen := func(format string, args ...any) {
			c.r.Warnings = append(c.r.Warnings, fmt.Sprintf("ranks %d and %d: %s: whether there is a link of their own cannot be seen", p[0], p[1], fmt.Sprintf(format, args...)))
		}
		var between []int
		tree := finder.Tree(p[0])
		for v := p[1]; tree.Arc[v] >= 0; v = c.g.Arcs()[tree.Arc[v]].From {
			if v != p[1] && !c.g.IsSwitch(v) {
				between = append(between, v)
			}
		}
		switch {
		case len(between) < 2:
			unseen("%d hosts between them, want two at least", len(between))
			continue
		case !tree.Only(p[1]):
			unseen("several ways between them are about as short")
			continue
		}
		var others [][2]int
		for pair := range slices.Chunk(between, 2) {
			if len(pair) == 2 {
				others = append(others, [2]int{pair[1], pair[0]}) // the route that the pair's messages go
			}
		}
		// each are loads that tell of each pair.
		each := func(pairs [][2]int, times int) (all round) {
			for _, one := range pairs {
				l := c.load([][2]int{one})
				l.messages = times * c.s.Messages
				all = append(all, l)
			}
			return all
		}
		pair := [][2]int{p}
		alone, blocked, othersAlone, othersBlocked := each(pair, 1), each(pair, 1), each(others, 1), each(others, 1)
		err := c.take([]round{alone, append(blocked, each(others, outlast)...), othersAlone, append(othersBlocked, each(pair, outlast)...)})
		if err != nil || math.IsNaN(othersBlocked[0].rate) { // which comes last
			return err
		}
		d := Direct{Pair: p, Alone: alone[0].rate, Blocked: blocked[0].rate}
		isSeen := d.Blocked < untouched*d.Alone
		d.Wired = !isSeen
		for i, l := range othersAlone {
			if d.Alone < noticeable*l.rate {
				continue
			}
			isSeen = true
			if l.rate-othersBlocked[i].rate > d.Alone/2 {
				d.Wired = false
			}
		}
		if !isSeen {
			d.Wired = false
			unseen("messages between the hosts on their way are more than %g times as fast", 1/noticeable)
		}
		c.r.Direct = append(c.r.Direct, d)
	}
	return nil
}
