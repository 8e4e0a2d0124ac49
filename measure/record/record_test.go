package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// example is a small file, made by hand: two sections, one of them of a kind
// that nobody knows.
func example() *File {
	return &File{
		Header: Header{
			Ranks: 2, Date: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Library: "Open MPI 4.1.4", Timed: true,
			GoVersion: "go1.26.8", Version: "v0.1.0", Platform: "linux/amd64", ClockStep: 1e-9, ClockCost: 5e-8, CallCost: 8e-8,
			Hosts: []string{"node1", "node2"}, Cores: []int{0, -1}, CPUs: []int{1, 8}, NUMA: []int{0, -1}, GOMAXPROCS: []int{1, 8},
			OversubscribedHosts: []string{"node2"}, Environment: []string{"UCX_TLS=tcp"},
		},
		Sections: []*Section{
			{
				Kind: "latency", Sizes: []int{0, 1024}, Columns: []string{"repetition", "size", "from", "to", "round", "q1_s"},
				Settings: json.RawMessage(`{"repetitions":2,"seed":7}`),
				Rows: []float64{
					0, 0, 0, 1, 0, 1.75e-6,
					0, 0, 1, 0, 0, 3.141592653589793e-6,
					0, 1, 0, 1, 1, math.NaN(),
				},
				Notes: []string{"a note"}, Warnings: []string{"a warning"}, Rounds: 2, TotalRounds: 4, Stopped: "budget",
			},
			{Kind: "of-tomorrow", Columns: []string{"moon_phase"}, Rows: []float64{-0.25, 1 << 53}},
		},
	}
}

func written(t *testing.T, f *File) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same compares files whose rows have NaN.
func same(a, b *File) bool {
	return reflect.DeepEqual(comparable(a), comparable(b))
}

func comparable(f *File) File {
	c := *f
	c.Sections = nil
	for _, s := range f.Sections {
		copied := *s
		copied.Rows = slices.Clone(s.Rows)
		for i, v := range copied.Rows {
			if v != v {
				copied.Rows[i] = math.MaxFloat64
			}
		}
		c.Sections = append(c.Sections, &copied)
	}
	return c
}

const exampleText = `{"format":"topocast/measurement","version":3,"ranks":2,"date":"2026-11-20T16:00:00Z","library":"Open MPI 4.1.4","timed":true,"go_version":"go1.26.8","topocast_version":"v0.1.0","platform":"linux/amd64","clock_step_s":1e-9,"clock_cost_s":5e-8,"call_cost_s":8e-8,"hosts":["node1","node2"],"cores":[0,-1],"cpus":[1,8],"numa_nodes":[0,-1],"gomaxprocs":[1,8],"crowded_hosts":["node2"],"environment":["UCX_TLS=tcp"]}
{"kind":"latency","sizes_bytes":[0,1024],"columns":["repetition","size","from","to","round","q1_s"],"settings":{"repetitions":2,"seed":7}}
[0,0,0,1,0,1.75e-06]
[0,0,1,0,0,3.141592653589793e-06]
[0,1,0,1,1,null]
{"end":"latency","rounds":2,"total_rounds":4,"stopped":"budget","notes":["a note"],"warnings":["a warning"]}
{"kind":"of-tomorrow","columns":["moon_phase"]}
[-0.25]
[9.007199254740992e+15]
{"end":"of-tomorrow","rounds":0,"total_rounds":0,"stopped":"","notes":null,"warnings":null}
{"closed":true,"sections":2,"rows":5}
`

// TestFileIsAsPublished: the layout that doc.go promises, byte for byte.
func TestFileIsAsPublished(t *testing.T) {
	if got := written(t, example()); got != exampleText {
		t.Errorf("Write gives\n%s\nwant\n%s", got, exampleText)
	}
	got, err := Read(strings.NewReader(exampleText))
	if err != nil {
		t.Fatal(err)
	}
	if !same(got, example()) {
		t.Errorf("Read = %+v, want %+v", got, example())
	}
}

