package gridjob

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// Measure is collective: it runs the lines of a table, and returns for each the medians of what its runs return. Lines take turns,
// so that a disturbance does not hit one line alone. A first run of each does not count: it warms up, and chooses. run is told which
// one is the last.
func (o *Options) Measure(lines int, run func(line int, isLast bool) ([]float64, error)) ([][]float64, error) {
	values := make([][][]float64, lines) // by line, part and run
	for i := range 1 + o.Repeat {
		for line := range lines {
			parts, err := run(line, i == o.Repeat)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				values[line] = make([][]float64, len(parts))
				continue
			}
			for part, x := range parts {
				values[line][part] = append(values[line][part], x)
			}
		}
	}
	medians := make([][]float64, lines)
	for line := range lines {
		for _, x := range values[line] {
			medians[line] = append(medians[line], stats.MiddleMedian(x))
		}
	}
	return medians, nil
}

// The time of a run is that of the slowest rank, for which all others wait in the end. Its parts differ between ranks: one that
// computes for longer waits less. Their means over the ranks add up to nearly the time of the run.

// Shares is collective: all of so many ranks get the greatest of some values, and behind these the means of others.
func Shares(c *collective.Comm, ranks int, greatest, means []float64) ([]float64, error) {
	if err := collective.Allreduce(c, greatest, mpi.Max); err != nil {
		return nil, err
	}
	if err := collective.Allreduce(c, means, mpi.Sum); err != nil {
		return nil, err
	}
	for i := range means {
		means[i] /= float64(ranks)
	}
	return append(greatest, means...), nil
}

// Farthest is the greatest difference between elements of two slices; NaN if one is no number.
func Farthest(a, b []float64) (most float64) {
	for i, x := range a {
		most = max(most, math.Abs(x-b[i]))
	}
	return most
}
