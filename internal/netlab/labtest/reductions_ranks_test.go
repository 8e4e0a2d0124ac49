//go:build linux

package labtest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce"
)

// allreduces is collective: it times Allreduces of float64 of the sizes of a job, the library's, ours and reproducible ones in turn. Rank 0 gets
// the rows.
func (c *caster) allreduces(job *castJob) (rows []castRow, err error) {
	var s reduce.Settings
	if c.comm.Rank() == 0 {
		if s.Network, err = readNetwork(job.Network); err != nil {
			return nil, err
		}
	}
	ours, err := reduce.New(c.comm, &s)
	if err != nil {
		return nil, err
	}
	s.Reproducible = true
	reproducible, err := reduce.New(c.comm, &s)
	if err != nil {
		return nil, err
	}
	native := collective.New(c.comm)
	for _, size := range job.Sizes {
		row := castRow{Bytes: size}
		begin := c.now()
		if err := ours.Tune(size); err != nil {
			return nil, err
		}
		row.Tune = c.now() - begin
		if err := reproducible.Tune(size); err != nil {
			return nil, err
		}
		name, segment, _ := ours.Chosen(size, reduce.AllRanks)
		row.Plan = fmt.Sprintf("%s, segments of %d B", name, segment)
		values := make([]float64, size/8)
		c.fill = func(bool) { c.fillValues(values) }
		c.filled = func() bool { return c.valuesAdded(values) }
		ways := []func() error{
			func() error { return collective.Allreduce(native, values, mpi.Sum) },
			func() error { return reduce.AllreduceSlice(ours, values, mpi.Sum) },
			func() error { return reduce.AllreduceSlice(reproducible, values, mpi.Sum) },
		}
		if err := c.rounds(job, &row, everyRank, ways, []*[]float64{&row.Native, &row.Ours, &row.Reproducible}); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// value is what a rank contributes at an index: a whole number, so that sums are exact in any order.
func (c *caster) value(rank, i int) float64 { return float64((7*int(c.count) + 3*rank + i) % 1000) }

func (c *caster) fillValues(values []float64) {
	for i := range values {
		values[i] = c.value(c.comm.Rank(), i)
	}
}

// valuesAdded tells whether every value is the sum of those of all ranks.
func (c *caster) valuesAdded(values []float64) bool {
	for i, x := range values {
		sum := 0.0
		for rank := range c.comm.Size() {
			sum += c.value(rank, i)
		}
		if x != sum {
			return false
		}
	}
	return true
}
