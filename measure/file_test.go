package measure

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

var update = flag.Bool("update", false, "rewrite golden files")

// example is a small result, made by hand.
func example() *Result {
	return &Result{
		Header: record.Header{
			Ranks: 2, Date: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Library: "Open MPI 4.1.4", Timed: true,
			GoVersion: "go1.26.8", Version: "v0.1.0", Platform: "linux/amd64",
			ClockStep: 1e-9, ClockCost: 5e-8,
			Hosts: []string{"node1", "node2"}, Cores: []int{0, -1}, CPUs: []int{1, 8}, NUMA: []int{0, -1}, GOMAXPROCS: []int{1, 8},
			OversubscribedHosts: []string{"node2"}, Environment: []string{"UCX_TLS=tcp"},
		},
		Sizes: []int{0, 1024}, Repetitions: 2, Samples: 20, Seed: 7,
		Rounds: 1, TotalRounds: 2, Stopped: harness.StoppedByBudget, Notes: []string{"a note"},
		Warnings: []string{"the time budget ended the measurement after 1 of 2 rounds"},
		measurements: []Measurement{
			{From: 0, To: 1, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 7, Lots: 1, Min: 1.5e-6, Q1: 1.75e-6, Median: 2e-6, Q3: 2.5e-6, Max: 1e-3, Mean: 5.25e-5}},
			{From: 1, To: 0, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 7, Lots: 6, Unsure: true, Min: 1.25e-6, Q1: 1.75e-6, Median: 2e-6, Q3: 2.5e-6, Max: 0.25, Mean: 0.0125}},
			{From: 0, To: 1, Size: 1, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 1, Lots: 2, Min: 0, Q1: 0, Median: 3.141592e-6, Q3: 4e-6, Max: 5e-6, Mean: 2.5e-6}},
		},
	}
}

func encoded(t *testing.T, r *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFileIsAsPublished(t *testing.T) {
	path := filepath.Join("testdata", "example.json")
	got := encoded(t, example())
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("Write gives\n%s\nwant\n%s", got, want)
	}
}

func TestFilesAreReadBack(t *testing.T) {
	plain := example()
	plain.Date, plain.Warnings, plain.measurements, plain.Library, plain.Version = time.Time{}, nil, nil, "", ""
	plain.OversubscribedHosts, plain.Notes = nil, nil
	for name, want := range map[string]*Result{"example": example(), "nothing measured": plain} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "result.json")
			if err := want.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("ReadFile = %+v, want %+v", got, want)
			}
		})
	}
}

