package simnet_test

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/scenario"
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

// One direction at half rate: a long message one way takes twice its transfer time, and no
// longer the other. By hand: latencies 5+10+5 us, 1 GB/s.
func TestSlowDirectionSlowsOneWay(t *testing.T) {
	g := dashed(t)
	settings := &simnet.Settings{NoHandshake: true, ClockCost: -1}
	for _, text := range []string{"direction sw-a>swb rate=0.5x", "direction sw-a>swb latency=2x"} {
		if _, err := scenario.AddFault(&settings.Faults, text, g); err != nil {
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
		if _, err := scenario.AddFault(&s.Faults, c.fault, dashed(t)); err != nil {
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
