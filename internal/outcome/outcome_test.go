package outcome

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology/draw"
)

// sample has what an experiment may have; <b> and a comma are what files have to take care of.
func sample(t *testing.T) *Outcome {
	t.Helper()
	o := &Outcome{Name: "one", Source: "Somebody 2014: <b>A title</b>", Where: "Simulated.", Detail: []int{7}}
	s := o.Section("Table 1 (section 2)")
	s.Say("Of %d hosts, and of more words than one line of eighty columns can hold, so that it is broken.", 4)
	table := s.Table("table-1", Text("law"), Number("hosts", ""), Number("time", "s"), Number("error", "%"), Number("ratio", ""))
	table.Row("fair, ε", 4, 2.5e-6, 12.345, 1.0)
	table.Row("other", 16, math.NaN(), math.NaN(), 12.34)
	s.Compare("time", "s", 0.5, 0.55)
	s.Compare("error", "%", 4.0, math.NaN())
	f, err := draw.Plot("Figure 1", draw.Axis{Name: "hosts"}, draw.Axis{Name: "time", Log: true}, []draw.Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Figure("figure-1", f)
	o.Warn("look at %s", "this")
	return o
}

func TestText(t *testing.T) {
	var got strings.Builder
	if err := sample(t).WriteText(&got); err != nil {
		t.Fatal(err)
	}
	const want = `Somebody 2014: <b>A title</b>
Simulated.

Table 1 (section 2)
-------------------
Of 4 hosts, and of more words than one line of eighty columns can hold, so that
it is broken.

law      hosts    time  error (%)  ratio
fair, ε      4  2.5 us      12.35    1.0
other       16       -          -   12.3

printed by the source, and ours
what   printed    ours  off by
time    500 ms  550 ms   +10 %
error   4.00 %       -       -

warning: look at this
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample(t).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format   string
		Sections []struct {
			Tables []struct {
				Columns []struct{ Name, Unit string }
				Rows    [][]any
			}
			Compared []struct{ Printed, Ours, Off *float64 }
		}
		Detail []int
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Sections[0]
	if got.Format != "topocast/experiment" || got.Detail[0] != 7 || s.Tables[0].Columns[2].Unit != "s" || s.Tables[0].Rows[0][2] != 2.5e-6 || s.Tables[0].Rows[1][2] != nil || s.Compared[1].Ours != nil {
		t.Errorf("%+v", got)
	}
	if off := *s.Compared[0].Off; math.Abs(off-0.1) > 1e-12 {
		t.Errorf("off by %g, want 0.1", off)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2*5+2*2 {
		t.Fatalf("%v: %d lines, want a head, two rows of five cells and two numbers twice", err, len(rows))
	}
	if got, want := strings.Join(rows[3], "|"), "one|Table 1 (section 2)|table-1|0|time|s|2.5e-06"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if rows[8][6] != "" {
		t.Errorf("what is not known is %q", rows[8][6])
	}
}

// TestFiles: figures have their files, and a page holds all and names nothing outside of it.
func TestFiles(t *testing.T) {
	o := sample(t)
	folder := filepath.Join(t.TempDir(), "new")
	paths, err := o.WriteFigures(folder)
	if err != nil || len(paths) != 1 || paths[0] != filepath.Join(folder, "one-figure-1.svg") {
		t.Fatalf("%v: %q", err, paths)
	}
	if svg, err := os.ReadFile(paths[0]); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%v: %.60s", err, svg)
	}
	var page strings.Builder
	if err := WritePage(&page, "Experiments", o, &Outcome{Name: "two", Source: "B"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "&lt;b&gt;A title") {
		t.Error("names are not escaped")
	}
	for _, want := range []string{"data:image/svg+xml;base64,", "fair, ε", "two: B", "look at this", "+10 %", "default-src 'none'", "<td class=\"number\">10 %</td>"} {
		if !strings.Contains(html.UnescapeString(page.String()), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, not := range []string{"<script", "http://", "https://", "<b>A"} {
		if strings.Contains(page.String(), not) {
			t.Errorf("the page has %q", not)
		}
	}
}

func TestRowMustFit(t *testing.T) {
	for _, cells := range [][]any{{"a"}, {1.0, "a"}, {"a", int64(1)}, {"a", "b"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("row %v was taken", cells)
				}
			}()
			(&Table{Columns: []Column{Text("x"), Number("y", "")}}).Row(cells...)
		}()
	}
}
