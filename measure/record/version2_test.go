package record

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOldVersionsAreRead: what programs of before wrote, as one section of latencies.
func TestOldVersionsAreRead(t *testing.T) {
	for _, c := range []struct {
		name       string
		columns    int
		unfinished bool
		rounds     int
	}{{"version1.json", 12, false, 1}, {"version2.json", 14, false, 1}, {"version2.part", 14, true, 2}} {
		f, err := ReadFile(filepath.Join("testdata", c.name))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section("latency")
		if len(f.Sections) != 1 || s == nil || len(s.Columns) != c.columns || s.NumRows() != 3 || s.Unfinished != c.unfinished || f.Unfinished != c.unfinished || s.Rounds != c.rounds {
			t.Fatalf("%s: %+v", c.name, s)
		}
		q1 := s.Column("q1_s")
		if s.Row(0)[q1] != 1.75e-6 || s.Row(2)[s.Column("size")] != 1 || !slices.Equal(s.Sizes, []int{0, 1024}) {
			t.Errorf("%s: rows %v", c.name, s.Rows)
		}
		if f.Library != "Open MPI 4.1.4" || f.Date.Year() != 2026 || f.Environment != nil || f.NUMA != nil || s.TotalRounds != 2 ||
			string(s.Settings) != `{"repetitions":2,"samples":20,"seed":7}` {
			t.Errorf("%s: header %+v, settings %s", c.name, f.Header, s.Settings)
		}
		// Written, it is of the present version.
		again, err := Read(strings.NewReader(written(t, f)))
		if err != nil || !same(again, f) {
			t.Errorf("%s: read again %+v, %v", c.name, again, err)
		}
	}
}

// A journal of more rounds than its head announces, as of a run that went on, has as many in all.
func TestOldJournalOfMoreRounds(t *testing.T) {
	journal, err := os.ReadFile(filepath.Join("testdata", "version2.part"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(bytes.Replace(journal, []byte(`{"rounds":2}`), []byte(`{"rounds":5}`), 1)))
	if err != nil {
		t.Fatal(err)
	}
	if s := f.Section("latency"); s.Rounds != 5 || s.TotalRounds != 5 {
		t.Errorf("%d rounds of %d, want 5 of 5", s.Rounds, s.TotalRounds)
	}
}

func TestOldVersionsAreRefused(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "version2.json"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(filepath.Join("testdata", "version2.part"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		data          []byte
		before, after string
		want          string
	}{
		{"half a file", data[:len(data)/2], "", "", "not a whole JSON file"},
		{"no version", data, `"version":2,`, ``, "version 0: want 3"},
		{"an unknown key", data, `"version":2,`, `"version":2,"extra":3,`, `unknown field "extra"`},
		{"the columns of version 1", data, `"lots","unsure",`, ``, "columns"},
		{"a rank that is not there", data, `[0,0,0,1,`, `[0,0,0,2,`, "reading 0: to: 2"},
		{"a reading that is a number", data, `[0,0,0,1,0,20,7,1,0,1.5e-06,1.75e-06,2e-06,2.5e-06,0.001]`, `7`, `reading 0: "7"`},
		{"rounds of a journal that go back", journal, `{"rounds":2}`, `{"rounds":0}`, "line 6: rounds: 0 after 1"},
		{"a journal with an unknown key", journal, `{"rounds":2}`, `{"round":2}`, `line 6: json: unknown field`},
	} {
		_, err := Read(bytes.NewReader(bytes.Replace(c.data, []byte(c.before), []byte(c.after), 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
