package measure

import (
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
)

// latencies is the test of a pair by which Run measures: a ping-pong of each size.
type latencies struct {
	probe *pingpong.Probe
	plan  *plan
}

var (
	_ harness.Test    = (*latencies)(nil)
	_ harness.Sampler = (*latencies)(nil)
)

// Columns are those of the rows that Exchange appends, one per size.
func (l *latencies) Columns() []string {
	return []string{"size", "count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s", "mean_s"}
}

func (l *latencies) WarmUp(peer int) error { return l.probe.WarmUp(peer, l.plan.Sizes) }

func (l *latencies) Exchange(rows []float64, peer int) ([]float64, error) {
	for k, size := range l.plan.Sizes {
		s, err := l.probe.Pair(peer, size)
		if err != nil {
			return rows, err
		}
		rows = appendValues(rows, k, s)
	}
	return rows, nil
}

// appendValues appends one row.
func appendValues(rows []float64, size int, s pingpong.Summary) []float64 {
	unsure := (&Reading{Summary: s}).unsure()
	return append(rows, float64(size), float64(s.Count), float64(s.Batch), float64(s.Lots), float64(unsure), s.Min, s.Q1, s.Median, s.Q3, s.Max, s.Mean)
}

func (l *latencies) Samples() int { return l.plan.Samples }

func (l *latencies) SetSamples(samples int) { l.probe.SetSamples(samples) }

// readingOf is what a row of Exchange says.
func readingOf(row harness.Row) Reading {
	v := row.Values
	return Reading{
		From: row.From, To: row.To, Repetition: row.Repetition, Round: row.Round, Size: int(v[0]),
		Summary: pingpong.Summary{
			Count: int(v[1]), Batch: int(v[2]), Lots: int(v[3]), Unsure: v[4] == 1, Min: v[5], Q1: v[6], Median: v[7], Q3: v[8], Max: v[9], Mean: v[10],
		},
	}
}
