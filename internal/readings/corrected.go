package readings

import "math"

// Corrected is readings with what single hosts add to all of theirs beside them: it is taken out where
// they are read. The zero correction is none. It does not change; Without and Quicker
// return another.
//
// Corrections follow on each other in the order in which they were found, each rounded to float32 as the
// readings are. Estimates stay estimates.
type Corrected struct {
	of    *Symmetric
	steps []correction
}

// A correction is what is taken out of the readings of each host: an offset, or a sum and a factor.
type correction struct {
	offset      []float64
	sum, factor []float32
}

// keep is the share of a reading that no correction takes away.
const keep = 0.05

// Correct begins with readings as they are.
func Correct(s *Symmetric) *Corrected { return &Corrected{of: s} }

// Quicker takes out what slow hosts add: of each host a sum in s, and then a factor.
func (c *Corrected) Quicker(sum, factor []float64) *Corrected {
	step := correction{sum: make([]float32, len(sum)), factor: make([]float32, len(factor))}
	for i := range sum {
		step.sum[i], step.factor[i] = float32(sum[i]), float32(factor[i])
	}
	return c.and(step)
}

// Without takes out the offsets of the hosts' links, in s.
func (c *Corrected) Without(offset []float64) *Corrected { return c.and(correction{offset: offset}) }

func (c *Corrected) and(step correction) *Corrected {
	return &Corrected{of: c.of, steps: append(c.steps[:len(c.steps):len(c.steps)], step)}
}

// apply takes everything out of reading x of the pair i > j.
func (c *Corrected) apply(x float32, i, j int) float32 {
	for k := range c.steps {
		x = c.steps[k].apply(x, i, j)
	}
	return x
}

func (c *correction) apply(x float32, i, j int) float32 {
	if c.offset != nil {
		size := math.Abs(float64(x))
		return float32(math.Copysign(max(keep*size, size-c.offset[i]-c.offset[j]), float64(x)))
	}
	size := max(x, -x)
	y := max(keep*size, (size-c.sum[i]-c.sum[j])/(c.factor[i]*c.factor[j]))
	if x < 0 {
		return -y
	}
	return y
}

// N is the number of hosts.
func (c *Corrected) N() int { return c.of.n }

// At is the reading of i != j, negative where it was not measured.
func (c *Corrected) At(i, j int) float32 {
	if i < j {
		i, j = j, i
	}
	return c.apply(c.of.d[i*(i-1)/2+j], i, j)
}

// Part is the readings of host i to hosts from to upto-1, all below i, in scratch if they
// are not as they were. They must not be changed.
func (c *Corrected) Part(scratch []float32, i, from, upto int) []float32 {
	row := c.of.Row(i)[from:upto]
	if len(c.steps) == 0 {
		return row
	}
	scratch = append(scratch[:0], row...)
	for k := range c.steps {
		for j, x := range scratch {
			scratch[j] = c.steps[k].apply(x, i, from+j)
		}
	}
	return scratch
}

// InOrder is Symmetric.InOrder of the corrected readings.
func (c *Corrected) InOrder(order []int32, scratch []float32) *Symmetric {
	o := c.of.InOrder(order, scratch)
	if len(c.steps) == 0 {
		return o
	}
	for p, i := range order {
		row := o.Row(p)
		for q, j := range order[:p] {
			row[q] = c.apply(row[q], int(max(i, j)), int(min(i, j)))
		}
	}
	return o
}

// Symmetric is the corrected readings: a copy, or those that there were if nothing is taken out. O(n^2).
func (c *Corrected) Symmetric() *Symmetric {
	if len(c.steps) == 0 {
		return c.of
	}
	s := newSymmetric(c.of.n)
	for i := range s.n {
		copy(s.Row(i), c.Part(s.Row(i), i, 0, i))
	}
	return s
}
