package check

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// A fault is done to a machine; it returns where.
type fault struct {
	name string
	do   func(m *machine) place
}

// anyArc is a cable of a host in every second machine, else a link between switches.
func (m *machine) anyArc() int {
	g, inner := m.cluster.Graph, m.rng.IntN(2) == 0
	for {
		i := m.rng.IntN(g.NumArcs())
		if a := g.Arcs()[i]; (g.IsSwitch(a.From) && g.IsSwitch(a.To)) == inner {
			return i
		}
	}
}

// at is where an arc is: at its host, if it is the host's only cable.
func (m *machine) at(arc int) place {
	g := m.cluster.Graph
	a := g.Arcs()[arc]
	p := place{min(a.From, a.To), max(a.From, a.To)}
	if !g.IsSwitch(p.u) && len(g.Out(p.u)) == 1 {
		p.v = -1
	}
	return p
}

// faults are those of the claim: one link 1.5 times slow, one direction at half rate, one host
// 20 % slow, all of its messages.
func faults() []fault {
	return []fault{
		{"link", func(m *machine) place {
			arc := m.anyArc()
			a := m.cluster.Graph.Arcs()[arc]
			for _, e := range []int{arc, m.cluster.Graph.ArcIndex(a.To, a.From)} {
				m.latency[e] *= 1.5
				m.rate[e] /= 1.5
			}
			return m.at(arc)
		}},
		{"direction", func(m *machine) place {
			arc := m.anyArc()
			m.rate[arc] /= 2
			return m.at(arc)
		}},
		{"host", func(m *machine) place {
			h := m.rng.IntN(m.cluster.Graph.Hosts())
			m.host[h] = 1.2
			return place{h, -1}
		}},
	}
}

// trial finds a fault, if there is one, and tells whether it is named first, whether anything
// is named, and the share of pairs that it took.
func trial(t testing.TB, spec string, f *fault, seed uint64, graph bool) (first, any bool, share float64) {
	t.Helper()
	m := newMachine(t, spec, seed)
	where := place{-1, -1}
	if f != nil {
		where = f.do(m)
	}
	s := m.settings(seed)
	if !graph {
		s.Graph = nil
	}
	n := m.cluster.Graph.Hosts()
	r, err := find(context.Background(), &job{hosts: n, names: m.cluster.Graph.Names()[:n], measure: m.read}, s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pairs != m.reads {
		t.Fatalf("%d pairs, but %d were read", r.Pairs, m.reads)
	}
	share = float64(r.Pairs) / (float64(n) * float64(n-1) / 2)
	named := r.Named()
	if len(named) == 0 {
		return false, false, share
	}
	got := place{named[0].U, named[0].V}
	if named[0].Host >= 0 {
		got = place{named[0].Host, -1}
	}
	return got == where, true, share
}

// What the benchmark holds for 100 seeds, for a few.
func TestFindNamesTheFaultFirst(t *testing.T) {
	const seeds = 1
	for i, spec := range []string{"tree:8x16x8", "fattree:16,64;1,16 routing=modulo"} {
		for k, f := range faults() {
			if (i+k)%2 > 0 && !tooltest.Long() {
				continue
			}
			for seed := range uint64(seeds) {
				first, _, share := trial(t, spec, &f, seed, true)
				if !first || share > 0.01 {
					t.Errorf("%s, %s, seed %d: named first is %t, by %.3g %% of the pairs", spec, f.name, seed, first, 100*share)
				}
			}
		}
		for seed := range uint64(seeds) {
			if _, any, _ := trial(t, spec, nil, seed, true); any {
				t.Errorf("%s, healthy, seed %d: something is named", spec, seed)
			}
		}
	}
}

// BenchmarkFind holds the claim: 1,024 hosts, 3 % of noise and 2 % of outliers, one fault
// named first in 95 of 100 seeds and none without one in 99, by 1 % of the pairs.
func BenchmarkFind(b *testing.B) {
	specs := []string{
		"tree:8x16x8",
		"tree:8x16x8 latency=30us,12us,5us rate=100Gbps,40Gbps,10Gbps",
		"fattree:16 routing=modulo",
		"fattree:16,64;1,16 routing=modulo",
		"fattree:16,64;1,16 routing=ecmp",
	}
	const seeds = 100
	for _, spec := range specs {
		for _, f := range append(faults(), fault{name: "healthy"}) {
			b.Run(strings.ReplaceAll(spec, " ", ",")+"/"+f.name, func(b *testing.B) {
				first, alarms, most := 0, 0, 0.0
				for b.Loop() {
					first, alarms = 0, 0
					for seed := range uint64(seeds) {
						var ill *fault
						if f.do != nil {
							ill = &f
						}
						is, any, share := trial(b, spec, ill, 1000+seed, true)
						most = max(most, share)
						if is {
							first++
						}
						if any {
							alarms++
						}
					}
				}
				b.ReportMetric(float64(first), "first")
				b.ReportMetric(float64(alarms), "alarms")
				b.ReportMetric(100*most, "%pairs")
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/seeds, "ms/check")
				switch {
				case most > 0.01:
					b.Fatalf("%.3g %% of the pairs: want at most 1", 100*most)
				case f.do != nil && first < 95:
					b.Fatalf("named first in %d of %d seeds: want 95", first, seeds)
				case f.do == nil && alarms > 1:
					b.Fatalf("alarms in %d of %d healthy machines: want at most 1", alarms, seeds)
				}
			})
		}
	}
}

