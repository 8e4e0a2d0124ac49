package main

import (
	"fmt"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
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

// messageCosts varies what a message costs the network card, and tells by it with how many cores each kernel is fastest.
// The paper does not print that cost, so nothing is compared. It is collective; the network and the ratios are rank 0's.
//
// The cost is one of occupation: a message to another host holds its processor's access to the network for so long beside
// its bytes, as if it were longer by them.
func (r *servetRun) messageCosts(n *model.Network, ratios *model.Degradation) error {
	size := r.comm.Size()
	hosts := size / crayHost
	var t *outcome.Table // rank 0's
	if r.comm.Rank() == 0 {
		s := r.out.Section("Fewer cores per host, by what a message costs the network card (figure 8)")
		s.Say("The number of cores with which a kernel is fastest, by the time for which each message to another host holds its processor's access to the network beside its bytes. The paper finds IS fastest with two processes on each host, and CG and MG with half of the cores, and does not print this cost: the table says which cost that would take here, and nothing is compared.")
		t = s.Table("message-costs", outcome.Text("kernel"), outcome.Text("message"), outcome.Number("processes", ""), outcome.Number("on each host", ""), outcome.Number("of the cores", ""), outcome.Number("gain over all cores", ""))
		s.Because("Memory is not what slows the simulated cores: CG reads 12 B for each two operations, so that the 16 cores of a processor at %.3g million operations per second read %s, where four channels of DDR3-1600 have 51.2 GB/s.",
			200.0, quantity.Rate(16*200e6*6))
	}
	places := make(map[int][]int) // by the number of processes
	for ranks := hosts; ranks <= size; ranks *= 2 {
		both, err := r.places(n, ratios, ranks)
		if err != nil {
			return err
		}
		places[ranks] = both[1]
	}
	for _, k := range r.class.kernels() {
		for _, cost := range []float64{0, 250e-9, 1e-6, 4e-6} {
			own := *r
			own.perMessage = cost
			var fastest placed
			speed := 0.0 // of the last number of ranks, which is all
			for ranks := hosts; ranks <= size; ranks *= 2 {
				var err error
				if speed, err = own.speed(k, places[ranks]); err != nil {
					return err
				}
				if speed > fastest.ours {
					fastest = placed{ranks: ranks, ours: speed}
				}
			}
			if t != nil {
				t.Row(k.name, quantity.Seconds(cost), fastest.ranks, float64(fastest.ranks)/float64(hosts), float64(fastest.ranks)/float64(size), fastest.ours/speed)
			}
		}
	}
	return nil
}
