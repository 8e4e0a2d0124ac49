package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A part is one kind of measurement that topocast measure takes.
type part struct {
	kind string // of the section
	what string // for the help

	// measure is collective; the section is nil on other ranks than 0.
	measure func(m *measuring) (*record.Section, error)

	// streams says that measure writes the section into the file under way itself, and
	// goes on with an earlier one.
	streams bool

	uses string // flags that set it, by blanks, which set nothing of parts that do not list them
}

func (p *part) takes(flag string) bool { return slices.Contains(strings.Fields(p.uses), flag) }

// parts are those that there are, in the order in which they are measured.
func parts() []part {
	return []part{
		{
			measure.KindLatency, "latencies of all pairs of ranks", measureLatency, true,
			"sizes repetitions rounds schedule sequential precision batch by-host",
		},
		{oneway.Kind, "one-way times, which tell links that are slow in one direction", measureOneWay, false, "sizes repetitions one-clock"},
		{plogp.Kind, "gap by size, latency and overheads of all ordered pairs", measurePLogP, true, "sizes repetitions fast"},
		{throughput.Kind, "what each link of NET carries, and its latency anew", measureThroughput, false, "sizes repetitions batch switches"},
		{concurrent.Kind, "messages that are under way together, in random patterns", measureConcurrent, false, "sizes repetitions precision"},
		{servet.WhatDistance, "bandwidth between hosts by how far apart they are", measureDistance, false, "sizes repetitions hosts"},
		{servet.WhatAccess, "bandwidth by how many ranks of a host use the network at once", measureAccess, false, "sizes repetitions hosts"},
		{servet.KindMemory, "bandwidth of the memory, for ranks alone and together", insideHosts(servet.KindMemory, servet.Memory), false, "repetitions"},
		{servet.KindCache, "which ranks of a host share caches", insideHosts(servet.KindCache, servet.Caches), false, "repetitions"},
	}
}

// refuseUnused refuses flags that would set nothing of what is measured, and sizes other than one above 0 where one counts.
func (m *measuring) refuseUnused() error {
	for _, p := range parts() {
		for _, flag := range strings.Fields(p.uses) {
			uses := func(p part) bool { return p.takes(flag) }
			if m.given(flag) && !slices.ContainsFunc(m.parts, uses) {
				of := slices.DeleteFunc(parts(), func(p part) bool { return !uses(p) })
				return cli.BadInput("--%s: sets nothing of --what %s: it is of %s", flag, strings.Join(kinds(m.parts), ","), words.List(kinds(of)))
			}
		}
	}
	if m.given("sizes") && (len(m.sizes) > 1 || m.sizes[0] == 0) {
		for _, p := range m.parts {
			if p.kind != measure.KindLatency && p.kind != oneway.Kind && p.takes("sizes") {
				return cli.BadInput("--sizes: --what %s takes one size, of at least 1 B", p.kind)
			}
		}
	}
	return nil
}

func kinds(of []part) []string { return each(of, func(p part) string { return p.kind }) }

// size is the one of --sizes, or else the part's own, 0 for its default.
func (m *measuring) size(own int) int {
	if m.given("sizes") {
		return m.sizes[0]
	}
	return own
}

// times are --repetitions, 0 if they are not given.
func (m *measuring) times() int {
	if m.given("repetitions") {
		return m.repetitions
	}
	return 0
}

// parseParts reads --what.
func parseParts(list string) ([]part, error) {
	all := parts()
	chosen := each(strings.Split(list, ","), strings.TrimSpace)
	for i, kind := range chosen {
		if names := kinds(all); !slices.Contains(names, kind) {
			return nil, fmt.Errorf("%q: want %s", kind, words.Or(names))
		}
		if slices.Contains(chosen[:i], kind) {
			return nil, fmt.Errorf("%q: given twice", kind)
		}
	}
	// In the order of the list: a part may need what the one before has said.
	return slices.DeleteFunc(all, func(p part) bool { return !slices.Contains(chosen, p.kind) }), nil
}

