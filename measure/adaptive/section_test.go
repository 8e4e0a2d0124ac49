package adaptive

import (
	"reflect"
	"testing"

	"github.com/topocast/topocast/measure/record"
)

// What a section holds comes back, and what cannot be is refused.
func TestSection(t *testing.T) {
	found, err := Explore(20, lying(3e-6), nil)
	if err != nil {
		t.Fatal(err)
	}
	found.Bytes, found.Stopped = 8, "budget"
	back, err := FromSection(found.Section(), 20)
	if err != nil {
		t.Fatal(err)
	}
	want := *found
	want.Topology, want.Method = nil, ""
	if !reflect.DeepEqual(back, &want) {
		t.Errorf("back comes %+v, want %+v", back, &want)
	}
	for name, spoil := range map[string]func(*record.Section){
		"another kind":   func(s *record.Section) { s.Kind = "latency" },
		"no latencies":   func(s *record.Section) { s.Columns[3] = "other" },
		"no size":        func(s *record.Section) { s.Sizes = nil },
		"unknown rank":   func(s *record.Section) { s.Rows[0] = 20 },
		"half a rank":    func(s *record.Section) { s.Rows[1] = 0.5 },
		"rank to self":   func(s *record.Section) { s.Rows[0] = s.Rows[1] },
		"before all":     func(s *record.Section) { s.Rows[2] = -1 },
		"no time at all": func(s *record.Section) { s.Rows[3] = 0 },
	} {
		s := found.Section()
		spoil(s)
		if _, err := FromSection(s, 20); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
