package main

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/linkage"
)

// ofTheSource repeats the experiments on the source's machines.
func (o *bufeOptions) ofTheSource(ctx context.Context, progress io.Writer) (*outcome.Outcome, error) {
	o.quiet = true
	found := newBufeOutcome()
	found.Where = "Simulated: the Westmere cluster, the Magny node and Blizzard nodes (section 3.1). Their latencies are those of the source's tables in the mean, measurements scatter as in its table 3.1; what it does not say is assumed: bandwidths, and of Blizzard which processors of two blocks are linked."
	var ways *bufeWays
	for _, part := range []struct {
		machine string
		play    func(context.Context, *outcome.Outcome) error
	}{
		{"Westmere, two nodes", o.delaysOfWestmere},
		{"Magny", o.ofMagny},
		{"Blizzard", func(ctx context.Context, found *outcome.Outcome) (err error) {
			ways, err = o.ofBlizzard(ctx, found)
			return err
		}},
		{"Westmere", o.ofWestmere},
	} {
		fmt.Fprintln(progress, part.machine)
		if err := part.play(ctx, found); err != nil {
			return nil, err
		}
	}
	success(found.Section("Table 3.10: probability of success (section 3.4)"), o.precision(ways), 32)
	return found, nil
}

// latencies are the medians of all pairs, in s. It is collective.
func (o *bufeOptions) latencies(ctx context.Context, comm mpi.Communicator, batch, samples int) (*mat.Dense, error) {
	r, err := measure.Run(ctx, comm, &measure.Settings{Sizes: []int{bufeShort}, Repetitions: 1, Samples: samples, Batch: batch, Seed: 1, Budget: o.budget.next()})
	if err != nil || r == nil {
		return nil, err
	}
	return typical(r, measure.Median, 0)
}

// ofMagny is table 3.1, and section 3.3.2.
func (o *bufeOptions) ofMagny(ctx context.Context, found *outcome.Outcome) error {
	m, err := magny()
	if err != nil {
		return err
	}
	count := bufeOfPair
	if o.samples == bufeFull {
		count = 50_000
	}
	pair, err := onRanks(m, []int{0, 1}, func(comm mpi.Communicator) (*measure.Result, error) {
		return measure.Run(ctx, comm, &measure.Settings{Sizes: []int{bufeShort}, Repetitions: 1, Samples: count, Batch: 1})
	})
	if err != nil {
		return err
	}
	s := found.Section("Table 3.1: measurements of one pair of the Magny node (section 3.2.1)")
	printedBeside{}.table31(s, &bufeWays{pair: pair.Readings()[0].Summary})
	s.Because("An input: the machine was made by the quartiles and the mean. The longest measurement is that of one run, the source's of 50,000 measurements, and how long the rare ones are it does not print.")

	all, err := onRanks(m, nil, func(comm mpi.Communicator) (*mat.Dense, error) { return o.latencies(ctx, comm, 1, o.samples) })
	if err != nil {
		return err
	}
	s = found.Section("Magny node (section 3.3.2)")
	s.Say("Four sockets of twelve cores, as two dies of six (which the source does not say). It finds latencies inside and between sockets too much alike to tell them apart, and with a large eps a star of one switch.")
	socket := mat.DenseCopyOf(all.Slice(0, 12, 0, 12))
	firsts := pick(all, 0, 12, 24, 36)
	matrixTable(s, "table-3.7", "Table 3.7, simulated: between first cores of the sockets", firsts)
	s.Compare(outcome.Input, "inter-socket latency, mean", "s", meanOf(published.Table("3.7"), 4, true), meanOf(firsts, 4, true))
	s.Compare(outcome.Input, "intra-socket latency, mean", "s", meanOf(published.Table("3.8"), 12, true), meanOf(socket, 12, true))
	_, widest, err := o.models(s, "models-magny", []modelled{{"table 3.7, printed", published.Table("3.7")}, {"table 3.8, printed", published.Table("3.8")}, {"simulated, all cores", all}})
	if err != nil {
		return err
	}
	s.Compare(outcome.Measured, "switches with a large eps", "", 1, float64(switchesOf(widest[2].Graph)))
	robust, err := linkage.Reconstruct(all)
	if err != nil {
		return err
	}
	s.Say("Package linkage, which takes noise into account, finds %d switches in the simulated latencies (hosts on them: %s).", switchesOf(robust.Graph), hostsOnSwitches(robust.Graph))
	return nil
}

