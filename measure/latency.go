package measure

import (
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// latencies is the test of a pair by which Run measures: a ping-pong of each size.
type latencies struct {
	probe *pingpong.Probe
	plan  *plan
}

// exchange appends the numbers of a measurement for each size, see harness.Exchange.
func (l *latencies) exchange(found []float64, peer int, _ bool, samples int) ([]float64, error) {
	if samples == harness.WarmUp {
		return found, l.probe.WarmUp(peer, l.plan.Sizes)
	}
	l.probe.Samples = samples
	for k, size := range l.plan.Sizes {
		s, err := l.probe.Pair(peer, size)
		if err != nil {
			return found, err
		}
		found = appendSummary(append(found, float64(k)), &s)
	}
	return found, nil
}

// exchanged are the numbers of a measurement that exchange appends.
const exchanged = 1 + len(summaryColumns)

// readingsOf are what a row of exchange says.
func measurementsOf(row harness.Row) (all []Measurement) {
	for v := range slices.Chunk(row.Values, exchanged) {
		all = append(all, Measurement{
			From: row.From, To: row.To, Repetition: row.Repetition, Round: row.Round, Size: int(v[0]), Summary: summaryOf(v[1:]),
		})
	}
	return all
}

// summaryColumns name the numbers of a summary: whole ones first, then times, the mean behind those in ascending order.
var summaryColumns = [...]string{"count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s", "mean_s"}

// appendSummary appends the numbers of a summary.
func appendSummary(row []float64, s *pingpong.Summary) []float64 {
	return append(row, float64(s.Count), float64(s.Batch), float64(s.Lots), record.Flag(s.Unsure), s.Min, s.Q1, s.Median, s.Q3, s.Max, s.Mean)
}

// summaryOf is the summary of what appendSummary appends.
func summaryOf(v []float64) pingpong.Summary {
	return pingpong.Summary{
		Count: int(v[0]), Batch: int(v[1]), Lots: int(v[2]), Unsure: v[3] == 1, Min: v[4], Q1: v[5], Median: v[6], Q3: v[7], Max: v[8], Mean: v[9],
	}
}
