package draw_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology/draw"
)

// TestPlot: names of axes, series and things are in the picture; what has no place on a logarithmic axis is told.
func TestPlot(t *testing.T) {
	share := func(v float64) string { return fmt.Sprintf("%g %%", v) }
	f, err := draw.Plot("Title", draw.Axis{Labels: []string{"first", "second"}}, draw.Axis{Name: "error", Format: share, Log: true}, []draw.Series{
		{Name: "ours", X: []float64{0, 1, 1, math.NaN()}, Y: []float64{10, 20, 0, 5}, Low: []float64{5, 10, 0, 1}, High: []float64{12, 25, 1, 9}},
		{Name: "printed", X: []float64{0, 1}, Y: []float64{12, 18}, Limit: true},
		{Name: "alone", X: []float64{0.5}, Y: []float64{15}, Apart: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := texts(t, f)
	for _, want := range []string{"first\n", "second\n", "error\n", "20 %\n", "ours\n", "printed\n", "alone\n", "1 point."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if _, err := draw.Plot("T", draw.Axis{Log: true}, draw.Axis{}, []draw.Series{{X: []float64{0}, Y: []float64{1}}}); err == nil {
		t.Error("a plot without points has no error")
	}
	if _, err := draw.Plot("T", draw.Axis{}, draw.Axis{}, []draw.Series{{X: []float64{0}}}); err == nil {
		t.Error("a series of one x and no y has no error")
	}
}

// TestPlotNames: the names of eight things stand in lines below each other, none of them cut, and the picture is broad
// enough for the longest name of a series.
func TestPlotNames(t *testing.T) {
	var things []string
	var s draw.Series
	for i := range 8 {
		things = append(things, fmt.Sprintf("thing number %d, with a name", i))
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 1)
	}
	width := func(name string) (points float64) {
		s.Name = name
		f, err := draw.Plot("T", draw.Axis{Labels: things}, draw.Axis{}, []draw.Series{s})
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, f); !strings.Contains(got, "number 7,\n") || strings.Contains(got, "...") {
			t.Errorf("labels %q", got)
		}
		var svg strings.Builder
		if err := f.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		_, size, _ := strings.Cut(svg.String(), `viewBox="0 0 `)
		if _, err := fmt.Sscan(size, &points); err != nil {
			t.Fatal(err)
		}
		return points
	}
	// A letter of 9 points is some 4 to 5 wide: 60 of them need more than the 150 points of a usual legend.
	if short, long := width("ours"), width(strings.Repeat("a name ", 9)); short != 640 || long < short+90 {
		t.Errorf("widths %g and %g", short, long)
	}
}

// TestPlotTicks: steps of 0.2 add up to 0.6000000000000001, which no label may be; and values that are all the
// same have an axis about them.
func TestPlotTicks(t *testing.T) {
	f, err := draw.Plot("T", draw.Axis{}, draw.Axis{}, []draw.Series{{X: []float64{0, 0.6}, Y: []float64{7, 7}}})
	if err != nil {
		t.Fatal(err)
	}
	got := texts(t, f)
	if strings.Contains(got, "0000") || !strings.Contains(got, "\n0.6\n") {
		t.Errorf("labels %q", got)
	}
}

func TestDistribution(t *testing.T) {
	f, err := draw.Distribution("Title", draw.Axis{Name: "error"}, []draw.Series{{Name: "a", Y: []float64{-1, 0, 0, 1}}, {Name: "b", Y: []float64{2, math.NaN()}}, {Name: "none"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := texts(t, f)
	for _, want := range []string{"\na\n", "\nb\n", "\nnone\n", "error\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if _, err := draw.Distribution("T", draw.Axis{}, []draw.Series{{}}, 0); err == nil {
		t.Error("a distribution of nothing has no error")
	}
}

// TestPlotBars: what is apart over names has bars, as high as its values, side by side and at the same height.
func TestPlotBars(t *testing.T) {
	f, err := draw.Plot("T", draw.Axis{Labels: []string{"first", "second"}}, draw.Axis{}, []draw.Series{
		{Name: "a", X: []float64{0, 1}, Y: []float64{30, 60}, Apart: true},
		{Name: "b", X: []float64{1}, Y: []float64{90}, Apart: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var svg strings.Builder
	if err := f.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	type bar struct{ left, right, low, high float64 }
	bars := func(colour string) (all []bar) {
		for _, m := range regexp.MustCompile(`<path d="([^"]*)"\s+style="fill:`+colour).FindAllStringSubmatch(svg.String(), -1) {
			for _, ring := range strings.Split(strings.TrimSpace(m[1]), "Z") {
				b := bar{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
				for _, at := range regexp.MustCompile(`[ML]([0-9.]+),([0-9.]+)`).FindAllStringSubmatch(ring, -1) {
					x, _ := strconv.ParseFloat(at[1], 64)
					y, _ := strconv.ParseFloat(at[2], 64)
					b = bar{min(b.left, x), max(b.right, x), min(b.low, y), max(b.high, y)}
				}
				if b.left < b.right {
					all = append(all, b)
				}
			}
		}
		return all
	}
	a, b := bars("#0072B2"), bars("#D55E00")
	if len(a) != 3 || len(b) != 2 { // the last of each is the legend's
		t.Fatalf("bars %v and %v", a, b)
	}
	unit := (a[0].high - a[0].low) / 30
	for i, want := range map[bar]float64{a[1]: 60, b[0]: 90} {
		if got := (i.high - i.low) / unit; math.Abs(got-want) > 0.01*want || math.Abs(i.low-a[0].low) > 0.01 {
			t.Errorf("bar %v is %g high: want %g", i, got, want)
		}
	}
	if !(a[0].right < a[1].left && a[1].right <= b[0].left+0.01) {
		t.Errorf("bars %v and %v overlap", a, b)
	}
}