// pick is the part of a matrix of some ranks.
func pick(m *mat.Dense, ranks ...int) *mat.Dense {
	part := mat.NewDense(len(ranks), len(ranks), nil)
	for i, a := range ranks {
		for j, b := range ranks {
			part.Set(i, j, m.At(a, b))
		}
	}
	return part
}

// ofBlizzard are tables 3.2 to 3.4, and sections 3.3.3 and 3.3.4.
func (o *bufeOptions) ofBlizzard(ctx context.Context, found *outcome.Outcome) (*bufeWays, error) {
	node, err := blizzard(1)
	if err != nil {
		return nil, err
	}
	w, err := onRanks(node, nil, func(comm mpi.Communicator) (*bufeWays, error) { return o.readWays(ctx, comm) })
	if err != nil {
		return nil, err
	}
	s := found.Section("Tables 3.2 to 3.4: ways to measure a Blizzard node (section 3.2.3)")
	printedBeside{}.deviations(s, w)
	batched, err := deviationOf(w.single[0], w.batched[0])
	if err != nil {
		return nil, err
	}
	parallel, err := deviationOf(w.oneSingle, w.single[0])
	if err != nil {
		return nil, err
	}
	s.Because("In table 3.2 ours are medians of %d measurements whose scatter is that of table 3.1, another machine's. Noise falls with their number, and for as many as the source has (10,000: --full) ends below its MAD of 7.7 to 11.1 ns: something else changed between its measurements, which it does not tell. MD and MAXD come out otherwise in every run: its own are 0.6 and 5.9 ns, 35 and 97 ns.", w.samples)
	s.Because("In table 3.3 the simulated A differs from B by %+.3g ns in the mean, where the source has +65.6: beside the clock, which costs ours nothing, batches hold some of the measurements that are far too long, which the simulation has as often as table 3.1.", 1e9*batched.MD)
	s.Because("An input: in table 3.4 it is %+.3g ns for single round trips, where the source has -29.4: what disturbs parallel measurement in the source is not told by it, and simulated ranks share links, which short messages do not fill, and nothing else.", 1e9*parallel.MD)

	s = found.Section("Blizzard node (section 3.3.3)")
	s.Say("Sixteen processors of two cores in four fully meshed blocks, each processor with two links out of its block. The source finds six groups of latencies, of which the fourth and the fifth are one, and its algorithm the right topology but for switches in place of the meshes, which latencies cannot tell.")
	if err := drawnWiring(s, "figure-3.2", "Figure 3.2: wiring of the simulated Blizzard node; which processors of two blocks are linked is assumed", node.cluster.Graph); err != nil {
		return nil, err
	}
	all := stats.MedianCells(asMatrices(w.single[:]))
	if err := distribution(s, "figure-3.3", "Figure 3.3: latencies of a Blizzard node, simulated", draw.Sample{Name: "all cores", Values: inMicroseconds(all, 32)}); err != nil {
		return nil, err
	}
	printed := published.Table("3.9")
	for p := 1; p < 16; p++ {
		s.Compare(outcome.Input, fmt.Sprintf("table 3.9, processor %d", p), "s", printed.At(0, p), all.At(0, 2*p))
	}
	hosts := node.cluster.Graph.Hosts()
	exact := mat.NewDense(hosts, hosts, node.cluster.Graph.HostDistances())
	chosen, _, err := o.models(s, "models-blizzard", []modelled{{"simulated, all cores", all}, {"without noise", exact}})
	if err != nil {
		return nil, err
	}
	computed := chosen[0].Graph
	_, processors := onSwitches(computed)
	kind := outcome.MeasuredIf(o.samples >= bufeFull)
	s.Compare(kind, "processors of two cores", "", 16, float64(processors[2]))
	s.Compare(kind, "switches: 16 processors and 4 for the meshes", "", 20, float64(switchesOf(computed)))
	s.Compare(kind, "links of cores, of processors to their mesh, and between blocks", "", 32+16+16, float64(computed.NumArcs()/2))
	noiseless := chosen[1].Graph
	s.Because("An input: the source does not print which processors of two blocks are linked. With the wiring that is assumed, more than the meshes are cliques of equal latency. Noise is not the cause: latencies of the simulated node without noise give %d switches and %d links.", switchesOf(noiseless), noiseless.NumArcs()/2)
	median, most := apart(computed.HostDistances(), node.cluster.Graph.HostDistances())
	s.Say("The computed topology (figure 3.4) puts cores as far apart as they are to %.2g %% in the median, %.2g %% at most.", 100*median, 100*most)
	if err := drawnWiring(s, "figure-3.4", "Figure 3.4: computed topology of the simulated Blizzard node", computed); err != nil {
		return nil, err
	}

	four, err := blizzard(4)
	if err != nil {
		return nil, err
	}
	together, err := onRanks(four, nil, func(comm mpi.Communicator) (*mat.Dense, error) { return o.latencies(ctx, comm, 1, bufeFewSamples) })
	if err != nil {
		return nil, err
	}
	s = found.Section("Four Blizzard nodes (section 3.3.4)")
	inside := mat.DenseCopyOf(together.Slice(0, 32, 0, 32))
	d, err := deviationOf(w.single[0], inside)
	if err != nil {
		return nil, err
	}
	again, err := deviationOf(w.single[0], w.single[1])
	if err != nil {
		return nil, err
	}
	s.Say("All pairs of the 128 cores of four nodes at once, %d samples each. The source finds that this disturbs latencies inside nodes; simulated ranks share links alone, and theirs differ from those of a node alone by MD %.3g and QMD %.3g ns (of two repetitions of the node alone: %.3g and %.3g). Nodes and their insides are measured apart all the same.", bufeFewSamples, 1e9*d.MD, 1e9*d.QMD, 1e9*again.MD, 1e9*again.QMD)
	return w, distribution(s, "figure-3.5", "Figure 3.5: latencies inside a node, simulated",
		draw.Sample{Name: "the node alone", Values: inMicroseconds(w.single[0], 32)}, draw.Sample{Name: "four nodes at once", Values: inMicroseconds(inside, 32)})
}

