package check

import (
	"context"
	"fmt"
	"math/rand/v2"
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

func (m *machine) read(_ context.Context, pairs [][2]int) ([]Reading, error) {
	used := map[int]bool{}
	out := make([]Reading, len(pairs))
	trip := make([]float64, len(pairs))
	var flows [2][]contention.Flow
	for i, p := range pairs {
		if used[p[0]] || used[p[1]] || p[0] == p[1] {
			return nil, fmt.Errorf("pair %v is not disjoint", p)
		}
		used[p[0]], used[p[1]] = true, true
		for way, ends := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
			route, err := m.routes.AppendRoute(nil, ends[0], ends[1])
			if err != nil {
				return nil, err
			}
			for _, a := range route {
				trip[i] += m.latency[a]
			}
			flows[way] = append(flows[way], contention.Flow{Data: route, Bytes: defaultBytes})
		}
		trip[i] += 2 * overhead
	}
	solver, err := contention.NewSolver(m.rate, nil)
	if err != nil {
		return nil, err
	}
	player := contention.NewPlayback(solver)
	for way := range flows {
		times, err := player.Times(nil, flows[way])
		if err != nil {
			return nil, err
		}
		for i, p := range pairs {
			slow := m.host[p[0]] * m.host[p[1]]
			t := (trip[i] + times[i]) * slow * m.noise()
			if way == 0 {
				out[i].Latency, out[i].Forward = trip[i]/2*slow*m.noise(), t
			} else {
				out[i].Back = t
			}
		}
	}
	m.reads += len(pairs)
	return out, nil
}
