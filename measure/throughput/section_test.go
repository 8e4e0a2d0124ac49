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
		measureOn(t, c.Graph, nil, &Settings{Topology: resultOf(c), Switches: true}),
		measureOn(t, line.Graph, nil, &Settings{Topology: resultOf(line), Direct: [][2]int{{0, 4}}}),
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
		want.Links = slices.DeleteFunc(want.Links, func(l Link) bool { return l.measurements == nil })
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
		pair, bound := [2]int{whole(record.ColumnFrom), whole(record.ColumnTo)}, number("bound") == 1
		switch whole("entry") {
		case entryPair, entrySample:
			if whole("reading") == len(r.measurements) {
				r.measurements = append(r.measurements, measurement{
					Messages: whole("messages"), Step: whole("step"), Rate: number("rate_Bps"),
				})
			}
			last := &r.measurements[whole("reading")]
			if whole("entry") == entrySample {
				last.Rates = append(last.Rates, number("rate_Bps"))
				continue
			}
			last.Pairs, last.Seconds = append(last.Pairs, pair), append(last.Seconds, number("seconds"))
		case entryLink:
			l := Link{From: whole("vertex"), To: whole("other_vertex"), Rate: number("rate_Bps"), AtLeast: bound}
			if n := len(r.Links); n == 0 || r.Links[n-1].From != l.From || r.Links[n-1].To != l.To {
				r.Links = append(r.Links, l)
			}
			last := &r.Links[len(r.Links)-1]
			last.measurements = append(last.measurements, whole("reading"))
		case entrySwitch:
			r.Switches = append(r.Switches, Switch{
				Vertex: whole("vertex"), All: number("rate_Bps"), Alone: number("second_Bps"), Rest: number("third_Bps"), Parallel: bound, pair: pair,
			})
		case entryMaximum:
			last, direction := &r.Switches[len(r.Switches)-1], whole("other_vertex")
			last.Maximum[direction], last.AtLeast[direction] = number("rate_Bps"), bound
		case entryDirect:
			r.Direct = append(r.Direct, Direct{Pair: pair, Alone: number("rate_Bps"), Blocked: number("second_Bps"), Wired: bound})
		}
	}
	return r
}
