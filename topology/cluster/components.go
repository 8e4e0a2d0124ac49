package cluster

import "fmt"

// Components are the connected components of the graph that joins all objects
// at most Threshold apart (Reinfjell 2023, connected-components clustering):
// the same as cutting single linkage at that height. O(n^2).
type Components struct {
	Threshold float64 // in the unit of the distances, at least 0
}

var _ Clusterer = Components{}

// Cluster returns the components.
func (c Components) Cluster(d *Distances) (Labels, error) {
	if !(c.Threshold >= 0) {
		return nil, fmt.Errorf("cluster: components: Threshold %g: want at least 0", c.Threshold)
	}
	return singleLinkage(d).cut(c.Threshold), nil
}
