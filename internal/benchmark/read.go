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
		Rows []struct {
			Bytes    int      `json:"bytes"`
			Variant  string   `json:"variant"`
			Median   float64  `json:"median_s"`
			Low      *float64 `json:"median_low_s"`
			High     *float64 `json:"median_high_s"`
			Min      float64  `json:"min_s"`
			Max      float64  `json:"max_s"`
			Bound    *float64 `json:"bound_s"`
			Verified bool     `json:"verified"`
		} `json:"rows"`
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
	for _, x := range f.Rows {
		r.Rows = append(r.Rows, Row{
			Bytes: x.Bytes, Variant: x.Variant, Median: x.Median, Low: jsonfile.Value(x.Low), High: jsonfile.Value(x.High),
			Min: x.Min, Max: x.Max, Bound: jsonfile.Value(x.Bound), Verified: x.Verified,
		})
	}
	return r, nil
}

// ReadCSV reads the medians, their intervals and the bounds of what WriteCSV has written.
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
		number := func(name string) float64 {
			text := line[column[name]]
			if text == "" {
				return math.NaN()
			}
			x, wrong := strconv.ParseFloat(text, 64)
			if (wrong != nil || math.IsNaN(x) || math.IsInf(x, 0)) && err == nil {
				err = fmt.Errorf("line %d: %s is %q: want a number", i+2, name, text)
			}
			return x
		}
		whole := func(name string) int {
			x, wrong := strconv.Atoi(line[column[name]])
			if wrong != nil && err == nil {
				err = fmt.Errorf("line %d: %s is %q: want a whole number", i+2, name, line[column[name]])
			}
			return x
		}
		r.Ranks = whole("ranks")
		r.Rows = append(r.Rows, Row{
			Bytes: whole("bytes"), Variant: line[column["variant"]], Median: number("median_s"),
			Low: number("median_low_s"), High: number("median_high_s"), Bound: number("bound_s"),
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}
