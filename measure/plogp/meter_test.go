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
	plan, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	sides := make([]side, 2)
	err = simnet.Run(cluster.Graph, []int{0, 1}, machine, func(c mpi.Communicator) error {
		points, err := newMeter(c, &plan).with(1 - c.Rank())
		sides[c.Rank()] = side{c.Rank(), 1 - c.Rank(), points}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newResult(2, sides)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKnownParameters: of a way of latency l and bandwidth b between CPUs to
// which a message of m bytes costs os(m) and or(m), a row of messages goes on at
// the pace of the slowest of the three, so g(m) = max(m/b, os(m), or(m)). Round
// trips hold all of them: RTT(0) = 2 (os(0) + l + or(0)), so that eq. 3.2 gives
// L = os(0) + l + or(0) - g(0), and eq. 3.1, beyond 64 KiB,
// g(m) = m/b + os(m) - os(0) + or(m) - or(0) + g(0). A synchronous send of simnet
// returns when the message is there.
func TestKnownParameters(t *testing.T) {
	const (
		latency   = 40e-6 // s; of two links
		bandwidth = 125e6 // B/s
	)
	send, recv := simnet.Overhead{Seconds: 1e-6, PerByte: 1e-10}, simnet.Overhead{Seconds: 2e-6, PerByte: 2e-10}
	r := simulated(t, "star:3 latency=20us rate=1Gbps", &simnet.Settings{Send: send, Recv: recv, EagerLimit: 1 << 30, NoHandshake: true}, &Settings{Longest: 300_000})
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
			gap := max(float64(m)/bandwidth, os, or)
			if m > 1<<16 {
				gap = float64(m)/bandwidth + (send.PerByte+recv.PerByte)*float64(m) + recv.Seconds
			}
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
