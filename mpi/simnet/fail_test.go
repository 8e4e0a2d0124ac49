package simnet_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

func wantError(t *testing.T, err, cause error, texts ...string) {
	t.Helper()
	if !errors.Is(err, cause) || err == nil {
		t.Fatalf("error = %v, want one that wraps %v", err, cause)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error = %v\nwant it to say %q", err, text)
		}
	}
}

func TestDeadlockNamesWhatEveryRankWaitsFor(t *testing.T) {
	err := simnet.Run(graphOf(t, "star:6"), nil, nil, func(c mpi.Communicator) error {
		buf := make([]byte, 1<<20)
		var err error
		switch c.Rank() {
		case 0:
			err = c.Recv(buf, 1, 7)
		case 1:
			err = c.Send(buf, 2, 3) // waits: it is above the eager limit
		case 2:
			r := c.(mpi.NonBlocking).NewRequests()
			for tag := range 6 {
				err = errors.Join(err, r.Irecv(buf[:8], 4, tag))
			}
			err = errors.Join(err, r.WaitAll())
		case 3:
			_, err = c.(mpi.Splitter).Split(0, 0)
		case 4:
			err = errors.Join(c.Send(buf[:8], 2, 0), c.(mpi.Timed).PingPong(make([]float64, 1), 5, 2, 8, 1, true))
		}
		if c.Rank() < 5 && !errors.Is(err, mpi.ErrAborted) {
			t.Errorf("rank %d: %v, want %v", c.Rank(), err, mpi.ErrAborted)
		}
		return err
	})
	wantError(t, err, simnet.ErrDeadlock, "5 ranks wait",
		"rank 0: Recv with rank 1, tag 7\n",
		"rank 1: Send with rank 2, tag 3\n",
		"rank 2: WaitAll, Irecv from rank 4, tag 1, Irecv from rank 4, tag 2, Irecv from rank 4, tag 3, Irecv from rank 4, tag 4, and 1 more\n",
		"rank 3: Split\n", "rank 4: PingPong with rank 5, tag 2")
	if strings.Contains(err.Error(), "rank 5:") {
		t.Errorf("error = %v\nbut rank 5 has returned", err)
	}
}

func TestAPanicEndsTheRunWithItsStack(t *testing.T) {
	cause := errors.New("the cause")
	for _, value := range []any{cause, "text"} {
		err := simnet.Run(graphOf(t, "star:3"), nil, nil, func(c mpi.Communicator) error {
			if c.Rank() == 1 {
				deepInside(value)
			}
			return c.Recv(nil, 1, 0)
		})
		want := error(nil)
		if value == cause {
			want = cause
		} else if err != nil {
			want = err
		}
		wantError(t, err, want, "rank 1: panic: ", "deepInside")
	}
}

//go:noinline
func deepInside(value any) { panic(value) }

func TestGoexitEndsTheRun(t *testing.T) {
	ended := 0
	err := simnet.Run(graphOf(t, "star:4"), nil, nil, func(c mpi.Communicator) error {
		defer func() { ended++ }()
		if c.Rank() == 1 {
			runtime.Goexit()
		}
		return c.Recv(nil, 1, 0)
	})
	if want := "rank 1: goroutine was ended by runtime.Goexit"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q", err, want)
	}
	// Ranks that had not begun do not begin.
	if ended < 2 {
		t.Errorf("%d ranks have ended, want the two that began", ended)
	}
}

