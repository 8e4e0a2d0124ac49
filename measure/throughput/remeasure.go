package throughput

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
)

// A known network is measured again along its
// wiring (Bufe 2014, section 2.5): few pairs, longer each, and only such at once as do
// not meet. Links between hosts are measured in the rounds of their edges; hosts of one switch
// one pair after the other, around a ring of odd length, which determines their
// links (section 2.4); links between switches by one pair each. The latencies of links come of
// least squares over all these, which takes 8 bytes per pair of ranks on rank 0. What was not measured stays as it was.

const (
	latencySamples = 100 // of each pair and size: few pairs are measured, so each may take longer than when the network was made
	budgetShare    = 2   // of the budget, that latencies may take

	// Messages that are timed alone, besides the one that gave the network's latencies.
	mediumSize = 64 << 10 // B
	longSize   = 1 << 20  // B
)

// latencySizes are those of the messages whose latencies are measured: none without a network.
func (c *campaign) latencySizes() []int {
	if c.s.Network == nil {
		return nil
	}
	sizes := []int{int(c.s.Network.Measured().Bytes), mediumSize, longSize}
	if i := slices.Index(sizes[1:], sizes[0]); i >= 0 {
		sizes = slices.Delete(sizes, i+1, i+2)
	}
	return sizes
}

// measureLatencies measures those of all links of the network: of each pair and size the lower quartile of half round trips, which
// disturbances do not reach. It is collective.
func (c *campaign) measureLatencies(sizes []int, budget time.Duration) error {
	probe := pingpong.New(c.Comm, slices.Max(sizes), latencySamples)
	exchange := func(found []float64, peer int, _ bool, size int) ([]float64, error) {
		if err := probe.WarmUp(peer, sizes[:1]); err != nil {
			return nil, err
		}
		s, err := probe.Pair(peer, size)
		return append(found, s.Q1), err
	}
	return c.LeadPairs(budget, exchange, func(play harness.PlayPairs) error {
		pairs := c.contentionFree()
		var rounds [][]harness.Pair // short messages come first, which cost little
		for _, size := range sizes {
			for _, round := range pairs {
				round = slices.Clone(round)
				for i := range round {
					round[i].Task = size
				}
				rounds = append(rounds, round)
			}
		}
		rows, err := play(rounds, func(done int) { c.progress(done, len(rounds)) })
		for _, row := range rows {
			if seconds := row.Values[0]; seconds > 0 {
				c.r.latencies = append(c.r.latencies, fit.Observation{
					Transfers: []model.Transfer{{Src: row.From, Dst: row.To, Bytes: int64(sizes[row.Round/len(pairs)])}},
					Seconds:   []float64{seconds},
				})
			}
		}
		c.r.Stopped = c.Stopped()
		return err
	})
}

// contentionFree are rounds of pairs for the latencies of all links. Where the wiring tells of none, all pairs are measured.
func (c *campaign) contentionFree() (chosen [][]harness.Pair) {
	rounds := c.edges()
	for _, f := range c.fans(2) {
		rounds = slices.AppendSeq(rounds, slices.Chunk(c.singles(oddRing(f.hosts)), 1))
	}
	rounds = append(rounds, c.uplinks(findCrossings(c.g, 1))...)
	if len(rounds) == 0 {
		all := make([]int, c.g.Hosts())
		for rank := range all {
			all[rank] = rank
		}
		for _, disjoint := range harness.CircleOf(all) {
			rounds = append(rounds, c.singles(disjoint))
		}
	}
	for _, together := range harness.Greedy(rounds, c.needs) {
		var pairs []harness.Pair
		for _, l := range slices.Concat(together...) {
			for _, p := range l.pairs {
				pairs = append(pairs, harness.Pair{A: p[0], B: p[1]})
			}
		}
		chosen = append(chosen, pairs)
	}
	return chosen
}

// singles are loads of one pair each, of which no rates are asked.
func (c *campaign) singles(pairs [][2]int) (r round) {
	for _, p := range pairs {
		r = append(r, c.load([][2]int{p}))
	}
	return r
}

// oddRing pairs the hosts of a switch around a ring, of odd length, or else the first with the third, too: sums
// around an even ring leave their parts open (Bufe 2014, section 2.4, equation 2.7).
func oddRing(hosts []int) [][2]int {
	n := len(hosts)
	var pairs [][2]int
	for i := range n - 1 {
		pairs = append(pairs, [2]int{hosts[i], hosts[i+1]})
	}
	if n > 2 {
		pairs = append(pairs, [2]int{hosts[0], hosts[n-1]})
	}
	if n > 2 && n%2 == 0 {
		pairs = append(pairs, [2]int{hosts[0], hosts[2]})
	}
	return pairs
}

// renew makes the network with what was measured, if one is to be measured again.
func (c *campaign) renew() error {
	n := c.s.Network
	if n == nil {
		return nil
	}
	links, err := c.fitLatencies()
	if err != nil {
		return err
	}
	for i, l := range c.r.Links {
		old := n.Graph().Arcs()[i].Bandwidth
		if l.Rate > 0 && !(l.AtLeast && old > l.Rate) {
			links[i].Bandwidth, links[i].Estimated = l.Rate, l.AtLeast
		}
	}
	c.r.Network, err = fit.Update(n, &fit.Remeasurement{
		Observations: c.r.latencies, Links: links, Warnings: c.r.Warnings, Measured: c.s.Measured,
	})
	return err
}

// fitLatencies are the arcs of the network with the latencies that explain the measured ones
// best, and no bandwidth.
func (c *campaign) fitLatencies() ([]topology.Arc, error) {
	ranks, short := c.g.Hosts(), c.latencySizes()[0]
	times := measured.Unmeasured(ranks)
	read := false
	for _, o := range c.r.latencies {
		if t := o.Transfers[0]; int(t.Bytes) == short {
			times.Set(t.Src, t.Dst, o.Seconds[0])
			read = true
		}
	}
	links := slices.Clone(c.g.Arcs())
	for i := range links {
		links[i].Latency, links[i].Bandwidth = math.NaN(), math.NaN()
	}
	if !read {
		return links, nil
	}
	fitted, err := latencyfit.Latencies(c.g, nil, times, nil)
	if err != nil {
		return nil, fmt.Errorf("throughput: latencies: %w", err)
	}
	for i, a := range fitted.Graph.Arcs() {
		links[i].Latency = a.Latency
	}
	c.r.Warnings = append(c.r.Warnings, fitted.Warnings...)
	return links, nil
}