// Without a graph hosts can be named, by comparing those whose names are near each other.
func TestFindWithoutGraph(t *testing.T) {
	host := faults()[2]
	spec := "tree:4x8x8"
	if tooltest.Long() {
		spec = "tree:8x16x8"
	}
	if first, _, _ := trial(t, spec, &host, 0, false); !first {
		t.Error("the slow host is not named first")
	}
	if _, any, _ := trial(t, spec, nil, 0, false); any {
		t.Error("healthy: something is named")
	}
}

// smallFaults are clear faults of a host or of its only cable.
func smallFaults() []fault {
	ofHost := func(do func(m *machine, host, out, in int)) func(m *machine) place {
		return func(m *machine) place {
			g := m.cluster.Graph
			host := m.rng.IntN(g.Hosts())
			at := g.Out(host)[0].To
			do(m, host, g.ArcIndex(host, at), g.ArcIndex(at, host))
			return place{host, -1}
		}
	}
	return []fault{
		{"host 2x", ofHost(func(m *machine, host, _, _ int) { m.host[host] = 2 })},
		{"direction 2x", ofHost(func(m *machine, _, out, _ int) { m.rate[out] /= 2 })},
		{"latency 3x", ofHost(func(m *machine, _, out, in int) {
			m.latency[out] *= 3
			m.latency[in] *= 3
		})},
	}
}

// A host of few that is clearly slow is named first, where the wiring is known: of a star as of a tree, quiet or with 3 % of noise.
func TestSlowHostOfFewIsNamed(t *testing.T) {
	for _, spec := range []string{"star:4", "star:5", "star:8", "tree:2x2", "tree:2x4", "tree:3x2"} {
		for _, f := range smallFaults() {
			const runs = 5
			first := 0
			for seed := range uint64(runs) {
				if is, _, _ := trial(t, spec, &f, seed, true); is {
					first++
				}
			}
			if first < runs-1 {
				t.Errorf("%s, %s: named first in %d of %d runs", spec, f.name, first, runs)
			}
		}
	}
}

// Two slow hosts of eight are both named in half of the runs at least: neither makes healthy hosts seem to differ as much as the other does.
func TestTwoSlowHostsOfEightAreNamed(t *testing.T) {
	const runs = 20
	both := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "star:8", seed)
		m.host[2], m.host[5] = 2, 2
		r, err := find(context.Background(), &job{hosts: 8, names: m.cluster.Graph.Names()[:8], measure: m.read}, m.settings(seed))
		if err != nil {
			t.Fatal(err)
		}
		hosts := map[int]bool{}
		for _, s := range r.Named() {
			hosts[s.Host] = true
		}
		if len(hosts) == 2 && hosts[2] && hosts[5] {
			both++
		}
	}
	if 2*both < runs {
		t.Errorf("both are named in %d of %d runs, want half of them", both, runs)
	}
}