func TestALostRankTakesPartInNothing(t *testing.T) {
	g := graphOf(t, "star:4")
	// Rank 1 sends 1 MB, 0.8 ms and 3 times 10 us, to rank 0: lost while it does.
	body := func(c mpi.Communicator) error {
		buf := make([]byte, 1000000)
		switch c.Rank() {
		case 0:
			return c.Recv(buf, 1, 0)
		case 1:
			err := c.Send(buf, 0, 0)
			if !errors.Is(err, simnet.ErrLost) {
				t.Errorf("Send of a lost rank = %v, want %v", err, simnet.ErrLost)
			}
			if err := c.Recv(nil, 2, 0); !errors.Is(err, simnet.ErrLost) {
				t.Errorf("Recv of a lost rank = %v, want %v", err, simnet.ErrLost)
			}
			return err
		}
		return nil
	}
	s := &simnet.Settings{Faults: simnet.Faults{Lost: []simnet.LostRank{{Rank: 1, From: 500e-6}}}}
	err := simnet.Run(g, nil, s, body)
	wantError(t, err, simnet.ErrDeadlock, "at 0.0005 s", "1 rank lost (1), and 1 ranks wait", "rank 0: Recv with rank 1, tag 0")

	// Lost when all is done: nothing happens. Others go on without it.
	s.Faults.Lost[0].From = 1
	if err := simnet.Run(g, nil, s, func(c mpi.Communicator) error {
		if c.Rank() == 1 {
			return c.Send(nil, 0, 0)
		}
		if c.Rank() == 0 {
			return c.Recv(nil, 1, 0)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	s.Faults.Lost[0].From = 0
	if err := simnet.Run(g, nil, s, func(c mpi.Communicator) error {
		switch c.Rank() {
		case 1:
			return c.Recv(nil, 0, 0)
		case 2:
			return c.Send(make([]byte, 1<<20), 3, 0)
		case 3:
			return c.Recv(make([]byte, 1<<20), 2, 0)
		}
		return c.Send(nil, 1, 0) // eager, to nobody
	}); err != nil {
		t.Error(err)
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	g := graphOf(t, "star:3")
	for text, s := range map[string]simnet.Settings{
		"Settings.Send":             {Send: simnet.Overhead{Seconds: -1}},
		"Settings.Recv":             {Recv: simnet.Overhead{PerByte: math.NaN()}},
		"Settings.Memory.Bandwidth": {Memory: simnet.Memory{Bandwidth: -1}},
		"Settings.Memory.PerCopy":   {Memory: simnet.Memory{PerCopy: math.NaN()}},
		"Settings.Memory.Latency":   {Memory: simnet.Memory{Latency: math.Inf(1)}},
		"Settings.Window":           {Window: -3},
		"Settings.HollowAbove":      {HollowAbove: -1},
		"Settings.Factors[1].Bytes": {Factors: []simnet.Factor{{5, 1, 1}, {5, 1, 1}}},
		"Settings.Factors[0]":       {Factors: []simnet.Factor{{5, 1, 0}}},
		"Settings.ClockCost":        {ClockCost: math.NaN()},
		"Settings.Node":             {Node: []int{1}},
		"Settings.Clocks":           {Clocks: simnet.Clocks{Drift: 0.5}},
		"Settings.Noise":            {Noise: simnet.Noise{Outliers: 2}},
		"Settings.Faults.Lost[0]":   {Faults: simnet.Faults{Lost: []simnet.LostRank{{3, 0}}}},
		"choice 9":                  {Routing: 9},
	} {
		err := simnet.Run(g, nil, &s, func(mpi.Communicator) error { return nil })
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error = %v, want one of %s", err, text)
		}
	}
	for _, placement := range [][]int{{}, {3}, {-1}} {
		if err := simnet.Run(g, placement, nil, func(mpi.Communicator) error { return nil }); err == nil {
			t.Errorf("placement %v: no error", placement)
		}
	}
	unknown, err := topology.NewGraph(2, 0, nil, []topology.Arc{{From: 0, To: 1, Latency: 1, Bandwidth: math.NaN(), Probability: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := simnet.Run(unknown, nil, nil, func(mpi.Communicator) error { return nil }); err == nil {
		t.Error("unknown bandwidth: no error")
	}
	cut, err := topology.NewGraph(2, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cut, nil, nil, func(c mpi.Communicator) error {
		if c.Rank() == 0 {
			return c.Send(nil, 1, 0)
		}
		return c.Recv(nil, 0, 0)
	})
	if err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("hosts without a route: error = %v", err)
	}
}

func TestReportCountsWhatCrossesLinks(t *testing.T) {
	g := graphOf(t, "tree:2x2")
	r, err := simnet.Simulate(g, nil, nil, func(c mpi.Communicator) error { return chain(c, make([]byte, 3000), 3) })
	if err != nil {
		t.Fatal(err)
	}
	// 3 hops of 3 segments; the chain 0-1-2-3 crosses the uplinks once. 4 is the
	// root, 5 and 6 the racks.
	if r.Messages != 9 || r.Bytes != 9000 {
		t.Errorf("%d messages of %d bytes, want 9 of 9000", r.Messages, r.Bytes)
	}
	for _, c := range []struct {
		u, v int
		want int64
	}{{5, 4, 3000}, {4, 6, 3000}, {6, 4, 0}, {0, 5, 3000}, {5, 0, 0}, {1, 5, 3000}, {5, 1, 3000}, {6, 3, 3000}} {
		if got := r.LinkBytes[g.ArcIndex(c.u, c.v)]; got != c.want {
			t.Errorf("%d bytes crossed %d->%d, want %d", got, c.u, c.v, c.want)
		}
	}
}

func TestNamesAndCores(t *testing.T) {
	g := graphOf(t, "host:2 core:3")
	var names []string
	var cores []int
	s := &simnet.Settings{Node: []int{0, 0, 0, 1, 1, 1}}
	if err := simnet.Run(g, []int{5, 0, 4}, s, func(c mpi.Communicator) error {
		names = append(names, c.(mpi.Placed).Place().Host)
		cores = append(cores, c.(mpi.Placed).Place().Core)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, []string{"n1", "n0", "n1"}) || !slices.Equal(cores, []int{2, 0, 1}) {
		t.Errorf("names %v, cores %v, want [n1 n0 n1], [2 0 1]", names, cores)
	}
}

// TestHostsOfOneNameAreOneMachine: a network that was measured with several ranks per host names each of their vertices
// by the host. These have CPUs of their own and the clock of the machine.
func TestHostsOfOneNameAreOneMachine(t *testing.T) {
	g, err := graphOf(t, "host:2 core:2").WithHostNames([]string{"a", "a", "b", "b"})
	if err != nil {
		t.Fatal(err)
	}
	var places []mpi.Place
	var clocks []float64
	s := &simnet.Settings{Clocks: simnet.Clocks{Apart: 1}}
	if err := simnet.Run(g, nil, s, func(c mpi.Communicator) error {
		places = append(places, c.(mpi.Placed).Place())
		clocks = append(clocks, c.(mpi.Clock).Now())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if oversubscribed := mpi.OversubscribedHosts(places); len(oversubscribed) > 0 {
		t.Errorf("OversubscribedHosts(%v) = %v, want none", places, oversubscribed)
	}
	if clocks[0] != clocks[1] || clocks[2] != clocks[3] || clocks[0] == clocks[2] {
		t.Errorf("clocks %v, want those of one host equal, and others apart", clocks)
	}
}

// A program that waits for a time by reading the clock ends.
func TestReadingTheClockTakesTime(t *testing.T) {
	finish(t, graphOf(t, "star:2"), nil, nil, func(c mpi.Communicator) error {
		clock := c.(mpi.Clock)
		for clock.Now() < 1e-3 { // 50,000 readings of 20 ns
		}
		return nil
	})
}

func TestPingPongRefusesWhatCannotMeet(t *testing.T) {
	g := graphOf(t, "star:2")
	run := func(before bool, samples0, samples1 int) error {
		return simnet.Run(g, nil, nil, func(c mpi.Communicator) error {
			n := samples0
			if c.Rank() == 1 {
				n = samples1
			} else if before {
				if err := c.Send(nil, 1, 5); err != nil {
					return err
				}
			}
			return c.(mpi.Timed).PingPong(make([]float64, n), 1-c.Rank(), 5, 0, 2, c.Rank() == 0)
		})
	}
	if err := run(false, 3, 3); err != nil {
		t.Error(err)
	}
	if err := run(false, 3, 4); err == nil || !strings.Contains(err.Error(), "different arguments") {
		t.Errorf("3 and 4 samples: error = %v", err)
	}
	if err := run(true, 3, 3); err == nil || !strings.Contains(err.Error(), "same tag") {
		t.Errorf("a message of the same tag before: error = %v", err)
	}
}
