package compare

import (
	"errors"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// A Comparison of a measured machine with its specification.
type Comparison struct {
	// Similarity is the mean over the specified links between hosts of the
	// probability that they exist, in percent. It is 0 if no host is wired to
	// another in the specification.
	Similarity float64
	Regular    bool        // hosts are wired to each other in the specification; else the machine is hierarchical
	Links      []LinkCheck // of the reference, sorted; then, of regular machines, extra ones
	Suspects   []Suspect   // hosts and links to look at, the worst first
	Unknown    string      // why hosts could not be tried for being suspects; "" if they could
}

// Settings are the settings of Graphs; nil is all defaults.
type Settings struct {
	// Bytes is the size of the messages whose times are compared: a specified
	// link takes its latency, if known, and Bytes/bandwidth, if known.
	Bytes float64
}

// Graphs compares a measured graph with a specified one, as Bannikov and
// Salnikov 2014, section 2.3, do. Hosts of both are matched by name; hosts of
// the measured graph with equal names are processes of one node. times are
// those between its hosts, n*n in s, NaN where not measured.
//
// Of regular machines each specified link is looked up. Hierarchical ones take two
// steps. The mean time between two nodes that the measured graph joins (equation 3) is
// spread over the arcs of the shortest path between them in the reference, in proportion
// to 1/bandwidth (equation 4). Then an arc's mean over all paths is compared with
// the time specified for it. Where the reference gives latencies the proportion is that
// of the specified times, of which the paper's is the case without latencies.
// The list of suspects is ours: see Suspect. O(n^2) paths.
func Graphs(measured *topology.Graph, times mat.Matrix, reference *topology.Graph, s *Settings) (*Comparison, error) {
	if s == nil {
		s = &Settings{}
	}
	if !(s.Bytes >= 0) || math.IsInf(s.Bytes, 0) {
		return nil, fmt.Errorf("compare: Bytes %g: want at least 0 and finite", s.Bytes)
	}
	in, err := readings.DirectedOf("compare", []mat.Matrix{times})
	if err != nil {
		return nil, err
	}
	if in.N() != measured.Hosts() {
		return nil, fmt.Errorf("compare: %d x %d times for %d hosts", in.N(), in.N(), measured.Hosts())
	}
	c := &comparer{measured: measured, reference: reference, times: in.Cells(), bytes: s.Bytes}
	if err := c.match(); err != nil {
		return nil, err
	}
	c.group()
	out := &Comparison{}
	out.Similarity = c.similarity()
	if out.Regular = wiresHosts(reference); out.Regular {
		out.Links = c.regular()
		out.Suspects = suspectLinks(reference, out.Links)
	} else {
		out.Links = c.hierarchical()
	}
	more, err := c.suspects()
	switch {
	case errors.Is(err, latencyfit.ErrNothingToFit):
		out.Unknown = err.Error()
	case err != nil:
		return nil, err
	}
	out.Suspects = append(out.Suspects, more...)
	rank(out.Suspects)
	return out, nil
}
