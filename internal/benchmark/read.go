package benchmark

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/topocast/topocast/internal/jsonfile"
)

// The format of a report as JSON.
const (
	format  = "topocast/bcast-benchmark"
	version = 2
)

// Read reads what Write has written, but for the plans and what follows from the others.
func Read(data []byte) (*Report, error) {
	var f struct {
		Version int `json:"version"`
		Ranks   int `json:"ranks"`
		Root    int `json:"root"`
		Conditions
		Rows []map[string]any `json:"rows"`
	}
	if found := jsonfile.Format(data); found != format {
		return nil, fmt.Errorf("format is %q, want %q: what topocast bcast --json prints", found, format)
	}
	if err := jsonfile.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if f.Version != version {
		return nil, fmt.Errorf("version is %d, which does not say how the library was set: want %d", f.Version, version)
	}
	r := &Report{Ranks: f.Ranks, Root: f.Root, Conditions: f.Conditions}
	for i, cells := range f.Rows {
		if err := r.add(func(name string) string {
			if cells[name] == nil {
				return ""
			}
			return fmt.Sprint(cells[name])
		}); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return r, nil
}

// add reads a row, of which cell returns the texts by name, "" where a number is not known.
func (r *Report) add(cell func(name string) string) error {
	x := Row{Variant: cell("variant"), Verified: cell("verified") == "true"}
	var bytes float64
	for _, c := range []struct {
		name string
		to   *float64
	}{
		{"bytes", &bytes}, {"median_s", &x.Median}, {"median_low_s", &x.Low}, {"median_high_s", &x.High}, {"min_s", &x.Min}, {"max_s", &x.Max}, {"bound_s", &x.Bound},
	} {
		*c.to = math.NaN()
		text := cell(c.name)
		if text == "" {
			continue
		}
		var err error
		if *c.to, err = strconv.ParseFloat(text, 64); err != nil || jsonfile.Known(*c.to) == nil {
			return fmt.Errorf("%s is %q: want a number", c.name, text)
		}
	}
	if x.Bytes = int(bytes); float64(x.Bytes) != bytes {
		return fmt.Errorf("bytes is %q: want a whole number", cell("bytes"))
	}
	r.Rows = append(r.Rows, x)
	return nil
}

// ReadCSV reads the rows of what WriteCSV has written.
func ReadCSV(data []byte) (*Report, error) {
	table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))) // which spreadsheets write
	head, err := table.Read()
	if err == io.EOF {
		return nil, errors.New("no content")
	}
	column := make(map[string]int)
	for k, name := range head {
		column[name] = k
	}
	for _, name := range []string{"ranks", "bytes", "variant", "median_s", "median_low_s", "median_high_s", "bound_s"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("no column %q: want the file of topocast bcast --csv, or --json", name)
		}
	}
	lines, err := table.ReadAll()
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for i, line := range lines {
		cell := func(name string) string {
			if k, ok := column[name]; ok {
				return line[k]
			}
			return ""
		}
		if r.Ranks, err = strconv.Atoi(cell("ranks")); err != nil {
			return nil, fmt.Errorf("line %d: ranks is %q: want a whole number", i+2, cell("ranks"))
		}
		if err := r.add(cell); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	return r, nil
}
