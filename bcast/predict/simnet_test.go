package predict

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A simulated is a cluster and its true network.
type simulated struct {
	cluster  *gen.Cluster
	settings *simnet.Settings
	network  *model.Network
}

// simulate makes a cluster whose ranks spend the given s of overhead on a message.
func simulate(t testing.TB, spec string, software float64) *simulated {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &simulated{cluster: c, settings: &simnet.Settings{
		Send: simnet.Overhead{Seconds: software}, Recv: simnet.Overhead{Seconds: software},
		EagerLimit: 1 << 30, HollowAbove: 1, Routing: c.Choice, ClockCost: -1,
	}}
	routes, err := topology.NewRoutes(c.Graph, c.Choice)
	if err != nil {
		t.Fatal(err)
	}
	h := c.Hierarchy
	levels := make([]model.LevelParams, len(h.Levels())+1)
	for a := range h.Hosts() {
		for b := range h.Hosts() {
			level := h.Groups()[h.Common(a, b)].Level
			if a == b || levels[level].Sizes != nil {
				continue
			}
			route, err := routes.AppendRoute(nil, a, b)
			if err != nil {
				t.Fatal(err)
			}
			latency, bandwidth := 2*software, math.Inf(1)
			for _, arc := range route {
				latency += c.Graph.Arcs()[arc].Latency
				bandwidth = min(bandwidth, c.Graph.Arcs()[arc].Bandwidth)
			}
			p := model.Hockney{Latency: latency, Bandwidth: bandwidth}.PLogP()
			p.Send = slices.Repeat([]float64{software}, len(p.Sizes))
			p.Recv = p.Send
			levels[level] = model.LevelParams{PLogP: p, Spread: math.NaN()}
		}
	}
	var groups []topology.Group
	for _, g := range h.Groups()[1:] {
		g.Latency = levels[g.Level].Time(0)
		groups = append(groups, g)
	}
	if h, err = topology.NewHierarchy(h.Hosts(), h.Levels(), groups, levels[len(levels)-1].Time(0)); err != nil {
		t.Fatal(err)
	}
	s.network, err = model.New(&topology.Result{Graph: c.Graph, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}},
		&model.Settings{Levels: levels, Routing: c.Choice})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play is the virtual time in s of a broadcast by ranks that send without
// waiting and receive in order.
func (s *simulated) play(t testing.TB, a schedule.Algorithm, p schedule.Problem) float64 {
	t.Helper()
	ops := schedule.AllOps(nil, a, p)
	buf := make([]byte, p.Bytes)
	end := 0.0
	err := simnet.Run(s.cluster.Graph, nil, s.settings, func(world mpi.Communicator) error {
		sends := world.(mpi.NonBlocking).NewRequests()
		exchange := false
		for _, op := range ops[world.Rank()] {
			if op.Kind == schedule.Send {
				if err := sends.Isend(buf[op.Offset:op.Offset+op.Length], op.Peer, 0); err != nil {
					return err
				}
				exchange = op.Exchange
				continue
			}
			if err := world.Recv(buf[op.Offset:op.Offset+op.Length], op.Peer, 0); err != nil {
				return err
			}
			if exchange { // it ends when both steps have
				if err := sends.WaitAll(); err != nil {
					return err
				}
			}
			exchange = false
		}
		end = max(end, world.(mpi.Clock).Now())
		return sends.WaitAll()
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// Predictions against the simulated cluster, which shares links between flows
// instead of serving parts of messages in turn.
func TestPredictionsAgainstSimnet(t *testing.T) {
	var errors []float64
	for _, spec := range []string{
		"tree:2x4 latency=200us,50us rate=100Mbps,200Mbps shuffle seed=1",
		"tree:[2,3,4] latency=20us,5us rate=1Gbps shuffle seed=3",
		"tree:2x2x3 latency=5us,2us,1us rate=40Gbps,10Gbps,10Gbps shuffle seed=4",
		"tree:4x4 latency=1us,1us rate=1Gbps shuffle seed=4",
		"star:16 latency=1us rate=1Gbps",
	} {
		s := simulate(t, spec, 1e-6)
		e := New(s.network)
		e.bias = 0 // flows share the links evenly here, which a network does not say: 0 is "not found"
		for _, p := range []schedule.Problem{{Bytes: 8}, {Bytes: 64 << 10}, {Bytes: 64 << 10, Segment: 8 << 10}, {Bytes: 1 << 20, Segment: 16 << 10}} {
			p.Ranks, p.Tree, p.Costs, p.Root = e.ranks, e.tree, e.costs, 3
			for _, a := range append(casttest.Algorithms(), schedule.Paced{Pace: 8}) {
				got, want := e.Predict(a, p), s.play(t, a, p)
				errors = append(errors, math.Abs(got/want-1))
				if math.Abs(got/want-1) > 0.18 {
					t.Errorf("%s, %s, %d bytes in segments of %d: predicted %g s, simulated %g", spec, schedule.Text(a), p.Bytes, p.Segment, got, want)
				}
			}
		}
	}
	slices.Sort(errors)
	n := len(errors)
	t.Logf("%d predictions: median error %.3f, 90 %% below %.3f, worst %.3f", n, errors[n/2], errors[n*9/10], errors[n-1])
	if errors[n/2] > 0.01 || errors[n*9/10] > 0.06 {
		t.Errorf("median error %.3f, 90 %% below %.3f, want 0.01 and 0.06", errors[n/2], errors[n*9/10])
	}
}

// What deals the message to 32 leaders makes longer messages of 16 pieces than of 8, and no more of them; of 512 it makes more.
func TestManyPiecesOfWhatIsDealt(t *testing.T) {
	s := simulate(t, "tree:32x2 latency=2us,1us rate=10Gbps", 1e-6)
	e := New(s.network)
	p := schedule.Problem{Ranks: e.ranks, Bytes: 1 << 20, Segment: 2 << 10, Tree: e.tree, Costs: e.costs}
	for _, a := range []schedule.Algorithm{schedule.Leaders{Between: classic.ScatterRing{}}, schedule.Leaders{Between: classic.ScatterDoubling{}}} {
		if got, want := e.Predict(a, p), s.play(t, a, p); math.Abs(got/want-1) > 0.18 {
			t.Errorf("%s: predicted %g s, simulated %g", schedule.Text(a), got, want)
		}
	}
}
