package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	s.Compare(Measured, "time", "s", 0.5, 0.55)
	s.Compare(Measured, "error", "%", 4.0, math.NaN())
	s.Compare(AtLeast, "speed-up", "", 2, 1.9)
	s.Compare(AtMost, "share", "%", 50, 50)
	s.Compare(About, "ratio", "", 2, math.NaN())
	s.Compare(Input, "latency", "s", 1e-6, 1.01e-6)
	s.Compare(Otherwise, "gain", "", 4, 1)
	s.Compare(Computed, "steps", "", 3, 3)
	f, err := draw.Plot("Figure 1", draw.Axis{Name: "hosts"}, draw.Axis{Name: "time", Log: true}, []draw.Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}})
	if err := s.Figure("figure-1", f, err); err != nil {
		t.Fatal(err)
	}
	o.Warn("look at %s", "this")
	return o
}

// TestWrite: all there is, with lines and tables that can be read in a terminal.
func TestWrite(t *testing.T) {
	o := sample(t)
	o.Sections[0].Because("machines differ")
	var got strings.Builder
	if err := Write(&got, o); err != nil {
		t.Fatal(err)
	}
	const want = `
## one

Somebody 2014: <b>A title</b>

Simulated.

### Table 1 (section 2)

Of 4 hosts, and of more words than one line of eighty columns can hold, so that
it is broken.

| law     | hosts |   time | error (%) | ratio |
|---------|------:|-------:|----------:|------:|
| fair, ε |     4 | 2.5 us |     12.35 |   1.0 |
| other   |    16 |      - |         - |  12.3 |
`
	if !strings.HasPrefix(got.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	text := strings.Join(strings.Fields(got.String()), " ")
	for _, want := range []string{
		"| time | 500 ms | 550 ms | +10 % |", "| error | 4.00 % | - | not reproduced |", "| speed-up | at least 2 | 1.9 | no |",
		"| latency | 1 us | 1.01 us | +1 % |", "| gain | 4 | 1 | -75 % |", "| steps | 3 | 3 | 0 % |", "Why: - machines differ", "warning: look at this",
		"## What repeats, by kind Numbers within 10 % of the printed ones, and how far ours are off in the median: | source | measured | other conditions | computed | bounds that hold | inputs | not reproduced |",
		"| one | 1 of 2, off by 10 % | 0 of 1, off by 75 % | 1 of 1, off by 0 % | 1 of 3 | 1 | 2 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}

// TestJSON: numbers have all digits, and what is not known is null.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format   string
		Sections []struct {
			Tables []struct {
				Columns []struct{ Unit string }
				Rows    [][]any
			}
			Compared []struct {
				Kind  string
				Ours  *float64
				Holds bool
			}
		}
		Detail []int
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var two bytes.Buffer
	if err := WriteJSON(&two, sample(t), &Outcome{Name: "two"}); err != nil || strings.Count(two.String(), "\n") != 2 || !strings.Contains(two.String(), `"experiment":"two"`) {
		t.Errorf("two outcomes, %v:\n%s", err, two.String())
	}
	s := got.Sections[0]
	if got.Format != "topocast/experiment" || got.Detail[0] != 7 || s.Tables[0].Columns[2].Unit != "s" || s.Tables[0].Rows[0][2] != 2.5e-6 || s.Tables[0].Rows[1][2] != nil || s.Compared[1].Ours != nil {
		t.Errorf("%+v", got)
	}
	kinds := ""
	for _, c := range s.Compared {
		kinds += fmt.Sprintln(c.Kind, c.Holds)
	}
	if kinds != "measured true\nmeasured false\nat least false\nat most true\nabout false\ninput true\nother conditions false\ncomputed true\n" {
		t.Errorf("kinds %q", kinds)
	}
}

// TestPage: a page has what is compared but for inputs, the causes, and the figures, which are files beside it.
func TestPage(t *testing.T) {
	o := sample(t)
	o.Sections[0].Because("machines differ")
	path := filepath.Join(t.TempDir(), "papers.md")
	if err := WritePage(path, "# Title\n", o, &Outcome{Name: "two", Source: "B"}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		"# Title ", "| one | 1 of 2, off by 10 % | 0 of 1, off by 75 % | 1 of 1, off by 0 % | 1 of 3 | 1 | 2 |", "| all | 1 of 2, off by 10 % |", "| gain | 4 | 1 | -75 % |", "- machines differ ",
		"![Table 1 (section 2)](img/papers/one-figure-1.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(text, "| latency |") || strings.Contains(text, "| other |") {
		t.Errorf("an input or a table is listed in\n%s", page)
	}
	if svg, err := os.ReadFile(filepath.Join(filepath.Dir(path), "img/papers/one-figure-1.svg")); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%v: %.60s", err, svg)
	}
}

// TestSectionsOfPages: a page leaves out sections that neither compare anything but inputs nor say why others differ. Those that
// say why, and compare nothing, have their own tables there.
func TestSectionsOfPages(t *testing.T) {
	o := &Outcome{Name: "one"}
	for _, s := range []struct {
		title           string
		compare, causes bool
	}{{"plain", false, false}, {"compared", true, false}, {"explained", false, true}, {"both", true, true}} {
		section := o.Section(s.title)
		section.Table("table", Text("own")).Row("row of " + s.title)
		section.Compare(Input, "input", "", 1, 1)
		if s.compare {
			section.Compare(Measured, "number of "+s.title, "", 1, 1)
		}
		if s.causes {
			section.Because("of %s", s.title)
		}
	}
	path := filepath.Join(t.TempDir(), "papers.md")
	if err := WritePage(path, "", o); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"### plain": false, "row of plain": false,
		"### compared": true, "number of compared": true, "row of compared": false,
		"### explained": true, "- of explained": true, "row of explained": true,
		"### both": true, "number of both": true, "- of both": true, "row of both": false,
	} {
		if strings.Contains(string(page), text) != want {
			t.Errorf("%q is on the page: %v, want %v:\n%s", text, !want, want, page)
		}
	}
}

// TestHolds: what is off by exactly the margin counts, what is not known never does, and 0 is repeated by 0 alone.
func TestHolds(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		kind          Kind
		printed, ours float64
		want          bool
	}{
		{Measured, 10, 11, true},
		{Measured, 0.5, 0.55, true},
		{Measured, 10, 8.9, false},
		{Measured, -10, -9, true},
		{Measured, 0, 0, true},
		{Measured, 0, 1e-9, false},
		{Measured, 10, nan, false},
		{Input, 10, 12, false},
		{AtLeast, 2, 2, true},
		{AtLeast, 2, nan, false},
		{AtMost, 2, 9, false},
		{AtMost, 2, nan, false},
		{About, 2, 2.5, true},
		{About, 2, 1.4, false},
	} {
		if got := (Comparison{Kind: c.kind, Printed: c.printed, Ours: c.ours}).Holds(); got != c.want {
			t.Errorf("%v %g, ours %g: holds is %v, want %v", c.kind, c.printed, c.ours, got, c.want)
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