func TestMeasuredResultIsReadBack(t *testing.T) {
	want := results(t, 5, nil, &Settings{Sizes: []int{0, 8}, Sampling: Sampling{Samples: 5}}, nil)[0]
	got, err := ReadResult(bytes.NewReader(encoded(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ReadResult = %+v, want %+v", got, want)
	}
}

// A file that cannot be written leaves the old one, and no other.
func TestFilesAppearWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	if err := example().WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if err := example().WriteFile(filepath.Join(dir, "missing", "result.json")); err == nil {
		t.Errorf("writing into a missing directory succeeds")
	}
	broken := example()
	broken.ClockStep = 1 / (broken.ClockStep - broken.ClockStep) // +Inf: JSON has no word for it
	if err := broken.WriteFile(path); err == nil {
		t.Errorf("writing an infinite clock step succeeds")
	}
	if _, err := ReadFile(path); err != nil {
		t.Errorf("the old file is damaged: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("directory holds %v, want one file", entries)
	}
}

func TestReadResultRefuses(t *testing.T) {
	good := string(encoded(t, example()))
	replace := func(before, after string) string {
		if !strings.Contains(good, before) {
			t.Fatalf("%q is not in the example", before)
		}
		return strings.Replace(good, before, after, 1)
	}
	tests := []struct{ name, data, want string }{
		{"an empty file", "", "line 1 is no header"},
		{"text", "latencies\n1,2\n", "line 1 is no header"},
		{"another format", `{"format":"topocast/network","version":1}`, `format "topocast/network": want "topocast/measurement"`},
		{"a newer version", replace(`"version":3`, `"version":4`), "version 4 is newer than this program"},
		{"half a header", good[:100], "not a whole header"},
		{"a header alone", good[:strings.Index(good, "\n")+1], "holds no latencies: nothing was measured yet"},
		{"another kind", strings.Replace(replace(`"kind":"latency"`, `"kind":"bandwidth"`), `"end":"latency"`, `"end":"bandwidth"`, 1), `holds no latencies but ["bandwidth"]`},
		{"no settings", replace(`"settings":{"repetitions":2,"samples":20,"seed":7}`, `"settings":{}`), "repetitions, samples: 0, 0"},
		{"an unknown setting", replace(`"seed":7`, `"sod":7`), `settings: json: unknown field "sod"`},
		{"no sizes", replace(`"sizes_bytes":[0,1024],`, ``), "line 3: size: 0"},
		{"more repetitions than can be", replace(`"repetitions":2`, `"repetitions":1001`), "Repetitions: 1001"},
		{"another reason to stop", replace(`"stopped":"budget"`, `"stopped":"fire"`), `stopped: "fire"`},
		{"a column is missing", replace(`"q1_s"`, `"q2_s"`), `want "q1_s" among them`},
		{"a measurement of few numbers", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,20,`), "line 3: 14 numbers: want 15"},
		{"a measurement of a repetition that cannot be", replace(`[0,0,0,1,`, `[1000,0,0,1,`), "measurement 1: repetition: 1000"},
		{"a measurement of a size that is not there", replace(`[0,1,0,1,`, `[0,2,0,1,`), "line 5: size: 2"},
		{"a measurement of a rank that is not there", replace(`[0,0,0,1,`, `[0,0,0,2,`), "line 3: to: 2"},
		{"a measurement with itself", replace(`[0,0,0,1,`, `[0,0,1,1,`), "measurement 1: from rank 1 to itself"},
		{"a measurement given twice", replace(`[0,0,1,0,`, `[0,0,0,1,`), "the measurement from 0 to 1 is there twice"},
		{"no samples in a measurement", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,0,7,`), "measurement 1: count: 0"},
		{"more samples than asked for", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,21,7,`), "measurement 1: count: 21"},
		{"no batch", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,20,0,`), "measurement 1: batch: 0"},
		{"no lots", replace(`[0,0,0,1,0,20,7,1,0,`, `[0,0,0,1,0,20,7,0,0,`), "measurement 1: lots: 0"},
		{"half unsure", replace(`[0,0,0,1,0,20,7,1,0,`, `[0,0,0,1,0,20,7,1,2,`), "measurement 1: unsure: 2"},
		{"a negative time", replace(`1.5e-06`, `-1.5e-06`), "measurement 1: min_s: -1.5e-06: want at least 0"},
		{"a time that was not measured", replace(`1.5e-06`, `null`), "measurement 1: min_s: NaN: want at least 0"},
		{"quartiles out of order", replace(`0.001`, `1e-9`), "measurement 1: max_s: 1e-09: want at least 2.5e-06"},
		{"a mean beyond the greatest", replace(`5.25e-05`, `0.1`), "measurement 1: mean_s: 0.1: want in [1.5e-06, 0.001]"},
		{"a time beyond float64", replace(`0.001`, `1e999`), "1e999"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ReadResult(strings.NewReader(tt.data))
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), "measure: read result: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadResult = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestReadFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wrong.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("ReadFile = %v, want an error that names %s", err, path)
	}
}

func TestOtherFilesAreToldApart(t *testing.T) {
	for _, text := range []string{"1,2\n3,4\n", "", `{"format":"topocast/network","version":1}`, "[1]"} {
		if _, err := ReadResult(strings.NewReader(text)); !errors.Is(err, record.ErrFormat) {
			t.Errorf("ReadResult(%q) = %v, want record.ErrFormat", text, err)
		}
	}
	broken := string(encoded(t, example()))
	if _, err := ReadResult(strings.NewReader(broken[:100])); err == nil || errors.Is(err, record.ErrFormat) {
		t.Errorf("half a measurement: %v, want another error than record.ErrFormat", err)
	}
}

// TestColumnsAreFoundByName: in any order, and with some of a later version.
func TestColumnsAreFoundByName(t *testing.T) {
	want := example()
	section := want.Section()
	other := &record.Section{
		Kind: section.Kind, Sizes: section.Sizes, Settings: section.Settings, Notes: section.Notes, Warnings: section.Warnings,
		Rounds: section.Rounds, TotalRounds: section.TotalRounds, Stopped: section.Stopped,
		Columns: append([]string{"mood"}, section.Columns...),
	}
	slices.Reverse(other.Columns)
	for i := range section.NumRows() {
		row := append([]float64{0.5}, section.Row(i)...)
		slices.Reverse(row)
		other.Rows = append(other.Rows, row...)
	}
	file := &record.File{Header: want.Header, Sections: []*record.Section{
		{Kind: "of-tomorrow", Columns: []string{"moon"}, Rows: []float64{1}}, other, {Kind: KindLatency, Columns: []string{"second"}},
	}}
	got, err := FromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("FromFile = %+v, want %+v", got, want)
	}
	var b bytes.Buffer
	if err := file.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got, err = ReadResult(&b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadResult = %+v, %v, want %+v", got, err, want)
	}
	if _, err := FromFile(&record.File{Header: want.Header, Sections: file.Sections[:1]}); err == nil || !strings.Contains(err.Error(), `no latencies but ["of-tomorrow"]`) {
		t.Errorf("a file of another kind: %v", err)
	}
}

// TestMergedRuns: two runs of the same ranks are one measurement of more repetitions.
func TestMergedRuns(t *testing.T) {
	var files []*record.File
	measurements := 0
	for seed := range 2 {
		r := results(t, 4, nil, &Settings{Sampling: Sampling{Samples: 5, Repetitions: 2, Seed: uint64(seed)}}, nil)[0]
		measurements += len(r.Measurements())
		files = append(files, &record.File{Header: r.Header, Sections: []*record.Section{r.Section()}})
	}
	both, err := record.Merge(files...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := FromFile(both)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Measurements()) != measurements || r.Repetitions != 4 || len(r.Matrices()) != 4 || r.Rounds != 12 || r.Runs != 2 {
		t.Errorf("%d measurements of %d repetitions in %d rounds, want %d of 4 in 12", len(r.Measurements()), r.Repetitions, r.Rounds, measurements)
	}
}

// What is accepted can be used and is written and read as the same.
func FuzzReadResult(f *testing.F) {
	var b bytes.Buffer
	if err := example().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-20])
	f.Add(b.Bytes()[:b.Len()/2])
	f.Add([]byte(`{"format":"topocast/measurement","version":1,"ranks":1}`))
	f.Add([]byte(`{"format":"topocast/measurement","version":1,"measurements":[[1]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadResult(bytes.NewReader(data))
		if err != nil {
			return
		}
		r.Matrices()
		for size := range r.Sizes {
			roundEffects(r.byPair(size))
		}
		warnings(r)
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadResult(&b)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.measurements) != len(r.measurements) || again.Ranks != r.Ranks {
			t.Fatalf("read again: %+v, want %+v", again, r)
		}
	})
}
