package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/benchmark"
)

// A Report is what a report of topocast bcast says of the native broadcast: the times of one job. Low and High of its rows bound
// the median, or all samples where they are too few for that.
type Report struct {
	name string // of the file, for errors
	*benchmark.Report
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
	f.Rows = slices.DeleteFunc(f.Rows, func(x benchmark.Row) bool { return x.Variant != table.Native || x.Bytes == 0 })
	for i := range f.Rows {
		x := &f.Rows[i]
		if x.TooFew() || math.IsNaN(x.High) {
			x.Low, x.High = x.Min, x.Max
		}
		if !x.Verified || x.Bytes < 0 || !(x.Low > 0 && x.Low <= x.Median && x.Median <= x.High) || math.IsInf(x.High, 0) {
			return nil, fmt.Errorf("%s: %d bytes: median %g s in [%g, %g], verified %v: want that right", name, x.Bytes, x.Median, x.Low, x.High, x.Verified)
		}
		if slices.ContainsFunc(f.Rows[:i], func(o benchmark.Row) bool { return o.Bytes == x.Bytes }) {
			return nil, fmt.Errorf("%s: %d bytes: given twice", name, x.Bytes)
		}
	}
	if len(f.Rows) == 0 {
		return nil, fmt.Errorf("%s: no times of the native broadcast", name)
	}
	return &Report{name, f}, nil
}
