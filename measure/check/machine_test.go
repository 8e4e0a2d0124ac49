package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// A machine answers a check by the wiring, its faults and noise: latencies of routes, and long
// messages at the rates that the contention solver gives to all of a phase, which the planner has no
// part in.
type machine struct {
	cluster  *gen.Cluster
	routes   *topology.Routes
	latency  []float64 // s, per arc
	rate     []float64 // B/s
	host     []float64 // factor of all that a host sends or receives
	sigma    float64
	outliers float64
	rng      *rand.Rand
	reads    int
	rounds   int
	load     func(round, phase int) float64 // times as long as all links take then; nil: 1
	flicker  *flicker                       // nil: none

	solver *contention.Solver // over channels of the capacities in carry
	carry  []float64
}

// play returns how long transfers take in s that are under way at once over channels of some capacities.
func (m *machine) play(capacity []float64, flows []contention.Flow) ([]float64, error) {
	if len(m.carry) != len(capacity) {
		solver, err := contention.NewSolver(capacity, nil)
		if err != nil {
			return nil, err
		}
		m.solver = solver
		m.carry = slices.Clone(capacity)
	}
	for c, x := range capacity {
		if x != m.carry[c] {
			if err := m.solver.SetCapacity(c, x); err != nil {
				return nil, err
			}
		}
	}
	copy(m.carry, capacity)
	return m.solver.Times(nil, flows)
}

// A flicker is a fault that comes and goes: of all messages of a host.
type flicker struct {
	host   int
	factor float64
	share  float64 // of the rounds in which it is there
}

// differ makes healthy hosts differ from each other by a share (one standard deviation).
func (m *machine) differ(by float64) {
	for h := range m.host {
		m.host[h] *= math.Exp(by * m.rng.NormFloat64())
	}
}

// busy is how many times as long all links take in a phase of the round.
func (m *machine) busy(phase int) float64 {
	if m.load == nil {
		return 1
	}
	return m.load(m.rounds, phase)
}

const overhead = 600e-9 // s: of both ends together, which no graph has

func newMachine(t testing.TB, spec string, seed uint64) *machine {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{cluster: c, sigma: 0.03, outliers: 0.02, rng: rand.New(rand.NewPCG(seed, 1))}
	if m.routes, err = topology.NewRoutes(c.Graph, c.Choice); err != nil {
		t.Fatal(err)
	}
	m.heal()
	return m
}

func (m *machine) heal() {
	m.latency, m.rate, m.host = nil, nil, nil
	for _, a := range m.cluster.Graph.Arcs() {
		m.latency, m.rate = append(m.latency, a.Latency), append(m.rate, a.Bandwidth)
	}
	for range m.cluster.Graph.Hosts() {
		m.host = append(m.host, 1)
	}
}

func (m *machine) settings(seed uint64) *Settings {
	return &Settings{Graph: m.cluster.Graph, Routing: m.cluster.Choice, Seed: seed}
}

func (m *machine) noise() float64 {
	f := max(0.5, min(1.5, 1+m.sigma*m.rng.NormFloat64()))
	if m.rng.Float64() < m.outliers {
		f *= 1.5 + 8.5*m.rng.Float64()
	}
	return f
}

func (m *machine) read(_ context.Context, pairs [][2]int) ([]measurement, error) {
	used := map[int]bool{}
	out := make([]measurement, len(pairs))
	trip := make([]float64, len(pairs))
	var flows [2][]contention.Flow
	for i, p := range pairs {
		if used[p[0]] || used[p[1]] || p[0] == p[1] {
			return nil, fmt.Errorf("pair %v is not disjoint", p)
		}
		used[p[0]], used[p[1]] = true, true
		for direction, ends := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
			route, err := m.routes.AppendRoute(nil, ends[0], ends[1])
			if err != nil {
				return nil, err
			}
			for _, a := range route {
				trip[i] += m.latency[a]
			}
			flows[direction] = append(flows[direction], contention.Flow{Data: route, Bytes: defaultBytes})
		}
	}
	ill := 1.0
	if m.flicker != nil && m.rng.Float64() < m.flicker.share {
		ill = m.flicker.factor
	}
	defer func() { m.rounds++ }()
	for direction := range flows {
		times, err := m.play(m.rate, flows[direction])
		if err != nil {
			return nil, err
		}
		for i, p := range pairs {
			slow := m.host[p[0]] * m.host[p[1]]
			if m.flicker != nil && (p[0] == m.flicker.host || p[1] == m.flicker.host) {
				slow *= ill
			}
			t := ((trip[i]+times[i])*m.busy(1+direction) + 2*overhead) * slow * m.noise()
			if direction == 0 {
				out[i].Latency, out[i].Forward = (trip[i]*m.busy(0)+2*overhead)/2*slow*m.noise(), t
			} else {
				out[i].Back = t
			}
		}
	}
	m.reads += len(pairs)
	return out, nil
}

// move plugs the cable of a host into another switch. What was there is kept for the check.
func (m *machine) move(t testing.TB, host, to int) {
	t.Helper()
	g := m.cluster.Graph
	arcs := append([]topology.Arc(nil), g.Arcs()...)
	from := g.Out(host)[0].To
	for i := range arcs {
		if arcs[i].From == host {
			arcs[i].To = to
		}
		if arcs[i].To == host && arcs[i].From == from {
			arcs[i].From = to
		}
	}
	moved, err := topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	if m.routes, err = topology.NewRoutes(moved, m.cluster.Choice); err != nil {
		t.Fatal(err)
	}
	m.latency, m.rate = nil, nil
	for _, a := range moved.Arcs() {
		m.latency, m.rate = append(m.latency, a.Latency), append(m.rate, a.Bandwidth)
	}
}

// misplace plugs the cable of a host, drawn, into the switch of another one. It returns the host and its switches in the graph and
// in the machine.
func (m *machine) misplace(t testing.TB) (host, from, to int) {
	g := m.cluster.Graph
	host = m.rng.IntN(g.Hosts())
	from = g.Out(host)[0].To
	for to = from; to == from; to = g.Out(m.rng.IntN(g.Hosts()))[0].To {
	}
	m.move(t, host, to)
	return host, from, to
}
