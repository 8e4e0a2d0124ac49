package clique

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// A Grouping is a way to tell how many different latencies there are among
// many readings. All give classes without overlap that do not depend on the
// order of the readings.
type Grouping string

// The groupings.
const (
	// GroupByGap cuts the sorted latencies where two neighbours differ beyond
	// tolerance. Bufe 2014, section 4.2, proposes it in place of the rough set
	// of section 2.2.3, whose result depends on the order.
	GroupByGap Grouping = "gap"

	// GroupByKMeans cuts the logarithms where the sum of squares within the
	// classes is least (Wang and Song 2011, Ckmeans.1d.dp); their number is
	// the one of the best Bayesian information criterion.
	GroupByKMeans Grouping = "kmeans"

	// GroupByDensity cuts the logarithms at the valleys of their density.
	GroupByDensity Grouping = "density"
)

func (g Grouping) validate() error {
	switch g {
	case "", GroupByGap, GroupByKMeans, GroupByDensity:
		return nil
	}
	return fmt.Errorf("clique: Grouping %q: want %q, %q or %q", g, GroupByGap, GroupByKMeans, GroupByDensity)
}

// roughly compares latencies with a relative tolerance, as in Bufe 2014,
// equation 1.9, and an absolute one.
type roughly struct{ relative, absolute float64 }

// equal tells whether two latencies differ by at most the tolerance times
// their mean. Infinity equals nothing, itself included: it stands for no link.
func (r roughly) equal(a, b float64) bool {
	d := math.Abs(a - b)
	return d <= r.relative*(a+b)/2+r.absolute && !math.IsInf(a+b, 0)
}

func (r roughly) less(a, b float64) bool { return a < b && !r.equal(a, b) }

// latencyGroups returns the bounds of the classes of sorted latencies: class k
// is sorted[bounds[k]:bounds[k+1]]. Zeros are a class of their own where
// logarithms are taken.
func latencyGroups(sorted []float64, by Grouping, r roughly) []int {
	bounds := []int{0}
	if len(sorted) == 0 {
		return bounds
	}
	zeros := 0
	for zeros < len(sorted) && sorted[zeros] <= 0 {
		zeros++
	}
	logs := make([]float64, len(sorted)-zeros)
	for i := range logs {
		logs[i] = math.Log(sorted[zeros+i])
	}
	var class []int
	switch by {
	default:
		for i := 1; i < len(sorted); i++ {
			if !r.equal(sorted[i-1], sorted[i]) {
				bounds = append(bounds, i)
			}
		}
		return append(bounds, len(sorted))
	case GroupByKMeans:
		class = ckmeans(logs, maxLevels, r.relative/toleranceSigmas)
	case GroupByDensity:
		class = stats.Classes(logs, nil, max(leastBandwidth, r.relative/toleranceSigmas))
	}
	if zeros > 0 && zeros < len(sorted) {
		bounds = append(bounds, zeros)
	}
	for i := 1; i < len(class); i++ {
		if class[i] != class[i-1] {
			bounds = append(bounds, zeros+i)
		}
	}
	return append(bounds, len(sorted))
}

// maxLevels bounds the number of latency classes that are tried: machines have up to six
// levels, and routes of a mesh a dozen lengths.
const maxLevels = 16

// toleranceSigmas is how many standard deviations of one reading the tolerance is, where a
// grouping wants a spread: the difference of two is as large once in 200 pairs. 1.3 to 12
// pass the tests.
const toleranceSigmas = 4

// leastBandwidth is the least of the densities' bandwidths, as a share: quiet networks have
// half to two percent of noise, and a tolerance of nothing would make each value a peak.
const leastBandwidth = 0.01
