package throughput

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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
		got := resultFrom(t, read.Section(Kind))
		want.Graph = nil
		want.Links = slices.DeleteFunc(want.Links, func(l Link) bool { return l.Readings == nil })
		// Printed, for NaN is no number.
		if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
			t.Errorf("read\n%s\nwant\n%s", g, w)
		}
	}
}

// resultFrom is the result that a section keeps, without the graph.
func resultFrom(t *testing.T, s *record.Section) *Result {
	t.Helper()
	var settings sectionSettings
	if err := json.Unmarshal(s.Settings, &settings); err != nil {
		t.Fatal(err)
	}
	r := &Result{
		Size: s.Sizes[0], Samples: settings.Samples, Seconds: settings.Seconds,
		Steps: s.Rounds, Stopped: s.Stopped, Warnings: s.Warnings,
	}
	for k := range s.NumRows() {
		number := func(column string) float64 { return s.Row(k)[s.Column(column)] }
		whole := func(column string) int { return int(number(column)) }
		pair, bound := [2]int{whole(record.ColumnFrom), whole(record.ColumnTo)}, number(columnBound) == 1
		switch whole(columnEntry) {
		case entryPair, entrySample:
			if whole(columnReading) == len(r.Readings) {
				r.Readings = append(r.Readings, Reading{
					What: What(whole(columnWhat)), From: whole(columnVertex), To: whole(columnOther),
					Messages: whole(columnMessages), Step: whole(columnStep), Rate: number(columnRate),
				})
			}
			last := &r.Readings[whole(columnReading)]
			if whole(columnEntry) == entrySample {
				last.Rates = append(last.Rates, number(columnRate))
				continue
			}
			last.Pairs, last.Seconds = append(last.Pairs, pair), append(last.Seconds, number(columnSeconds))
		case entryLink:
			l := Link{From: whole(columnVertex), To: whole(columnOther), What: What(whole(columnWhat)), Rate: number(columnRate), AtLeast: bound}
			if n := len(r.Links); n == 0 || r.Links[n-1].From != l.From || r.Links[n-1].To != l.To {
				r.Links = append(r.Links, l)
			}
			last := &r.Links[len(r.Links)-1]
			last.Readings = append(last.Readings, whole(columnReading))
		case entrySwitch:
			r.Switches = append(r.Switches, Switch{
				Vertex: whole(columnVertex), All: number(columnRate), Alone: number(columnSecond), Rest: number(columnThird), Parallel: bound,
			})
		case entryMaximum:
			last, way := &r.Switches[len(r.Switches)-1], whole(columnOther)
			last.Maximum[way], last.AtLeast[way] = number(columnRate), bound
		case entryDirect:
			r.Direct = append(r.Direct, Direct{Pair: pair, Alone: number(columnRate), Blocked: number(columnSecond), Wired: bound})
		}
	}
	return r
}
