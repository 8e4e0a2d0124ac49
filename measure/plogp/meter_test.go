package plogp

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// simulated measures two ranks of a star.
func simulated(t *testing.T, spec string, machine *simnet.Settings, s *Settings) *Result {
	t.Helper()
	cluster, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var r *Result
	err = simnet.Run(cluster.Graph, []int{0, 1}, machine, func(c mpi.Communicator) error {
		own, err := Measure(t.Context(), c, s)
		if own != nil {
			r = own
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKnownParameters: of a way of latency l and bandwidth b between CPUs to
// which a message of m bytes costs os(m) and or(m), a row of messages goes on at
// the pace of the slowest of the three, so g(m) = max(m/b, os(m), or(m)). Round
// trips hold all of them: RTT(0) = 2 (os(0) + l + or(0)), so that eq. 3.2 gives
// L = os(0) + l + or(0) - g(0), and eq. 3.1, from the longest row of a bytes on,
// g(m) = (m-a)/b + os(m) - os(a) + or(m) - or(a) + g(a). By default a is the first size beyond
// 64 KiB, and 0 in the fast measurement. A synchronous send of simnet returns when the message is there.
func TestKnownParameters(t *testing.T) {
	const (
		latency   = 40e-6 // s; of two links
		bandwidth = 125e6 // B/s
	)
	send, recv := simnet.Overhead{Seconds: 1e-6, PerByte: 1e-10}, simnet.Overhead{Seconds: 2e-6, PerByte: 2e-10}
	for last, s := range map[int64]*Settings{1 << 17: {Longest: 300_000}, 0: {Longest: 300_000, Fast: true}} {
		r := simulated(t, "star:3 latency=20us rate=1Gbps", &simnet.Settings{Send: send, Recv: recv, EagerLimit: 1 << 30, NoHandshake: true}, s)
		if len(r.Pairs) != 2 {
			t.Fatalf("%d pairs, want both directions", len(r.Pairs))
		}
		for _, p := range r.Pairs {
			near := func(what string, m int64, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 1e-3*want {
					t.Errorf("%d -> %d: %s(%d) = %g s, want %g", p.Src, p.Dst, what, m, got, want)
				}
			}
			near("L", 0, p.Latency, send.Seconds+latency+recv.Seconds-recv.Seconds)
			for i, m := range p.Sizes {
				os, or := send.Seconds+send.PerByte*float64(m), recv.Seconds+recv.PerByte*float64(m)
				row := func(m int64) float64 {
					return max(float64(m)/bandwidth, send.Seconds+send.PerByte*float64(m), recv.Seconds+recv.PerByte*float64(m))
				}
				gap := row(min(m, last)) + float64(max(0, m-last))*(1/bandwidth+send.PerByte+recv.PerByte)
				near("g", m, p.Gap[i], gap)
				near("or", m, p.Recv[i], or)
				near("os", m, p.Send[i], os+latency+float64(m)/bandwidth)
				near("RTT", m, p.RoundTrip[i], os+latency+float64(m)/bandwidth+or+send.Seconds+latency+recv.Seconds)
			}
			if p.Clamped || len(p.Falls) > 0 || len(p.Unsteady) > 0 {
				t.Errorf("%+v: want nothing flagged", p)
			}
		}
	}
}

// TestGapsOfALibraryThatAsks: beyond the eager limit a library asks the receiver and waits for its
// answer, two more ways of 1 ms, for which the way of 100 Mbit/s is empty if a message is sent after
// the other. The gap is that of the full way, m/b, and a lone message takes the ways as well.
func TestGapsOfALibraryThatAsks(t *testing.T) {
	const (
		latency   = 1e-3   // s
		bandwidth = 12.5e6 // B/s
	)
	r := simulated(t, "star:3 latency=500us rate=100Mbps", &simnet.Settings{EagerLimit: 16 << 10}, &Settings{Longest: 256 << 10, Samples: 1, ExtraSizes: -1})
	for _, p := range r.Pairs {
		if math.Abs(p.Time(0)-latency) > 1e-3*latency {
			t.Errorf("%d -> %d: L + g(0) = %g s, want %g", p.Src, p.Dst, p.Time(0), latency)
		}
		for i, m := range p.Sizes {
			if m <= 16<<10 {
				continue
			}
			if want := float64(m) / bandwidth; math.Abs(p.Gap[i]-want) > 0.02*want {
				t.Errorf("%d -> %d: g(%d) = %g s, want %g", p.Src, p.Dst, m, p.Gap[i], want)
			}
			if want := 3*latency + float64(m)/bandwidth + latency; math.Abs(p.RoundTrip[i]-want) > 0.02*want {
				t.Errorf("%d -> %d: RTT(%d) = %g s, want %g", p.Src, p.Dst, m, p.RoundTrip[i], want)
			}
		}
	}
	// What a model is fitted to is what a message takes, the question included.
	for _, x := range r.Observations() {
		want := latency + float64(x.Transfers[0].Bytes)/bandwidth
		if x.Transfers[0].Bytes > 16<<10 {
			want += 2 * latency
		}
		if math.Abs(x.Seconds[0]-want) > 0.02*want {
			t.Errorf("observation %+v, want %g s", x, want)
		}
	}
}

// TestContradictionsAreMeasuredAgain: rows of the first two tries are disturbed, so that g(0) is above
// RTT(0)/2.
func TestContradictionsAreMeasuredAgain(t *testing.T) {
	plan, err := (&Settings{Longest: 1, Samples: 1, ExtraSizes: -1}).plan()
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := gen.Parse("star:2 latency=20us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
		m := newMeter(c, &plan)
		m.peer = 1 - c.Rank()
		if c.Rank() == 1 {
			return m.mirror()
		}
		d := &disturbed{Communicator: c, sleep: m.sleep}
		m.comm = d
		p, err := m.first(0)
		if err != nil {
			return err
		}
		if d.echoes != 6 || p.gap > p.trip/2 {
			t.Errorf("after %d rounds of echoes g(0) = %g, RTT(0) = %g: want 6, two in each try, and a gap below half of a round trip", d.echoes, p.gap, p.trip)
		}
		return m.ask(command{pattern: enough})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// disturbed makes each message of a row take another ms, until there were 5 rounds of echoes.
type disturbed struct {
	mpi.Communicator
	sleep  func(seconds float64)
	echoes int
	row    int // messages
}

func (d *disturbed) Send(buf []byte, dst, tag int) error {
	if tag == tagCommand {
		if pattern(buf[0]) == echo {
			d.echoes++
		}
		d.row = 0
		if pattern(buf[0]) == stream {
			d.row = int(buf[1])
		}
	}
	return d.Communicator.Send(buf, dst, tag)
}

func (d *disturbed) Recv(buf []byte, src, tag int) error {
	if tag == tagBack && d.row > 0 && d.echoes < 5 {
		d.sleep(float64(d.row) * 1e-3)
	}
	return d.Communicator.Recv(buf, src, tag)
}
