package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/cli"
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
func (o *reinfjellOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	list, err := o.reps(s.full)
	if err != nil {
		return err
	}
	if comm.Size() < fewestClustered {
		return cli.BadInput("experiment reinfjell: %s: want %d at least", words.Count(comm.Size(), "rank"), fewestClustered)
	}
	job, err := record.Gather(comm, &record.Conditions{Date: cli.Date(comm)})
	if err != nil {
		return err
	}
	run := &reinfjellRun{reinfjellMachine: reinfjellMachine{name: "this job", purpose: "as it is", figure: "7.1"}}
	if comm.Rank() == 0 {
		run.nodes = truth.Number(job.Hosts).Clusters()
		run.cores = job.Ranks / run.nodes
		run.noun = fmt.Sprintf("%s on %s", words.Count(job.Ranks, "rank"), words.Count(run.nodes, "host"))
		run.truth = slices.Concat(truth.OfHosts(job), truth.OfNUMA(job))
		s.out.Where = fmt.Sprintf("%s, %s.", cmp.Or(strings.TrimSpace(job.Library), "No message-passing library"), run.noun)
	}
	budget := s.budget.split(len(list))
	for _, reps := range list {
		r, err := plogp.Measure(ctx, comm, &plogp.Settings{Longest: 1, Samples: reps, SaturatedUpTo: -1, LongestRow: jobRow, Seed: 1, Budget: budget.next()})
		if err != nil {
			return err
		}
		if comm.Rank() != 0 {
			continue
		}
		if r.Stopped != "" { // tables of accuracy want whole matrices
			s.out.Warn("R = %d: stopped by the %s after %d pairs: left out; give it a larger one", reps, r.Stopped, len(r.Pairs)/2)
			continue
		}
		run.reps, run.results = append(run.reps, reps), append(run.results, r)
	}
	if len(run.results) > 0 {
		err = accuracies(ctx, s.out, []*reinfjellRun{run})
	}
	return harness.Agree(comm, err)
}
