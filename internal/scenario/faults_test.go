package scenario

import (
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// dashed has two switches, one with the mark of links in its name.
func dashed(t *testing.T) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for h := range 4 {
		arcs = topology.AppendLink(arcs, h, 4+h/2, 5e-6, 1e9)
	}
	arcs = topology.AppendLink(arcs, 4, 5, 10e-6, 1e9)
	g, err := topology.NewGraph(4, 2, []string{"n-1", "n-2", "m1", "m2", "sw-a", "swb"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAddFault(t *testing.T) {
	type directions = []simnet.SlowDirection
	slow := func(from, to int, latency, rate, at float64) simnet.SlowDirection {
		return simnet.SlowDirection{From: from, To: to, Latency: latency, Rate: rate, At: at}
	}
	for _, c := range []struct {
		text string
		want simnet.Faults
	}{
		{"link n-1-sw-a 2x", simnet.Faults{SlowDirections: directions{slow(0, 4, 2, 0.5, 0), slow(4, 0, 2, 0.5, 0)}}},
		{"link 0-4 latency=1.5x", simnet.Faults{SlowDirections: directions{slow(0, 4, 1.5, 0, 0), slow(4, 0, 1.5, 0, 0)}}},
		{"link sw-a-swb rate=0.1x latency=3x", simnet.Faults{SlowDirections: directions{slow(4, 5, 3, 0.1, 0), slow(5, 4, 3, 0.1, 0)}}},
		{"link m1-swb 4x at=20ms", simnet.Faults{SlowDirections: directions{slow(2, 5, 4, 0.25, 0.02), slow(5, 2, 4, 0.25, 0.02)}}},
		{"uplink n-1-n-2 rate=0.5x", simnet.Faults{SlowDirections: directions{slow(4, 5, 0, 0.5, 0), slow(5, 4, 0, 0.5, 0)}}},
		{"uplink m2 2x", simnet.Faults{SlowDirections: directions{slow(3, 5, 2, 0.5, 0), slow(5, 3, 2, 0.5, 0)}}},
		{"direction m1>swb rate=0.5x", simnet.Faults{SlowDirections: directions{slow(2, 5, 0, 0.5, 0)}}},
		{"  direction   5>m1  2x ", simnet.Faults{SlowDirections: directions{slow(5, 2, 2, 0.5, 0)}}},
		{"host m2 2x", simnet.Faults{SlowHosts: []simnet.SlowHost{{Host: 3, Factor: 2}}, SlowDirections: directions{slow(3, 5, 2, 0.5, 0), slow(5, 3, 2, 0.5, 0)}}},
		{"lost 7", simnet.Faults{LostRanks: []simnet.LostRank{{Rank: 7}}}},
		{"lost 0 at=1500ms", simnet.Faults{LostRanks: []simnet.LostRank{{Rank: 0, At: 1.5}}}},
	} {
		var got simnet.Faults
		if _, err := AddFault(&got, c.text, dashed(t)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("AddFault(%q) = %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

// TestWrongCable: a host that is at another switch has its cable there, with the latency and the rate that it had.
func TestWrongCable(t *testing.T) {
	for _, text := range []string{"host n-2 at swb", "host 1 at m1"} {
		var f simnet.Faults
		g, err := AddFault(&f, text, dashed(t))
		if err != nil {
			t.Fatal(err)
		}
		out := g.Out(1)
		if len(out) != 1 || out[0].To != 5 || out[0].Latency != 5e-6 || out[0].Bandwidth != 1e9 || g.ArcIndex(5, 1) < 0 || g.ArcIndex(4, 1) >= 0 {
			t.Errorf("%q: the links of n-2 are %+v, want one to swb with 5 us and 1 GB/s", text, out)
		}
		if !reflect.DeepEqual(f, simnet.Faults{}) {
			t.Errorf("%q left %+v", text, f)
		}
	}
}

func TestAddFaultRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "want link A-B"},
		{"link", "want link A-B"},
		{"cable 0-4 2x", `"cable": want link, uplink, direction, switch, host or lost`},
		{"link 0-1 2x", "there is no link n-1-n-2: n-1 is linked to sw-a"},
		{"link 0>4 2x", `"0>4"`},
		{"link a-b 2x", `"a-b": want two hosts or switches`},
		{"link 0-9 2x", `"0-9"`},
		{"link 0-4", "want how slow it is"},
		{"link 0-4 0.5x", `"0.5x": want a factor from 1x to 1e+06x, such as 1.5x, or latency=1.5x or rate=0.5x`},
		{"link 0-4 2", `"2": want a factor`},
		{"link 0-4 2x at=soon", `"at=soon": want a time`},
		{"link 0-4 at=2s", "want how slow it is"},
		{"link 0-4 latency=0.5x", `"latency=0.5x": want a factor from 1x`},
		{"link 0-4 rate=2x", `"rate=2x": want a factor from 1e-06x to 1x, such as rate=0.5x`},
		{"link 0-4 rate=0x", "to 1x"},
		{"link 0-4 rate=0.5x rate=0.5x", "each once"},
		{"link 0-4 speed=2x", "want latency= and rate="},
		{"link 0-4 NaNx", "NaNx"},
		{"link 0-4 2e6x", `"2e6x"`},
		{"direction 0>4 rate=1e-7x", `"rate=1e-7x"`},
		{"direction 0-4 2x", `"0-4"`},
		{"host 4 2x", `"4" is no host`},
		{"host sw-a 2x", "is no host"},
		{"host 0", "one factor"},
		{"host 0 at 9", `"9" is no switch`},
		{"uplink n-2-m1 2x", `no link leads from these hosts`},
		{"uplink sw-a 2x", `"sw-a": want hosts, such as n-1-m2`},
		{"host 0 0.9x", `"0.9x": want a factor from 1x to 1e+06x, such as 1.2x`},
		{"lost x", "the number of a rank"},
		{"switch 0 rate=0.5x", "no switch"},
		{"switch 4 0.5x", "what the switch carries"},
		{"switch 4 latency=2x", "what the switch carries"},
		{"lost -1", "the number of a rank"},
		{"lost 1 2s", "at=2s"},
		{"lost 1 at=-2s", "at=2s"},
	} {
		var f simnet.Faults
		_, err := AddFault(&f, c.text, dashed(t))
		if err == nil || !strings.HasPrefix(err.Error(), "fault ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("AddFault(%q) = %v, want %q", c.text, err, c.want)
		}
		if !reflect.DeepEqual(f, simnet.Faults{}) {
			t.Errorf("AddFault(%q) left %+v", c.text, f)
		}
	}
}

func FuzzAddFault(f *testing.F) {
	for _, text := range []string{"link 0-4 2x", "direction 0>4 rate=0.5x", "host 1 1.2x", "lost 3 at=1s", "link 0-1 2x at=1s", "link --- ="} {
		f.Add(text)
	}
	var arcs []topology.Arc
	arcs = topology.AppendLink(arcs, 0, 1, 1e-6, 1e9)
	g, err := topology.NewGraph(1, 1, nil, arcs)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var faults simnet.Faults
		if _, err := AddFault(&faults, text, g); err != nil {
			return
		}
		faults.LostRanks = nil // there is one rank
		err := simnet.Run(g, nil, &simnet.Settings{Faults: faults}, func(mpi.Communicator) error { return nil })
		if err != nil {
			t.Errorf("AddFault(%q) took what Run refuses: %v", text, err)
		}
	})
}
