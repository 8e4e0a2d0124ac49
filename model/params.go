package model

import (
	"fmt"
	"math"
	"slices"
)

// PLogP holds the parameters of the parametrised LogP model: the latency and,
// as functions of the message size, the gap and the overheads, given at some
// sizes and linear between them. A message of m bytes arrives L + g(m) after
// its sending begins.
//
// Below the smallest size the gap is that of the smallest size. Beyond the
// largest it goes on with the slope of the last piece. That slope is no rate where the times have a
// kink, so longer messages flow at most as fast as the longest did after its handshake.
// An overhead goes on with the slope of its last piece. Where that falls, by noise or by
// another protocol, it goes on with the mean slope of all pieces, and at least level.
// So no time is below 0. If there is only one
// size, nothing is known of the slope, and the gap beyond it is NaN.
//
// Source: T. Kielmann, H. Bal, K. Verstoep 2000; Reinfjell 2023, sections
// 2.2.4 and 3.1.
type PLogP struct {
	Latency    float64   // L, s: from end to end, without the gap
	Sizes      []int64   // bytes, ascending
	Gap        []float64 // g at each size, s
	Send, Recv []float64 // os and or at each size, s; nil if not measured
}

// latencyOnly are parameters that know the time of messages of up to the given
// bytes, with which the latency in s was measured, and of no longer ones.
func latencyOnly(latency float64, bytes int64) PLogP {
	return PLogP{Latency: latency, Sizes: []int64{bytes}, Gap: []float64{0}}
}

// GapAt is g(bytes) in s.
func (p *PLogP) GapAt(bytes int64) float64 {
	last := len(p.Sizes) - 1
	if last < 1 || bytes <= p.Sizes[last] {
		return interpolate(p.Sizes, p.Gap, bytes)
	}
	return p.Gap[last] + max(slopeBeyond(p.Sizes, p.Gap), p.perByte())*float64(bytes-p.Sizes[last])
}

// Time is the one-way time L + g(bytes) in s of a message.
func (p *PLogP) Time(bytes int64) float64 { return p.Latency + p.GapAt(bytes) }

// Bandwidth is the rate in B/s that the longest message had: its bytes over its whole time. NaN if there are no two sizes.
func (p *PLogP) Bandwidth() float64 {
	last := len(p.Sizes) - 1
	if last < 1 {
		return math.NaN()
	}
	return float64(p.Sizes[last]) / (p.Latency + p.Gap[last])
}

// slopeBeyond is the slope with which a function given at two points or more
// goes on after the last: see PLogP.
func slopeBeyond(xs []int64, ys []float64) float64 {
	k := len(xs) - 1
	if last := (ys[k] - ys[k-1]) / float64(xs[k]-xs[k-1]); last >= 0 {
		return last
	}
	return max(0, (ys[k]-ys[0])/float64(xs[k]-xs[0]))
}

// interpolate is the value at x of the function that is linear between the
// points (xs[i], ys[i]). It is constant before the first point, and goes on with slopeBeyond
// after the last. After a single point it is NaN. O(log len(xs)).
func interpolate(xs []int64, ys []float64, x int64) float64 {
	switch {
	case len(xs) == 0 || len(ys) == 0:
		return math.NaN()
	case x <= xs[0]:
		return ys[0]
	case len(xs) == 1:
		return math.NaN()
	}
	lo, hi := 0, len(xs)-1
	if x > xs[hi] {
		return ys[hi] + slopeBeyond(xs, ys)*float64(x-xs[hi])
	}
	// The piece [lo, hi] with xs[lo] < x <= xs[hi].
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); xs[mid] < x {
			lo = mid
		} else {
			hi = mid
		}
	}
	slope := (ys[hi] - ys[lo]) / float64(xs[hi]-xs[lo])
	return ys[lo] + slope*float64(x-xs[lo])
}

// Check refuses parameters that no message can have. The error names the parameter.
func (p *PLogP) Check() error {
	if p.Latency < 0 || math.IsInf(p.Latency, 0) {
		return fmt.Errorf("latency %g s: want at least 0 and finite, or NaN", p.Latency)
	}
	if len(p.Sizes) == 0 {
		return fmt.Errorf("no sizes")
	}
	for i, m := range p.Sizes {
		if m < 0 || i > 0 && m <= p.Sizes[i-1] {
			return fmt.Errorf("size %d is %d bytes: want ascending from at least 0", i, m)
		}
	}
	for _, c := range []struct {
		name   string
		values []float64
	}{{"gap", p.Gap}, {"send overhead", p.Send}, {"receive overhead", p.Recv}} {
		if c.values == nil && c.name != "gap" {
			continue
		}
		if len(c.values) != len(p.Sizes) {
			return fmt.Errorf("%d values of the %s for %d sizes", len(c.values), c.name, len(p.Sizes))
		}
		for i, v := range c.values {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%s at %d bytes is %g s: want at least 0 and finite", c.name, p.Sizes[i], v)
			}
		}
	}
	return nil
}

func (p *PLogP) clone() PLogP {
	return PLogP{
		Latency: p.Latency, Sizes: slices.Clone(p.Sizes), Gap: slices.Clone(p.Gap),
		Send: slices.Clone(p.Send), Recv: slices.Clone(p.Recv),
	}
}

// LevelParams are the typical parameters of the pairs that one level of a
// hierarchy joins and no finer one.
type LevelParams struct {
	PLogP          // medians over the pairs
	Spread float64 // relative spread of single measurements about the medians, as a standard deviation, of the size where it is largest; NaN if not known

	// MeasuredOverPredicted are those of Settings, of the concurrent transfers that the level joins; nil: too few
	// of them are known, and those of all transfers stand for them.
	MeasuredOverPredicted []float64
}

func (l *LevelParams) clone() LevelParams {
	return LevelParams{PLogP: l.PLogP.clone(), Spread: l.Spread, MeasuredOverPredicted: slices.Clone(l.MeasuredOverPredicted)}
}

// PairParams are the parameters of messages from one rank to another.
type PairParams struct {
	Src, Dst int // ranks
	PLogP
}
