package linkage_test

import "math"

// points is the layout of points whose latencies are a base and their distances.
func points(at [][]float64, base, scale float64) *layout {
	l := newLayout(len(at))
	l.spatial = true
	for i, p := range at {
		for j, q := range at[:i] {
			sum := 0.0
			for k := range p {
				sum += (p[k] - q[k]) * (p[k] - q[k])
			}
			l.set(i, j, base+scale*math.Sqrt(sum))
		}
	}
	return l
}

// scatter draws points in a cube of the given number of dimensions.
func scatter(d *draw, n, dimensions int) [][]float64 {
	at := make([][]float64, n)
	for i := range at {
		at[i] = make([]float64, dimensions)
		for k := range at[i] {
			at[i][k] = d.Float64()
		}
	}
	return at
}

// spaces are hosts at places, as in wide area networks.
func spaces() []family {
	uniform := func(name string, dimensions int) family {
		return family{name, "space", false, func(d *draw) (*layout, *measurement) {
			scale := d.between(1e-3, 20e-3)
			return points(scatter(d, d.scale(16, 256), dimensions), scale*d.between(0, 0.5), scale), usual(d)
		}}
	}
	return []family{
		uniform("points-plane", 2),
		uniform("points-cube", 3),
		{"points-clustered", "space", true, func(d *draw) (*layout, *measurement) {
			dimensions := d.whole(2, 3)
			centres := scatter(d, d.whole(3, 8), dimensions)
			nearest := math.Inf(1) // distance of two centres
			for i, p := range centres {
				for _, q := range centres[:i] {
					sum := 0.0
					for k := range p {
						sum += (p[k] - q[k]) * (p[k] - q[k])
					}
					nearest = min(nearest, math.Sqrt(sum))
				}
			}
			// Clusters of a diameter of at most a third of the way to the next.
			edge := nearest / 4 / math.Sqrt(float64(dimensions)) * d.between(0.3, 1)
			var at [][]float64
			var groups [][]int
			for _, c := range centres {
				first := len(at)
				for _, p := range scatter(d, d.whole(4, 20), dimensions) {
					for k := range p {
						p[k] = c[k] + edge*(p[k]-0.5)
					}
					at = append(at, p)
				}
				groups = append(groups, span(first, len(at)))
			}
			scale := d.between(1e-3, 20e-3)
			l := points(at, scale*nearest*d.between(0.05, 0.2), scale)
			l.groups = groups
			return l, usual(d)
		}},
	}
}
