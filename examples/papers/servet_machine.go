package main

import (
	"fmt"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A crayMachine is a torus of hosts, each with some processors of some cores: a Cray XE6 as section 5 of
// Servet 3.0 has it. Cores of one processor slow each other down on their way to the network, those of different
// processors do not.
type crayMachine struct {
	torus             string // "4x4x2"
	processors, cores int
}

// What is assumed of it.
const (
	crayAccess    = 3e9    // B/s; of a processor to the network
	crayLink      = 9.4e9  // B/s; of the torus: more than both processors of a host send, which do not disturb each other
	crayCore      = 6e9    // B/s; of a core to its processor
	crayHop       = 100e-9 // s
	crayAccessLag = 500e-9 // s
	crayCoreLag   = 150e-9 // s
)

// crayHost is how many cores a host has.
const crayHost = 2 * 16

// cluster makes the graph: cores first, then routers as the torus has them, then processors.
func (m crayMachine) cluster() (*simnet.Cluster, error) {
	torus, err := simnet.ParseCluster(fmt.Sprintf("torus:%s hosts=1 latency=%gns,1ns rate=%gBps,1GBps", m.torus, crayHop*1e9, crayLink))
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	g := torus.Graph
	nodes, routers := g.Hosts(), g.Vertices()-g.Hosts()
	each := m.processors * m.cores
	ranks := nodes * each
	var arcs []topology.Arc
	both := func(u, v int, latency, bandwidth float64) { arcs = topology.AppendLink(arcs, u, v, latency, bandwidth) }
	router := make([]int, nodes)
	for _, a := range g.Arcs() {
		switch {
		case a.From < nodes:
			router[a.From] = a.To - nodes + ranks
		case a.To >= nodes && a.From < a.To:
			both(a.From-nodes+ranks, a.To-nodes+ranks, a.Latency, a.Bandwidth)
		}
	}
	c := &simnet.Cluster{Node: make([]int, ranks), Routing: torus.Routing}
	for node := range nodes {
		for p := range m.processors {
			processor := ranks + routers + node*m.processors + p
			both(processor, router[node], crayAccessLag, crayAccess)
			for k := range m.cores {
				core := node*each + p*m.cores + k
				both(core, processor, crayCoreLag, crayCore)
				c.Node[core] = node
			}
		}
	}
	if c.Graph, err = topology.NewGraph(ranks, routers+nodes*m.processors, nil, arcs); err != nil {
		return nil, err
	}
	return c, nil
}
