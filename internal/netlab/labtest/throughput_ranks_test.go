//go:build linux

package labtest

import (
	"context"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// A throughputReport has what each link of a lab was measured to carry.
type throughputReport struct {
	Rates    []float64 `json:"rates_Bps"` // of the arcs of the lab's graph
	AtLeast  []bool    `json:"at_least"`
	Seconds  float64   `json:"seconds"`
	Warnings []string  `json:"warnings"`
}

// Messages of a lab: 10 ms at 100 Mbit/s each. Of four samples two may be disturbed.
const (
	throughputSize    = 128 << 10 // B
	throughputSamples = 4
)

// measureThroughput measures the links of a lab with one rank per host, in the order of
// hosts, whose wiring rank 0 takes from the lab. It is collective.
func measureThroughput(comm mpi.Communicator, name string, s *netlab.Settings) (*throughputReport, error) {
	var settings *throughput.Settings
	if comm.Rank() == 0 {
		lab, err := netlab.Open(name, s)
		if err != nil {
			return nil, err
		}
		g := lab.Cluster.Graph
		flat, err := topology.NewHierarchy(g.Hosts(), nil, nil, 0)
		if err != nil {
			return nil, err
		}
		settings = &throughput.Settings{
			Topology: &topology.Result{Graph: g, Hierarchy: flat},
			Load:     throughput.Load{Size: throughputSize, Samples: throughputSamples},
		}
	}
	r, err := throughput.Measure(context.Background(), comm, settings)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	report := &throughputReport{Seconds: r.Seconds, Warnings: r.Warnings}
	for _, l := range r.Links {
		report.Rates, report.AtLeast = append(report.Rates, l.Rate), append(report.AtLeast, l.AtLeast)
	}
	return report, nil
}