// partsHelp lists the parts for the help.
func partsHelp() string {
	var b strings.Builder
	for _, p := range parts() {
		fmt.Fprintf(&b, "  %-10s  %s\n", p.kind, p.what)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// groups are those of NET, of which pairs are measured apart; nil without it.
func (m *measuring) groups() *topology.Hierarchy {
	if m.network == nil {
		return nil
	}
	return m.network.Hierarchy()
}

func measureLatency(m *measuring) (*record.Section, error) {
	s := measure.Settings{
		Pairs:    harness.Pairs{Rounds: m.rounds, Halving: m.schedule == byHalving, Sequential: m.sequential, Groups: m.groups()},
		Control:  m.control,
		Sampling: measure.Sampling{Repetitions: m.repetitions, Seed: 1, Precision: m.precision, Batch: m.batch},
		Sizes:    m.sizes, Date: m.when, Record: m.out,
	}
	if r := m.goingOn; r != nil {
		s.Resume, s.Samples, s.Seed = r, r.Samples, r.Seed
	}
	found, err := section(measure.Run(m.ctx, m.comm, &s))
	if errors.Is(err, measure.ErrResume) {
		return nil, cli.BadInput("--resume: %w", err)
	}
	return found, err
}

func measureOneWay(m *measuring) (*record.Section, error) {
	s := oneway.Settings{
		Bytes:       slices.Min(m.sizes), // latencies of the shortest are what directions split
		Repetitions: m.times(), OneClock: m.oneClock, Seed: 1, Control: m.control,
	}
	if s.Repetitions != 0 && s.Repetitions < oneway.LeastRepetitions {
		return nil, cli.BadInput("--repetitions %d: --what %s wants at least %d", s.Repetitions, oneway.Kind, oneway.LeastRepetitions)
	}
	return section(oneway.Measure(m.ctx, m.comm, &s))
}

func measurePLogP(m *measuring) (*record.Section, error) {
	return section(plogp.Measure(m.ctx, m.comm, &plogp.Settings{
		Control: m.control, Longest: m.size(0), Samples: m.times(), Fast: m.fast, Seed: 1, Record: m.out, Groups: m.groups(),
	}))
}

// measureThroughput measures NET again, along its wiring.
func measureThroughput(m *measuring) (*record.Section, error) {
	measured := cli.Measured(m.comm, "topocast measure")
	if m.file != nil {
		measured.Library = m.file.Library
	}
	r, err := throughput.Measure(m.ctx, m.comm, &throughput.Settings{
		Control: m.control, Network: m.network, Measured: measured, Switches: m.switches,
		Load: throughput.Load{Size: m.size(0), Samples: m.times(), Messages: m.batch},
	})
	if err != nil || r == nil {
		return nil, err
	}
	m.remeasured = r.Network
	return r.Section(), nil
}

// Patterns of --what concurrent: as many as fit.Network wants, a third each with one,
// two and three transfers more or less per host (Zhu et al. 2014, section 7.1).
const (
	mostTransfers = 3
	patternBytes  = 1 << 20
	patternSeed   = 1
)

func measureConcurrent(m *measuring) (*record.Section, error) {
	if m.comm.Size() < 2 {
		return nil, cli.BadInput("--what %s: want at least 2 ranks", concurrent.Kind)
	}
	s := concurrent.Settings{Width: m.precision, MinIterations: m.times(), MaxIterations: m.times(), Control: m.control}
	if m.file != nil {
		ranksOf := ranksByHost(m.file.Hosts)
		rng := rand.New(rand.NewPCG(patternSeed, patternSeed))
		for i := range concurrent.UsualPatterns {
			s.Patterns = append(s.Patterns, concurrent.RandomPattern(rng, ranksOf, 1+i%mostTransfers, int64(m.size(patternBytes))))
		}
	}
	return section(concurrent.Measure(m.ctx, m.comm, &s))
}

// ranksByHost are the ranks of each host, in the order of their first ones; on a single host each rank
// counts as one.
func ranksByHost(hosts []string) [][]int {
	labels := truth.Number(hosts)
	if labels.Clusters() == 1 {
		for rank := range labels {
			labels[rank] = rank
		}
	}
	return labels.Groups()
}

func measureDistance(m *measuring) (*record.Section, error) {
	return section(servet.Distance(m.ctx, m.comm, m.ring()))
}

func measureAccess(m *measuring) (*record.Section, error) {
	s := m.ring()
	var err error
	if s.Resources, _, err = servet.FromSystem(m.comm, nil); err != nil {
		return nil, err
	}
	return section(servet.Access(m.ctx, m.comm, s))
}

func (m *measuring) ring() *servet.Settings {
	return &servet.Settings{Bytes: m.size(0), Repetitions: m.times(), Hosts: m.hosts, Control: m.control}
}

// errSimulatedInside refuses to measure this machine in the name of a simulated one.
var errSimulatedInside = errors.New("simulated hosts have no caches and memory: want real ranks")

// insideHosts measures inside hosts, which are real.
func insideHosts(kind string, run func(context.Context, mpi.Communicator, *servet.InsideSettings) (*servet.InsideResult, error)) func(*measuring) (*record.Section, error) {
	return func(m *measuring) (*record.Section, error) {
		if _, simulated := m.comm.(*simnet.Comm); simulated {
			return nil, cli.BadInput("--what %s: %w", kind, errSimulatedInside)
		}
		return section(run(m.ctx, m.comm, &servet.InsideSettings{Repetitions: m.times(), Control: m.control}))
	}
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
