package throughput

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/record"
)

// Kind is that of a Section.
const Kind = "throughput"

// The rows of a section are of several entries, which the first column names. All name a
// pair of ranks that they rest on; numbers that an entry has none of are not measured.
const (
	entryPair    = iota // of a reading: the time of one pair's messages
	entrySample         // of a reading: the rate of one sample
	entryLink           // one direction of a link
	entrySwitch         // what the hosts of a switch come to
	entryMaximum        // of a switch, one way
	entryDirect         // whether a pair has a link of its own
	entries
)

// The columns besides those of record.
const (
	columnEntry  = iota
	columnWhat   // of Settings.What
	columnVertex // of the graph that was measured along
	columnOther
	columnRate
	columnSecond // B/s; of a switch two hosts alone, of a direct pair when it is blocked
	columnThird  // B/s; of a switch all other hosts
	columnBound  // 0 or 1: the rate is a lower bound; of a switch and a direct pair the verdict
	columnReading
	columnLoad
	columnStep
	columnMessages
	columnSeconds
	ownColumns
)

func columns() []string {
	return []string{
		"entry", "what", "vertex", "other_vertex", "rate_Bps", "second_Bps", "third_Bps", "bound",
		"reading", "load", "step", "messages", "seconds",
		record.ColumnRepetition, record.ColumnFrom, record.ColumnTo,
	}
}

// sectionSettings are the conditions of a section.
type sectionSettings struct {
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds"`
}

// Section is the result as files keep it. Links that were not measured are left out.
func (r *Result) Section() *record.Section {
	settings, err := json.Marshal(sectionSettings{r.Samples, r.Seconds})
	if err != nil {
		panic("throughput: section: " + err.Error()) // plain numbers and a word
	}
	s := &record.Section{
		Kind: Kind, Sizes: []int{r.Size}, Columns: columns(), Settings: settings, Warnings: slices.Clone(r.Warnings),
		Rounds: r.Steps, TotalRounds: r.Steps, Stopped: r.Stopped,
	}
	row := func(entry int, pair [2]int, repetition int, set func(row []float64)) {
		x := slices.Repeat([]float64{math.NaN()}, len(s.Columns))
		x[columnEntry] = float64(entry)
		x[ownColumns], x[ownColumns+1], x[ownColumns+2] = float64(repetition), float64(pair[0]), float64(pair[1])
		set(x)
		s.Rows = append(s.Rows, x...)
	}
	flag := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	for i := range r.Readings {
		x := &r.Readings[i]
		head := func(row []float64) {
			row[columnWhat], row[columnVertex], row[columnOther] = float64(x.What), float64(x.From), float64(x.To)
			row[columnReading], row[columnLoad], row[columnStep] = float64(i), float64(x.Load), float64(x.Step)
			row[columnMessages], row[columnRate] = float64(x.Messages), x.Rate
		}
		for k, p := range x.Pairs {
			row(entryPair, p, 0, func(row []float64) { head(row); row[columnSeconds] = x.Seconds[k] })
		}
		for k, rate := range x.Rates {
			row(entrySample, x.Pairs[0], k, func(row []float64) { head(row); row[columnRate] = rate })
		}
	}
	for _, l := range r.Links {
		for _, reading := range l.Readings {
			row(entryLink, r.Readings[reading].Pairs[0], 0, func(row []float64) {
				row[columnWhat], row[columnVertex], row[columnOther] = float64(l.What), float64(l.From), float64(l.To)
				row[columnRate], row[columnBound], row[columnReading] = l.Rate, flag(l.AtLeast), float64(reading)
			})
		}
	}
	for _, x := range r.Switches {
		of := r.pairOf(x.Vertex)
		row(entrySwitch, of, 0, func(row []float64) {
			row[columnVertex], row[columnRate], row[columnSecond], row[columnThird] = float64(x.Vertex), x.All, x.Alone, x.Rest
			row[columnBound] = flag(x.Parallel)
		})
		for way, rate := range x.Maximum {
			row(entryMaximum, of, 0, func(row []float64) {
				row[columnVertex], row[columnOther], row[columnRate], row[columnBound] = float64(x.Vertex), float64(way), rate, flag(x.AtLeast[way])
			})
		}
	}
	for _, d := range r.Direct {
		row(entryDirect, d.Pair, 0, func(row []float64) {
			row[columnRate], row[columnSecond], row[columnBound] = d.Alone, d.Blocked, flag(d.Wired)
		})
	}
	return s
}

// pairOf is a pair of the first reading that was taken for a switch.
func (r *Result) pairOf(vertex int) [2]int {
	for _, x := range r.Readings {
		if x.What&(Parallel|Maximum) != 0 && max(x.From, x.To) == vertex {
			return x.Pairs[0]
		}
	}
	return [2]int{}
}

