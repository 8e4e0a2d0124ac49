package encode

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// Latencies are what a file of latencies holds.
type Latencies struct {
	Matrix     *mat.Dense // s; NaN: not measured, and the diagonal
	Names      []string   // of the hosts; nil: the file has none
	Unit       Unit       // of the numbers in the file
	UnitStated bool       // whether the file names the unit itself
	Understood string     // how the file was understood, in one line
	Warnings   []string   // what is odd, a sentence each
}

// secondsBelow bounds the numbers of a file without a unit that must be seconds: in ms, and all the more in us or ns, they were below the
// 10 ns that light takes for 3 m.
const secondsBelow = 1e-5

// ReadMatrix reads a matrix of latencies: one line per host, cell (i, j) the
// latency from host i to host j. The unit, one of the four, counts for files that
// do not name theirs; 0 means none is known. Then numbers that can be nothing but seconds
// are s, and others are an error. A file that names another one is refused.
//
// Cells are separated by commas, semicolons, tabs, pipes or blanks, whichever
// make the most numbers, and may be quoted. Numbers have a decimal point, or a
// decimal comma where commas separate nothing, and may carry a unit, each its
// own. Empty cells, nan, NA, null, none, -, -1, inf, timeout and the like mean
// "not measured". The diagonal is not used: it may be empty or hold any number.
// Names of the hosts may stand in a first line, in a first column, or both;
// whole numbers are names if they cannot well be latencies. Lines that begin
// with # or % are comments; one with "unit: us" names the unit, and so does a
// title with "(us)". If one triangle is empty throughout, left out, or all zeros
// beside times, the other is mirrored into it, except in files of WriteMatrix.
//
// A table may also stand in text, in brackets, in Markdown, or in a MatrixMarket file. It may be a list with a line for
// each pair, in CSV or as objects in JSON.
// Where columns or keys are called as the ends of a message and its latency
// are, others are passed over. Of a pair that a list has several times the
// median counts. Distances of the SLIT, as numactl prints
// them, are refused: they are no times.
//
// Everything else is an error that names the line and, where there is one, the
// column, both counted from 1: cells that are not numbers or are negative,
// lines of unequal length, files that are empty, not square or above 32768
// hosts. Values that can be, but hardly are, make warnings. O(size of the file).
func ReadMatrix(r io.Reader, unit Unit) (_ *Latencies, err error) {
	defer naming("read matrix", &err)
	if _, isKnown := unit.exponent(); unit != 0 && !isKnown {
		return nil, fmt.Errorf("unit of %g s: want s, ms, us or ns", float64(unit))
	}
	t, err := readTable(r)
	if err != nil {
		return nil, err
	}
	s, notUnderstood := t.understand()
	named, where, err := t.unitNamed(unit)
	switch {
	case err != nil:
		return nil, err
	case (notUnderstood != nil || s.names == nil && !s.isList) && t.hasSizes():
		return nil, errors.New("line 1: the first column holds sizes of messages, as benchmarks of two processes print: want the times of all pairs")
	case notUnderstood != nil:
		return nil, notUnderstood
	}
	f := filler{t: t, unit: cmp.Or(unit, named)}
	cells, err := f.fill(s, stats.MiddleMedian)
	if err != nil {
		return nil, err
	}
	if f.carried != 0 {
		named, where = f.carried, "cells"
	}
	l := &Latencies{Matrix: mat.NewDense(s.n, s.n, cells), Names: s.names, Unit: cmp.Or(f.unit, Second), UnitStated: named != 0}
	why := fmt.Sprintf("from %q", where)
	switch {
	case unit != 0:
		why = "as given"
	case named != 0:
	case largest(l.Matrix) >= secondsBelow:
		return nil, errNoUnit
	default:
		why = "none is named, and in ms all were below the 10 ns of light over 3 m"
	}
	l.Warnings = append(s.warnings, doubts(l.Matrix, l.Unit, why)...)
	if !t.isOwn {
		l.mirror(s.isList)
		l.leaveOutPlaceholders()
		l.leaveOutSilent()
		l.leaveOutDead()
	}
	l.Understood = l.describe(s, t.skipped(s), why)
	return l, nil
}

// A filler puts the numbers of a table into their places, in s.
type filler struct {
	t       *table
	unit    Unit // of numbers that carry none; 0: none is known
	carried Unit // that numbers carry; 0: none does

	isCounts bool // signs for no answer are none

	mixed, bare bool // numbers carry different units; some carry none
	decimal     byte // the decimal mark; 0: none was seen
}

