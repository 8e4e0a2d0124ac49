package netlab

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Verify measures the lab with plain TCP: latencies of all pairs in both
// directions, the throughput of all pairs, 2 and 3 streams out of and into one
// NIC, and both directions of a link at once. Nothing else should run in the
// lab. Readings outside the bounds are data, not an error.
func (l *Lab) Verify() (*Verification, error) {
	p := newProber(l)
	defer p.close()
	v := &Verification{}
	if _, err := l.Reset(); err != nil {
		return nil, err
	}
	err := p.locked(func() error {
		if err := v.latencies(p); err != nil {
			return err
		}
		return v.rates(p)
	})
	if err != nil {
		return nil, err
	}
	c, err := l.Counters()
	if err != nil {
		return nil, err
	}
	v.Loop = c.Loop
	return v, nil
}

func (v *Verification) latencies(p *prober) error {
	c := p.lab.Cluster
	t, err := newTruth(c)
	if err != nil {
		return err
	}
	n := c.Graph.Hosts()
	for a := range n {
		for b := a + 1; b < n; b++ {
			there, back, err := p.latency(a, b, 30)
			if err != nil {
				return err
			}
			v.Latencies = append(v.Latencies,
				LatencyCheck{From: c.Graph.Name(a), To: c.Graph.Name(b), Truth: t.latency(a, b), Reading: there},
				LatencyCheck{From: c.Graph.Name(b), To: c.Graph.Name(a), Truth: t.latency(b, a), Reading: back})
		}
	}
	extra := make([]float64, len(v.Latencies))
	for i, x := range v.Latencies {
		extra[i] = x.Reading - x.Truth
	}
	v.Endpoint = stats.MiddleMedian(extra)
	for i := range v.Latencies {
		x := &v.Latencies[i]
		x.OK = math.Abs(x.Reading-x.Truth-v.Endpoint) <= max(latencyShare*x.Truth, latencySlack)
	}
	return nil
}

func (v *Verification) rates(p *prober) error {
	c := p.lab.Cluster
	t, err := newTruth(c)
	if err != nil {
		return err
	}
	n := c.Graph.Hosts()
	name := c.Graph.Name
	for a := range n {
		for b := a + 1; b < n; b++ {
			from, to := a, b
			if (a+b)%2 == 1 {
				from, to = b, a
			}
			if err := v.rate(p, t, fmt.Sprintf("%s to %s", name(from), name(to)), [2]int{from, to}); err != nil {
				return err
			}
		}
	}
	near := make([]int, 0, n) // the others, as seen from host 0
	for b := 1; b < n; b++ {
		near = append(near, b)
	}
	slices.SortStableFunc(near, func(a, b int) int {
		switch x, y := t.latency(0, a), t.latency(0, b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for k := 2; k <= min(3, len(near)); k++ {
		var out, in [][2]int
		for _, b := range near[:k] {
			out, in = append(out, [2]int{0, b}), append(in, [2]int{b, 0})
		}
		if err := v.rate(p, t, fmt.Sprintf("%s to %d others at once", name(0), k), out...); err != nil {
			return err
		}
		if err := v.rate(p, t, fmt.Sprintf("%d others to %s at once", k, name(0)), in...); err != nil {
			return err
		}
	}
	for _, b := range []int{near[0], near[len(near)-1]} {
		if err := v.rate(p, t, fmt.Sprintf("%s and %s to each other at once", name(0), name(b)), [2]int{0, b}, [2]int{b, 0}); err != nil {
			return err
		}
	}
	return nil
}

// rate times streams of equal length between pairs of hosts.
func (v *Verification) rate(p *prober, t *truth, name string, pairs ...[2]int) error {
	// Long enough for slow start not to count, short enough for all pairs.
	const seconds = 0.15
	streams := make([]stream, len(pairs))
	slowest := math.Inf(1)
	for _, pair := range pairs {
		slowest = min(slowest, t.slowest(pair[0], pair[1]))
	}
	for i, pair := range pairs {
		streams[i] = stream{pair[0], pair[1], int(min(max(slowest*seconds, 256<<10), 64<<20))}
	}
	want, err := t.times(streams)
	if err != nil {
		return err
	}
	check := RateCheck{Name: name, Truth: slices.Max(want)}
	var readings []float64
	for range 5 {
		got, err := p.transfer(streams)
		if err != nil {
			return err
		}
		readings = append(readings, slices.Max(got))
		check.Shares = check.Shares[:0]
		for i := range got {
			check.Shares = append(check.Shares, want[i]/got[i])
		}
		slices.Sort(readings)
		check.Reading = readings[len(readings)/2]
		check.OK = math.Abs(check.Reading/check.Truth-1) <= rateShare
		if len(readings) == 1 && check.OK {
			break
		}
	}
	v.Rates = append(v.Rates, check)
	return nil
}