// Of few hosts without the wiring a clear fault is named first, or the check says that hosts are too few to tell. It never says
// that nothing is slow.
func TestFewHostsWithoutGraphAreNotCalledHealthy(t *testing.T) {
	for _, spec := range []string{"star:4", "star:6", "tree:2x2", "tree:3x2", "tree:2x4", "tree:4x2"} {
		for _, f := range smallFaults() {
			for seed := range uint64(5) {
				m := newMachine(t, spec, seed)
				where := f.do(m)
				hosts := m.cluster.Graph.Hosts()
				r, err := find(context.Background(), &job{hosts: hosts, names: m.cluster.Graph.Names()[:hosts], measure: m.read}, &Settings{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				named, says := r.Named(), strings.Contains(strings.Join(r.Warnings, "\n"), "hosts are too few to tell")
				switch {
				case len(named) > 0 && named[0].Host != where.u:
					t.Errorf("%s, %s, seed %d: %s is named, want host %d", spec, f.name, seed, named[0].Name, where.u)
				case len(named) > 0 == says, says != r.TooFew:
					t.Errorf("%s, %s, seed %d: named are %d, too few %t, warnings %q", spec, f.name, seed, len(named), r.TooFew, r.Warnings)
				}
			}
		}
	}
}

// Of few hosts that are healthy none is named.
func TestFewHealthyHostsAreNotNamed(t *testing.T) {
	for _, graph := range []bool{true, false} {
		for _, spec := range []string{"star:4", "star:5", "star:8", "tree:2x2", "tree:2x4", "tree:3x2"} {
			for seed := range uint64(10) {
				if _, any, _ := trial(t, spec, nil, seed, graph); any {
					t.Errorf("%s, graph %t, seed %d: something is named", spec, graph, seed)
				}
			}
		}
	}
}

// Without a graph nobody knows which hosts are on one switch, or on one board: the peaks of the times tell.
func TestFindWithoutGraphAmongLevels(t *testing.T) {
	for _, spec := range []string{"core:4 socket:2 host:8", "tree:8x16"} {
		host := fault{"host", func(m *machine) place {
			h := m.rng.IntN(m.cluster.Graph.Hosts())
			m.host[h] = 1.5
			return place{h, -1}
		}}
		for seed := range uint64(3) {
			if first, _, _ := trial(t, spec, &host, seed, false); !first {
				t.Errorf("%s, seed %d: the slow host is not named first", spec, seed)
			}
		}
	}
}

// One direction is named as such, with how slow it is, and the other is not.
func TestFindTellsDirections(t *testing.T) {
	m := newMachine(t, "tree:4x8 latency=10us,5us", 1)
	g := m.cluster.Graph
	up := g.ArcIndex(5, g.Out(5)[0].To)
	m.rate[up] /= 2
	r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, m.settings(1))
	if err != nil {
		t.Fatal(err)
	}
	named := r.Named()
	if len(named) != 1 || named[0].Host != 5 || named[0].Cable != g.Name(g.Out(5)[0].To) || len(named[0].Findings) != 1 {
		t.Fatalf("named are %+v, want host 5 alone for one thing", named)
	}
	f := named[0].Findings[0]
	if f.What != linkRate || f.From != g.Name(5) || f.To != named[0].Cable {
		t.Errorf("finding is %+v, want the rate from the host", f)
	}
	// By the fault: half the rate is twice the time of the transfer.
	if math.Abs(f.Factor-2) > 0.05 || f.Low > 2 || f.High < 2 {
		t.Errorf("factor %g (%g to %g), want 2", f.Factor, f.Low, f.High)
	}
}

// Two faults do not hide each other.
func TestFindTwoFaults(t *testing.T) {
	m := newMachine(t, "tree:8x8", 3)
	m.host[9] = 1.3
	g := m.cluster.Graph
	up := g.ArcIndex(g.Hosts()+1, g.Hosts()+4) // a rack's uplink, if it is one
	if up < 0 {
		for i, a := range g.Arcs() {
			if g.IsSwitch(a.From) && g.IsSwitch(a.To) {
				up = i
			}
		}
	}
	m.rate[up] /= 3
	r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, m.settings(3))
	if err != nil {
		t.Fatal(err)
	}
	want := map[place]bool{{9, -1}: true, m.at(up): true}
	for _, s := range r.Named() {
		p := place{s.U, s.V}
		if s.Host >= 0 {
			p = place{s.Host, -1}
		}
		if !want[p] {
			t.Errorf("%s is named, want the faults at %v", s.Name, want)
		}
		delete(want, p)
	}
	if len(want) > 0 {
		t.Errorf("not named: %v", want)
	}
}

