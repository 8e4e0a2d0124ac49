package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// reinfjellParameters measures the parameters of all pairs of a job with several numbers of repetitions, fewer where the budget is
// short: tables of accuracy want whole matrices.
type reinfjellParameters struct {
	comm     mpi.Communicator
	seed     uint64
	budget   *allowance           // of all repetitions
	left     func() time.Duration // of the experiment
	progress io.Writer

	// What is found, on rank 0 alone but for the first.
	reps     []int
	results  []*plogp.Result
	text     string // what was spared
	warnings []string

	cost   costOfPair
	spared []string
}

// A costOfPair is what a pair takes, in s: something whatever the number of repetitions, and as much again for each.
type costOfPair struct{ fixed, each float64 }

func (c costOfPair) of(reps int) float64 { return c.fixed + float64(reps)*c.each }

// costThrough is the cost of which two measurements tell: a pair took as long with 1 repetition, and as long with some more.
func costThrough(one float64, reps int, more float64) costOfPair {
	each := max(0, (more-one)/float64(reps-1))
	return costOfPair{max(0, one-each), each}
}

// most is how many repetitions fit into a time in s: the wanted ones, or a power of two below; 0: not one.
func (c costOfPair) most(wanted, pairs int, seconds float64) int {
	fits := func(reps int) bool { return spare*float64(pairs)*c.of(reps) <= seconds }
	if fits(wanted) {
		return wanted
	}
	reps := 1
	for 2*reps < wanted {
		reps *= 2
	}
	for reps > 0 && !fits(reps) {
		reps /= 2
	}
	return min(reps, wanted-1)
}

const (
	// probedRanks make six pairs, which tell what a pair takes.
	probedRanks = 4
	// probePart of the budget of all parameters is the most for a probe, of which there are two.
	probePart = 12
	// spare is by how much more time than a probe says a measurement is planned to take: pairs are not alike.
	spare = 1.25
	// shortRow is that of messages where even one repetition takes too long: RTT(0), which the tables are made of, needs none.
	shortRow = 16
	// atMost of what is left of the whole budget is for one measurement, if it takes longer than planned: half a matrix is worth nothing.
	atMost = 0.6
)

// A reinfjellEffort is what rank 0 has decided for one measurement.
type reinfjellEffort struct {
	Reps int // R; 0: none
	Row  int // the longest
}

// measure is collective.
func (p *reinfjellParameters) measure(ctx context.Context, list []int) error {
	effort := reinfjellEffort{}
	if _, simulated := p.comm.(*simnet.Comm); simulated {
		effort.Row = longestSimulated
	}
	if err := p.probe(ctx, max(2, list[0]), effort.Row); err != nil {
		return err
	}
	pairs := p.comm.Size() * (p.comm.Size() - 1) / 2
	for _, wanted := range list {
		p.choose(&effort, wanted, pairs)
		if err := tellAll(p.comm, &effort); err != nil {
			return err
		}
		if effort.Reps == 0 {
			continue
		}
		if p.comm.Rank() == 0 {
			fmt.Fprintf(p.progress, "parameters of all pairs, R = %d\n", effort.Reps)
		}
		result, cost, err := p.run(ctx, effort, 1, time.Duration(atMost*float64(p.left())))
		if err != nil {
			return err
		}
		if p.comm.Rank() != 0 {
			continue
		}
		if planned := p.cost.of(effort.Reps); planned > 0 {
			p.cost.fixed, p.cost.each = p.cost.fixed*cost/planned, p.cost.each*cost/planned
		}
		if result.Stopped != "" {
			p.warnings = append(p.warnings, fmt.Sprintf("R = %d: stopped by the %s after %d of %d pairs: left out; give it a larger one", effort.Reps, result.Stopped, len(result.Pairs)/2, pairs))
			continue
		}
		p.reps, p.results = append(p.reps, effort.Reps), append(p.results, result)
	}
	if len(p.spared) > 0 && len(p.reps) > 0 {
		p.text = fmt.Sprintf("The budget is short for %s: %s.", words.Count(pairs, "pair"), strings.Join(p.spared, ", "))
	}
	return tellAll(p.comm, &p.reps)
}

// choose is for rank 0: fewer repetitions where so many do not fit. The fewest of the list come first, and get all that is left.
func (p *reinfjellParameters) choose(effort *reinfjellEffort, wanted, pairs int) {
	if p.comm.Rank() != 0 {
		return
	}
	effort.Reps = p.cost.most(wanted, pairs, p.budget.left().Seconds())
	switch need := float64(pairs) * p.cost.of(1); {
	case len(p.reps) > 0 && effort.Reps <= p.reps[len(p.reps)-1] || len(p.warnings) > 0:
		effort.Reps = 0 // as many are measured, or fewer were too many
	case effort.Reps > 0:
	case need > atMost*p.left().Seconds():
		p.warnings = append(p.warnings, fmt.Sprintf("the budget is too short for the parameters, and so for accuracies: %s take about %s with R = 1",
			words.Count(pairs, "pair"), quantity.Seconds(need)))
		return
	default: // the tables want one
		effort.Reps, effort.Row = 1, shortRow
		p.spared = append(p.spared, fmt.Sprintf("rows of up to %d messages", shortRow))
	}
	switch effort.Reps {
	case wanted:
	case 0:
		p.spared = append(p.spared, fmt.Sprintf("R = %d is left out", wanted))
	default:
		p.spared = append(p.spared, fmt.Sprintf("R = %d of %d", effort.Reps, wanted))
	}
}

// probe measures a few pairs with one repetition and with some, for what a pair takes. It is collective.
func (p *reinfjellParameters) probe(ctx context.Context, reps, row int) error {
	share := min(1, probedRanks/float64(p.comm.Size()))
	budget := max(leastShare, p.budget.left()/probePart)
	_, one, err := p.run(ctx, reinfjellEffort{1, row}, share, budget)
	if err != nil {
		return err
	}
	_, more, err := p.run(ctx, reinfjellEffort{reps, row}, share, budget)
	p.cost = costThrough(one, reps, more)
	return err
}

// run measures a share of the ranks. On rank 0 it tells what a pair took in s, too. It is collective.
func (p *reinfjellParameters) run(ctx context.Context, effort reinfjellEffort, share float64, budget time.Duration) (*plogp.Result, float64, error) {
	now := harness.Clock(p.comm)
	start := now()
	result, err := plogp.Measure(ctx, p.comm, &plogp.Settings{
		Longest: 1, Samples: effort.Reps, SaturatedUpTo: -1, LongestRow: effort.Row, Share: share, Seed: p.seed, Budget: max(leastShare, budget),
	})
	if err != nil || result == nil {
		return nil, 0, err
	}
	return result, (now() - start) / float64(max(1, len(result.Pairs)/2)), nil
}

// tellAll gives a value of rank 0 to all ranks. It is collective.
func tellAll[T any](comm mpi.Communicator, value *T) error {
	var data []byte
	var err error
	if comm.Rank() == 0 {
		data, err = json.Marshal(value)
	}
	if err = harness.Agree(comm, err); err != nil {
		return err
	}
	if data, err = harness.Tell(comm, data); err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
