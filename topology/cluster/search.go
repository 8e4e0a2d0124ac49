package cluster

import (
	"fmt"
	"math"
)

// Search tries steps values of a method's parameter, from low in increments
// of (high-low)/steps, and returns the value of the highest score, its labels
// and the score (Reinfjell 2023, section 3.3, linear search; 50 steps there).
// Ties go to the lower value. Values for which the method returns an error are
// passed over; if none is left, the last error is returned. The cost is steps
// times that of the method and the score.
//
// Spaces named there: [1, n) in steps of 1 for a number of clusters, (0, 5)
// for SSS's Alpha, from the smallest to the largest distance for Eps,
// Threshold and Height. Scores: Silhouette, DBCV, Matching against a known
// answer.
func Search(d *Distances, low, high float64, steps int, method func(x float64) Clusterer, score func(Labels) float64) (x float64, labels Labels, best float64, err error) {
	if steps < 1 || !(high >= low) {
		return 0, nil, 0, fmt.Errorf("cluster: search: %d steps from %g to %g: want at least 1, and low to high", steps, low, high)
	}
	best = math.Inf(-1)
	for k := range steps {
		v := low + float64(k)*(high-low)/float64(steps)
		l, e := method(v).Cluster(d)
		if e != nil {
			err = e
			continue
		}
		if s := score(l); s > best {
			x, labels, best = v, l, s
		}
	}
	if labels == nil {
		return 0, nil, 0, fmt.Errorf("cluster: search: no value from %g to %g works: %w", low, high, err)
	}
	return x, labels, best, nil
}
