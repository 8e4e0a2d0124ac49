package measure

import (
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
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
	return append([]string{record.ColumnSize}, summaryColumns[:]...)
}

func (l *latencies) WarmUp(peer int) error { return l.probe.WarmUp(peer, l.plan.Sizes) }

func (l *latencies) Exchange(rows []float64, peer int) ([]float64, error) {
	for k, size := range l.plan.Sizes {
		s, err := l.probe.Pair(peer, size)
		if err != nil {
			return rows, err
		}
		rows = appendSummary(append(rows, float64(k)), &s)
	}
	return rows, nil
}

func (l *latencies) Samples() int { return l.plan.Samples }

func (l *latencies) SetSamples(samples int) { l.probe.SetSamples(samples) }

// readingOf is what a row of Exchange says.
func readingOf(row harness.Row) Reading {
	return Reading{
		From: row.From, To: row.To, Repetition: row.Repetition, Round: row.Round, Size: int(row.Values[0]), Summary: summaryOf(row.Values[1:]),
	}
}

// summaryColumns name the numbers of a summary: whole ones first, then times, the mean behind those in ascending order.
var summaryColumns = [...]string{"count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s", "mean_s"}

// appendSummary appends the numbers of a summary.
func appendSummary(row []float64, s *pingpong.Summary) []float64 {
	unsure := 0.0
	if s.Unsure {
		unsure = 1
	}
	return append(row, float64(s.Count), float64(s.Batch), float64(s.Lots), unsure, s.Min, s.Q1, s.Median, s.Q3, s.Max, s.Mean)
}

// summaryOf is the summary of what appendSummary appends.
func summaryOf(v []float64) pingpong.Summary {
	return pingpong.Summary{
		Count: int(v[0]), Batch: int(v[1]), Lots: int(v[2]), Unsure: v[3] == 1, Min: v[4], Q1: v[5], Median: v[6], Q3: v[7], Max: v[8], Mean: v[9],
	}
}
