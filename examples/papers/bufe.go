package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

const (
	bufeSamples   = 50     // of a pair, whose median counts
	bufeFull      = 10_000 // section 3.2.3
	bufeEps       = 0.1    // by which equal latencies may differ (equation 1.9)
	bufeShort     = 1      // B; section 2: small messages like one byte
	bufeOfPair    = 2_000  // samples of one pair; the source takes 50,000 (3.2.1)
	bufeBatchTime = 100e-6
)

func bufeSource() source {
	return source{
		name:  "bufe",
		title: "Bufe 2014: Automatic analysis of a supercomputer's topology and performance characteristics.",
		short: "Latencies and switches (Bufe 2014)",
		long: `Bufe repeats what Bufe 2014 measures and computes: how single measurements scatter (table 3.1); by how much
latencies differ between runs, between single and batched, and between parallel and sequential
measurement (MD, MAD, QMD and MAXD, tables 3.2 to 3.4); the switches that cliques of equal latency
give on its machines, from the tables that it prints and from simulated ones (3.3); and how probable success is (table 3.10).

What the source does not say of its machines, such as bandwidths, is assumed, and said.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := new(bufeOptions)
			f.IntVar(&o.samples, "samples", 0, "samples of each pair, whose median counts; 0: 50, with --full 10000")
			return o
		},
	}
}

// bufeOptions set the experiment.
type bufeOptions struct{ samples int }

// read takes what the flags say.
func (o *bufeOptions) read(full bool) error {
	if o.samples == 0 {
		o.samples = bufeSamples
		if full {
			o.samples = bufeFull
		}
	}
	if o.samples < 5 || o.samples > 1_000_000 {
		return cli.BadInput("--samples %d: want in [5, 1000000]", o.samples)
	}
	return nil
}

// leastBufeRanks are those of which a switch can be told.
const leastBufeRanks = 3

func (o bufeOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	if err := o.read(s.full); err != nil {
		return err
	}
	if comm.Size() < leastBufeRanks {
		return cli.BadInput("%d ranks: want at least %d", comm.Size(), leastBufeRanks)
	}
	ways, err := o.readWays(ctx, comm, s.budget)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	s.out.Where = ways.library
	ways.table31(s.out.Section("Table 3.1: measurements of one pair (section 3.2.1)"), false)
	ways.deviations(s.out.Section("Tables 3.2 to 3.4: ways to measure (section 3.2.3)"), outcome.Otherwise)
	if err := ways.switches(s.out.Section("This machine (section 3.3)")); err != nil {
		return err
	}
	ways.success(s.out.Section("Table 3.10: probability of success (section 3.4)"), comm.Size())
	return nil
}

func (o bufeOptions) simulate(ctx context.Context, s *stage) error {
	if err := o.read(s.full); err != nil {
		return err
	}
	s.out.Where = "Simulated: the Westmere cluster, the Magny node and a Blizzard node (section 3.1). Their latencies are those of the source's tables in the mean, measurements scatter as in its table 3.1; what it does not say is assumed: bandwidths, and of Blizzard which processors of two blocks are linked."
	for _, m := range []struct {
		name   string
		repeat func(context.Context, *stage) error
	}{{"Magny", o.ofMagny}, {"Westmere", o.ofWestmere}, {"Blizzard", o.ofBlizzard}} {
		fmt.Fprintln(s.progress, m.name)
		if err := m.repeat(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// latencies are the medians in s of all pairs of some ranks of a machine; nil: of all.
func (o *bufeOptions) latencies(ctx context.Context, m *simnet.Cluster, place []int) (*mat.Dense, error) {
	return onRanks(m, place, func(comm mpi.Communicator) (*mat.Dense, error) {
		return shortLatencies(ctx, comm, &measure.Settings{Sampling: measure.Sampling{Samples: o.samples, Batch: 1, Seed: 1}})
	})
}

// ofMagny is table 3.1, and section 3.3.2.
func (o bufeOptions) ofMagny(ctx context.Context, stage *stage) error {
	m, err := magny()
	if err != nil {
		return err
	}
	count := bufeOfPair
	if o.samples == bufeFull {
		count = 50_000
	}
	pair, err := onRanks(m, []int{0, 1}, func(comm mpi.Communicator) (*bufeWays, error) {
		w := new(bufeWays)
		return w, w.readPair(ctx, comm, count, 0)
	})
	if err != nil {
		return err
	}
	s := stage.out.Section("Table 3.1: measurements of one pair of the Magny node (section 3.2.1)")
	pair.table31(s, true)
	s.Because("An input: the machine was made by the quartiles and the mean. The longest measurement is that of one run, the source's of 50,000 measurements, and how long the rare ones are it does not print.")

	all, err := o.latencies(ctx, m, nil)
	if err != nil {
		return err
	}
	s = stage.out.Section("Magny node (section 3.3.2)")
	s.Say("Four sockets of twelve cores, as two dies of six (which the source does not say). It finds latencies inside and between sockets too much alike to tell them apart, and with a large eps a star of one switch.")
	socket := mat.DenseCopyOf(all.Slice(0, 12, 0, 12))
	firsts := mat.NewDense(4, 4, nil)
	firsts.Apply(func(i, j int, _ float64) float64 { return all.At(12*i, 12*j) }, firsts)
	s.Compare(outcome.Input, "inter-socket latency, mean", "s", meanOf(published.Table("3.7"), 4, true), meanOf(firsts, 4, true))
	s.Compare(outcome.Input, "intra-socket latency, mean", "s", meanOf(published.Table("3.8"), 12, true), meanOf(socket, 12, true))
	found, err := models(s, "models-magny", []modelled{{"table 3.7, printed", published.Table("3.7")}, {"table 3.8, printed", published.Table("3.8")}, {"simulated, all cores", all}})
	if err != nil {
		return err
	}
	s.Compare(outcome.Measured, "switches with a large eps", "", 1, float64(switchesOf(found[2][widest].Graph)))
	return nil
}

// ofBlizzard are tables 3.2 to 3.4, section 3.3.3, and table 3.10.
func (o bufeOptions) ofBlizzard(ctx context.Context, stage *stage) error {
	node, err := blizzard()
	if err != nil {
		return err
	}
	w, err := onRanks(node, nil, func(comm mpi.Communicator) (*bufeWays, error) { return o.readWays(ctx, comm, stage.budget) })
	if err != nil {
		return err
	}
	s := stage.out.Section("Tables 3.2 to 3.4: ways to measure a Blizzard node (section 3.2.3)")
	kind := outcome.MeasuredIf(o.samples >= bufeFull)
	w.deviations(s, kind)
	s.Because("In table 3.2 ours are medians of %d measurements whose scatter is that of table 3.1, another machine's. Noise falls with their number, and for as many as the source has (10,000: --full) ends below its MAD of 7.7 to 11.1 ns: something else changed between its measurements, which it does not tell. MD and MAXD come out otherwise in every run: its own are 0.6 and 5.9 ns, 35 and 97 ns.", w.samples)
	s.Because("In table 3.3 the simulated A differs from B by %+.3g ns in the mean, where the source has +65.6: beside the clock, which costs ours nothing, batches hold some of the measurements that are far too long, which the simulation has as often as table 3.1.", 1e9*deviationOf(w.single[0], w.batched[0])[md])
	s.Because("An input: in table 3.4 it is %+.3g ns for single round trips, where the source has -29.4: what disturbs parallel measurement in the source is not told by it, and simulated ranks share links, which short messages do not fill, and nothing else.", 1e9*deviationOf(w.oneSingle, w.single[0])[md])

	s = stage.out.Section("Blizzard node (section 3.3.3)")
	s.Say("Sixteen processors of two cores in four fully meshed blocks, each processor with two links out of its block. The source finds six groups of latencies, of which the fourth and the fifth are one, and its algorithm the right topology but for switches in place of the meshes, which latencies cannot tell.")
	all := stats.MedianCells(w.single[:])
	printed := published.Table("3.9")
	for p := 1; p < 16; p++ {
		s.Compare(outcome.Input, fmt.Sprintf("table 3.9, processor %d", p), "s", printed.At(0, p), all.At(0, 2*p))
	}
	hosts := node.Graph.Hosts()
	exact := mat.NewDense(hosts, hosts, node.Graph.HostDistances())
	found, err := models(s, "models-blizzard", []modelled{{"simulated, all cores", all}, {"without noise", exact}})
	if err != nil {
		return err
	}
	computed := found[0][chosen].Graph
	_, processors := onSwitches(computed)
	s.Compare(kind, "processors of two cores", "", 16, float64(processors[2]))
	s.Compare(kind, "switches: 16 processors and 4 for the meshes", "", 20, float64(switchesOf(computed)))
	s.Compare(kind, "links of cores, of processors to their mesh, and between blocks", "", 32+16+16, float64(computed.NumArcs()/2))
	noiseless := found[1][chosen].Graph
	s.Because("An input: the source does not print which processors of two blocks are linked. With the wiring that is assumed, more than the meshes are cliques of equal latency. Noise is not the cause: latencies of the simulated node without noise give %d switches and %d links.", switchesOf(noiseless), noiseless.NumArcs()/2)
	w.success(stage.out.Section("Table 3.10: probability of success (section 3.4)"), hosts)
	return drawWiring(s, "figure-3.4", "Figure 3.4: computed topology of the simulated Blizzard node", computed)
}

// ofWestmere is section 3.3.1, with the inside of the nodes joined as in section 2.7.
func (o bufeOptions) ofWestmere(ctx context.Context, stage *stage) error {
	m, err := westmere()
	if err != nil {
		return err
	}
	const nodes, cores = 10, 12
	firsts := make([]int, nodes)
	for k := range firsts {
		firsts[k] = cores * k
	}
	between, err := o.latencies(ctx, m, firsts)
	if err != nil {
		return err
	}
	within, err := o.latencies(ctx, m, inOrder(cores))
	if err != nil {
		return err
	}
	s := stage.out.Section("Westmere cluster (section 3.3.1)")
	s.Say("Ten nodes of two sockets of six cores on one switch. The nodes are measured by one rank on each, one node by all its cores.")
	t5, t6 := published.Table("3.5"), published.Table("3.6")
	s.Compare(outcome.Input, "inter-node latency, mean", "s", meanOf(t5, nodes, true), meanOf(between, nodes, true))
	s.Compare(outcome.Input, "intra-socket latency, mean", "s", meanOf(t6, 6, true), meanOf(within, 6, true))
	s.Compare(outcome.Input, "inter-socket latency, mean", "s", meanOf(t6, 6, false), meanOf(within, 6, false))
	s.Say("Switches that cliques of equal latency give, by tolerance: the source finds one that joins all nodes, and two of six cores.")
	found, err := models(s, "models-westmere", []modelled{{"table 3.5, printed", t5}, {"table 3.6, printed", t6}, {"nodes, simulated", between}, {"cores, simulated", within}})
	if err != nil {
		return err
	}
	for k, want := range []float64{1, 2, 1, 2} {
		kind := outcome.Measured
		if k < 2 { // printed latencies
			kind = outcome.Computed
		}
		s.Compare(kind, []string{"switches of table 3.5", "switches of table 3.6", "switches of simulated nodes", "switches of simulated cores"}[k], "", want, float64(switchesOf(found[k][chosen].Graph)))
	}
	alike := make([]topology.NodeModel, nodes)
	for i := range alike {
		alike[i] = topology.NodeModel{Result: found[1][chosen], External: -1}
	}
	joined, err := topology.Join(found[0][chosen], alike)
	if err != nil {
		return err
	}
	s.Compare(outcome.Computed, "vertices of figure 3.1", "", 120+10+20+1, float64(joined.Graph.Vertices()))
	return drawWiring(s, "figure-3.1-printed", "Figure 3.1: topology of the printed tables 3.5 and 3.6", joined.Graph)
}
