package concurrent

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/simnet"
)

// header is that of a job of four ranks.
func header() record.Header {
	return record.Header{
		Ranks: 4, GoVersion: "go1", Platform: "linux/amd64", Hosts: []string{"a", "b", "c", "d"},
		Cores: []int{-1, -1, -1, -1}, CPUs: []int{1, 1, 1, 1}, GOMAXPROCS: []int{1, 1, 1, 1},
	}
}

// What is written and read is what was measured, also that which is not known.
func TestSectionsKeepResults(t *testing.T) {
	pair := []model.Transfer{{Src: 3, Dst: 2, Bytes: megabyte}}
	r := simulated(t, star, simnet.Noise{Sigma: 0.03}, nil, &Settings{Patterns: [][]model.Transfer{twoInOneOut(), pair, twoInOneOut()}, MaxIterations: 5})
	r.Patterns[1].Times[0].HalfWidth = math.NaN()
	r.Patterns[2].Serial = true
	r.Stopped = harness.StoppedByBudget
	file := &record.File{Header: header(), Sections: []*record.Section{r.Section()}}
	var b bytes.Buffer
	if err := file.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := record.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := resultFrom(read.Section(Kind))
	if !math.IsNaN(got.Patterns[1].Times[0].HalfWidth) {
		t.Errorf("half width %g, want NaN", got.Patterns[1].Times[0].HalfWidth)
	}
	got.Patterns[1].Times[0].HalfWidth, r.Patterns[1].Times[0].HalfWidth = 0, 0 // NaN equals nothing
	for i := range r.Patterns {
		r.Patterns[i].Seconds = nil // files do not keep them
	}
	if !reflect.DeepEqual(got, r) {
		t.Errorf("read %+v\nwant %+v", got, r)
	}

	// Two runs are one with the patterns of both.
	merged, err := record.Merge(file, file)
	if err != nil {
		t.Fatal(err)
	}
	if both := resultFrom(merged.Section(Kind)); len(both.Patterns) != 6 || len(both.Patterns[3].Transfers) != 3 {
		t.Errorf("merged: %+v, want 6 patterns", both)
	}
}

// resultFrom is the result that a section keeps; of several runs that were merged, with the patterns of all.
func resultFrom(s *record.Section) *Result {
	r := &Result{Planned: s.TotalRounds, Stopped: s.Stopped, Warnings: s.Warnings}
	last := [2]float64{-1, -1}
	for k := range s.NumRows() {
		number := func(column string) float64 { return s.Row(k)[s.Column(column)] }
		if of := [2]float64{number(record.ColumnRepetition), number("pattern")}; of != last {
			last = of
			r.Patterns = append(r.Patterns, Pattern{
				Iterations: int(number("iterations")), Converged: number("converged") == 1, Serial: number("serial") == 1,
				Skew: number("skew_s"), ClockError: number("clock_error_s"),
			})
		}
		p := &r.Patterns[len(r.Patterns)-1]
		p.Transfers = append(p.Transfers, model.Transfer{
			Src: int(number(record.ColumnFrom)), Dst: int(number(record.ColumnTo)), Bytes: int64(number("bytes")),
		})
		p.Times = append(p.Times, Time{
			Mean: number("mean_s"), Median: number("median_s"), Min: number("min_s"), Max: number("max_s"),
			HalfWidth: number("half_width_s"), Count: int(number("count")),
		})
	}
	return r
}
