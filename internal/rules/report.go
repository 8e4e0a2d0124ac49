package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/benchmark"
)

// A Report is what a report of topocast bcast says of the native broadcast: the times of one job.
type Report struct {
	name        string // of the file, for errors
	ranks, root int
	benchmark.Conditions
	times []timing
}

// A timing is the measured time of one size.
type timing struct {
	bytes     int64
	median    float64 // s
	low, high float64 // s; the interval of the median, or of all samples where they are too few for that
}

// Read reads what topocast bcast --json has printed. Errors begin with the name.
func Read(name string, data []byte) (*Report, error) {
	f, err := benchmark.Read(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case f.Ranks < 2 || f.Hosts < 1 || f.Root < 0 || f.Root >= f.Ranks:
		return nil, fmt.Errorf("%s: %d ranks on %d hosts, root %d: want at least 2 and 1", name, f.Ranks, f.Hosts, f.Root)
	}
	report := &Report{name: name, ranks: f.Ranks, root: f.Root, Conditions: f.Conditions}
	for _, x := range f.Rows {
		if x.Variant != table.Native || x.Bytes == 0 {
			continue
		}
		t := timing{bytes: int64(x.Bytes), median: x.Median, low: x.Min, high: x.Max}
		if !x.TooFew() && !math.IsNaN(x.High) {
			t.low, t.high = x.Low, x.High
		}
		if !x.Verified || x.Bytes < 0 || !(t.low > 0 && t.low <= t.median && t.median <= t.high) || math.IsInf(t.high, 0) {
			return nil, fmt.Errorf("%s: %d bytes: median %g s in [%g, %g], verified %v: want that right", name, x.Bytes, t.median, t.low, t.high, x.Verified)
		}
		if slices.ContainsFunc(report.times, func(o timing) bool { return o.bytes == t.bytes }) {
			return nil, fmt.Errorf("%s: %d bytes: given twice", name, x.Bytes)
		}
		report.times = append(report.times, t)
	}
	if len(report.times) == 0 {
		return nil, fmt.Errorf("%s: no times of the native broadcast", name)
	}
	return report, nil
}
