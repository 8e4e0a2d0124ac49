package topology_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/topocast/topocast/topology"
)

// By hand: the arc 0->1 is in both graphs, 1->0 in the first, 1->2 in the second
// with a probability of a half.
func TestMerge(t *testing.T) {
	nan := math.NaN()
	graph := func(arcs ...topology.Arc) *topology.Graph {
		g, err := topology.NewGraph(3, 0, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	a := graph(topology.Arc{From: 0, To: 1, Latency: 2, Bandwidth: nan, Probability: 1}, topology.Arc{From: 1, To: 0, Latency: 4, Bandwidth: nan, Probability: 1})
	b := graph(topology.Arc{From: 0, To: 1, Latency: 9, Bandwidth: 5, Probability: 1}, topology.Arc{From: 1, To: 2, Latency: 8, Bandwidth: nan, Probability: 0.5})
	g, err := topology.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := []topology.Arc{
		{From: 0, To: 1, Latency: 2, Bandwidth: 5, Probability: 1},
		{From: 1, To: 0, Latency: 4, Bandwidth: nan, Probability: 0.5},
		{From: 1, To: 2, Latency: 8, Bandwidth: nan, Probability: 0.25},
	}
	if got := g.Arcs(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("arcs = %v, want %v", got, want)
	}
	// Equation 2: (2*1 + 4*0.5)/1.5 = 8/3 for 0-1, 8 for 1-2; the shortest is 1.
	// Shades (1+0.25)/1.5 and 0.25.
	channels := []topology.Channel{
		{U: 0, V: 1, Length: 1, Probability: 1.5, Shade: 1.25 / 1.5},
		{U: 1, V: 2, Length: 3, Probability: 0.25, Shade: 0.25},
	}
	got := g.Channels()
	if len(got) != 2 {
		t.Fatalf("channels = %v, want %v", got, channels)
	}
	for i, c := range got {
		w := channels[i]
		if c.U != w.U || c.V != w.V || math.Abs(c.Length-w.Length)+math.Abs(c.Probability-w.Probability)+math.Abs(c.Shade-w.Shade) > 1e-12 {
			t.Errorf("channel %d = %v, want %v", i, c, w)
		}
	}

	if _, err := topology.Merge(); err == nil {
		t.Error("Merge of nothing: no error")
	}
	other, err := topology.NewGraph(2, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topology.Merge(a, other); err == nil {
		t.Error("Merge of graphs of different hosts: no error")
	}
}
