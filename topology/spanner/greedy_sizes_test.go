package spanner_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// By hand: three hosts in a line 0 - 1 - 2 for short messages; long ones have an arc 0->2 of their own, of
// 15 where the path takes 20, while back it is 20, as the path; 1->0 takes them half as long again as 0->1,
// so that this channel is simplex for them. Reference: Bannikov and Salnikov 2014, section 2.1, and equation 2 of 2.2.
func TestGreedyCycleMergesMessageLengths(t *testing.T) {
	short := mat.NewDense(3, 3, []float64{0, 1, 2, 1, 0, 1, 2, 1, 0})
	long := mat.NewDense(3, 3, []float64{0, 10, 15, 15, 0, 10, 20, 10, 0})
	c := &spanner.GreedyCycle{SharedSpread: 0.02, DuplexSpread: 0.1}
	r, err := c.ReconstructSizes(spanner.Sized{Bytes: 1024, Repetitions: []mat.Matrix{long}}, spanner.Sized{Bytes: 8, Repetitions: []mat.Matrix{short}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range r.Graph.Arcs() {
		got = append(got, fmt.Sprintf("%d>%d %g %g", a.From, a.To, a.Probability, a.Latency))
	}
	want := []string{"0>1 1 1", "0>2 0.5 2", "1>0 0.5 1", "1>2 1 1", "2>1 1 1"}
	if !slices.Equal(got, want) {
		t.Errorf("arcs with probability and latency %q, want %q", got, want)
	}
	if len(r.Local) != 2 || r.Local[0].Bytes != 8 || len(r.Local[0].Arcs) != 4 || r.Local[1].Bytes != 1024 || len(r.Local[1].Arcs) != 4 {
		t.Errorf("topologies %+v, want 4 arcs for 8 B and 4 for 1024 B", r.Local)
	}
	// Means over both lengths, also of arcs that one of them lacks: 0->1 5.5, 1->0 8, 0->2 8.5, 1-2 5.5. By equation 2 channel 0-1
	// is (5.5*1 + 8*0.5)/1.5 = 19/3 long. The shortest is 1-2.
	mean, err := r.MeanGraph()
	if err != nil {
		t.Fatal(err)
	}
	channels := mean.Channels()
	if len(channels) != 3 {
		t.Fatalf("channels %v", channels)
	}
	for i, w := range []topology.Channel{{U: 0, V: 1, Length: 19 / 3.0 / 5.5, Probability: 1.5}, {U: 0, V: 2, Length: 8.5 / 5.5, Probability: 0.5}, {U: 1, V: 2, Length: 1, Probability: 2}} {
		if c := channels[i]; c.U != w.U || c.V != w.V || math.Abs(c.Length-w.Length) > 1e-12 || c.Probability != w.Probability {
			t.Errorf("channel %+v, want %+v", c, w)
		}
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "messages of 1024 B: channel 0->1 is simplex") {
		t.Errorf("warnings %q, want that 0->1 is simplex for long messages", r.Warnings)
	}
	for _, sizes := range [][]spanner.Sized{nil, {{8, []mat.Matrix{short}}, {8, []mat.Matrix{long}}}, {{8, []mat.Matrix{short}}, {16, []mat.Matrix{mat.NewDense(2, 2, nil)}}}} {
		if _, err := c.ReconstructSizes(sizes...); err == nil {
			t.Errorf("%d sizes that do not go together: no error", len(sizes))
		}
	}
}
