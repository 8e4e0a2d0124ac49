package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

var sizes = draw.Axis{Name: "message size", Bytes: true}

// texts are those of an SVG, which must be well-formed XML.
func texts(t *testing.T, f *draw.Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 2<<20 {
		t.Errorf("the SVG has %d bytes", b.Len())
	}
	var all strings.Builder
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatalf("the SVG is no XML: %v", err)
		}
		if text, ok := token.(xml.CharData); ok {
			all.Write(text)
			all.WriteByte('\n')
		}
	}
}

// Every kind of figure, of small and large machines: whole files of sensible size, the same on every run, that say what has to be said.
func TestFigures(t *testing.T) {
	specs := []string{"star:2", "tree:2x4 latency=9us,3us", "tree:2x4x4 shuffle"}
	switch {
	case testing.Short():
		specs = specs[:2]
	case tooltest.Long():
		specs[2] = "tree:4x8x32 shuffle"
	}
	curve := draw.Series{Name: "a <b> & c", X: []float64{0, 1, 1 << 20}, Y: []float64{1e-6, 2e-6, 1e-3}, Low: []float64{1e-6, 1e-6, math.NaN()}, High: []float64{1e-6, 3e-6, math.NaN()}}
	for _, spec := range specs {
		c, d := topotest.Generate(t, spec)
		d.Set(0, 1, 1e-3) // one is far off
		for name, make := range map[string]func() (*draw.Figure, error){
			"heat map": func() (*draw.Figure, error) {
				return draw.HeatMap("Title", d, &draw.HeatMapSettings{Hierarchy: c.Hierarchy})
			},
			"dendrogram": func() (*draw.Figure, error) { return draw.Dendrogram("Title", c.Hierarchy, nil) },
			"histogram":  func() (*draw.Figure, error) { return draw.Histogram("Title", d, c.Hierarchy) },
			"plot": func() (*draw.Figure, error) {
				return draw.Plot("Title", sizes, draw.Axis{Name: "time", Format: quantity.Seconds, Log: true}, []draw.Series{curve, {X: []float64{1}, Y: []float64{1}, Muted: true}}, "A note.")
			},
			"wiring": func() (*draw.Figure, error) {
				return draw.Wiring("Title", c.Graph)
			},
		} {
			f, err := make()
			if err != nil {
				t.Errorf("%s of %s: %v", name, spec, err)
				continue
			}
			said := texts(t, f)
			for _, want := range append([]string{"Title"}, f.Notes()...) {
				if !strings.Contains(said, want) {
					t.Errorf("%s of %s does not say %q", name, spec, want)
				}
			}
			if again, _ := make(); texts(t, again) != said {
				t.Errorf("%s of %s: another one the second time", name, spec)
			}
			var b bytes.Buffer
			if err := f.PNG(&b); err != nil {
				t.Errorf("%s of %s: %v", name, spec, err)
			}
			if p, err := png.DecodeConfig(&b); err != nil || p.Width < 400 || p.Width > 2200 || p.Height < 300 || p.Height > 3000 {
				t.Errorf("%s of %s: PNG of %d x %d, %v", name, spec, p.Width, p.Height, err)
			}
		}
	}
}

func notes(t *testing.T, f *draw.Figure, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(f.Notes(), " ")
}

