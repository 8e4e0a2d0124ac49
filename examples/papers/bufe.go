package main

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// Defaults of the experiment.
const (
	bufeSamples   = 50
	bufeFull      = 10_000 // section 3.2.3: of which the source takes the median
	bufeEps       = 0.1
	bufeLong      = "1KiB"
	bufeShort     = 1     // B; section 2: small messages like one byte
	bufeOfPair    = 2_000 // samples of one pair; the source takes 50,000 (3.2.1)
	bufeBatchTime = 100e-6
)

func bufeSource() source {
	return source{
		name:  "bufe",
		short: "Latencies, switches, corrected links (Bufe 2014)",
		long: `Bufe repeats what Bufe 2014 measures and computes: how single measurements scatter (table 3.1); by how much
latencies differ between runs, between single and batched, and between parallel and sequential
measurement (MD, MAD, QMD and MAXD, tables 3.2 to 3.4); the switches that cliques of equal latency
give on its machines, from the tables that it prints and from simulated ones (3.3), with its figures; nodes and
their insides joined (2.7); latencies of links by regression, corrected for the message's size cut-through and
store-and-forward (2.4); and how probable success is (table 3.10).

Without a launcher it simulates the source's machines, or --sim. What the source does not say of them, such
as bandwidths, is assumed, and said. In a job it measures the ranks of the job.`,
		example: `  papers bufe --figures figures
  papers bufe --sim "core:4 socket:2 host:4"
  mpirun -n 8 papers bufe --budget 1m`,
		begin: func() experiment { return new(bufeOptions) },
	}
}

// bufeOptions set the experiment.
type bufeOptions struct {
	eps     float64
	samples int
	size    string // as given

	long   int64     // B
	budget allowance // of the measurements
	quiet  bool      // readings are quiet enough for cliques
	truth  []float64 // s between the ranks of a simulated machine; nil: not known
}

func (o *bufeOptions) flags(f *pflag.FlagSet) {
	f.Float64Var(&o.eps, "eps", bufeEps, "share by which equal latencies may differ (equation 1.9)")
	f.IntVar(&o.samples, "samples", 0, "samples of each pair, whose median counts; 0: 50, with --full 10000")
	f.StringVar(&o.size, "bytes", bufeLong, "size of the messages whose time is corrected, such as "+cli.SizeForms)
}

func (o *bufeOptions) unused(_ ground, _ *stage) []string {
	if o.samples != 0 {
		return []string{"full"}
	}
	return nil
}

// read takes what the flags say.
func (o *bufeOptions) read(s *stage) error {
	var err error
	if o.long, err = cli.ParseSize(o.size); err != nil {
		return cli.BadInput("--bytes: %w", err)
	}
	if o.samples == 0 {
		o.samples = bufeSamples
		if s.full {
			o.samples = bufeFull
		}
	}
	switch {
	case !(o.eps > 0 && o.eps < 1):
		return cli.BadInput("--eps %g: want between 0 and 1", o.eps)
	case o.samples < 5 || o.samples > 1_000_000:
		return cli.BadInput("--samples %d: want in [5, 1000000]", o.samples)
	case o.long <= bufeShort || o.long > math.MaxInt32:
		return cli.BadInput("--bytes %d: want in [%d, %d]", o.long, bufeShort+1, math.MaxInt32)
	}
	return nil
}

func newBufeOutcome() *outcome.Outcome {
	return &outcome.Outcome{
		Name:   "bufe",
		Source: "Bufe 2014: Automatic analysis of a supercomputer's topology and performance characteristics.",
	}
}

// simulate repeats it on the source's machines, or on another one as if that were a job.
func (o *bufeOptions) simulate(ctx context.Context, s *stage) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(s); err != nil {
		return nil, err
	}
	if s.cluster == "" {
		return own.ofTheSource(ctx, s.progress)
	}
	cluster, err := cli.SimulatedCluster(s.cluster)
	if err != nil {
		return nil, err
	}
	m := bufeMachine{cluster: cluster}
	own.truth = cluster.Graph.HostDistances()
	var found *outcome.Outcome
	err = m.run(nil, func(comm mpi.Communicator) error {
		ranks := own
		o, err := ranks.here(ctx, comm)
		if comm.Rank() == 0 {
			found = o
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found.Where = "Simulated: " + s.cluster + "."
	return found, nil
}

func (o *bufeOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(s); err != nil {
		return nil, err
	}
	own.budget = *allow(comm, s.budget, bufeParts)
	return own.here(ctx, comm)
}

// bufeParts is how many measurements share the budget.
const bufeParts = 12

// leastBufeRanks are those of which a switch can be told.
const leastBufeRanks = 3

// here repeats it on the ranks that there are. It is collective; others than rank 0 get nil.
func (o *bufeOptions) here(ctx context.Context, comm mpi.Communicator) (*outcome.Outcome, error) {
	if comm.Size() < leastBufeRanks {
		return nil, cli.BadInput("%d ranks: want at least %d", comm.Size(), leastBufeRanks)
	}
	header, err := record.Gather(comm, &record.Conditions{})
	if err != nil {
		return nil, err
	}
	delays, err := o.readDelays(ctx, comm)
	if err != nil {
		return nil, err
	}
	ways, err := o.readWays(ctx, comm)
	if err != nil {
		return nil, err
	}
	links, err := o.readLinks(ctx, comm)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	found := newBufeOutcome()
	found.Where = strings.TrimSpace(header.Library)
	if err := delays.report(found.Section("Figure 1.1: one-way delay by size (section 1.4)"), "the first and the last rank"); err != nil {
		return nil, err
	}
	printed := printedBeside{rows: true}
	printed.table31(found.Section("Table 3.1: measurements of one pair (section 3.2.1)"), ways)
	printed.deviations(found.Section("Tables 3.2 to 3.4: ways to measure (section 3.2.3)"), ways)
	if err := o.machineHere(found, ways, header); err != nil {
		return nil, err
	}
	if err := links.report(found.Section("Corrected latencies (section 2.4)"), "these ranks"); err != nil {
		return nil, err
	}
	success(found.Section("Table 3.10: probability of success (section 3.4)"), o.precision(ways), comm.Size())
	return found, nil
}