// bufeFewSamples is how many samples there are of each of the 8,128 pairs of four nodes.
const bufeFewSamples = 9

// ofWestmere is section 3.3.1, and section 2.4 on its machine.
func (o *bufeOptions) ofWestmere(ctx context.Context, found *outcome.Outcome) error {
	m, err := westmere()
	if err != nil {
		return err
	}
	const nodes, cores = 10, 12
	firsts, inside := make([]int, nodes), make([]int, cores)
	for k := range firsts {
		firsts[k] = cores * k
	}
	for k := range inside {
		inside[k] = k
	}
	truth := m.cluster.Graph.HostDistances()
	linked := func(place []int) (*bufeLinks, error) {
		ranks := *o
		whole := mat.NewDense(nodes*cores, nodes*cores, truth)
		ranks.truth = pick(whole, place...).RawMatrix().Data
		return onRanks(m, place, func(comm mpi.Communicator) (*bufeLinks, error) { return ranks.readLinks(ctx, comm) })
	}
	between, err := linked(firsts)
	if err != nil {
		return err
	}
	within, err := linked(inside)
	if err != nil {
		return err
	}
	withNeighbour, err := onRanks(m, append(inside, cores), func(comm mpi.Communicator) (*mat.Dense, error) { return o.latencies(ctx, comm, 1, o.samples) })
	if err != nil {
		return err
	}

	s := found.Section("Westmere cluster (section 3.3.1)")
	s.Say("Ten nodes of two sockets of six cores on one switch. The nodes are measured by one rank on each, one node by all its cores.")
	matrixTable(s, "table-3.5", "Table 3.5, simulated: inter-node latencies", between.short)
	matrixTable(s, "table-3.6", "Table 3.6, simulated: intra-node latencies", within.short)
	t5, t6 := published.Table("3.5"), published.Table("3.6")
	s.Compare(outcome.Input, "inter-node latency, mean", "s", meanOf(t5, nodes, true), meanOf(between.short, nodes, true))
	s.Compare(outcome.Input, "intra-socket latency, mean", "s", meanOf(t6, 6, true), meanOf(within.short, 6, true))
	s.Compare(outcome.Input, "inter-socket latency, mean", "s", meanOf(t6, 6, false), meanOf(within.short, 6, false))
	s.Say("Switches that cliques of equal latency give, by tolerance: the source finds one that joins all nodes, and two of six cores.")
	chosen, _, err := o.models(s, "models-westmere", []modelled{{"table 3.5, printed", t5}, {"table 3.6, printed", t6}, {"nodes, simulated", between.short}, {"cores, simulated", within.short}})
	if err != nil {
		return err
	}
	for k, want := range []float64{1, 2, 1, 2} {
		kind := outcome.Measured
		if k < 2 { // printed latencies
			kind = outcome.Computed
		}
		s.Compare(kind, []string{"switches of table 3.5", "switches of table 3.6", "switches of simulated nodes", "switches of simulated cores"}[k], "", want, float64(switchesOf(chosen[k].Graph)))
	}

	// Section 2.7: the node with a rank on its neighbour. Compared by share, its latencies, a hundred times as long, would put the
	// neighbour on any core (section 1.6), so these are left to package linkage.
	near, err := linkage.Reconstruct(withNeighbour)
	if err != nil {
		return err
	}
	joined, err := joinAlike(chosen[2], topology.NodeModel{Result: near, External: cores})
	if err != nil {
		return err
	}
	median, most := apart(joined.Graph.HostDistances(), truth)
	s.Say("Joined (section 2.7), the simulated models put all %d cores as far apart as they are to %.2g %% in the median, %.2g %% at most.", nodes*cores, 100*median, 100*most)
	if err := drawnWiring(s, "figure-3.1", "Figure 3.1: topology of the simulated Westmere cluster", joined.Graph); err != nil {
		return err
	}
	printed, err := joinAlike(chosen[0], topology.NodeModel{Result: chosen[1], External: -1})
	if err != nil {
		return err
	}
	s.Compare(outcome.Computed, "vertices of figure 3.1", "", 120+10+20+1, float64(printed.Graph.Vertices()))
	if err := drawnWiring(s, "figure-3.1-printed", "Figure 3.1: topology of the printed tables 3.5 and 3.6", printed.Graph); err != nil {
		return err
	}

	if err := between.report(found.Section("Corrected latencies of nodes (section 2.4)"), "the simulated Westmere nodes"); err != nil {
		return err
	}
	if err := within.report(found.Section("Corrected latencies of cores (section 2.4)"), "the cores of a simulated Westmere node"); err != nil {
		return err
	}
	return o.regressions(found.Section("Links by regression from the printed tables (section 2.4)"), []modelled{{"table 3.5", t5}, {"table 3.6", t6}, {"table 3.7", published.Table("3.7")}, {"table 3.8", published.Table("3.8")}})
}

// joinAlike joins nodes that all have the same inside.
func joinAlike(between *topology.Result, inside topology.NodeModel) (*topology.Result, error) {
	nodes := make([]topology.NodeModel, between.Graph.Hosts())
	for i := range nodes {
		nodes[i] = inside
	}
	return topology.Join(between, nodes)
}
