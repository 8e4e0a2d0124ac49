package netlab

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

func TestTruth(t *testing.T) {
	// MTU 1052 makes 1,000 bytes of payload in frames of 1,066: uplinks of
	// 1.066 MB/s carry 1 MB/s, hosts' links of 2.132 MB/s carry 2 MB/s.
	c := cluster(t, `"spec":"tree:2x3 latency=200us,50us rate=1066KBps,2132KBps","mtu":1052`)
	tr, err := newTruth(c)
	if err != nil {
		t.Fatal(err)
	}
	// A byte makes a frame of 14 + 52 + 1 bytes.
	if got, want := tr.latency(0, 1), 100e-6+67/2.132e6; !near(got, want) {
		t.Errorf("latency inside a rack = %g, want %g", got, want)
	}
	if got, want := tr.latency(0, 3), 500e-6+67/1.066e6; !near(got, want) {
		t.Errorf("latency between racks = %g, want %g", got, want)
	}
	inside, across := tr.latency(0, 1), tr.latency(0, 3)
	tests := []struct {
		name    string
		streams []stream
		want    []float64
	}{
		{"one inside a rack", []stream{{0, 1, 2e6}}, []float64{1 + inside}},
		{"one between racks", []stream{{0, 3, 2e6}}, []float64{2 + across}},
		{"two out of one NIC", []stream{{0, 1, 2e6}, {0, 2, 2e6}}, []float64{2 + inside, 2 + inside}},
		{"both directions", []stream{{0, 3, 2e6}, {3, 0, 2e6}}, []float64{2 + across, 2 + across}},
		// Two share the uplink until the short one ends after 2 s.
		{"a short and a long one over an uplink", []stream{{0, 3, 1e6}, {1, 4, 3e6}}, []float64{2 + across, 4 + across}},
	}
	for _, tt := range tests {
		got, err := tr.times(tt.streams)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !near(got[i], tt.want[i]) {
				t.Errorf("%s: times = %v, want %v", tt.name, got, tt.want)
				break
			}
		}
	}
}
