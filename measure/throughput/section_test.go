package throughput

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/measure/record"
)

// TestSectionKeepsTheResult: through a file and back, all but the graph.
func TestSectionKeepsTheResult(t *testing.T) {
	c := parse(t, "tree:3x4 rate=10Gbps,10Gbps")
	line := parse(t, "line:5")
	for _, want := range []*Result{
		measured(t, c.Graph, nil, &Settings{Topology: resultOf(c), What: Everything}),
		measured(t, line.Graph, nil, &Settings{Topology: resultOf(line), Direct: [][2]int{{0, 4}}}),
	} {
		n := want.Graph.Hosts()
		h := record.Header{Ranks: n, Hosts: make([]string, n), Cores: make([]int, n), CPUs: make([]int, n), GOMAXPROCS: make([]int, n)}
		for i := range n {
			h.Hosts[i], h.CPUs[i], h.GOMAXPROCS[i] = want.Graph.Name(i), 1, 1
		}
		file := &record.File{Header: h, Sections: []*record.Section{want.Section()}}
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
		want.Graph = nil
		// Printed, for NaN is no number.
		if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
			t.Errorf("read\n%s\nwant\n%s", g, w)
		}
		if len(got.Observations()) != len(want.Observations()) {
			t.Errorf("%d observations, want %d", len(got.Observations()), len(want.Observations()))
		}
	}
}

// TestWrongSectionsAreRefused: each with one number or name that cannot be.
func TestWrongSectionsAreRefused(t *testing.T) {
	c := parse(t, "star:4")
	good := measured(t, c.Graph, nil, &Settings{Topology: resultOf(c), What: NodeSwitch}).Section()
	for _, tt := range []struct {
		change func(s *record.Section)
		want   string
	}{
		{func(s *record.Section) { s.Kind = "latency" }, `kind "latency"`},
		{func(s *record.Section) { s.Runs = 2 }, "of 2 runs"},
		{func(s *record.Section) { s.Columns[0] = "x" }, `want "entry" among them`},
		{func(s *record.Section) { s.Rows[columnEntry] = 9 }, "row 0: entry: 9"},
		{func(s *record.Section) { s.Rows[columnReading] = 7 }, "row 0: reading: 7"},
		{func(s *record.Section) { s.Rows[columnMessages] = 0.5 }, "row 0: messages: 0.5"},
		{func(s *record.Section) { s.Rows[ownColumns+1] = -1 }, "row 0: from: -1"},
	} {
		s := *good
		s.Columns, s.Rows = slices.Clone(good.Columns), slices.Clone(good.Rows)
		tt.change(&s)
		if _, err := FromSection(&s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}
