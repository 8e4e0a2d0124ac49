package measure

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/pingpong"
)

var update = flag.Bool("update", false, "rewrite golden files")

// example is a small result, made by hand.
func example() *Result {
	return &Result{
		Ranks: 2, Sizes: []int{0, 1024}, Repetitions: 2, Samples: 20, Seed: 7,
		Rounds: 1, TotalRounds: 2, Stopped: StoppedByBudget,
		Date: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Library: "Open MPI 4.1.4", Timed: true,
		GoVersion: "go1.26.8", Version: "v0.1.0", Platform: "linux/amd64",
		ClockStep: 1e-9, ClockCost: 5e-8,
		Hosts: []string{"node1", "node2"}, Cores: []int{0, -1}, CPUs: []int{1, 8}, GOMAXPROCS: []int{1, 8},
		CrowdedHosts: []string{"node2"}, Notes: []string{"a note"},
		Warnings: []string{"the time budget ended the measurement after 1 of 2 rounds"},
		readings: []Reading{
			{From: 0, To: 1, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 7, Lots: 1, Min: 1.5e-6, Q1: 1.75e-6, Median: 2e-6, Q3: 2.5e-6, Max: 1e-3}},
			{From: 1, To: 0, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 7, Lots: 6, Unsure: true, Min: 1.25e-6, Q1: 1.75e-6, Median: 2e-6, Q3: 2.5e-6, Max: 0.25}},
			{From: 0, To: 1, Size: 1, Round: 0, Summary: pingpong.Summary{Count: 20, Batch: 1, Lots: 2, Min: 0, Q1: 0, Median: 3.141592e-6, Q3: 4e-6, Max: 5e-6}},
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
	plain.Date, plain.Warnings, plain.readings, plain.Library, plain.Version = time.Time{}, nil, nil, "", ""
	plain.CrowdedHosts, plain.Notes = nil, nil
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
	want := results(t, 5, nil, &Settings{Sizes: []int{0, 8}, Samples: 5}, nil)[0]
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
		{"an empty file", "", "not a whole JSON file"},
		{"text", "latencies\n1,2\n", "not a whole JSON file"},
		{"another format", `{"format":"topocast/network","version":1}`, `format "topocast/network": want "topocast/measurement"`},
		{"no format", `{}`, `format "": want "topocast/measurement"`},
		{"a newer version", replace(`"version":2`, `"version":3`), "version 3 is newer than this program"},
		{"no version", replace(`"version":2,`, ``), "version 0: want 2"},
		{"half a file", good[:len(good)/2], "not a whole JSON file"},
		{"a file with a tail", good + "x", "not a whole JSON file"},
		{"an unknown key", replace(`"version":2,`, `"version":2,"extra":3,`), `unknown field "extra"`},
		{"a text for a number", replace(`"ranks":2`, `"ranks":"2"`), "ranks"},
		{"no ranks", replace(`"ranks":2`, `"ranks":0`), "ranks: 0"},
		{"ranks without hosts", replace(`"ranks":2`, `"ranks":1000000000`), "want one for each of 1000000000 ranks"},
		{"no sizes", replace(`"sizes_bytes":[0,1024]`, `"sizes_bytes":[]`), "sizes_bytes: none"},
		{"a negative size", replace(`"sizes_bytes":[0,1024]`, `"sizes_bytes":[0,-4]`), "-4 B"},
		{"no repetitions", replace(`"repetitions":2`, `"repetitions":0`), "repetitions, samples: 0, 20"},
		{"more rounds than all", replace(`"rounds":1`, `"rounds":3`), "rounds: 3 of 2"},
		{"another reason to stop", replace(`"stopped":"budget"`, `"stopped":"fire"`), `stopped: "fire"`},
		{"a negative clock", replace(`"clock_step_s":1e-9`, `"clock_step_s":-1`), "clock_step_s"},
		{"other columns", replace(`"q1_s"`, `"q2_s"`), "columns"},
		{"a reading of few numbers", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,20,`), "reading 0: 13 numbers: want 14"},
		{"a reading of a repetition that is not there", replace(`[0,0,0,1,`, `[2,0,0,1,`), "reading 0: repetition: 2"},
		{"a reading of a size that is not there", replace(`[0,1,0,1,`, `[0,2,0,1,`), "reading 2: size: 2"},
		{"a reading of a rank that is not there", replace(`[0,0,0,1,`, `[0,0,0,2,`), "reading 0: to: 2"},
		{"a reading of half a rank", replace(`[0,0,0,1,`, `[0,0,0.5,1,`), "reading 0: from: 0.5"},
		{"a reading with itself", replace(`[0,0,0,1,`, `[0,0,1,1,`), "reading 0: from rank 1 to itself"},
		{"a reading given twice", replace(`[0,0,1,0,`, `[0,0,0,1,`), "reading 1: not in ascending order"},
		{"no samples in a reading", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,0,7,`), "reading 0: count: 0"},
		{"no batch", replace(`[0,0,0,1,0,20,7,`, `[0,0,0,1,0,20,0,`), "reading 0: batch: 0"},
		{"no lots", replace(`[0,0,0,1,0,20,7,1,0,`, `[0,0,0,1,0,20,7,0,0,`), "reading 0: lots: 0"},
		{"half unsure", replace(`[0,0,0,1,0,20,7,1,0,`, `[0,0,0,1,0,20,7,1,2,`), "reading 0: unsure: 2"},
		{"the columns of version 1", replace(`"lots","unsure",`, ``), "columns"},
		{"a negative time", replace(`1.5e-06`, `-1.5e-06`), "reading 0: min_s: -1.5e-06: want at least 0"},
		{"quartiles out of order", replace(`0.001`, `1e-9`), "reading 0: max_s: 1e-09: want at least 2.5e-06"},
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

// TestVersion1IsRead: files of before there were lots.
func TestVersion1IsRead(t *testing.T) {
	got, err := ReadFile(filepath.Join("testdata", "version1.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := example()
	want.CrowdedHosts, want.Notes = nil, nil
	for i := range want.readings {
		want.readings[i].Lots, want.readings[i].Unsure = 1, false
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ReadFile = %+v, want %+v", got, want)
	}
}

func TestOtherFilesAreToldApart(t *testing.T) {
	for _, text := range []string{"1,2\n3,4\n", "", `{"format":"topocast/network","version":1}`, "[1]"} {
		if _, err := ReadResult(strings.NewReader(text)); !errors.Is(err, ErrFormat) {
			t.Errorf("ReadResult(%q) = %v, want ErrFormat", text, err)
		}
	}
	broken := string(encoded(t, example()))
	if _, err := ReadResult(strings.NewReader(broken[:100])); err == nil || errors.Is(err, ErrFormat) {
		t.Errorf("half a measurement: %v, want another error than ErrFormat", err)
	}
}

// What is accepted can be used and is written and read as the same.
func FuzzReadResult(f *testing.F) {
	var b bytes.Buffer
	if err := example().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	var j bytes.Buffer
	if err := newJournal(&j, example()).write(example().readings, 1); err != nil {
		f.Fatal(err)
	}
	f.Add(j.Bytes())
	f.Add(j.Bytes()[:j.Len()-20])
	f.Add([]byte(`{"format":"topocast/measurement","version":1,"ranks":1}`))
	f.Add([]byte(`{"format":"topocast/measurement","version":1,"readings":[[1]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadResult(bytes.NewReader(data))
		if err != nil {
			return
		}
		r.Matrices()
		for size := range r.Sizes {
			r.RoundEffects(size)
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
		if len(again.readings) != len(r.readings) || again.Ranks != r.Ranks {
			t.Fatalf("read again: %+v, want %+v", again, r)
		}
	})
}
