package record

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestMergeAddsRepetitions: the second run's measurements follow those of the first, in
// its order of columns, as further repetitions.
func TestMergeAddsRepetitions(t *testing.T) {
	a, b := example(), example()
	a.Sections, b.Sections = a.Sections[:1], b.Sections[:1]
	// Two repetitions, the second with one measurement; columns the other way round.
	b.Sections[0] = &Section{
		Kind: "latency", Sizes: []int{0, 1024}, Columns: []string{"q1_s", "round", "to", "from", "size", "repetition"},
		Settings: json.RawMessage(`{"seed":8,"repetitions":3}`),
		Rows:     []float64{1e-6, 0, 1, 0, 0, 0, 2e-6, 1, 0, 1, 1, 2},
		Notes:    []string{"a note", "another"}, Rounds: 5, TotalRounds: 6, Unfinished: true,
	}
	b.ClockStep, b.OversubscribedHosts, b.Unfinished = 2e-9, []string{"node1"}, true
	before := written(t, a)
	m, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	s := m.Sections[0]
	// The first run has repetition 0 only, so the second begins at 1.
	want := []float64{
		0, 0, 0, 1, 0, 1.75e-6,
		0, 0, 1, 0, 0, 3.141592653589793e-6,
		0, 1, 0, 1, 1, math.MaxFloat64,
		1, 0, 0, 1, 0, 1e-6,
		3, 1, 1, 0, 1, 2e-6,
	}
	got := slices.Clone(s.Rows)
	for i, v := range got {
		if v != v {
			got[i] = math.MaxFloat64
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if string(s.Settings) != `{"repetitions":5,"seed":7}` || s.Rounds != 7 || s.TotalRounds != 10 || s.Runs != 2 || !s.Unfinished || s.Stopped != "" || !m.Unfinished {
		t.Errorf("settings %s, %d of %d rounds, %d runs, unfinished %t, stopped by %q", s.Settings, s.Rounds, s.TotalRounds, s.Runs, s.Unfinished, s.Stopped)
	}
	if !slices.Equal(s.Notes, []string{"a note", "another"}) || m.ClockStep != 2e-9 || !slices.Equal(m.OversubscribedHosts, []string{"node2", "node1"}) {
		t.Errorf("notes %q, clock step %g, crowded %q", s.Notes, m.ClockStep, m.OversubscribedHosts)
	}
	if written(t, a) != before {
		t.Error("the first file has changed")
	}
	if two, err := Merge(a, a); err != nil || two.Sections[0].Stopped != "budget" || two.Unfinished {
		t.Errorf("two finished runs: %v", err)
	}
	if three, err := Merge(m, a); err != nil || three.Sections[0].Runs != 3 {
		t.Errorf("a third run: %v", err)
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(f *File)
	}{
		{"other ranks", "2 ranks and 1", func(f *File) { f.Ranks = 1 }},
		{"other hosts", "rank 1 ran on node2 and on node3", func(f *File) { f.Hosts[1] = "node3" }},
		{"other cores", "rank 0 ran on CPU 0 and on CPU 5 of node1", func(f *File) { f.Cores[0] = 5 }},
		{"another library", `libraries "Open MPI 4.1.4" and "MPICH"`, func(f *File) { f.Library = "MPICH" }},
		{"another clock", "timed by", func(f *File) { f.Timed = false }},
		{"another environment", "only one ran with UCX_TLS=rc", func(f *File) { f.Environment = []string{"UCX_TLS=rc", "UCX_TLS=tcp"} }},
		{"another sizes", `section "latency": sizes`, func(f *File) { f.Sections[0].Sizes = []int{0, 2048} }},
		{"other columns", "columns", func(f *File) { f.Sections[0].Columns[5] = "median_s" }},
		{"another setting", `settings: alone: none and true`, func(f *File) {
			f.Sections[0].Settings = json.RawMessage(`{"repetitions":2,"seed":7,"alone":true}`)
		}},
		{"no settings", "repetitions", func(f *File) { f.Sections[0].Settings = nil }},
		{"runs that cannot be told apart", `no column "repetition"`, func(f *File) {}},
	} {
		f := example()
		c.change(f)
		_, err := Merge(example(), f)
		if err == nil || !strings.HasPrefix(err.Error(), "record: merge: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
	if _, err := Merge(); err == nil {
		t.Error("no files: no error")
	}
	// What is not known of one is no conflict.
	a, b := example(), example()
	b.Environment, b.Cores[0], b.NUMA, b.Sections = nil, -1, nil, nil
	if m, err := Merge(a, b); err != nil || len(m.Sections) != 2 {
		t.Errorf("an older file: %v", err)
	}
}

func TestWriteCSV(t *testing.T) {
	f := example()
	f.Hosts[1] = `node "2", right`
	var b strings.Builder
	if err := f.WriteCSV(&b, f.Sections[0]); err != nil {
		t.Fatal(err)
	}
	const want = `repetition,size_bytes,from,to,round,q1_s,from_host,to_host
0,0,0,1,0,1.75e-06,node1,"node ""2"", right"
0,0,1,0,0,3.141592653589793e-06,"node ""2"", right",node1
0,1024,0,1,1,,node1,"node ""2"", right"
`
	if b.String() != want {
		t.Errorf("WriteCSV gives\n%s\nwant\n%s", &b, want)
	}
	b.Reset()
	if err := f.WriteCSV(&b, f.Sections[1]); err != nil || b.String() != "moon_phase\n-0.25\n9.007199254740992e+15\n" {
		t.Errorf("%v, WriteCSV gives\n%s", err, &b)
	}
}
