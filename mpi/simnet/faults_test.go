package simnet_test

import (
	"math"
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

func TestFaultsAdd(t *testing.T) {
	type directions = []simnet.SlowDirection
	for _, c := range []struct {
		text string
		want simnet.Faults
	}{
		{"link n-1-sw-a 2x", simnet.Faults{SlowDirections: directions{{0, 4, 2, 0.5, 0}, {4, 0, 2, 0.5, 0}}}},
		{"link 0-4 latency=1.5x", simnet.Faults{SlowDirections: directions{{0, 4, 1.5, 0, 0}, {4, 0, 1.5, 0, 0}}}},
		{"link sw-a-swb rate=0.1x latency=3x", simnet.Faults{SlowDirections: directions{{4, 5, 3, 0.1, 0}, {5, 4, 3, 0.1, 0}}}},
		{"link m1-swb 4x at=20ms", simnet.Faults{SlowDirections: directions{{2, 5, 4, 0.25, 0.02}, {5, 2, 4, 0.25, 0.02}}}},
		{"direction m1>swb rate=0.5x", simnet.Faults{SlowDirections: directions{{2, 5, 0, 0.5, 0}}}},
		{"  direction   5>m1  2x ", simnet.Faults{SlowDirections: directions{{5, 2, 2, 0.5, 0}}}},
		{"host m2 2x", simnet.Faults{SlowHosts: []simnet.SlowHost{{3, 2}}, SlowDirections: directions{{3, 5, 2, 0.5, 0}, {5, 3, 2, 0.5, 0}}}},
		{"lost 7", simnet.Faults{LostRanks: []simnet.LostRank{{Rank: 7}}}},
		{"lost 0 at=1500ms", simnet.Faults{LostRanks: []simnet.LostRank{{Rank: 0, At: 1.5}}}},
	} {
		var got simnet.Faults
		if err := got.Add(c.text, dashed(t)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Add(%q) = %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestFaultsAddRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "want link A-B"},
		{"link", "want link A-B"},
		{"cable 0-4 2x", `"cable": want link, direction, host or lost`},
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
		{"host 0 0.9x", `"0.9x": want a factor from 1x to 1e+06x, such as 1.2x`},
		{"lost x", "the number of a rank"},
		{"lost -1", "the number of a rank"},
		{"lost 1 2s", "at=2s"},
		{"lost 1 at=-2s", "at=2s"},
	} {
		var f simnet.Faults
		err := f.Add(c.text, dashed(t))
		if err == nil || !strings.HasPrefix(err.Error(), "simnet: fault ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Add(%q) = %v, want %q", c.text, err, c.want)
		}
		if !reflect.DeepEqual(f, simnet.Faults{}) {
			t.Errorf("Add(%q) left %+v", c.text, f)
		}
	}
}

// One direction at half rate: a long message one way takes twice its transfer time, and no
// longer the other. By hand: latencies 5+10+5 us, 1 GB/s.
func TestSlowDirectionSlowsOneWay(t *testing.T) {
	g := dashed(t)
	settings := &simnet.Settings{NoHandshake: true, ClockCost: -1}
	for _, text := range []string{"direction sw-a>swb rate=0.5x", "direction sw-a>swb latency=2x"} {
		if err := settings.Faults.Add(text, g); err != nil {
			t.Fatal(err)
		}
	}
	const bytes = 1 << 20
	var times [2]float64
	err := simnet.Run(g, nil, settings, func(comm mpi.Communicator) error {
		buf, now := make([]byte, bytes), comm.(mpi.Clock).Now
		switch comm.Rank() {
		case 0:
			if err := comm.Send(buf, 3, 0); err != nil {
				return err
			}
			times[0] = now()
			return comm.Recv(buf, 3, 0)
		case 3:
			if err := comm.Recv(buf, 0, 0); err != nil {
				return err
			}
			err := comm.Send(buf, 0, 0)
			times[1] = now() - times[0]
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := [2]float64{30e-6 + bytes/0.5e9, 20e-6 + bytes/1e9}
	for i := range want {
		if math.Abs(times[i]-want[i]) > 1e-9 {
			t.Errorf("way %d takes %g s, want %g", i, times[i], want[i])
		}
	}
}

// A direction becomes slower while messages move: alone, or two that share it. The other way stays as it was.
func TestLinkSlowsInMidRun(t *testing.T) {
	const bytes, at = 1e6, 0.52e-3
	for _, c := range []struct {
		fault string
		pairs int     // of ranks 0 and 1 with 2 and 3
		want  float64 // s, until the last message has come; 20 us of latency at 1 GB/s, 0.5 ms of which are over by then
	}{
		{"link sw-a-swb rate=0.25x at=520us", 1, at + 0.5e6/0.25e9},
		{"link sw-a-swb rate=0.25x at=520us", 2, at + 1.5e6/0.25e9},
		{"direction swb>sw-a rate=0.25x at=520us", 1, 20e-6 + bytes/1e9},
		{"link sw-a-swb latency=9x at=520us", 1, 20e-6 + bytes/1e9}, // it had left
		{"link sw-a-swb rate=0.25x at=1h", 1, 20e-6 + bytes/1e9},
	} {
		s := &simnet.Settings{EagerLimit: bytes}
		if err := s.Faults.Add(c.fault, dashed(t)); err != nil {
			t.Fatal(err)
		}
		report, err := simnet.Simulate(dashed(t), nil, s, func(comm mpi.Communicator) error {
			switch r := comm.Rank(); {
			case r < c.pairs:
				return comm.Send(make([]byte, bytes), r+2, 0)
			case r > 1 && r < 2+c.pairs:
				return comm.Recv(make([]byte, bytes), r-2, 0)
			}
			return nil
		})
		if err != nil || math.Abs(report.Seconds-c.want) > 1e-9 {
			t.Errorf("%s, %d messages: %g s, %v, want %g", c.fault, c.pairs, report.Seconds, err, c.want)
		}
	}
}

func TestSlowDirectionsAreChecked(t *testing.T) {
	g := dashed(t)
	for _, d := range []simnet.SlowDirection{
		{From: 0, To: 1},
		{From: 0, To: 4, Latency: 0.5},
		{From: 0, To: 4, Rate: 2},
		{From: 0, To: 4, Rate: math.NaN()},
		{From: 0, To: 4, Rate: 0.5, At: -1},
		{From: 0, To: 4, Rate: 0.5, At: math.NaN()},
	} {
		s := &simnet.Settings{Faults: simnet.Faults{SlowDirections: []simnet.SlowDirection{d}}}
		err := simnet.Run(g, nil, s, func(mpi.Communicator) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "SlowDirections[0]") {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func FuzzFaultsAdd(f *testing.F) {
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
		if faults.Add(text, g) != nil {
			return
		}
		faults.LostRanks = nil // there is one rank
		err := simnet.Run(g, nil, &simnet.Settings{Faults: faults}, func(mpi.Communicator) error { return nil })
		if err != nil {
			t.Errorf("Add(%q) took what Run refuses: %v", text, err)
		}
	})
}
