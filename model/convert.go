package model

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Hockney is the model t(m) = Latency + m/Bandwidth.
type Hockney struct {
	Latency   float64 // s
	Bandwidth float64 // B/s
}

// Hockney is the straight line through the times at the sizes of p, by least
// squares (Reinfjell 2023, eq. 2.3 and section 3.2). It takes at least two
// sizes. A latency or a slope below 0 is set to 0, and clamped is true; the
// bandwidth of a level line is +Inf.
func (p *PLogP) Hockney() (h Hockney, clamped bool) {
	if len(p.Sizes) < 2 {
		return Hockney{p.Latency, math.NaN()}, false
	}
	x, y := make([]float64, len(p.Sizes)), make([]float64, len(p.Sizes))
	for i, m := range p.Sizes {
		x[i], y[i] = float64(m), p.Latency+p.Gap[i]
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	return Hockney{math.Max(0, a), 1 / math.Max(0, b)}, a < 0 || b < 0
}

// Time is the time in s of a message.
func (h Hockney) Time(bytes int64) float64 { return h.Latency + float64(bytes)/h.Bandwidth }

// PLogP are the same times as piecewise parameters: a gap that grows with the size
// from 0. If the bandwidth is NaN only messages of 0 bytes have a time.
func (h Hockney) PLogP() PLogP {
	if math.IsNaN(h.Bandwidth) {
		return latencyOnly(h.Latency, 0)
	}
	const far = 1 << 20
	return PLogP{Latency: h.Latency, Sizes: []int64{0, far}, Gap: []float64{0, far / h.Bandwidth}}
}

// LogGP holds the parameters of Alexandrov et al. 1995; of LogP (Culler et al. 1993)
// if BigGap is left out.
type LogGP struct {
	L      float64 // latency, s
	O      float64 // overhead of sending or receiving, s
	Gap    float64 // g: between small messages, s
	BigGap float64 // G: per byte of a long message, s/B
	P      int     // ranks
}

// LogGP converts by Reinfjell 2023, table 2.1: L + g(1) - os(1) - or(1),
// (os(1) + or(1))/2, g(1), and g(m)/m for the given size m of long messages, in
// bytes above 0. L and O are NaN if the overheads were not measured.
func (p *PLogP) LogGP(m int64, ranks int) LogGP {
	send, recv := p.SendAt(1), p.RecvAt(1)
	g := p.GapAt(1)
	return LogGP{
		L: p.Latency + g - send - recv, O: (send + recv) / 2,
		Gap: g, BigGap: p.GapAt(m) / float64(m), P: ranks,
	}
}

// Time is o + (m-1)G + L + o in s for a message of m bytes, at least 1.
func (l LogGP) Time(bytes int64) float64 {
	return 2*l.O + l.L + float64(bytes-1)*l.BigGap
}

// SendAt and RecvAt are os(bytes) and or(bytes) in s; NaN if they were not measured.
func (p *PLogP) SendAt(bytes int64) float64 { return interpolate(p.Sizes, p.Send, bytes) }

// RecvAt is or(bytes) in s, see SendAt.
func (p *PLogP) RecvAt(bytes int64) float64 { return interpolate(p.Sizes, p.Recv, bytes) }
