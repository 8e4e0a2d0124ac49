package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// whiteNoise estimates the standard deviation, in ln units, of what no host explains in a
// reading: neither the two hosts nor where they are. A host's mates see all others as it does in the
// mean, on a switch as in a ring or torus, so it is how a reading differs from the median of
// those of the mates: noise, and what lasts but belongs to one pair, as between virtual machines.
// NaN if nobody has mates. order is that of Symmetric.ByMean, so that what is looked at does not depend
// on the numbers of the hosts. O(n) for each of 64 hosts.
func (v *vicinity) whiteNoise(order []int32) float64 {
	const rows, perRow = 64, 96 // tell a median to 2 %
	n := v.r.N()
	step, skip := (n-1)/rows+1, (n-1)/perRow+1
	var rest, of []float64
	for a := 0; a < n; a += step {
		i := int(order[a])
		mates := v.of(i)
		for b := a % skip; b < n; b += skip {
			j := int(order[b])
			if j == i || slices.Contains(mates, int32(j)) {
				continue
			}
			x := v.r.Measured(i, j)
			if math.IsNaN(x) {
				continue
			}
			of = of[:0]
			for _, k := range mates {
				if y := v.r.Measured(int(k), j); y > 0 {
					of = append(of, y)
				}
			}
			if len(of) > 0 {
				// A median of k normal values spreads by sqrt(pi/2k); of one or two as their mean.
				k := float64(len(of))
				own := 1 / k
				if k > 2 {
					own *= math.Pi / 2
				}
				rest = append(rest, math.Abs(math.Log(x/middle(of)))/math.Sqrt(1+own))
			}
		}
	}
	return stats.Sigma(rest)
}
