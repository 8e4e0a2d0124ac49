package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Settings whose values may differ between the runs that are merged: further
// repetitions are the purpose, and have seeds of their own.
const (
	settingRepetitions = "repetitions"
	settingSeed        = "seed"
)

// Merge puts several runs of the same ranks together: sections of one kind
// become one, with the repetitions of the first run, then those of the second,
// and so on. It refuses runs of other ranks, hosts, cores, libraries and
// environments, and of other sizes, columns and settings; of the settings
// "repetitions" are added up, and "seed" stays that of the first. The files stay as they are.
// The header is that of the first, with the coarser clock.
func Merge(files ...*File) (*File, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("record: merge: no files")
	}
	all := &File{Header: files[0].Header}
	for i, f := range files {
		if err := files[0].SameJob(&f.Header); err != nil {
			return nil, fmt.Errorf("record: merge: files 1 and %d are not of the same ranks: %w", i+1, err)
		}
		all.ClockStep, all.ClockCost = max(all.ClockStep, f.ClockStep), max(all.ClockCost, f.ClockCost)
		all.OversubscribedHosts = union(all.OversubscribedHosts, f.OversubscribedHosts)
		all.Unfinished = all.Unfinished || f.Unfinished
		for _, s := range f.Sections {
			known := all.Section(s.Kind)
			if known == nil {
				all.Sections = append(all.Sections, s.clone())
				continue
			}
			if err := known.add(s); err != nil {
				return nil, fmt.Errorf("record: merge: file %d: section %q: %w", i+1, s.Kind, err)
			}
		}
	}
	return all, nil
}

func (s *Section) clone() *Section {
	c := *s
	c.Rows, c.Notes, c.Warnings, c.Runs = slices.Clone(s.Rows), slices.Clone(s.Notes), slices.Clone(s.Warnings), max(1, s.Runs)
	return &c
}

// add appends a further run.
func (s *Section) add(other *Section) error {
	if !slices.Equal(s.Sizes, other.Sizes) {
		return fmt.Errorf("sizes of %v B and of %v B", s.Sizes, other.Sizes)
	}
	from, err := other.need(s.Columns...)
	if err != nil || len(other.Columns) != len(s.Columns) {
		return fmt.Errorf("columns %q and %q", s.Columns, other.Columns)
	}
	settings, err := sum(s.Settings, other.Settings)
	if err != nil {
		return err
	}
	repetition := s.Column(ColumnRepetition)
	if repetition < 0 {
		return fmt.Errorf("it has no column %q, by which runs could be told apart", ColumnRepetition)
	}
	before := 0.0
	for i := range s.NumRows() {
		before = max(before, s.Row(i)[repetition]+1)
	}
	s.Settings = settings
	s.Rows = slices.Grow(s.Rows, len(other.Rows))
	for i := range other.NumRows() {
		row := other.Row(i)
		for _, c := range from {
			s.Rows = append(s.Rows, row[c])
		}
		s.Rows[len(s.Rows)-len(from)+repetition] += before
	}
	s.Notes, s.Warnings = union(s.Notes, other.Notes), union(s.Warnings, other.Warnings)
	s.Rounds += other.Rounds
	s.TotalRounds += other.TotalRounds
	s.Runs += max(1, other.Runs)
	s.Unfinished = s.Unfinished || other.Unfinished
	switch {
	case s.Unfinished:
		s.Stopped = "" // nothing said why
	case s.Stopped == "":
		s.Stopped = other.Stopped
	}
	return nil
}

// sum are the settings of both runs, which must be equal but for those of a run.
func sum(a, b json.RawMessage) (json.RawMessage, error) {
	if a == nil && b == nil {
		return nil, nil
	}
	all := [2]map[string]json.RawMessage{{}, {}}
	names := make(map[string]bool)
	for i, text := range []json.RawMessage{a, b} {
		if text != nil {
			if err := json.Unmarshal(text, &all[i]); err != nil {
				return nil, fmt.Errorf("settings: %w", err)
			}
		}
		for name := range all[i] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := all[0][name], all[1][name]
		switch {
		case name == settingSeed:
		case name == settingRepetitions:
			var n, m int
			if json.Unmarshal(x, &n) != nil || json.Unmarshal(y, &m) != nil {
				return nil, fmt.Errorf("settings: %s: %s and %s: want two numbers", name, x, y)
			}
			all[0][name] = fmt.Appendf(nil, "%d", n+m)
		case !bytes.Equal(x, y):
			return nil, fmt.Errorf("settings: %s: %s and %s", name, cmp.Or(string(x), "none"), cmp.Or(string(y), "none"))
		}
	}
	return json.Marshal(all[0])
}

// union are all texts of a, then those of b that are not among them.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
