package zhu

import (
	"math"

	"github.com/topocast/topocast/model/contention"
)

// Times returns the completion times in s of flows that begin
// together, by Algorithm 2, and the number of its steps. There are at most as many steps as
// flows. Each costs what Rates does.
func (m Model) Times(capacity []float64, flows []contention.Flow) (times []float64, steps int) {
	times = make([]float64, len(flows))
	var number []int // of the flows still under way
	left := make([]float64, len(flows))
	for i, f := range flows {
		number, left[i] = append(number, i), f.Bytes
	}
	now := 0.0
	for ; len(number) > 0; steps++ {
		under := make([]contention.Flow, len(number))
		for k, i := range number {
			under[k] = flows[i]
		}
		rates := m.Rates(capacity, under)
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
				times[i] = now
			} else {
				rest = append(rest, i)
			}
		}
		number = rest
	}
	return times, steps
}
