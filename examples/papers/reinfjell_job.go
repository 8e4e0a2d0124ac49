package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/benchmark"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// fewestClustered ranks make groups and something outside them.
const fewestClustered = 3

// jobRow is the longest row of messages of a pair: RTT(0), which the tables are made of, needs none.
const jobRow = 16

// jobSizes are those of which a job times broadcasts, a few of figure 6.12's.
func jobSizes() []int { return []int{8, 512, 4096, 1 << 16, 1 << 18, 1 << 20} }

// measure repeats it on the ranks of a job: accuracy by what the job knows of its hosts, and broadcasts beside the
// library's own. A half of the budget is for the parameters, a fourth for the network, the rest for broadcasts.
func (o *reinfjellOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(s.full); err != nil {
		return nil, err
	}
	if comm.Size() < fewestClustered {
		return nil, cli.BadInput("experiment reinfjell: %s: want %d at least", words.Count(comm.Size(), "rank"), fewestClustered)
	}
	job, err := record.Gather(comm, &record.Conditions{Date: cli.Date(comm)})
	if err != nil {
		return nil, err
	}
	var out *outcome.Outcome
	run := &reinfjellRun{reinfjellMachine: reinfjellMachine{name: "this job", purpose: "as it is", figure: "7.1"}}
	if comm.Rank() == 0 {
		run.noun = fmt.Sprintf("%s on %s", words.Count(job.Ranks, "rank"), words.Count(truth.Number(job.Hosts).Clusters(), "host"))
		run.nodes, run.cores = truth.Number(job.Hosts).Clusters(), job.Ranks/truth.Number(job.Hosts).Clusters()
		run.truth = slices.Concat(truth.OfHosts(job), truth.OfNUMA(job))
		library := strings.TrimSpace(job.Library)
		if library == "" {
			library = "No message-passing library"
		}
		out = &outcome.Outcome{Name: "reinfjell", Source: reinfjellTitle, Where: library + ", " + run.noun + "."}
	}
	budget := allow(comm, s.budget, 2)
	parameters := budget.split(len(own.reps))
	for _, reps := range own.reps {
		r, err := plogp.Measure(ctx, comm, &plogp.Settings{Longest: 1, Samples: reps, SaturatedUpTo: -1, LongestRow: jobRow, Seed: own.seed, Budget: parameters.next()})
		if err != nil {
			return nil, err
		}
		if comm.Rank() != 0 {
			continue
		}
		if r.Stopped != "" { // tables of accuracy want whole matrices
			out.Warn("R = %d: stopped by the %s after %d pairs: left out; give it a larger one", reps, r.Stopped, len(r.Pairs)/2)
			continue
		}
		run.reps, run.results = append(run.reps, reps), append(run.results, r)
	}
	if len(run.results) > 0 {
		err = own.groups(ctx, out, []*reinfjellRun{run})
	}
	if err := harness.Agree(comm, err); err != nil {
		return nil, err
	}
	if comm.Rank() == 0 {
		fmt.Fprintln(s.progress, "the network, and broadcasts")
	}
	budget.parts = 2 // the rest of the half that parameters did not take is for these
	found, err := measure.Discover(ctx, comm, &measure.DiscoverSettings{Budget: budget.next(), Seed: 1, Date: cli.Date(comm), Tool: "papers reinfjell", Patterns: -1})
	if err != nil {
		return out, err
	}
	return out, timedBroadcasts(budget.within(ctx), comm, out, found)
}

// timedBroadcasts makes the decision function of a job. It is collective.
func timedBroadcasts(ctx context.Context, comm mpi.Communicator, out *outcome.Outcome, found *measure.Discovery) error {
	settings := &bcast.Settings{ModelOnly: true, Algorithms: append(broadcastsOfThesis(), schedule.KNomial{})}
	if found != nil {
		settings.Network = found.Network
	}
	b, err := bcast.New(comm, settings)
	if err != nil {
		return err
	}
	library := (schedule.KNomial{}).Name()
	var only []string
	there := b.Variants()
	for _, a := range settings.Algorithms {
		if slices.Contains(there, a.Name()) { // some want groups of ranks
			only = append(only, a.Name())
		}
	}
	const native = "native"
	if slices.Contains(there, native) {
		library = native
		only = append(only, native)
	}
	report, err := benchmark.Run(ctx, comm, b, &benchmark.Settings{Sizes: jobSizes(), Only: only, Seed: 1})
	if err == nil {
		err = b.Close()
	}
	if err != nil || comm.Rank() != 0 {
		return err
	}
	s := out.Section("The fastest broadcast by size (tables 6.3 to 6.6, figure 6.12)")
	if library == native {
		s.Say("Medians of timed broadcasts, turn by turn; library is the library's own broadcast, which a decision function may choose, too.")
	} else {
		s.Say("Medians of timed broadcasts, turn by turn. There is no broadcast of a library: a k-nomial tree stands in for it.")
	}
	if report.Stopped {
		out.Warn("the budget ended before all broadcasts were timed")
	}
	t := s.Table("decision", outcome.Text("up to"), outcome.Text("fastest"), outcome.Number("segment", "B"), outcome.Number("time", "s"), outcome.Number("library", "s"), outcome.Number("speed-up", ""))
	for _, size := range jobSizes() {
		own, name, segment, best := math.NaN(), "", math.NaN(), math.Inf(1)
		for i := range report.Rows {
			row := &report.Rows[i]
			if row.Bytes != size {
				continue
			}
			if row.Variant == library {
				own = row.Median
			}
			if row.Median < best {
				name, segment, best = row.Variant, math.NaN(), row.Median
				if row.Plan.Segment > 0 {
					segment = float64(row.Plan.Segment)
				}
				if row.Plan.Blocking {
					name += ", blocking"
				}
			}
		}
		if name == "" {
			continue
		}
		t.Row(quantity.Bytes(size), name, segment, best, own, own/best)
	}
	return nil
}
