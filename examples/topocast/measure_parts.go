package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A part is one kind of measurement that topocast measure takes.
type part struct {
	kind string // of the section
	what string // for the help

	// measure is collective; the section is nil on other ranks than 0.
	measure func(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error)

	// streams tells that measure writes the section into the file under way itself, and
	// goes on with an earlier one.
	streams bool

	uses []string // flags that set it, which set nothing of parts that do not list them
}

// Flags that set some parts and not others.
const (
	flagSizes       = "sizes" // of all parts but latency one
	flagRepetitions = "repetitions"
	flagRounds      = "rounds"
	flagSchedule    = "schedule"
	flagSequential  = "sequential"
	flagPrecision   = "precision"
	flagBatch       = "batch"
	flagHosts       = "hosts"
	flagFast        = "fast"
	flagByHost      = "by-host"
	flagOneClock    = "one-clock"
	flagSwitches    = "switches"
)

// parts are those that there are, in the order in which they are measured.
func parts() []part {
	return []part{
		{
			measure.KindLatency, "latencies of all pairs of ranks", measureLatency, true,
			[]string{flagSizes, flagRepetitions, flagRounds, flagSchedule, flagSequential, flagPrecision, flagBatch, flagByHost},
		},
		{oneway.Kind, "one-way times, which tell links that are slow in one direction", measureOneWay, false, []string{flagSizes, flagRepetitions, flagOneClock}},
		{plogp.Kind, "gap by size, latency and overheads of all ordered pairs", measurePLogP, true, []string{flagSizes, flagRepetitions, flagFast}},
		{throughput.Kind, "what each link of NET carries, and its latency anew", measureThroughput, false, []string{flagSizes, flagRepetitions, flagBatch, flagSwitches}},
		{concurrent.Kind, "messages that are under way together, in random patterns", measureConcurrent, false, []string{flagSizes, flagRepetitions, flagPrecision}},
		{servet.WhatDistance, "bandwidth between hosts by how far apart they are", measureDistance, false, []string{flagSizes, flagRepetitions, flagHosts}},
		{servet.WhatAccess, "bandwidth by how many ranks of a host use the network at once", measureAccess, false, []string{flagSizes, flagRepetitions, flagHosts}},
		{servet.KindMemory, "bandwidth of the memory, for ranks alone and together", measureMemory, false, []string{flagRepetitions}},
		{servet.KindCache, "which ranks of a host share caches", measureCaches, false, []string{flagRepetitions}},
	}
}

// partSettings are what one part gets; on other ranks than 0 they do not count.
type partSettings struct {
	budget      time.Duration
	date        time.Time
	sizes       []int
	repetitions int
	given       func(flag string) bool // whether the command line has a flag
	fast        bool
	oneClock    bool
	switches    bool
	rounds      int
	pairing     pairing
	silence     time.Duration
	network     *model.Network // of --network, or nil
	mostHosts   int            // that take part where a host is one, 0: all
	hosts       []string       // by rank
	library     string
	keep        func(*model.Network) // takes what --network has become

	goingOn  *measure.Result // latencies of an earlier run, or nil
	file     *record.Writer  // the file under way, for a part that streams; nil: there is none
	notify   func(note string)
	progress func(measure.Progress)
}

// What --schedule may be.
const (
	scheduleCircle  = "circle"
	scheduleHalving = "halving"
)

// A pairing is how latencies are read.
type pairing struct {
	halving    bool
	sequential bool
	precision  float64
	batch      int
}

// parse reads --schedule, and checks the others.
func (p *pairing) parse(schedule string) error {
	p.halving = schedule == scheduleHalving
	switch {
	case !p.halving && schedule != scheduleCircle:
		return cli.BadInput("--schedule %q: want %s or %s", schedule, scheduleCircle, scheduleHalving)
	case !(p.precision >= 0 && p.precision < 1):
		return cli.BadInput("--precision %g: want in [0, 1)", p.precision)
	case p.batch < 0 || p.batch > pingpong.MaxBatch:
		return cli.BadInput("--batch %d: want in [0, %d]", p.batch, pingpong.MaxBatch)
	}
	return nil
}