// FromSection is the result that a section of one run holds, without the graph and
// the links that were not measured. It refuses sections of another kind, and numbers that cannot be;
// ranks are not known to it.
func FromSection(s *record.Section) (*Result, error) {
	fail := func(format string, args ...any) (*Result, error) {
		return nil, fmt.Errorf("throughput: section: "+format, args...)
	}
	if s.Kind != Kind || s.Runs > 1 || len(s.Sizes) != 1 {
		return fail("kind %q of %d runs and %d sizes: want %q, 1, 1", s.Kind, max(1, s.Runs), len(s.Sizes), Kind)
	}
	at, err := s.Need(columns()...)
	if err != nil {
		return fail("%w", err)
	}
	var settings sectionSettings
	if err := jsonfile.Unmarshal(s.Settings, &settings); err != nil {
		return fail("settings: %w", err)
	}
	r := &Result{
		Size: s.Sizes[0], Samples: settings.Samples, Seconds: settings.Seconds,
		Steps: s.Rounds, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings),
	}
	for k := range s.NumRows() {
		x := make([]float64, len(at))
		for i, column := range at {
			x[i] = s.Row(k)[column]
		}
		if err := r.addRow(x); err != nil {
			return fail("row %d: %w", k, err)
		}
	}
	return r, nil
}

// addRow adds one row, of the numbers in the order of columns.
func (r *Result) addRow(x []float64) error {
	// whole is a column as a number from least on; NaN is one that the entry has to have.
	var bad error
	whole := func(column, least int) int {
		if v := x[column]; !(v >= float64(least) && v <= math.MaxInt32) || v != math.Trunc(v) {
			bad = fmt.Errorf("%s: %g: want a whole number from %d on", columns()[column], v, least)
			return 0
		}
		return int(x[column])
	}
	pair := [2]int{whole(ownColumns+1, 0), whole(ownColumns+2, 0)}
	entry := whole(columnEntry, 0)
	if bad == nil && entry >= entries {
		bad = fmt.Errorf("entry: %d: want below %d", entry, entries)
	}
	if bad != nil {
		return bad
	}
	switch entry {
	case entryPair, entrySample:
		n := whole(columnReading, 0)
		switch {
		case bad == nil && n == len(r.Readings):
			r.Readings = append(r.Readings, Reading{
				What: What(whole(columnWhat, 1)), From: whole(columnVertex, -1), To: whole(columnOther, -1),
				Messages: whole(columnMessages, 1), Load: whole(columnLoad, 0), Step: whole(columnStep, 0), Rate: x[columnRate],
			})
		case bad == nil && n != len(r.Readings)-1:
			bad = fmt.Errorf("reading: %d: want %d or the one after", n, len(r.Readings)-1)
		}
		if bad != nil {
			return bad
		}
		last := &r.Readings[len(r.Readings)-1]
		if entry == entrySample {
			last.Rates = append(last.Rates, x[columnRate])
			return nil
		}
		last.Pairs, last.Seconds = append(last.Pairs, pair), append(last.Seconds, x[columnSeconds])
	case entryLink:
		reading := whole(columnReading, 0)
		l := Link{
			From: whole(columnVertex, 0), To: whole(columnOther, 0), What: What(whole(columnWhat, 1)),
			Rate: x[columnRate], AtLeast: x[columnBound] == 1,
		}
		if bad == nil && reading >= len(r.Readings) {
			bad = fmt.Errorf("reading: %d: want one of %d", reading, len(r.Readings))
		}
		if bad != nil {
			return bad
		}
		if n := len(r.Links); n == 0 || r.Links[n-1].From != l.From || r.Links[n-1].To != l.To {
			r.Links = append(r.Links, l)
		}
		last := &r.Links[len(r.Links)-1]
		last.Readings = append(last.Readings, reading)
	case entrySwitch:
		r.Switches = append(r.Switches, Switch{
			Vertex: whole(columnVertex, 0), All: x[columnRate], Alone: x[columnSecond], Rest: x[columnThird], Parallel: x[columnBound] == 1,
		})
	case entryMaximum:
		way := whole(columnOther, 0)
		if n := len(r.Switches); bad == nil && (way > 1 || n == 0 || r.Switches[n-1].Vertex != whole(columnVertex, 0)) {
			bad = fmt.Errorf("maximum: way %d of a switch whose row does not stand above", way)
		}
		if bad != nil {
			return bad
		}
		last := &r.Switches[len(r.Switches)-1]
		last.Maximum[way], last.AtLeast[way] = x[columnRate], x[columnBound] == 1
	case entryDirect:
		r.Direct = append(r.Direct, Direct{Pair: pair, Alone: x[columnRate], Blocked: x[columnSecond], Wired: x[columnBound] == 1})
	}
	return bad
}
