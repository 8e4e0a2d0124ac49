package draw

import (
	"math"

	"github.com/topocast/topocast/topology"
)

// placesOf lays a graph out: x, y and z of each vertex in turn, about the middle, none farther from
// it than placeScale.
func placesOf(g *topology.Graph) ([]int, error) {
	at, err := Layout(g, nil)
	if err != nil {
		return nil, err
	}
	var low, high [3]float64
	for v, x := range at {
		for axis := range x {
			if v == 0 {
				low[axis], high[axis] = x[axis], x[axis]
			}
			low[axis], high[axis] = min(low[axis], x[axis]), max(high[axis], x[axis])
		}
	}
	radius := 0.0
	for v, x := range at {
		square := 0.0
		for axis := range x {
			at[v][axis] -= (low[axis] + high[axis]) / 2
			square += at[v][axis] * at[v][axis]
		}
		radius = max(radius, math.Sqrt(square))
	}
	places := make([]int, 0, 3*len(at))
	for _, x := range at {
		for _, coordinate := range x {
			place := 0.0
			if radius > 0 {
				place = coordinate / radius * placeScale
			}
			places = append(places, int(math.Round(place)))
		}
	}
	return places, nil
}
