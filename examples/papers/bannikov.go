package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/spanner"
)

func bannikovSource() source {
	return source{
		name:  "bannikov",
		title: "Bannikov, Salnikov 2014: Recovering the topology of a computing cluster from delays of messages (in Russian).",
		short: "Direct wiring by message length, merged (Bannikov, Salnikov 2014)",
		long: `Bannikov repeats the experiments of Bannikov and Salnikov 2014: latencies of all pairs for several message
lengths; for each length the topology that their algorithm finds (section 2.1), all of them merged, with the probability
of each arc; how much of the specification is in it, in per cent (section 2.3); drawings (section 2.2); and how long the
algorithm takes (their table).

It simulates a torus, as that of BlueGene/P, once with times that are exact and without
overheads, which the algorithm wants, and once as real ones are, and a fat tree, as that of Lomonosov.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := new(bannikovOptions)
			cli.Parse(f, &o.sizes, "sizes", "0,1KiB,64KiB", "message lengths, by commas", cli.ParseSizes)
			return o
		},
	}
}

// bannikovOptions set the experiment.
type bannikovOptions struct{ sizes []int } // lengths of messages

// A bannikovMachine is one on which the algorithm is tried.
type bannikovMachine struct {
	name, title, spec string
	exact             bool // no noise and no overheads
}

// bannikovSpread is eps_s and eps_d: of latencies on shared memory, and of the two directions of a channel.
const bannikovSpread = 0.01

func (o *bannikovOptions) simulate(ctx context.Context, s *stage) error {
	torus := "torus:4x4x4"
	if s.full {
		torus = "torus:8x8x8" // 512 processors, as in figure 1
	}
	torus += " latency=1us rate=3.4Gbps"
	const tree = "fattree:4 latency=1us rate=32Gbps"
	s.out.Where = fmt.Sprintf("Simulated: %s, and %s.", torus, tree)
	for _, m := range []bannikovMachine{
		{"machine-1", "a torus, exact", torus, true},
		{"machine-2", "a torus, as measured", torus, false},
		{"machine-3", "a fat tree", tree, false},
	} {
		if err := o.simulated(ctx, s, m); err != nil {
			return err
		}
	}
	return greedyTimes(s.out)
}

// simulated tries the algorithm on a machine.
func (o *bannikovOptions) simulated(ctx context.Context, s *stage, m bannikovMachine) error {
	sizes := slices.Sorted(slices.Values(o.sizes))
	cluster, err := cli.SimulatedCluster(m.spec)
	if err != nil {
		return err
	}
	settings := usualSettings(cluster)
	if m.exact {
		settings = cluster.Settings()
	}
	settings.EagerLimit = slices.Max(sizes) // long messages do not ask before they leave
	measured, err := onSimulated(cluster, nil, settings, func(comm mpi.Communicator) (*measure.Result, error) { return bannikovLatencies(ctx, comm, s, sizes) })
	if err != nil {
		return err
	}
	return bannikovSection(s.out, m.name, m.title, measured, cluster.Graph)
}

func (o *bannikovOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	sizes := slices.Sorted(slices.Values(o.sizes))
	if comm.Size() < 3 {
		return cli.BadInput("%s: want at least 3 to tell their wiring", words.Count(comm.Size(), "rank"))
	}
	measured, err := bannikovLatencies(ctx, comm, s, sizes)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	s.out.Where = fmt.Sprintf("%s. %s", words.Count(comm.Size(), "rank"), measured.Library)
	return bannikovSection(s.out, "machine-1", "this job", measured, nil)
}

// bannikovLatencies are those of all pairs for all lengths. It is collective; others than rank 0 get nil.
func bannikovLatencies(ctx context.Context, comm mpi.Communicator, s *stage, sizes []int) (*measure.Result, error) {
	if err := cli.CheckMemory(comm, sizes); err != nil {
		return nil, err
	}
	settings := &measure.Settings{Sizes: sizes, Date: cli.Date(comm), Sampling: measure.Sampling{Repetitions: 3, Seed: 1}, Control: harness.Control{Budget: s.budget.next()}}
	if isSimulated(comm) {
		settings = &measure.Settings{Sizes: sizes, Pairs: harness.Pairs{Sequential: true}, Sampling: measure.Sampling{Repetitions: 1, Samples: cli.SimulatedSamples, Seed: 1}}
	}
	return measure.Run(ctx, comm, settings)
}

// bannikovSection writes what the algorithm finds on one machine: a row for each length, one for all of them merged, and drawings.
// The specification is nil where it is not known.
func bannikovSection(out *outcome.Outcome, name, title string, measured *measure.Result, specified *topology.Graph) error {
	s := out.Section("Topologies by message length: " + title + " (sections 2.1 to 2.3)")
	if len(out.Sections) == 1 {
		s.Say("Specified are arcs between hosts. Similarity is the mean of the probabilities with which these are found, in per cent (section 2.3); it does not mind arcs that are too many. Of machines with switches, which link no two hosts, it is 0, and the algorithm should find all n (n - 1) arcs: the share of all is the similarity to a specification in which all hosts are wired to each other, as in figure 3.")
	}
	var sized []spanner.Sized
	for i, bytes := range measured.Sizes {
		m, err := typical(measured, func(x *measure.Measurement) float64 { return x.Q1 }, i)
		if err != nil {
			return err
		}
		sized = append(sized, spanner.Sized{Bytes: int64(bytes), Repetitions: []mat.Matrix{m}})
	}
	merged, err := (&spanner.GreedyCycle{SharedSpread: bannikovSpread, DuplexSpread: bannikovSpread}).ReconstructSizes(sized...)
	if err != nil {
		return err
	}
	wired := math.NaN() // arcs between hosts that are specified
	if specified != nil {
		wired = 0
		for _, a := range specified.Arcs() {
			if a.From < specified.Hosts() && a.To < specified.Hosts() {
				wired++
			}
		}
	}
	n := merged.Graph.Hosts()
	all := n * (n - 1)
	s.Say("With %d processes there are %d arcs that could be.", n, all)
	t := s.Table(name, outcome.Text("length"), outcome.Number("specified", ""), outcome.Number("found", ""), outcome.Number("of all", "%"), outcome.Number("similarity", "%"))
	row := func(label string, g *topology.Graph) error {
		similarity := math.NaN()
		if specified != nil {
			named, err := g.WithHostNames(specified.Names()[:specified.Hosts()])
			if err != nil {
				return err
			}
			if similarity = compare.Similarity(named, specified); math.IsNaN(similarity) {
				similarity = 0 // no two hosts are linked
			}
		}
		t.Row(label, wired, g.NumArcs(), 100*float64(g.NumArcs())/float64(all), similarity)
		return nil
	}
	var shortest *topology.Graph
	for i, local := range merged.Local {
		g, err := merged.Graph.WithArcs(local.Arcs)
		if err != nil {
			return err
		}
		if i == 0 {
			shortest = g
		}
		if err := row(quantity.Bytes(local.Bytes), g); err != nil {
			return err
		}
	}
	if err := row("merged", merged.Graph); err != nil {
		return err
	}
	if wired == 0 {
		s.Compare(outcome.About, "arcs found, of all: \"a complete graph\"", "%", 100, 100*float64(merged.Graph.NumArcs())/float64(all))
		err = drawWiring(s, name+"-figure-4", title+": as specified, like figure 4", specified)
	} else {
		err = drawWiring(s, name+"-figure-1", title+": as found with messages of "+quantity.Bytes(measured.Sizes[0])+", like figure 1", shortest)
	}
	if err != nil {
		return err
	}
	mean, err := merged.MeanGraph()
	if err != nil {
		return err
	}
	return drawMerged(s, name+"-figure-2", title+": all lengths merged, arcs of at least 30 %, like figure 2", mean)
}

// leastDrawn is the probability of arcs from which they are drawn, as in figure 2.
const leastDrawn = 0.3

// drawMerged draws a merged topology.
func drawMerged(s *outcome.Section, name, title string, merged *topology.Graph) error {
	var likely []topology.Arc
	certain := 0
	for _, a := range merged.Arcs() {
		if a.Probability >= leastDrawn {
			likely = append(likely, a)
		}
		if a.Probability == 1 {
			certain++
		}
	}
	s.Say("Of the %d arcs of the merged topology %d have probability 1: they are found with all lengths.", merged.NumArcs(), certain)
	drawn, err := merged.WithArcs(likely)
	if err != nil {
		return err
	}
	return drawWiring(s, name, title, drawn)
}

// greedyTimes is the paper's table: how long the algorithm takes for one matrix.
func greedyTimes(out *outcome.Outcome) error {
	s := out.Section("Time of the algorithm for one matrix (the table of section 3)")
	s.Say("Our times are the shortest of some runs, and differ from run to run. Matrices are those of tori for BlueGene/P, and of trees of switches as large as the others, whose wiring the paper does not print; all without noise.")
	t := s.Table("times", outcome.Text("cluster"), outcome.Text("like"), outcome.Number("hosts", ""), outcome.Number("time", "s"))
	took := make(map[int]float64) // of BlueGene/P
	for _, m := range []struct {
		name, spec string
		hosts      int
		printed    float64 // s
	}{
		{"BlueGene/P", "torus:4x4x8", 128, 10e-3},
		{"BlueGene/P", "torus:4x8x8", 256, 80e-3},
		{"BlueGene/P", "torus:8x8x16", 1024, 760e-3},
		{"Lomonosov", "tree:20x25", 500, 90e-3},
		{"Chebyshev", "tree:8x8", 64, 5e-3},
		{"Chebyshev", "tree:8x16", 128, 9e-3},
		{"MVS-50k", "tree:12x25", 300, 40e-3},
		{"unknown switch", "star:38", 38, 0.04e-3},
	} {
		c, err := gen.Parse(m.spec)
		if err != nil {
			return err
		}
		d, err := c.Latencies()
		if err != nil {
			return err
		}
		const runs, least = 5, 20 * time.Millisecond // at least, and in all
		seconds := math.Inf(1)                       // the shortest: what else the machine does can only make it longer
		first := time.Now()
		for run := 0; run < runs || time.Since(first) < least; run++ {
			start := time.Now()
			if _, err := (&spanner.GreedyCycle{}).Reconstruct(d); err != nil {
				return err
			}
			seconds = min(seconds, time.Since(start).Seconds())
		}
		if m.name == "BlueGene/P" {
			took[m.hosts] = seconds
		}
		t.Row(m.name, m.spec, m.hosts, seconds)
		s.Compare(outcome.AtMost, fmt.Sprintf("%s, %d hosts", m.name, m.hosts), "s", m.printed, seconds)
	}
	s.Say("The paper sees time grow with the cube of the hosts on BlueGene/P. So it does in its table from 128 to 256, by 8 times; to 1024 its times grow by 9.5 times, where the cube would be 64.")
	s.Compare(outcome.Otherwise, "BlueGene/P, 256 over 128 hosts", "", 8, took[256]/took[128])
	s.Compare(outcome.Otherwise, "BlueGene/P, 1024 over 256 hosts", "", 9.5, took[1024]/took[256])
	s.Because("Times are bounds: the paper's are of one core of an AMD Phenom II, ours of one of this machine.")
	s.Because("Ours hold the result as well: its graph with all shortest paths and how well it fits, half to three quarters of the time, most where all arcs are found. What else the machine does comes on top, and the two quotients are of these times.")
	return nil
}