// refuseUnused refuses flags that would set nothing of what is measured, and several sizes where one counts.
func refuseUnused(chosen []part, sizes []int, given func(flag string) bool) error {
	for _, flag := range []string{
		flagSizes, flagRepetitions, flagRounds, flagSchedule, flagSequential, flagPrecision, flagBatch, flagHosts, flagFast, flagByHost, flagOneClock, flagSwitches,
	} {
		if !given(flag) {
			continue
		}
		uses := func(p part) bool { return slices.Contains(p.uses, flag) }
		if slices.ContainsFunc(chosen, uses) {
			continue
		}
		var kinds []string
		for _, p := range parts() {
			if uses(p) {
				kinds = append(kinds, p.kind)
			}
		}
		return cli.BadInput("--%s: sets nothing of --what %s: it is of %s", flag, kindsOf(chosen), words.List(kinds))
	}
	if given(flagSizes) && len(sizes) > 1 {
		for _, p := range chosen {
			if p.kind != measure.KindLatency && p.kind != oneway.Kind && slices.Contains(p.uses, flagSizes) {
				return cli.BadInput("--sizes: --what %s takes one size", p.kind)
			}
		}
	}
	return nil
}

func kindsOf(chosen []part) string {
	var kinds []string
	for _, p := range chosen {
		kinds = append(kinds, p.kind)
	}
	return strings.Join(kinds, ",")
}

// size is the one of --sizes, or else the part's own, 0 for its default.
func (p *partSettings) size(own int) int {
	if p.given(flagSizes) {
		return p.sizes[0]
	}
	return own
}

// times are --repetitions, 0 if they are not given.
func (p *partSettings) times() int {
	if p.given(flagRepetitions) {
		return p.repetitions
	}
	return 0
}

// parseParts reads --what.
func parseParts(list string) ([]part, error) {
	all := parts()
	var names []string
	for _, p := range all {
		names = append(names, p.kind)
	}
	var chosen []part
	for _, kind := range strings.Split(list, ",") {
		kind = strings.TrimSpace(kind)
		i := slices.Index(names, kind)
		if i < 0 {
			return nil, cli.BadInput("--what: %q: want %s", kind, words.Or(names))
		}
		if slices.ContainsFunc(chosen, func(p part) bool { return p.kind == kind }) {
			return nil, cli.BadInput("--what: %q: given twice", kind)
		}
		chosen = append(chosen, all[i])
	}
	// In the order of the list: a part may need what the one before has said.
	slices.SortFunc(chosen, func(a, b part) int { return slices.Index(names, a.kind) - slices.Index(names, b.kind) })
	return chosen, nil
}

