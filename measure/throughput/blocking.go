package throughput

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/topology"
)

const (
	// untouched is the share of its rate that a pair keeps while others are busy, if they
	// are on no link of its way: those that share one leave it a half.
	untouched = 0.8

	// outlast is how many times as many messages those send that are to be busy until the last of
	// the measured ones has come.
	outlast = 4
)

// blocking measures pairs of hosts alone, and while data move between the hosts on the
// shortest way that the graph has: if there is a direct connection, the rate does not
// change (Bufe 2014, section 2.2.1, before its example). Nor does that of the others, which on a link with room for both would give way.
func (c *campaign) blocking() error {
	finder := topology.NewPaths(c.g, nil)
	for _, p := range c.s.Direct {
		var between []int
		tree := finder.Tree(p[0])
		for v := p[1]; tree.Arc[v] >= 0; v = c.g.Arcs()[tree.Arc[v]].From {
			if v != p[1] && !c.g.IsSwitch(v) {
				between = append(between, v)
			}
		}
		var others [][2]int
		for i := 0; i+1 < len(between); i += 2 {
			others = append(others, [2]int{between[i+1], between[i]}) // the way that the pair's messages go
		}
		if len(others) == 0 {
			c.r.Warnings = append(c.r.Warnings, fmt.Sprintf(
				"ranks %d and %d: %d hosts between them, want two at least: whether there is a link of their own cannot be seen", p[0], p[1], len(between)))
			continue
		}
		pair := [][2]int{p}
		sending := func(pairs [][2]int, times int) *load {
			l := c.load(pairs)
			l.messages = times * c.s.Messages
			return l
		}
		alone, blocked := sending(pair, 1), sending(pair, 1)
		othersAlone, othersBlocked := sending(others, 1), sending(others, 1)
		err := c.take([]round{{alone}, {blocked, sending(others, outlast)}, {othersAlone}, {othersBlocked, sending(pair, outlast)}})
		if err != nil || math.IsNaN(othersBlocked.rate) { // which comes last
			return err
		}
		d := Direct{Pair: p, Alone: alone.rate, Blocked: blocked.rate}
		othersKeep := 1 - (1-untouched)/float64(len(others)) // of the sum of their rates, where one of them gives way
		d.Wired = d.Blocked >= untouched*d.Alone && othersBlocked.rate >= othersKeep*othersAlone.rate
		c.r.Direct = append(c.r.Direct, d)
	}
	return nil
}
