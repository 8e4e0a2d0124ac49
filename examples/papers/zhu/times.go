package zhu

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model/contention"
)

// Times appends to dst the completion times in s of flows that begin
// together, by Algorithm 2. It returns the number of its steps, too, which is at most that of the
// flows. Each costs what Rates does.
func (m Model) Times(dst, capacity []float64, flows []contention.Flow) ([]float64, int, error) {
	if err := checkFlows(capacity, flows); err != nil {
		return dst, 0, err
	}
	from := len(dst)
	var number []int // of the flows still under way
	left := make([]float64, len(flows))
	for i, f := range flows {
		if !(f.Bytes > 0) || math.IsInf(f.Bytes, 0) {
			return dst[:from], 0, fmt.Errorf("zhu: flow %d: size is %g bytes: want above 0 and finite", i, f.Bytes)
		}
		dst, number, left[i] = append(dst, 0), append(number, i), f.Bytes
	}
	now, steps := 0.0, 0
	for ; len(number) > 0; steps++ {
		under := make([]contention.Flow, len(number))
		for k, i := range number {
			under[k] = flows[i]
		}
		rates := make([]float64, len(number))
		m.rates(rates, capacity, under)
		step := math.Inf(1)
		for k, i := range number {
			step = math.Min(step, left[i]/rates[k])
		}
		now += step
		var rest []int
		for k, i := range number {
			ends := left[i]/rates[k] <= step // the minimum finishes by definition
			left[i] -= step * rates[k]
			if ends || left[i] <= contention.NothingLeft*flows[i].Bytes {
				dst[from+i] = now
			} else {
				rest = append(rest, i)
			}
		}
		number = rest
	}
	return dst, steps, nil
}
