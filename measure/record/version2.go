package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/jsonfile"
)

// Versions 1 and 2 held latencies only, as one JSON value, and while they were
// measured as a journal of another format.
const (
	lastWhole     = 2
	journalFormat = "topocast/measurement-journal"
	kindLatency   = "latency" // what the section of an old file is of
)

// oldColumns were fixed. Version 1 had no lots and nothing unsure.
var (
	oldColumns = [...]string{
		"repetition", "size", "from", "to", "round", "count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s",
	}
	oldColumns1 = slices.Concat(oldColumns[:7], oldColumns[9:])
)

// oldHead is the layout of an old file, but for the readings.
type oldHead struct {
	Format       string     `json:"format"`
	Version      int        `json:"version"`
	Ranks        int        `json:"ranks"`
	Sizes        []int      `json:"sizes_bytes"`
	Repetitions  int        `json:"repetitions"`
	Samples      int        `json:"samples"`
	Seed         uint64     `json:"seed"`
	WithinGroups bool       `json:"within_groups,omitempty"`
	OneByOne     bool       `json:"alone,omitempty"`
	Rounds       int        `json:"rounds"`
	TotalRounds  int        `json:"total_rounds"`
	Stopped      string     `json:"stopped,omitempty"`
	Date         *time.Time `json:"date,omitempty"`
	Library      string     `json:"library,omitempty"`
	Timed        bool       `json:"timed"`
	GoVersion    string     `json:"go_version"`
	Topocast     string     `json:"topocast_version,omitempty"`
	Platform     string     `json:"platform"`
	ClockStep    float64    `json:"clock_step_s"`
	ClockCost    float64    `json:"clock_cost_s"`
	Hosts        []string   `json:"hosts"`
	Cores        []int      `json:"cores"`
	CPUs         []int      `json:"cpus"`
	GOMAXPROCS   []int      `json:"gomaxprocs"`
	CrowdedHosts []string   `json:"crowded_hosts,omitempty"`
	Notes        []string   `json:"notes,omitempty"`
	Warnings     []string   `json:"warnings"`
	Columns      []string   `json:"columns"`
}

type oldFile struct {
	oldHead
	Readings []json.RawMessage `json:"readings"`
}

// oldSettings are those of an old header, under their names in a section.
type oldSettings struct {
	Repetitions  int    `json:"repetitions"`
	Samples      int    `json:"samples"`
	Seed         uint64 `json:"seed"`
	WithinGroups bool   `json:"within_groups,omitempty"`
	OneByOne     bool   `json:"alone,omitempty"`
}

// old reads a file of version 1 or 2, or what is left of a journal, of which the first line is there.
func (d *decoder) old(first []byte, whole bool) error {
	data := slices.Clone(first)
	if whole {
		rest, err := io.ReadAll(d.lines)
		if err != nil {
			return err
		}
		data = append(append(data, '\n'), rest...)
	}
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	// The first value alone: a journal is many.
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&kind); err != nil {
		if !bytes.Contains(data, []byte(Format)) {
			return fmt.Errorf("%w: not a whole JSON file: %w", ErrFormat, err)
		}
		return fmt.Errorf("not a whole JSON file: %w", err)
	}
	switch {
	case kind.Format != Format && kind.Format != journalFormat:
		return fmt.Errorf("%w: format %q: want %q", ErrFormat, kind.Format, Format)
	case kind.Version < 1:
		return fmt.Errorf("version %d: want %d", kind.Version, Version)
	case kind.Version > Version:
		return fmt.Errorf("version %d is newer than this program: want %d", kind.Version, Version)
	case kind.Version > lastWhole:
		return fmt.Errorf("version %d: its header is not one line", kind.Version)
	case kind.Format == journalFormat:
		return d.oldJournal(data)
	}
	var f oldFile
	if err := jsonfile.Decode(bytes.NewReader(data), &f); err != nil {
		return err
	}
	if err := d.begin(&f.oldHead); err != nil {
		return err
	}
	for i, row := range f.Readings {
		if err := d.oldRow(row); err != nil {
			return fmt.Errorf("reading %d: %w", i, err)
		}
	}
	d.mark()
	d.open = nil
	return nil
}

// begin begins the file and its one section.
func (d *decoder) begin(h *oldHead) error {
	d.file.Header = Header{
		Ranks:   h.Ranks,
		Library: h.Library, Timed: h.Timed, GoVersion: h.GoVersion, Version: h.Topocast, Platform: h.Platform,
		ClockStep: h.ClockStep, ClockCost: h.ClockCost,
		Hosts: h.Hosts, Cores: h.Cores, CPUs: h.CPUs, GOMAXPROCS: h.GOMAXPROCS, CrowdedHosts: h.CrowdedHosts,
	}
	if h.Date != nil {
		d.file.Date = *h.Date
	}
	if err := d.file.check(); err != nil {
		return err
	}
	want := oldColumns[:]
	if h.Version == 1 {
		want = oldColumns1
	}
	if !slices.Equal(h.Columns, want) {
		return fmt.Errorf("columns: %q: want %q", h.Columns, want)
	}
	settings, err := json.Marshal(oldSettings{h.Repetitions, h.Samples, h.Seed, h.WithinGroups, h.OneByOne})
	if err != nil {
		return err
	}
	s := &Section{
		Kind: kindLatency, Sizes: h.Sizes, Columns: h.Columns, Settings: settings,
		Notes: h.Notes, Warnings: h.Warnings, Rounds: h.Rounds, TotalRounds: h.TotalRounds, Stopped: h.Stopped,
	}
	if len(s.Warnings) == 0 {
		s.Warnings = nil
	}
	if err := s.check(); err != nil {
		return err
	}
	d.beginSection(s)
	return nil
}

func (d *decoder) oldRow(row []byte) error {
	if len(row) == 0 || row[0] != '[' {
		return fmt.Errorf("%.20q: want a list of numbers", row)
	}
	return d.takeRow(row)
}

// oldJournal reads what a journal has: a header, readings, and marks of rounds.
func (d *decoder) oldJournal(data []byte) error {
	head, lines, _ := bytes.Cut(data, []byte("\n"))
	var h oldHead
	if err := jsonfile.Decode(bytes.NewReader(head), &h); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if err := d.begin(&h); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	s := d.open
	for number := 2; len(lines) > 0; number++ {
		line, rest, whole := bytes.Cut(lines, []byte("\n"))
		lines = rest
		if !whole {
			break // the process ended while it wrote
		}
		if err := d.oldLine(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	s.TotalRounds, s.Stopped = max(s.TotalRounds, s.Rounds), ""
	d.file.Unfinished = true
	d.endSection()
	return nil
}

func (d *decoder) oldLine(line []byte) error {
	if !bytes.HasPrefix(line, []byte("{")) {
		return d.oldRow(line)
	}
	var mark struct {
		Rounds int `json:"rounds"`
	}
	if err := jsonfile.Decode(bytes.NewReader(line), &mark); err != nil {
		return err
	}
	if mark.Rounds < d.open.Rounds {
		return fmt.Errorf("rounds: %d after %d", mark.Rounds, d.open.Rounds)
	}
	d.open.Rounds = mark.Rounds
	d.mark()
	return nil
}