// fill returns the cells of the matrix, line by line. Of numbers that stand for one pair it takes what combine makes of them.
func (f *filler) fill(s *shape, combine func([]float64) float64) ([]float64, error) {
	cells := slices.Repeat([]float64{math.NaN()}, s.n*s.n)
	several := map[int][]float64{}
	distances, count := true, 0 // of the SLIT of ACPI: whole numbers from 10 to 255, relative to the 10 that each node is from itself
	for e := range s.entries {
		if distances {
			x := e.cell.whole()
			distances = 10 <= x && x <= 255 && (e.from == e.to) == (x == 10)
		}
		count++
		v, err := f.number(e)
		at := e.from*s.n + e.to
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d, column %d: %w", e.line, e.column, err)
		case e.from == e.to || math.IsNaN(v):
		case math.IsNaN(cells[at]):
			cells[at] = v
		default:
			several[at] = append(several[at], v)
		}
	}
	for at, more := range several {
		cells[at] = combine(slices.Insert(more, 0, cells[at]))
	}
	switch {
	case distances && count == len(cells) && !f.t.isOwn && !f.isCounts:
		return nil, errors.New("line 1: distances between NUMA nodes, as numactl prints ACPI's SLIT (10 to itself), are no times: measure them by topocast measure")
	case f.carried == 0:
	case f.bare && f.unit == 0:
		return nil, errors.New("line 1: some numbers carry their unit and others do not: want --unit for these")
	case !f.bare && !f.mixed && f.unit != 0 && f.unit != f.carried:
		return nil, fmt.Errorf("line 1: cells are in %s, not in %s", f.carried, f.unit)
	case f.unit == 0 || !f.bare && !f.mixed:
		f.unit = f.carried
	}
	return cells, nil
}

// number reads a cell, in s; NaN is one that was not measured.
func (f *filler) number(e entry) (float64, error) {
	text, unit := e.cell.text, e.cell.unit
	switch {
	case e.cell.absent && (!f.isCounts || text == "" || e.from == e.to):
		return math.NaN(), nil
	case !e.cell.number:
		return 0, f.t.notANumber(text)
	case strings.Contains(text, ",") && f.t.comma == ',':
		return 0, fmt.Errorf("%q: a decimal comma or one between thousands? Write a point, or separate cells by semicolons", shorten(text))
	}
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		if f.decimal != 0 && text[i] != f.decimal {
			return 0, fmt.Errorf("%q has the decimal mark %q, cells before it %q", shorten(text), text[i], f.decimal)
		}
		f.decimal = text[i]
		if text[i] == ',' {
			text = text[:i] + "." + text[i+1:]
		}
	}
	if unit != 0 {
		f.mixed = f.mixed || f.carried != 0 && f.carried != unit
		f.carried = unit
	} else {
		f.bare = f.bare || !isBlankCell(e.cell)
		unit = f.unit
	}
	power := 0
	if unit != 0 {
		power, _ = unit.exponent()
	}
	v, err := quantity.ParseShifted(text, power)
	switch {
	case err != nil:
		return 0, f.t.notANumber(text)
	case e.from != e.to && v < 0:
		return 0, fmt.Errorf("latency %s is negative", shorten(text))
	}
	return v, nil
}

// mirror copies a lone triangle into the other; of a list, each pair that is there in one direction alone. A triangle of zeros beside one
// that has more is none: no message takes longer than nothing in one direction of every pair alone.
func (l *Latencies) mirror(isList bool) {
	n, _ := l.Matrix.Dims()
	const below, above = 0, 1
	var isThere, isMore [2]bool // a triangle has a cell, and one that is not 0
	for i := range n {
		for j := range i {
			for side, v := range []float64{below: l.Matrix.At(i, j), above: l.Matrix.At(j, i)} {
				isThere[side] = isThere[side] || !math.IsNaN(v)
				isMore[side] = isMore[side] || v > 0
			}
		}
	}
	switch both := isThere[below] && isThere[above] && !isList; {
	case both && isMore[below] == isMore[above]:
		return
	case both:
		where := map[bool]string{true: "above", false: "below"}[isMore[below]]
		l.Warnings = append(l.Warnings, fmt.Sprintf("zeros %s the diagonal are taken for a triangle that was left out", where))
		l.forget(func(i, j int) bool { return (i > j) != isMore[below] })
	}
	for i := range n {
		for j := range n {
			if back := l.Matrix.At(j, i); math.IsNaN(l.Matrix.At(i, j)) && !math.IsNaN(back) {
				l.Matrix.Set(i, j, back)
			}
		}
	}
}

// largest is the largest measured value of a matrix, or 0.
func largest(m *mat.Dense) float64 {
	most := 0.0
	for _, v := range m.RawMatrix().Data {
		if v > most {
			most = v
		}
	}
	return most
}

// skipped counts the lines of text around the table.
func (t *table) skipped(s *shape) int {
	lines := t.borders - s.used
	for _, l := range t.lines {
		if l.width > 0 {
			lines++
		}
	}
	return lines
}

// describe says in one line how the file was understood.
func (l *Latencies) describe(s *shape, skipped int, why string) string {
	n, _ := l.Matrix.Dims()
	absent := -n // the diagonal
	for _, v := range l.Matrix.RawMatrix().Data {
		if math.IsNaN(v) {
			absent++
		}
	}
	names := "without names"
	if s.named != "" {
		names = "names " + s.named
	}
	text := fmt.Sprintf("read %s (%s), unit %s (%s)", words.Count(n, "host"), names, l.Unit, why)
	if absent > 0 {
		text += fmt.Sprintf(", %s missing", words.Count(absent, "cell"))
	}
	if skipped > 0 {
		text += fmt.Sprintf(", %s of text skipped", words.Count(skipped, "line"))
	}
	return text
}
