package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/stats"
)

// checkParameters refuses parameters of pairs that are not there, or that no message can have.
func checkParameters(pairs []model.PairParams, ranks int) error {
	for i := range pairs {
		p := &pairs[i]
		if p.Src < 0 || p.Src >= ranks || p.Dst < 0 || p.Dst >= ranks || p.Src == p.Dst {
			return fmt.Errorf("parameters %d: from %d to %d: want two different ranks in [0, %d)", i, p.Src, p.Dst, ranks)
		}
		if err := p.Check(); err != nil {
			return fmt.Errorf("parameters %d: from %d to %d: %w", i, p.Src, p.Dst, err)
		}
	}
	return nil
}

// addParameters splits the times of the levels into L and g as PLogP parameters of pairs tell, and gives them
// the overheads os and or: medians over the pairs that the level joins. The times themselves stay: those of lone messages hold
// what a library asks before it sends a long one, which is no part of a gap.
//
// By definition g covers both overheads (Kielmann et al. 2000). Where a measured overhead is longer, as that of a synchronous
// send is, which waits for the receiver (Reinfjell 2023, section 3.1.2), the gap is the overhead.
func addParameters(n *model.Network, levels []model.LevelParams, pairs []model.PairParams) {
	ofLevel := make([][]*model.PLogP, len(levels))
	for i := range pairs {
		level := n.LevelOf(pairs[i].Src, pairs[i].Dst)
		ofLevel[level] = append(ofLevel[level], &pairs[i].PLogP)
	}
	for i, measured := range ofLevel {
		if len(measured) > 0 {
			split(&levels[i], measured)
		}
	}
}

// split is addParameters for one level.
func split(l *model.LevelParams, measured []*model.PLogP) {
	median := func(of func(*model.PLogP) float64) float64 {
		var values []float64
		for _, p := range measured {
			if v := of(p); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		return stats.Median(values)
	}
	latency := median(func(p *model.PLogP) float64 { return p.Latency })
	if first := l.Time(l.Sizes[0]); latency > first || math.IsNaN(latency) {
		latency = first
	}
	l.Gap = slices.Clone(l.Gap)
	for k := range l.Gap {
		l.Gap[k] += l.Latency - latency
	}
	l.Latency = latency
	send, recv := make([]float64, len(l.Sizes)), make([]float64, len(l.Sizes))
	for k, m := range l.Sizes {
		send[k] = median(func(p *model.PLogP) float64 { return min(p.SendAt(m), p.GapAt(m)) })
		recv[k] = median(func(p *model.PLogP) float64 { return min(p.RecvAt(m), p.GapAt(m)) })
		if math.IsNaN(send[k]) || math.IsNaN(recv[k]) {
			return // overheads were not measured
		}
	}
	l.Send, l.Recv = send, recv
}