// TestFileIsReadWhereverItEnds: a process may die in the middle of a line. Of a file
// that is cut at any byte all lines before the cut are there.
func TestFileIsReadWhereverItEnds(t *testing.T) {
	head := strings.IndexByte(exampleText, '\n')
	for end := range len(exampleText) {
		f, err := Read(strings.NewReader(exampleText[:end]))
		if end < head {
			if err == nil || errors.Is(err, ErrFormat) && strings.Contains(exampleText[:end], format) {
				t.Errorf("%d bytes, half a header: %v", end, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", end, len(exampleText), err)
		}
		rows, unfinished := 0, 0
		for _, s := range f.Sections {
			rows += s.NumRows()
			if s.Unfinished {
				unfinished++
			}
		}
		cut := exampleText[:end]
		begun, ended := strings.Count(cut, "]}\n")+strings.Count(cut, "}}\n"), strings.Count(cut, "warnings\":[\"a warning\"]}\n")+strings.Count(cut, "null}\n")
		begun -= min(1, strings.Count(cut, "\n")) + strings.Count(cut, "warnings\":[\"a warning\"]}\n") // the header, and the first end
		if !f.Unfinished || rows != strings.Count(cut, "]\n") || len(f.Sections) != begun || unfinished != begun-ended {
			t.Fatalf("%d of %d bytes: unfinished %t, %d rows, %d sections, %d of them unfinished; want %d rows, %d and %d",
				end, len(exampleText), f.Unfinished, rows, len(f.Sections), unfinished, strings.Count(cut, "]\n"), begun, begun-ended)
		}
		// What was read can be written, gone on with, and read again.
		again, err := Read(strings.NewReader(written(t, f)))
		if err != nil || !same(again, f) {
			t.Fatalf("%d of %d bytes: read again %+v, %v; want %+v", end, len(exampleText), again, err, f)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	replace := func(before, after string) string {
		if !strings.Contains(exampleText, before) {
			t.Fatalf("%q is not in the example", before)
		}
		return strings.Replace(exampleText, before, after, 1)
	}
	for _, c := range []struct{ name, data, want string }{
		{"a newer version", replace(`"version":3`, `"version":4`), "version 4 is newer than this program"},
		{"another format", replace(format, "topocast/network"), "not a measurement of topocast"},
		{"a header of many lines", replace(`"ranks":2,`, "\"ranks\":2,\n"), "not a whole header, which is one line"},
		{"an unknown key of the header", replace(`"ranks":2`, `"ranks":2,"knots":3`), `line 1: json: unknown field "knots"`},
		{"ranks without hosts", replace(`"ranks":2`, `"ranks":1000000000`), "line 1: hosts"},
		{"NUMA nodes of other ranks", replace(`"numa_nodes":[0,-1]`, `"numa_nodes":[0]`), "line 1: numa_nodes"},
		{"a negative clock", replace(`"clock_step_s":1e-9`, `"clock_step_s":-1`), "line 1: clock_step_s"},
		{"a kind of two words", replace(`"kind":"latency"`, `"kind":"Latency of it"`), "line 2: kind"},
		{"no columns", replace(`["moon_phase"]`, `[]`), "line 7: columns: none"},
		{"a column twice", replace(`"to","round"`, `"to","to"`), "line 2: columns"},
		{"a negative size", replace(`[0,1024]`, `[0,-4]`), "line 2: sizes_bytes: -4"},
		{"settings that are a list", replace(`{"repetitions":2,"seed":7}`, `[7]`), "line 2: settings"},
		{"an unknown key of a section", replace(`"kind":"latency"`, `"kind":"latency","x":1`), `line 2: json: unknown field "x"`},
		{"a row before any section", replace(`{"kind":"of-tomorrow","columns":["moon_phase"]}`+"\n", ""), "line 7: a row outside of a section"},
		{"a note before any section", replace(`{"kind":"of-tomorrow","columns":["moon_phase"]}`, `{"note":"x"}`), "line 7"},
		{"a row too short", replace(`[0,0,0,1,0,1.75e-06]`, `[0,0,0,1,0]`), "line 3: 5 numbers: want 6"},
		{"a rank that is not there", replace(`[0,0,0,1,0,1.75e-06]`, `[0,0,0,2,0,1]`), "line 3: to: 2: want a whole number in [0, 2)"},
		{"half a rank", replace(`[0,0,0,1,0,1.75e-06]`, `[0,0,0.5,1,0,1]`), "line 3: from: 0.5"},
		{"a rank that was not measured", replace(`[0,0,0,1,0,1.75e-06]`, `[0,0,null,1,0,1]`), "line 3: from: NaN"},
		{"a size that is not there", replace(`[0,1,0,1,1,null]`, `[0,2,0,1,1,null]`), "line 5: size: 2"},
		{"a negative repetition", replace(`[0,1,0,1,1,null]`, `[-1,1,0,1,1,null]`), "line 5: repetition: -1"},
		{"a number beyond float64", replace(`1.75e-06`, `1e999`), "line 3"},
		{"a word for a number", replace(`1.75e-06`, `Inf`), `line 3: "Inf" in a row`},
		{"a hexadecimal number", replace(`1.75e-06`, `0x1p3`), `line 3`},
		{"no number", replace(`1.75e-06`, ``), `line 3`},
		{"a row that does not end", replace(`1.75e-06]`, `1.75e-06`), "line 3: a row that does not end"},
		{"two rows in a line", replace(`1.75e-06]`, `1.75e-06],[1]`), "line 3"},
		{"rounds that go back", replace(`{"end":"latency"`, "{\"rounds\":3,\"total_rounds\":4}\n{\"end\":\"latency\""), "line 7: rounds: 2 after 3"},
		{"more rounds than all", replace(`"total_rounds":4`, `"total_rounds":1`), "line 6: rounds: 2 of 1"},
		{"the end of another section", replace(`{"end":"latency"`, `{"end":"plogp"`), `line 6: the end of section "plogp"`},
		{"a line of nothing", replace(`{"kind":"of-tomorrow"`, "{}\n{\"kind\":\"of-tomorrow\""), "line 7: {}: want a section to begin"},
		{"a line of a section that is not known", replace(`{"end":"latency"`, "{\"rounds\":1}\n{\"end\":\"latency\""), `line 6: {"rounds":1}: this line is not known`},
		{"an empty line", replace(`{"end":"latency"`, "\n{\"end\":\"latency\""), "line 6: no content"},
		{"rows that are lost", replace("[-0.25]\n", ""), "line 10: the file is not whole: it has 2 sections and 4 rows"},
		{"something after the end", exampleText + "x", "line 12: more after the closing line"},
		{"a file twice", exampleText + exampleText, "line 12: more after the closing line"},
	} {
		f, err := Read(strings.NewReader(c.data))
		if err == nil || f != nil || !strings.HasPrefix(err.Error(), "record: read: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Read = %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// TestColumnsAreFoundByName: in any order, and with some that only a later version knows.
func TestColumnsAreFoundByName(t *testing.T) {
	s := &Section{Kind: "latency", Columns: []string{"to", "new", "from"}, Rows: []float64{1, 2, 3, 4, 5, 6}}
	at, err := s.need("from", "to")
	if err != nil || !slices.Equal(at, []int{2, 0}) || s.Row(1)[at[0]] != 6 || s.NumRows() != 2 {
		t.Errorf("from and to at %v, %v; rows %d", at, err, s.NumRows())
	}
	if _, err := s.need("from", "size"); err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Errorf("Need(size) = %v", err)
	}
}

// TestWriterResumes: a writer that begins with what was read goes on behind it.
func TestWriterResumes(t *testing.T) {
	whole := example()
	var b bytes.Buffer
	w := NewWriter(&b, &whole.Header)
	s := *whole.Sections[0]
	w.Begin(&Section{Kind: s.Kind, Sizes: s.Sizes, Columns: s.Columns, Settings: s.Settings})
	w.Rows(s.Row(0))
	w.Mark(1, 4)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	w.Rows(s.Row(1)) // in the buffer, and lost with the process
	before, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil || before.Sections[0].Rounds != 1 || before.Sections[0].NumRows() != 1 || !before.Sections[0].Unfinished {
		t.Fatalf("the file under way: %+v, %v", before, err)
	}
	b.Reset()
	w = NewWriter(&b, &before.Header)
	w.Begin(before.Sections[0])
	w.Rows(s.Rows[len(s.Columns):])
	w.End(&s)
	w.Begin(whole.Sections[1])
	w.End(whole.Sections[1])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := Read(&b); err != nil || !same(after, whole) {
		t.Errorf("after resuming: %+v, %v; want %+v", after, err, whole)
	}
}

func TestWriterRemembersItsFirstError(t *testing.T) {
	h := example().Header
	section := func() *Section { return &Section{Kind: "k", Columns: []string{"from", "a"}} }
	for _, c := range []struct {
		name, want string
		do         func(w *Writer)
	}{
		{"rows outside of a section", "outside", func(w *Writer) { w.Rows([]float64{1}) }},
		{"a mark outside of a section", "outside", func(w *Writer) { w.Mark(1, 1) }},
		{"two sections at once", `"k" begins inside "k"`, func(w *Writer) { w.Begin(section()); w.Begin(section()) }},
		{"a row too long", "want rows of 2", func(w *Writer) { w.Begin(section()); w.Rows([]float64{0, 1, 2}) }},
		{"a rank that is not there", "from: 2", func(w *Writer) { w.Begin(section()); w.Rows([]float64{2, 1}) }},
		{"an infinite number", "a: +Inf", func(w *Writer) { w.Begin(section()); w.Rows([]float64{1, math.Inf(1)}) }},
		{"an end of what has not begun", "not under way", func(w *Writer) { w.End(section()) }},
		{"no columns", "columns", func(w *Writer) { w.Begin(&Section{Kind: "k"}) }},
		{"a section that has not ended", "is closed inside", func(w *Writer) { w.Begin(section()) }},
		{"settings that are no JSON", "settings", func(w *Writer) { s := section(); s.Settings = json.RawMessage("{"); w.Begin(s) }},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, &h)
		c.do(w)
		err := w.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || w.Err() != err {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if strings.Contains(b.String(), "closed") {
			t.Errorf("%s: the file is closed all the same", c.name)
		}
	}
	w := NewWriter(fullDisk{}, &h)
	w.Begin(section())
	w.Mark(0, 1)
	if w.Err() == nil || w.Close() == nil {
		t.Error("a full disk: no error")
	}
	if err := example().WriteFile(filepath.Join(t.TempDir(), "no folder", "file.json")); err == nil {
		t.Error("WriteFile where there is no folder: no error")
	}
	if NewWriter(&bytes.Buffer{}, &Header{}).Close() == nil {
		t.Error("a header without ranks: no error")
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestFilesAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	if err := example().WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path); err != nil || !same(got, example()) {
		t.Errorf("ReadFile = %+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Errorf("ReadFile of something else = %v, want ErrFormat and the name", err)
	}
	if _, err := ReadFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ReadFile of nothing = %v", err)
	}
}

// TestNumbersOfARow: as strconv.ParseFloat reads them, whatever their length.
func TestNumbersOfARow(t *testing.T) {
	row, err := parseRow(nil, []byte("[ 0,7 ,-3, 123456789012345,1234567890123456,98765432109876543210 ,1e3,0.1,2.2250738585072014e-308,null\t]\r"))
	want := []float64{0, 7, -3, 123456789012345, 1234567890123456, 98765432109876543210, 1000, 0.1, 2.2250738585072014e-308}
	if err != nil || len(row) != len(want)+1 || !slices.Equal(row[:len(want)], want) || !math.IsNaN(row[len(want)]) {
		t.Errorf("parseRow = %v, %v, want %v and NaN", row, err, want)
	}
	for _, v := range append(want, math.Copysign(0, -1), 1<<53, 1<<53-1, math.MaxFloat64, 5e-324) {
		if back, err := parseRow(nil, appendRow(nil, []float64{v})); err != nil || back[0] != v {
			t.Errorf("%g is written and read as %v, %v", v, back, err)
		}
	}
	for _, text := range []string{"[", "[]", "[1", "[1,]", "[,1]", "[1 2]", "[1]]", "[1]2", "[nul]", "[0x1]", "[1_000]", "[Inf]", "[+]", "[1e999]", "[:]", "[1;2]", "[A]", "[1/2]"} {
		if row, err := parseRow(nil, []byte(text)); err == nil {
			t.Errorf("parseRow(%s) = %v", text, row)
		}
	}
}

// TestRowsBelowTheLastMark: of a round that was not finished, some rows may be there.
func TestRowsBelowTheLastMark(t *testing.T) {
	const head = `{"format":"topocast/measurement","version":3,"ranks":1,"timed":true,"go_version":"","platform":"","clock_step_s":0,"clock_cost_s":0,"hosts":["a"],"cores":[0],"cpus":[1],"gomaxprocs":[1],"environment":[]}
{"kind":"finished","columns":["a"]}
[1]
{"rounds":1,"total_rounds":2}
[2]
{"end":"finished","rounds":2,"total_rounds":2,"stopped":"","notes":[],"warnings":[]}
{"kind":"unmarked","columns":["a"]}
[3]
{"kind":"marked","columns":["a","b"]}
{"rounds":0,"total_rounds":9}
[4,4]
{"rounds":1,"total_rounds":9}
[5,5]
[6,6]
`
	f, err := Read(strings.NewReader(head))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 2}, {3}, {4, 4}} {
		if got := f.Sections[i].Rows; !slices.Equal(got, want) {
			t.Errorf("section %q has rows %v, want %v", f.Sections[i].Kind, got, want)
		}
	}
}

// What is accepted is written and read as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(exampleText))
	f.Add([]byte(exampleText[:len(exampleText)/2]))
	f.Add([]byte(exampleText[:len(exampleText)-40]))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, s := range got.Sections {
			var b bytes.Buffer
			if err := got.WriteCSV(&b, s); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Merge(got, got); err != nil && !strings.HasPrefix(err.Error(), "record: merge: ") {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(written(t, got)))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := written(t, got), written(t, again); a != b {
			t.Fatalf("written\n%s\nand again\n%s", a, b)
		}
	})
}