// Cables in series are crossed by the same messages: all are told.
func TestFindSaysWhatCannotBeToldApart(t *testing.T) {
	// Two racks of four, joined by a third switch: both links to it are one to every measurement.
	m := newMachine(t, "tree:2x4", 1)
	g := m.cluster.Graph
	root := g.Hosts()
	for v := root; v < g.Vertices(); v++ {
		if len(g.Out(v)) == 2 {
			root = v
		}
	}
	a, b := g.Out(root)[0].To, g.Out(root)[1].To
	m.rate[g.ArcIndex(a, root)] /= 3
	r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, m.settings(1))
	if err != nil {
		t.Fatal(err)
	}
	// All measurements between the racks are slow alike, so this may be what such measurements take: what
	// is listed has the other link beside it.
	for _, s := range r.Suspects {
		if s.Host >= 0 {
			continue
		}
		if len(s.Same) == 0 {
			t.Errorf("%s: the same as %v, want the other link of %s and %s", s.Name, s.Same, g.Name(a), g.Name(b))
		}
	}
}

func TestFindEndedEarly(t *testing.T) {
	m := newMachine(t, "tree:4x8", 1)
	left := 5
	r, err := find(context.Background(), &job{hosts: 32, measure: func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
		if left--; left < 0 {
			return nil, nil
		}
		return m.read(ctx, pairs)
	}}, m.settings(1))
	if err != nil {
		t.Fatal(err)
	}
	if r.Complete || len(r.Named()) > 0 || len(r.Warnings) == 0 {
		t.Errorf("complete %t, named %v, warnings %q: want an early end that says so", r.Complete, r.Named(), r.Warnings)
	}
	_, err = find(context.Background(), &job{hosts: 32, measure: func(context.Context, [][2]int) ([]measurement, error) { return nil, nil }}, m.settings(1))
	if err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Errorf("without measurements: %v", err)
	}
	_, err = takeSample(context.Background(), &job{hosts: 32, measure: func(context.Context, [][2]int) ([]measurement, error) { return nil, nil }}, m.settings(1), nil)
	if err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Errorf("sample without measurements: %v", err)
	}
	broken := fmt.Errorf("broken")
	if _, err = find(context.Background(), &job{hosts: 32, measure: func(context.Context, [][2]int) ([]measurement, error) { return nil, broken }}, m.settings(1)); err != broken {
		t.Errorf("broken oracle: %v", err)
	}
}

func TestFindRefuses(t *testing.T) {
	m := newMachine(t, "star:8", 1)
	for _, c := range []struct {
		name  string
		hosts int
		s     Settings
		want  string
	}{
		{"three hosts", 3, Settings{}, "3 hosts"},
		{"graph of others", 9, Settings{Graph: m.cluster.Graph}, "Settings.Graph: 8 hosts: want 9"},
		{"negative size", 8, Settings{Bytes: -1}, "Settings.Bytes: -1"},
		{"no tolerance", 8, Settings{Tolerance: 0.001}, "Settings.Tolerance"},
		{"certain alarm", 8, Settings{FalseAlarms: 1}, "Settings.FalseAlarms"},
		{"negative budget", 8, Settings{Budget: -1}, "Settings.Budget"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := find(context.Background(), &job{hosts: c.hosts, measure: m.read}, &c.s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Find = %v, want %q", err, c.want)
			}
		})
	}
}

// What is slower by less than the tolerance is not named, however sure it is.
func TestFindWithinTolerance(t *testing.T) {
	for _, c := range []struct {
		tolerance float64
		want      int
	}{{0, 0}, {0.02, 1}} {
		m := newMachine(t, "tree:4x8", 1)
		m.sigma, m.outliers = 0.002, 0
		g := m.cluster.Graph
		m.rate[g.ArcIndex(5, g.Out(5)[0].To)] /= 1.06
		s := m.settings(1)
		s.Tolerance = c.tolerance
		r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Named()) != c.want {
			t.Errorf("tolerance %g: named are %+v, want %d", c.tolerance, r.Named(), c.want)
		}
	}
}
