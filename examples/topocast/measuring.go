package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// meetings say which pairs of ranks meet in a round of latencies.
type meetings int

const (
	_ meetings = iota // by the circle method
	byHalving
)

// A measuring is one rank's part in topocast measure.
type measuring struct {
	parts       []part
	sizes       []int
	repetitions int
	budget      time.Duration
	timeout     time.Duration          // of a rank that waits for another
	given       func(flag string) bool // whether the command line has a flag

	// Flags of some parts.
	rounds     int
	schedule   meetings
	sequential bool
	precision  float64
	batch      int
	hosts      int // that take part where a host is one, 0: all
	fast       bool
	oneClock   bool
	switches   bool

	ctx    context.Context
	comm   mpi.Communicator
	stderr io.Writer

	control harness.Control // of the part that is measured
	when    time.Time

	// Of rank 0.
	earlier *record.File    // what --resume has, or nil
	goingOn *measure.Result // the latencies of it, if some are missing
	network *model.Network  // of NET, or nil
	part    *journal        // the file under way, or nil
	out     *record.Writer  // that writes it
	file    *record.File    // what was measured

	remeasured *model.Network // with what was measured along its wiring, or nil
}

// readInput reads the files of --resume and NET, on rank 0.
func (m *measuring) readInput(resume, network string) error {
	if network != "" {
		n, err := cli.LoadNetwork(nil, network)
		if err != nil {
			return err
		}
		if n.Ranks() != m.comm.Size() {
			return cli.BadInput("%s: is of %s, this job has %d", network, words.Count(n.Ranks(), "rank"), m.comm.Size())
		}
		m.network = n
	}
	if resume == "" {
		return nil
	}
	var err error
	if m.earlier, err = cli.ReadFile(resume, record.Read); err != nil {
		return cli.BadInput("--resume: %w", err)
	}
	if m.earlier.Section(measure.KindLatency) == nil || !m.wants(measure.KindLatency) {
		return nil
	}
	r, err := measure.FromFile(m.earlier)
	if err != nil {
		return cli.BadInput("--resume: %s: %w", resume, err)
	}
	if m.given("sizes") && !slices.Equal(m.sizes, r.Sizes) {
		return cli.BadInput("--resume: %s: was measured with other --sizes", resume)
	}
	m.sizes = r.Sizes
	if !m.given("repetitions") {
		m.repetitions = r.Repetitions
	}
	measured := len(r.Matrices()) // fewer than were asked for where the budget was too small
	if r.Stopped != "" || r.Repetitions < m.repetitions || r.Runs == 0 && (measured < m.repetitions || m.precision > 0) {
		r.Repetitions = max(r.Repetitions, m.repetitions)
		m.goingOn = r
	}
	return nil
}

// wants is true of a kind that is to be measured.
func (m *measuring) wants(kind string) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == kind })
}

// measure measures all parts. It is collective; rank 0 then has the file.
func (m *measuring) measure(output string) error {
	now := share.Clock(m.comm)
	start := now()
	probe := pingpong.New(m.comm, 0, 1)
	m.when = cli.Date(m.comm)
	header, err := record.Gather(m.comm, probe)
	if err != nil {
		return err
	}
	err = onRankZero(m.comm, "input files", func() error {
		header.Date = m.when
		return m.begin(header, output)
	})
	if err != nil {
		return err
	}
	for i, p := range m.parts {
		left := m.budget - time.Duration((now()-start)*float64(time.Second))
		isWanted := []byte{0}
		if m.comm.Rank() == 0 && m.isMissing(p.kind, left) {
			isWanted[0] = 1
		}
		isWanted, err := share.Binomial(m.comm, 0, 0).TellAny(isWanted)
		if err == nil && isWanted[0] == 1 {
			err = m.measurePart(&p, max(left/time.Duration(len(m.parts)-i), 1))
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

// isMissing tells whether there is a kind to measure, and time for it. If not it says so.
func (m *measuring) isMissing(kind string, left time.Duration) bool {
	switch {
	case m.has(kind):
		fmt.Fprintf(m.stderr, "note: %s: the file of --resume has all of it, which stays as it is\n", kind)
	case left <= 0 || m.ctx.Err() != nil:
		fmt.Fprintf(m.stderr, "warning: %s: not measured: there was no time left\n", kind)
	default:
		return true
	}
	return false
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
		var again []string // kinds of which the file has a part that is of no use
		for _, s := range e.Sections {
			switch {
			case m.has(s.Kind) || !m.wants(s.Kind):
				m.file.Sections = append(m.file.Sections, s)
			case s.Kind != measure.KindLatency:
				again = append(again, s.Kind)
			}
		}
		switch {
		case len(again) == 0:
		case len(m.file.Sections) == 0 && m.goingOn == nil:
			return cli.BadInput("--resume: the file has a part of %s, and only latencies are gone on with: measure without --resume", words.List(again))
		default:
			fmt.Fprintf(m.stderr, "note: the file of --resume has a part of %s: measured again, as only latencies are gone on with\n", words.List(again))
		}
	}
	var open *record.Section
	if m.goingOn != nil {
		open = m.goingOn.Section()
		open.Unfinished = true
	}
	if _, simulated := m.comm.(*simnet.Comm); simulated {
		return nil // it can be repeated
	}
	use := "topocast measure --resume %s goes on"
	if !m.wants(measure.KindLatency) {
		use = "what was measured is in %s"
	}
	m.part = beginJournal(m.ctx, output, use, m.stderr, func(w io.Writer) error {
		m.out = record.NewWriter(w, &m.file.Header)
		for _, s := range m.file.Sections {
			m.out.Begin(s)
			m.out.End(s)
		}
		if open != nil {
			m.out.Begin(open)
		}
		return m.out.Err()
	})
	if m.part == nil {
		m.out = nil
	}
	return nil
}

// has is true of a kind of which an earlier run has measured all.
func (m *measuring) has(kind string) bool {
	if m.earlier == nil || kind == measure.KindLatency && m.goingOn != nil {
		return false
	}
	s := m.earlier.Section(kind)
	return s != nil && !s.Unfinished && s.Stopped == ""
}

// measurePart is collective.
func (m *measuring) measurePart(p *part, budget time.Duration) error {
	m.control = harness.Control{Budget: budget, Silence: m.timeout}
	if m.file != nil {
		label := "measuring"
		if len(m.parts) > 1 {
			label += " " + p.kind
		}
		defer showProgress(&m.control, m.stderr, label)()
	}
	section, err := p.measure(m)
	if err != nil || section == nil {
		return err
	}
	m.file.Sections = append(m.file.Sections, section)
	if m.out != nil && !p.streams {
		m.out.Begin(section)
		m.out.End(section)
	}
	if m.out != nil && m.out.Err() != nil {
		if !p.streams { // or else it has said so itself
			fmt.Fprintf(m.stderr, "warning: measurements are not kept while they are measured: %v\n", m.out.Err())
		}
		m.out = nil
	}
	return nil
}

// showProgress shows what a measurement notes, and how far it is, until done is called.
func showProgress(c *harness.Control, stderr io.Writer, label string) (done func()) {
	shown := progress.New(stderr, label)
	c.Notify = func(note string) { fmt.Fprintf(stderr, "note: %s\n", note) }
	c.Progress = shown.Show
	return shown.Close
}
