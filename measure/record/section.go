package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/harness"
)

// A File is what was measured in one job, or in several of the same ranks.
type File struct {
	Header
	Sections []*Section

	// Unfinished says that the file was not closed: the process was killed, or it is still
	// at work.
	Unfinished bool
}

// Section returns the first section of a kind, nil if there is none.
func (f *File) Section(kind string) *Section {
	for _, s := range f.Sections {
		if s.Kind == kind {
			return s
		}
	}
	return nil
}

// A Section is what was measured of one kind.
type Section struct {
	Kind     string          // one lower-case word, "latency"
	Sizes    []int           // B, of the messages; nil if the kind has none
	Columns  []string        // what the numbers of a row are, each name once
	Settings json.RawMessage // of the measurement, a JSON object that the kind understands; nil: none

	// Rows are the measurements, row after row, len(Columns) numbers each. NaN is
	// not measured.
	Rows []float64

	Notes    []string // what was decided while measuring, each one sentence
	Warnings []string // what is uncertain, each one sentence

	Rounds      int             // done: all their rows are there
	TotalRounds int             // planned
	Stopped     harness.Stopped // why it ended early, or ""
	Unfinished  bool            // the process ended first
	Runs        int             // that were merged; 0 and 1: one
}

// Names of columns that mean the same in all kinds. From and To are ranks, Size
// is an index into Section.Sizes, Repetition and Round count from 0.
const (
	ColumnRepetition = "repetition"
	ColumnSize       = "size"
	ColumnFrom       = "from"
	ColumnTo         = "to"
	ColumnRound      = "round"
)

// SettingsOf is what Section.Settings keeps of plain numbers and names.
func SettingsOf(settings any) json.RawMessage {
	data, err := json.Marshal(settings)
	if err != nil {
		panic("record: settings are no JSON: " + err.Error())
	}
	return data
}

// Flag is how a row keeps whether something holds.
func Flag(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// NumRows is the number of rows.
func (s *Section) NumRows() int {
	if len(s.Columns) == 0 {
		return 0
	}
	return len(s.Rows) / len(s.Columns)
}

// Row returns one row. It is part of Rows.
func (s *Section) Row(i int) []float64 {
	width := len(s.Columns)
	return s.Rows[i*width : (i+1)*width : (i+1)*width]
}

// Column returns the index of a column, -1 if there is none of that name.
func (s *Section) Column(name string) int { return slices.Index(s.Columns, name) }

// need returns the indices of columns, or an error that names the first one
// that is missing.
func (s *Section) need(names ...string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = s.Column(name); at[i] < 0 {
			return nil, fmt.Errorf("columns: %q: want %q among them", s.Columns, name)
		}
	}
	return at, nil
}

// Decode checks that the section is of a kind, decodes its settings, and returns its rows by their number: each is the numbers
// of the given columns, in their order, which are valid until the next row.
func (s *Section) Decode(kind string, settings any, columns ...string) (iter.Seq2[int, []float64], error) {
	if s.Kind != kind {
		return nil, fmt.Errorf("section of kind %q: want %q", s.Kind, kind)
	}
	at, err := s.need(columns...)
	if err != nil {
		return nil, err
	}
	if len(s.Settings) > 0 {
		if err := jsonfile.Decode(bytes.NewReader(s.Settings), settings); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	return func(yield func(int, []float64) bool) {
		values := make([]float64, len(at))
		for i := range s.NumRows() {
			row := s.Row(i)
			for k, column := range at {
				values[k] = row[column]
			}
			if !yield(i, values) {
				return
			}
		}
	}, nil
}

// check refuses sections that cannot be; rows are looked at as they come.
func (s *Section) check() error {
	if s.Kind == "" || strings.Trim(s.Kind, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return fmt.Errorf("kind: %q: want a word of lower-case letters", s.Kind)
	}
	if len(s.Columns) == 0 {
		return fmt.Errorf("columns: none")
	}
	for i, name := range s.Columns {
		if name == "" || slices.Contains(s.Columns[:i], name) {
			return fmt.Errorf("columns: %q: want different names", s.Columns)
		}
	}
	for _, size := range s.Sizes {
		if size < 0 {
			return fmt.Errorf("sizes_bytes: %d: want at least 0", size)
		}
	}
	if s.Runs < 0 {
		return fmt.Errorf("runs: %d: want at least 1", s.Runs)
	}
	if s.Settings != nil {
		var object map[string]json.RawMessage
		if err := jsonfile.Unmarshal(s.Settings, &object); err != nil || object == nil {
			return fmt.Errorf("settings: want a JSON object")
		}
	}
	return s.checkRounds()
}

func (s *Section) checkRounds() error {
	if s.Rounds < 0 || s.TotalRounds < s.Rounds {
		return fmt.Errorf("rounds: %d of %d", s.Rounds, s.TotalRounds)
	}
	return nil
}

// bounds say which whole numbers the columns of a section hold that mean the
// same in all kinds.
type bounds []bound

type bound struct {
	column int
	below  int // 0 <= number < below
}

func (s *Section) bounds(ranks int) bounds {
	var all bounds
	for i, name := range s.Columns {
		switch name {
		case ColumnRepetition, ColumnRound:
			all = append(all, bound{i, math.MaxInt32})
		case ColumnSize:
			all = append(all, bound{i, len(s.Sizes)})
		case ColumnFrom, ColumnTo:
			all = append(all, bound{i, ranks})
		}
	}
	return all
}

// check refuses a row that cannot be.
func (b bounds) check(s *Section, row []float64) error {
	for _, x := range b {
		if v := row[x.column]; !(v >= 0 && v < float64(x.below)) || v != math.Trunc(v) {
			return fmt.Errorf("%s: %g: want a whole number in [0, %d)", s.Columns[x.column], v, x.below)
		}
	}
	for i, v := range row {
		if math.IsInf(v, 0) {
			return fmt.Errorf("%s: %g: want a finite number", s.Columns[i], v)
		}
	}
	return nil
}

// ErrFormat says that a file holds no measurement. Read and ReadFile return it, wrapped.
var ErrFormat = errors.New("not a measurement of topocast")
