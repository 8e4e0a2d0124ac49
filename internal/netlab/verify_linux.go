package netlab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// How long Verify goes on where the machine does not keep time.
const (
	latencyPatience = 40 * time.Second // for all latencies
	ratePatience    = 6 * time.Second  // for a rate
)

// Verify measures the lab with plain TCP. It measures latencies of all pairs in both
// directions and the throughput of all pairs. Then come 2 and 3 streams out of and into one
// NIC, and both directions of a link at once. Nothing else should run in the
// lab. Measurements outside the bounds are data, not an error; see Verification.Judge.
//
// Only measurements count in which the fabric and the prober have kept time. Others are taken
// again, for 40 s in all of latencies and for 6 s of each rate.
func (l *Lab) Verify() (*Verification, error) {
	t, err := newTruth(l.Cluster)
	if err != nil {
		return nil, err
	}
	p := newProber(l)
	defer p.close()
	v := &Verification{}
	err = p.locked(func() error {
		if err := v.latencies(p, t); err != nil {
			return err
		}
		return v.rates(p, t)
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// timed takes a measurement and tells whether the fabric and the prober have kept time in it.
func (v *Verification) timed(p *prober, measurement func() error) (bool, error) {
	p.rest()
	if _, err := p.lab.Reset(); err != nil {
		return false, err
	}
	p.away = 0
	if err := measurement(); err != nil {
		return false, err
	}
	c, err := p.lab.Counters()
	if err != nil {
		return false, err
	}
	v.Loop, v.Away = v.Loop.Plus(c.Loop), v.Away+p.away.Seconds()
	c.Loop.Stalled += p.away.Seconds()
	return c.Loop.OnTime(), nil
}

// latencies reads all pairs. The least time of a pair is what counts, so what is outside the
// bounds is given more exchanges. So are the others, by which the endpoint cost is known.
func (v *Verification) latencies(p *prober, t *truth) error {
	all := pairs(p.lab.Cluster.Graph.Hosts())
	for _, pair := range all {
		for _, x := range [][2]int{pair, {pair[1], pair[0]}} {
			v.Latencies = append(v.Latencies, Check{Name: p.name(x), Truth: t.latency(x[0], x[1]), Measurement: math.Inf(1), Verdict: NotTimed})
		}
	}
	// Of a real fault no number of exchanges makes anything: three rounds on time are enough.
	const rounds = 3
	onTime := make([]int, len(all))
	begin := time.Now()
	for {
		for i, pair := range all {
			there, back := &v.Latencies[2*i], &v.Latencies[2*i+1]
			ok, err := v.timed(p, func() error {
				x, y, err := p.latency(pair[0], pair[1], 30)
				there.Measurement, back.Measurement = min(there.Measurement, x), min(back.Measurement, y)
				return err
			})
			if err != nil {
				return err
			}
			if ok {
				onTime[i]++
			}
		}
		v.judgeLatencies(onTime)
		open := slices.ContainsFunc(v.Latencies, func(x Check) bool { return x.Verdict != Right })
		if !open || slices.Min(onTime) >= rounds || time.Since(begin) > latencyPatience {
			return nil
		}
	}
}

// pairs are all pairs of n hosts.
func pairs(n int) (all [][2]int) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			all = append(all, [2]int{a, b})
		}
	}
	return all
}

// name names a pair of hosts.
func (p *prober) name(pair [2]int) string {
	g := p.lab.Cluster.Graph
	return fmt.Sprintf("%s to %s", g.Name(pair[0]), g.Name(pair[1]))
}

func (v *Verification) rates(p *prober, t *truth) error {
	n, name := p.lab.Cluster.Graph.Hosts(), p.lab.Cluster.Graph.Name
	for _, pair := range pairs(n) {
		if (pair[0]+pair[1])%2 == 1 {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if err := v.rate(p, t, p.name(pair), pair); err != nil {
			return err
		}
	}
	near := make([]int, 0, n) // the others, as seen from host 0
	for b := 1; b < n; b++ {
		near = append(near, b)
	}
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(t.latency(0, a), t.latency(0, b)) })
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
	check := Check{Name: name, Truth: slices.Max(want), Verdict: NotTimed}
	for begin := time.Now(); check.Verdict == NotTimed && time.Since(begin) < ratePatience; {
		var got []float64
		onTime, err := v.timed(p, func() (err error) {
			got, err = p.transfer(streams)
			return err
		})
		if err != nil {
			return err
		}
		check.read(slices.Max(got), onTime)
		check.Shares = check.Shares[:0]
		for i := range got {
			check.Shares = append(check.Shares, want[i]/got[i])
		}
	}
	v.Rates = append(v.Rates, check)
	return nil
}
