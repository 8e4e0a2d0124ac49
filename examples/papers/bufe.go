package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/mpi"
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
