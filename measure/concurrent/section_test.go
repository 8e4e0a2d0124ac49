package concurrent

import (
	"bytes"
	"math"
	"reflect"
	"strings"
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
	got, err := FromSection(read.Section(Kind))
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(got.Patterns[1].Times[0].HalfWidth) {
		t.Errorf("half width %g, want NaN", got.Patterns[1].Times[0].HalfWidth)
	}
	got.Patterns[1].Times[0].HalfWidth, r.Patterns[1].Times[0].HalfWidth = 0, 0 // NaN equals nothing
	if !reflect.DeepEqual(got, r) {
		t.Errorf("read %+v\nwant %+v", got, r)
	}

	// Two runs are one with the patterns of both.
	merged, err := record.Merge(file, file)
	if err != nil {
		t.Fatal(err)
	}
	if both, err := FromSection(merged.Section(Kind)); err != nil || len(both.Patterns) != 6 || len(both.Patterns[3].Transfers) != 3 {
		t.Errorf("merged: %v, %+v, want 6 patterns", err, both)
	}
}

func TestWrongSections(t *testing.T) {
	r := &Result{Planned: 1, Patterns: []Pattern{{Transfers: []model.Transfer{{Src: 0, Dst: 1, Bytes: 5}}, Times: []Time{{Mean: 1}}}}}
	for _, c := range []struct {
		change func(s *record.Section)
		want   string
	}{
		{func(s *record.Section) { s.Kind = "latency" }, "kind"},
		{func(s *record.Section) { s.Columns[2] = "average" }, "mean_s"},
		{func(s *record.Section) { s.Rows[s.Column("bytes")] = 0 }, "byte"},
		{func(s *record.Section) { s.Rows[s.Column("to")] = 0 }, "two different ranks"},
		{func(s *record.Section) { s.Rows[s.Column("from")] = 0.5 }, "from"},
		{func(s *record.Section) { s.Rows[s.Column("count")] = math.NaN() }, "count"},
		{func(s *record.Section) { s.Rows[s.Column("pattern")] = -1 }, "pattern"},
	} {
		s := r.Section()
		c.change(s)
		if _, err := FromSection(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
}
