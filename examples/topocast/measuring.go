package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A measuring is one rank's part in topocast measure.
type measuring struct {
	measureOptions
	parts    []part
	sizes    []int
	rounds   int
	hosts    int
	fast     bool
	oneClock bool
	switches bool

	given func(flag string) bool // whether the command line has a flag

	pairing pairing

	ctx    context.Context
	comm   mpi.Communicator
	stderr io.Writer

	// Of rank 0.
	earlier *record.File    // what --resume has, or nil
	goingOn *measure.Result // the latencies of it, if some are missing
	network *model.Network  // of NET, or nil
	part    *journal        // the file under way, or nil
	out     *record.Writer  // that writes it
	file    *record.File    // what was measured

	remeasured *model.Network // with what was measured along its wiring, or nil
}

// What rank 0 tells the others about the next part.
const (
	wordMeasure byte = iota
	wordHas          // the earlier file has it
	wordNoTime       // the budget or the context has ended
)

// readInput reads the files of --resume and NET on rank 0. It is collective.
func (m *measuring) readInput(resume, network string, given func(flag string) bool) error {
	var err error
	if m.comm.Rank() == 0 {
		err = m.readFiles(resume, network, given)
	}
	return cli.Agree(m.comm, "input files", err)
}

func (m *measuring) readFiles(resume, network string, given func(flag string) bool) error {
	if network != "" {
		n, err := cli.LoadNetwork(network)
		if err != nil {
			return err
		}
		if n.Ranks() != m.comm.Size() {
			return cli.BadInput("%s: is of %d ranks, this job has %d", network, n.Ranks(), m.comm.Size())
		}
		m.network = n
	}
	if resume == "" {
		return nil
	}
	f, err := cli.OpenInput(resume)
	if err != nil {
		return err
	}
	defer f.Close()
	if m.earlier, err = record.Read(f); err != nil {
		return cli.BadInput("--resume: %s: %w", resume, err)
	}
	if m.earlier.Section(measure.KindLatency) == nil || !m.wants(measure.KindLatency) {
		return nil
	}
	r, err := measure.FromFile(m.earlier)
	if err != nil {
		return cli.BadInput("--resume: %s: %w", resume, err)
	}
	if given("sizes") && !slices.Equal(m.sizes, r.Sizes) {
		return cli.BadInput("--resume: %s: was measured with other --sizes", resume)
	}
	m.sizes = r.Sizes
	if !given("repetitions") {
		m.repetitions = r.Repetitions
	}
	if r.Stopped != "" || r.Repetitions < m.repetitions {
		r.Repetitions = max(r.Repetitions, m.repetitions)
		m.goingOn = r
	}
	return nil
}

// wants tells whether a kind is to be measured.
func (m *measuring) wants(kind string) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == kind })
}

// measure measures all parts. It is collective; rank 0 then has the file.
func (m *measuring) measure(output string) error {
	now := harness.Clock(m.comm)
	start := now()
	probe := pingpong.New(m.comm, 0, 1)
	when := cli.Date(m.comm)
	header, err := record.Gather(m.comm, &record.Conditions{Date: when, Timed: probe.Timed, ClockStep: probe.Step, ClockCost: probe.Cost})
	if err != nil {
		return err
	}
	if header != nil {
		err = m.begin(header, output)
	}
	if err := cli.Agree(m.comm, "input files", err); err != nil {
		return err
	}
	for i, p := range m.parts {
		word := wordMeasure
		left := m.budget - time.Duration((now()-start)*float64(time.Second))
		switch {
		case m.comm.Rank() != 0:
		case m.has(p.kind):
			word = wordHas
		case left <= 0 || m.ctx.Err() != nil:
			word = wordNoTime
		}
		told, err := share.Binomial(m.comm, 0, 0).TellAny([]byte{word})
		if err != nil {
			return err
		}
		switch told[0] {
		case wordMeasure:
			err = m.measurePart(&p, left/time.Duration(len(m.parts)-i), when)
		case wordNoTime:
			if m.file != nil {
				fmt.Fprintf(m.stderr, "warning: %s: not measured: there was no time left\n", p.kind)
			}
		}
		if err != nil {
			return err
		}
	}
	if m.earlier != nil { // what there was no time for stays as it was
		for _, s := range m.earlier.Sections {
			if m.file.Section(s.Kind) == nil {
				m.file.Sections = append(m.file.Sections, s)
			}
		}
	}
	return nil
}

// begin begins the file, and the one under way, with what there is of an earlier run.
func (m *measuring) begin(header *record.Header, output string) error {
	m.file = &record.File{Header: *header}
	if e := m.earlier; e != nil {
		if err := e.SameJob(header); err != nil {
			return cli.BadInput("--resume: not of the same ranks: %w", err)
		}
		clockStep, clockCost := max(e.ClockStep, header.ClockStep), max(e.ClockCost, header.ClockCost)
		m.file.Header = e.Header
		m.file.ClockStep, m.file.ClockCost = clockStep, clockCost
		for _, s := range e.Sections {
			if m.has(s.Kind) || !m.wants(s.Kind) {
				m.file.Sections = append(m.file.Sections, s)
			}
		}
	}
	var open *record.Section
	if m.goingOn != nil {
		open = m.goingOn.Section()
		open.Unfinished = true
	}
	m.part, m.out = beginPart(m.ctx, m.comm, output, m.file, open, m.stderr)
	return nil
}

// has tells whether an earlier run has measured all of a kind.
func (m *measuring) has(kind string) bool {
	if m.earlier == nil || kind == measure.KindLatency && m.goingOn != nil {
		return false
	}
	s := m.earlier.Section(kind)
	return s != nil && !s.Unfinished && s.Stopped == ""
}

// measurePart is collective.
func (m *measuring) measurePart(p *part, budget time.Duration, when time.Time) error {
	s := partSettings{
		budget: budget, date: when, sizes: m.sizes, repetitions: m.repetitions, given: m.given, fast: m.fast, oneClock: m.oneClock, switches: m.switches, rounds: m.rounds, network: m.network, mostHosts: m.hosts,
		pairing: m.pairing, silence: m.timeout,
	}
	if m.file != nil {
		s.hosts, s.library = m.file.Hosts, m.file.Library
		s.keep = func(n *model.Network) { m.remeasured = n }
		s.notify = func(note string) { fmt.Fprintf(m.stderr, "note: %s\n", note) }
		label := "measuring"
		if len(m.parts) > 1 {
			label += " " + p.kind
		}
		shown := progress.New(m.stderr, label)
		defer shown.Close()
		s.progress = shown.Show
		if p.streams {
			s.file = m.out
		}
		s.goingOn = m.goingOn
	}
	section, err := p.measure(m.ctx, m.comm, &s)
	if err != nil || section == nil {
		return err
	}
	m.file.Sections = append(m.file.Sections, section)
	if m.out != nil && !p.streams {
		m.out.Begin(section)
		m.out.End(section)
	}
	if m.out != nil && m.out.Err() != nil {
		fmt.Fprintf(m.stderr, "warning: measurements are not kept while they are measured: %v\n", m.out.Err())
		m.out = nil
	}
	return nil
}