// What was cut, left out and reordered stands on the figure.
func TestNotesSayWhatWasDone(t *testing.T) {
	c, d := topotest.Generate(t, "tree:2x6 latency=9us,3us")
	nan := math.NaN()
	f, err := draw.HeatMap("", d, nil)
	if got := notes(t, f, err); !strings.Contains(got, "nothing is cut") || !strings.Contains(got, "order is that of the matrix") {
		t.Errorf("notes %q", got)
	}
	d.Set(3, 4, 1)
	d.Set(1, 2, nan)
	f, err = draw.HeatMap("", d, &draw.HeatMapSettings{Hierarchy: c.Hierarchy})
	// 6 us within, 24 us between groups; of 131 measurements the percentile 99 is the highest but one.
	for _, want := range []string{"Colours span 6 us to 24 us", "percentile 99.", "the highest is 1 s", "1 pair of 132", "order is that of the groups"} {
		if got := notes(t, f, err); !strings.Contains(got, want) {
			t.Errorf("notes %q: want %q in them", got, want)
		}
	}
	d.Set(5, 6, 0)
	f, err = draw.Histogram("", d, nil)
	for _, want := range []string{"130 measurements", "1 measurement of 0"} {
		if got := notes(t, f, err); !strings.Contains(got, want) {
			t.Errorf("notes %q: want %q in them", got, want)
		}
	}
	uncertain, err := topology.NewHierarchy(4, []topology.Level{{Latency: nan, Confidence: 0.6}}, []topology.Group{{Hosts: []int{0, 2}, Latency: nan, Confidence: 0.6}, {Hosts: []int{1, 3}, Latency: nan, Confidence: 0.6}}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	f, err = draw.Dendrogram("", uncertain, []string{"n1", "n2", "n3", "n4"})
	if got := notes(t, f, err); !strings.Contains(got, "Dashed: 2 groups") || !strings.Contains(got, "unknown latency") {
		t.Errorf("notes %q", got)
	}
	said := texts(t, f)
	if at := []int{strings.Index(said, "n1"), strings.Index(said, "n3"), strings.Index(said, "n2"), strings.Index(said, "n4")}; at[0] < 0 || at[1] < at[0] || at[2] < at[1] || at[3] < at[2] {
		t.Errorf("names are not in the order of the groups: %q", said)
	}
	f, err = draw.Plot("", sizes, draw.Axis{Log: true}, []draw.Series{{Name: "x", X: []float64{0, 8}, Y: []float64{0, 1e6}}, {X: []float64{8}, Y: []float64{1}, Muted: true}})
	if got := notes(t, f, err); !strings.Contains(got, "logarithmic: 1 point.") || !strings.Contains(got, "Grey: 1 other.") {
		t.Errorf("notes %q", got)
	}
}

// Names are cut so that none becomes another's, and no two lie over each other.
func TestNamesInFigures(t *testing.T) {
	c, d := topotest.Generate(t, "tree:3x8")
	var names []string
	for i := range 24 {
		names = append(names, fmt.Sprintf("compute-rack07-node%02d.cluster.example.org", i))
	}
	f, err := draw.HeatMap("", d, &draw.HeatMapSettings{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(texts(t, f)) {
		seen[line]++
	}
	cut := 0
	for text, count := range seen {
		if strings.Contains(text, "...") {
			cut++
			if count != 2 { // above and beside
				t.Errorf("%q stands %d times", text, count)
			}
		}
	}
	if cut != 24 {
		t.Errorf("%d names, want 24", cut)
	}
	g, err := c.Graph.WithHostNames(names)
	if err != nil {
		t.Fatal(err)
	}
	f, err = draw.Wiring("", g)
	if got := notes(t, f, err); !strings.Contains(got, "Left out, as there is no room: ") {
		t.Errorf("notes %q", got)
	}
}

func TestFiguresRefuse(t *testing.T) {
	c, d := topotest.Generate(t, "tree:2x4")
	empty := mat.NewDense(2, 2, []float64{0, math.NaN(), math.NaN(), 0})
	for name, f := range map[string]func() (*draw.Figure, error){
		"heat map of 2 x 3":             func() (*draw.Figure, error) { return draw.HeatMap("", mat.NewDense(2, 3, nil), nil) },
		"heat map without measurements": func() (*draw.Figure, error) { return draw.HeatMap("", empty, nil) },
		"heat map, percentile 99":       func() (*draw.Figure, error) { return draw.HeatMap("", d, &draw.HeatMapSettings{Percentile: 99}) },
		"heat map, two names": func() (*draw.Figure, error) {
			return draw.HeatMap("", d, &draw.HeatMapSettings{Names: []string{"a", "b"}})
		},
		"heat map, other hosts": func() (*draw.Figure, error) {
			return draw.HeatMap("", empty, &draw.HeatMapSettings{Hierarchy: c.Hierarchy})
		},
		"histogram without measurements": func() (*draw.Figure, error) { return draw.Histogram("", empty, nil) },
		"histogram, other hosts":         func() (*draw.Figure, error) { return draw.Histogram("", empty, c.Hierarchy) },
		"dendrogram, two names":          func() (*draw.Figure, error) { return draw.Dendrogram("", c.Hierarchy, []string{"a", "b"}) },
		"no series":                      func() (*draw.Figure, error) { return draw.Plot("", sizes, sizes, nil) },
		"series without values": func() (*draw.Figure, error) {
			return draw.Plot("", sizes, sizes, []draw.Series{{X: []float64{8}}})
		},
		"wiring of nothing": func() (*draw.Figure, error) { return draw.Wiring("", &topology.Graph{}) },
	} {
		if _, err := f(); err == nil || !strings.HasPrefix(err.Error(), "draw: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
