package compare

import (
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// LinksOfLatencies is Links of hosts between which latencies were measured, n*n in s, NaN where not, without a wiring
// that was found. Hosts are numbered as those of the reference.
func LinksOfLatencies(latencies mat.Matrix, reference *topology.Graph, s *LinkSettings) (*LinkComparison, error) {
	n := reference.Hosts()
	hosts, err := topology.NewGraph(n, 0, reference.Names()[:n], nil)
	if err != nil {
		return nil, err
	}
	c, err := newLinkComparer(hosts, reference, s)
	if err != nil {
		return nil, err
	}
	c.distances = nil
	for _, i := range c.measured.vertex[:len(c.out.Hosts)] {
		for _, j := range c.measured.vertex[:len(c.out.Hosts)] {
			c.distances = append(c.distances, latencies.At(i, j))
		}
	}
	return c.compare(hosts)
}