// partsHelp lists the parts for the help.
func partsHelp() string {
	var b strings.Builder
	for _, p := range parts() {
		fmt.Fprintf(&b, "  %-10s  %s\n", p.kind, p.what)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func measureLatency(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	s := measure.Settings{
		Pairs:    harness.Pairs{Rounds: p.rounds, Halving: p.pairing.halving, Sequential: p.pairing.sequential},
		Control:  p.control(),
		Sampling: measure.Sampling{Repetitions: p.repetitions, Seed: 1, Precision: p.pairing.precision, Batch: p.pairing.batch},
		Sizes:    p.sizes, Date: p.date, Record: p.file,
	}
	if p.network != nil {
		s.Groups = p.network.Hierarchy()
	}
	if r := p.goingOn; r != nil {
		s.Resume, s.Samples, s.Seed = r, r.Samples, r.Seed
	}
	found, err := section(measure.Run(ctx, comm, &s))
	if errors.Is(err, measure.ErrResume) {
		return nil, cli.BadInput("--resume: %w", err)
	}
	return found, err
}

func measureOneWay(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	s := oneway.Settings{
		Repetitions: p.times(), OneClock: p.oneClock, Seed: 1,
		Control: harness.Control{Budget: p.budget, Silence: p.silence, Progress: p.progress},
	}
	if s.Repetitions != 0 && s.Repetitions < oneway.LeastRepetitions {
		return nil, cli.BadInput("--repetitions %d: --what %s wants at least %d", s.Repetitions, oneway.Kind, oneway.LeastRepetitions)
	}
	if len(p.sizes) > 0 { // latencies of the shortest are what directions split
		s.Bytes = slices.Min(p.sizes)
	}
	return section(oneway.Measure(ctx, comm, &s))
}

func measurePLogP(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	s := plogp.Settings{Control: p.control(), Longest: p.size(0), Samples: p.times(), Fast: p.fast, Seed: 1, Record: p.file}
	if p.network != nil {
		s.Groups = p.network.Hierarchy()
	}
	return section(plogp.Measure(ctx, comm, &s))
}

// measureThroughput measures along the wiring of --network, all that Remeasure does.
func measureThroughput(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	measured := cli.Measured(comm, "topocast measure")
	measured.Library = p.library
	s := &throughput.RemeasureSettings{
		Control: p.control(), Network: p.network, Measured: measured, Switches: p.switches,
		Load: throughput.Load{Size: p.size(0), Samples: p.times(), Messages: p.pairing.batch},
	}
	r, err := throughput.Remeasure(ctx, comm, s)
	if err != nil || r == nil {
		return nil, err
	}
	p.keep(r.Network)
	kept := r.Rates.Section()
	for _, warning := range r.Warnings {
		if !slices.Contains(kept.Warnings, warning) {
			kept.Warnings = append(kept.Warnings, warning)
		}
	}
	return kept, nil
}

// control is when a part ends, and who hears of it.
func (p *partSettings) control() harness.Control {
	return harness.Control{Budget: p.budget, Silence: p.silence, Notify: p.notify, Progress: p.progress}
}

// Patterns of --what concurrent: as many as fit.Network wants, a third each with one,
// two and three transfers more or less per host (Zhu et al. 2014, section 7.1).
const (
	mostTransfers = 3
	patternBytes  = 1 << 20
	patternSeed   = 1
)

func measureConcurrent(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	if comm.Size() < 2 {
		return nil, cli.BadInput("--what %s: want at least 2 ranks", concurrent.Kind)
	}
	s := concurrent.Settings{
		Width: p.pairing.precision, MinIterations: p.times(), MaxIterations: p.times(), Control: p.control(),
	}
	if p.hosts != nil {
		ranksOf := ranksByHost(p.hosts)
		rng := rand.New(rand.NewPCG(patternSeed, patternSeed))
		for i := range concurrent.UsualPatterns {
			s.Patterns = append(s.Patterns, concurrent.RandomPattern(rng, ranksOf, 1+i%mostTransfers, int64(p.size(patternBytes))))
		}
	}
	return section(concurrent.Measure(ctx, comm, &s))
}

// ranksByHost are the ranks of each host, in the order of their first ones; on a single host each rank
// counts as one.
func ranksByHost(hosts []string) [][]int {
	at := make(map[string]int)
	var all [][]int
	for rank, host := range hosts {
		i, ok := at[host]
		if !ok {
			i = len(all)
			at[host] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], rank)
	}
	if len(all) > 1 {
		return all
	}
	all = nil
	for rank := range hosts {
		all = append(all, []int{rank})
	}
	return all
}

func measureDistance(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	return section(servet.Distance(ctx, comm, p.ring()))
}

func measureAccess(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	s := p.ring()
	var err error
	if s.Resources, _, err = servet.Told(comm, nil); err != nil {
		return nil, err
	}
	return section(servet.Access(ctx, comm, s))
}

func (p *partSettings) ring() *servet.Settings {
	return &servet.Settings{Bytes: p.size(0), Repetitions: p.times(), Hosts: p.mostHosts, Control: p.control()}
}

func measureMemory(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	if err := refuseSimulated(comm, servet.KindMemory); err != nil {
		return nil, err
	}
	return section(servet.Memory(ctx, comm, &servet.InsideSettings{Repetitions: p.times(), Control: p.control()}))
}

func measureCaches(ctx context.Context, comm mpi.Communicator, p *partSettings) (*record.Section, error) {
	if err := refuseSimulated(comm, servet.KindCache); err != nil {
		return nil, err
	}
	return section(servet.Caches(ctx, comm, &servet.InsideSettings{Repetitions: p.times(), Control: p.control()}))
}

// refuseSimulated refuses to measure this machine in the name of a simulated one.
func refuseSimulated(comm mpi.Communicator, kind string) error {
	if _, simulated := comm.(*simnet.Comm); simulated {
		return cli.BadInput("--what %s: simulated hosts have none", kind)
	}
	return nil
}

// section is the section of a result, which only rank 0 has.
func section[R interface {
	comparable
	Section() *record.Section
}](r R, err error) (*record.Section, error) {
	var none R
	if err != nil || r == none {
		return nil, err
	}
	return r.Section(), nil
}
