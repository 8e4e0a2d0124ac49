package encode

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Latencies out of these bounds are possible, but are rather in another unit:
// light crosses 3 cm in 0.1 ns, and is in 0.25 s up at a satellite and back.
const (
	shortest = 1e-10 // s
	longest  = 0.5   // s
)

// maxAsymmetry is the ratio of the two directions of one pair above which a
// file is doubted. Real directions differ by routing and by outliers, seldom by
// more than a factor of ten; a link that is broken may do so by any.
const maxAsymmetry = 1000

// doubts returns what is odd about latencies in s, which stand in the file in
// a unit: why tells who has said so.
func doubts(m *mat.Dense, unit Unit, why string) []string {
	n, _ := m.Dims()
	least, most := math.Inf(1), 0.0
	measured := 0
	odd, worst, from, to := 0, 0.0, 0, 0
	for i := range n {
		for j := range n {
			v, back := m.At(i, j), m.At(j, i)
			if math.IsNaN(v) {
				continue
			}
			measured++
			if v > 0 {
				least, most = min(least, v), max(most, v)
			}
			if back > 0 && v > maxAsymmetry*back {
				odd++
				if v/back > worst {
					worst, from, to = v/back, i, j
				}
			}
		}
	}
	var all []string
	switch {
	case n > 1 && measured == 0:
		all = append(all, "no latency is given")
	case n > 1 && most == 0:
		all = append(all, "all latencies are 0")
	case most > 0 && most < shortest:
		all = append(all, fmt.Sprintf("the longest latency is %.3g s, read in %s, %s: light crosses 3 cm in 1e-10 s", most, unit, why))
	case least > longest && !math.IsInf(least, 1):
		all = append(all, fmt.Sprintf("the shortest latency is %.3g s, read in %s, %s: is that the unit?", least, unit, why))
	}
	if odd > 0 {
		all = append(all, fmt.Sprintf("%d latencies are more than %d times those of the other direction, from %d to %d %.3g times", odd, maxAsymmetry, from, to, worst))
	}
	return all
}
