package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// fewestClustered ranks make groups and something outside them.
const fewestClustered = 3

// jobRow is the longest row of messages of a pair: RTT(0), which the tables are made of, needs none.
const jobRow = 16

// measure clusters the ranks of a job, and holds the clusters against what the job knows of its hosts. Broadcasts of a job are what
// topocast bcast times.
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
	parameters := allow(comm, s.budget, len(own.reps))
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
	return out, harness.Agree(comm, err)
}
