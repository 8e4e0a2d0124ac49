package benchmark

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestReadWhatIsWritten: what Read and ReadCSV return is what Write and WriteCSV were given, as far as they promise.
func TestReadWhatIsWritten(t *testing.T) {
	nan := math.NaN()
	wrote := &Report{Ranks: 4, Root: 1, Conditions: Conditions{Library: "x"}, Rows: []Row{
		{Bytes: 8, Variant: "ours", Median: 2, Low: 1, High: 3, Min: 0.5, Max: 4, Bound: 0.25, Verified: true},
		{Bytes: 64, Variant: "native", Median: 2, Low: nan, High: nan, Min: 1, Max: 3, Bound: nan},
	}}
	for name, format := range map[string]struct {
		write func(*Report, *bytes.Buffer) error
		read  func([]byte) (*Report, error)
	}{
		"JSON": {func(r *Report, b *bytes.Buffer) error { return r.Write(b) }, Read},
		"CSV":  {func(r *Report, b *bytes.Buffer) error { return r.WriteCSV(b) }, ReadCSV},
	} {
		var b bytes.Buffer
		if err := format.write(wrote, &b); err != nil {
			t.Fatal(err)
		}
		got, err := format.read(b.Bytes())
		if err != nil || got.Ranks != 4 || len(got.Rows) != 2 {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		for i, x := range got.Rows {
			w := wrote.Rows[i]
			same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
			if x.Bytes != w.Bytes || x.Variant != w.Variant || x.Median != w.Median || !same(x.Low, w.Low) || !same(x.High, w.High) || !same(x.Bound, w.Bound) {
				t.Errorf("%s: row %d is %+v, want %+v", name, i, x, w)
			}
			if x.Min != w.Min || x.Max != w.Max || x.Verified != w.Verified || name == "JSON" && (got.Root != 1 || got.Library != "x") {
				t.Errorf("%s: row %d is %+v of %+v, want %+v", name, i, x, got, w)
			}
		}
	}
	for text, want := range map[string]string{
		`{"format":"topocast/bcast-benchmark","version":3}`:                                       "version is 3",
		`{"format":"topocast/network"}`:                                                           `format is "topocast/network"`,
		`{"format":"topocast/bcast-benchmark","version":2,"rows":[{"bytes":8},{"bytes":"many"}]}`: `row 2: bytes is "many"`,
		`{"format":"topocast/bcast-benchmark","version":2,"rows":[{"bytes":8.5}]}`:                `row 1: bytes is "8.5": want a whole number`,
		`{"format":"topocast/bcast-benchmark","version":2,"rows":[{"bytes":8,"median_s":true}]}`:  `row 1: median_s is "true": want a number`,
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s): %v, want %q", text, err, want)
		}
	}
}
