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
		if _, err := scenario.AddFault(settings, text, g); err != nil {
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
		{"link sw-a-swb rate=0.25x from=520us", 1, at + 0.5e6/0.25e9},
		{"link sw-a-swb rate=0.25x from=520us", 2, at + 1.5e6/0.25e9},
		{"direction swb>sw-a rate=0.25x from=520us", 1, 20e-6 + bytes/1e9},
		{"link sw-a-swb latency=9x from=520us", 1, 20e-6 + bytes/1e9}, // it had left
		{"link sw-a-swb rate=0.25x from=1h", 1, 20e-6 + bytes/1e9},
	} {
		s := &simnet.Settings{EagerLimit: bytes}
		if _, err := scenario.AddFault(s, c.fault, dashed(t)); err != nil {
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

func TestFaultsAreChecked(t *testing.T) {
	for _, x := range []simnet.Slow{
		{Arcs: []int{10}},
		{Cables: []int{-1}},
		{Software: []int{4}},
		{Through: []int{6}},
		{Latency: 0.5},
		{Rate: 2},
		{Rate: math.NaN()},
		{When: simnet.When{From: -1}},
		{When: simnet.When{Until: math.NaN()}},
		{When: simnet.When{Over: math.Inf(1)}},
		{When: simnet.When{Share: 1.5}},
	} {
		s := &simnet.Settings{Faults: simnet.Faults{Slow: []simnet.Slow{x}}}
		err := simnet.Run(dashed(t), nil, s, func(mpi.Communicator) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "Faults.Slow[0]") {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// One message of 1 MB from host n-1 to host m1 takes, by hand: 20 us of latency and 1 ms at 1 GB/s; what is slow is
// so for a part of that.
func TestWhenFaultsAreThere(t *testing.T) {
	const bytes, alone = 1e6, 20e-6 + 1e6/1e9
	for _, c := range []struct {
		faults []string
		want   float64 // s
	}{
		{[]string{"link sw-a-swb rate=0.5x until=520us"}, alone + 250e-6}, // of 0.5 ms it does half
		{[]string{"link sw-a-swb rate=0.5x from=120us until=320us"}, alone + 100e-6},
		{[]string{"load rate=0.5x"}, alone + 1e-3},
		{[]string{"load latency=2x"}, alone + 20e-6},
		{[]string{"load latency=2x from=1us"}, alone},
		{[]string{"link sw-a-swb rate=0.5x on=1"}, alone + 1e-3},
		{[]string{"switch swb rate=0.25x"}, alone + (4.0/3-1)*1e-3}, // of 3 GB/s
		{[]string{"card m1 rate=0.25x"}, alone + 1e-3},              // of 2 GB/s
		{[]string{"card n-2 rate=0.1x"}, alone},
		{[]string{"cable sw-a-swb rate=1x"}, alone + 1e-3}, // one cable of two
		{[]string{"host n-1 2x"}, alone + 5e-6 + 1e-3},
		{[]string{"software n-1 2x"}, alone},
	} {
		s := &simnet.Settings{EagerLimit: bytes}
		for _, fault := range c.faults {
			if _, err := scenario.AddFault(s, fault, dashed(t)); err != nil {
				t.Fatal(err)
			}
		}
		if got := oneMessage(t, dashed(t), s, bytes, 0, 2); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q: %g s, want %g", c.faults, got, c.want)
		}
	}
}

// oneMessage is when a message has come.
func oneMessage(t *testing.T, g *topology.Graph, s *simnet.Settings, bytes, src, dst int) float64 {
	t.Helper()
	report, err := simnet.Simulate(g, nil, s, func(comm mpi.Communicator) error {
		switch comm.Rank() {
		case src:
			return comm.Send(make([]byte, bytes), dst, 0)
		case dst:
			return comm.Recv(make([]byte, bytes), src, 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.Seconds
}

// Of two cables a bad one slows the pairs of hosts that use it, and those alone: about half of 240.
func TestOneOfTwoCablesIsBad(t *testing.T) {
	cluster, err := simnet.ParseCluster("tree:2x16 latency=1us rate=1GBps")
	if err != nil {
		t.Fatal(err)
	}
	s := &simnet.Settings{EagerLimit: 1e6}
	if _, err := scenario.AddFault(s, "cable s0-s1 rate=0.5x", cluster.Graph); err != nil {
		t.Fatal(err)
	}
	slow, pairs := 0, 0
	for src := range 16 {
		for dst := 16; dst < 31; dst++ {
			pairs++
			switch got := oneMessage(t, cluster.Graph, s, 1e6, src, dst); {
			case math.Abs(got-(4e-6+4e-3)) < 1e-9:
				slow++
			case math.Abs(got-(4e-6+2e-3)) > 1e-9:
				t.Fatalf("%d to %d: %g s, want 4 us and 2 or 4 ms", src, dst, got)
			}
		}
	}
	if slow < pairs/3 || slow > pairs*2/3 {
		t.Errorf("%d of %d pairs are slow, want about half", slow, pairs)
	}
}

// A fault that is there for a third of the time doubles a third of the latencies, whatever else goes on, and a drift
// raises them step by step to what it says. Ranks wait 1 ms between messages of no size.
func TestFaultsFlickerAndGrow(t *testing.T) {
	const messages = 3000
	times := func(fault string) []float64 {
		s := &simnet.Settings{ClockCost: -1}
		if _, err := scenario.AddFault(s, fault, dashed(t)); err != nil {
			t.Fatal(err)
		}
		took := make([]float64, messages)
		err := simnet.Run(dashed(t), nil, s, func(comm mpi.Communicator) error {
			rank := comm.(*simnet.Comm)
			if rank.Rank() > 1 {
				return nil
			}
			mine := took
			if rank.Rank() == 1 {
				mine = make([]float64, messages)
			}
			for i := range mine {
				if err := rank.PingPong(mine[i:i+1], 1-rank.Rank(), 0, 0, 1, rank.Rank() == 0); err != nil {
					return err
				}
				rank.Sleep(1e-3)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return took
	}
	slow := 0
	for _, took := range times("load latency=2x on=1/3") {
		switch {
		case math.Abs(took-40e-6) < 1e-9:
			slow++
		case math.Abs(took-20e-6) > 1e-9 && math.Abs(took-30e-6) > 1e-9: // it may change between the two ways
			t.Fatalf("a round trip takes %g s, want 20, 30 or 40 us", took)
		}
	}
	if slow < messages/3-150 || slow > messages/3+150 { // six standard deviations
		t.Errorf("%d of %d are slow, want a third", slow, messages)
	}
	growing := times("load latency=4x over=2s")
	for i := range growing[1:] {
		if growing[i+1] < growing[i]-1e-12 {
			t.Fatalf("a latency that grows falls from %g to %g s", growing[i], growing[i+1])
		}
	}
	if first, half, last := growing[0], growing[messages/3], growing[messages-1]; first > 21e-6 || math.Abs(half-40e-6) > 2e-6 || math.Abs(last-80e-6) > 1e-9 {
		t.Errorf("round trips of %g, %g and %g s, want 20 us, twice that after half of the time, and 80 us", first, half, last)
	}
}

// A fault that comes and goes for ever hides no deadlock.
func TestFlickeringFaultHidesNoDeadlock(t *testing.T) {
	s := &simnet.Settings{}
	for _, fault := range []string{"load 2x on=1/3", "host n-1 2x on=1/2 from=1ms", "load 2x until=1ms on=1/2 every=1us"} {
		if _, err := scenario.AddFault(s, fault, dashed(t)); err != nil {
			t.Fatal(err)
		}
	}
	err := simnet.Run(dashed(t), nil, s, func(comm mpi.Communicator) error {
		if comm.Rank() == 0 {
			return comm.Recv(nil, 1, 0)
		}
		return nil
	})
	wantError(t, err, simnet.ErrDeadlock)
}

// A fault reaches empty round trips that are worked out at once, although no event happens in between.
func TestFaultComesAmongRoundTrips(t *testing.T) {
	s := &simnet.Settings{ClockCost: -1}
	if _, err := scenario.AddFault(s, "load latency=2x from=1ms", dashed(t)); err != nil {
		t.Fatal(err)
	}
	took := make([]float64, 100)
	err := simnet.Run(dashed(t), nil, s, func(comm mpi.Communicator) error {
		rank := comm.(*simnet.Comm)
		switch rank.Rank() {
		case 0:
			return rank.PingPong(took, 1, 0, 0, 1, true)
		case 1:
			return rank.PingPong(make([]float64, len(took)), 0, 0, 0, 1, false)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range took {
		if want := 20e-6 * float64(1+i/50); math.Abs(got-want) > 1e-9 { // 50 of 20 us are 1 ms
			t.Errorf("round trip %d takes %g s, want %g", i, got, want)
		}
	}
}
