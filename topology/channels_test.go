package topology_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestChannels(t *testing.T) {
	nan := math.NaN()
	g, err := topology.NewGraph(3, 0, nil, []topology.Arc{
		{From: 0, To: 1, Latency: 2, Bandwidth: 5, Probability: 1},
		{From: 1, To: 0, Latency: 4, Bandwidth: nan, Probability: 0.5},
		{From: 1, To: 2, Latency: 8, Bandwidth: nan, Probability: 0.25},
	})
	if err != nil {
		t.Fatal(err)
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
}
