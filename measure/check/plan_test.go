package check

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Each host is in one pair at most, no link gets more than it carries, and all are read: hosts
// in nearly every round, and every link of a tree three times at least in the first part.
func TestScreeningCoversTheMachine(t *testing.T) {
	for _, spec := range []string{"tree:4x8x8", "tree:4x8x8 rate=100Gbps,40Gbps,10Gbps", "star:9", "torus:4x4 hosts=4"} {
		m := newMachine(t, spec, 1)
		s, err := m.settings(1).validate(m.cluster.Graph.Hosts())
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWiring(&s, m.cluster.Graph.Hosts(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlanner(w, rand.New(rand.NewPCG(1, 1)), false)
		reads := make([]int, w.hosts)
		crossed := make([]int, len(w.links))
		for range screenings {
			var x path
			load := [2][]float64{make([]float64, len(w.rate)), make([]float64, len(w.rate))}
			seen := map[int]bool{}
			p.begin(false)
			p.others(w.hosts)
			for _, pair := range p.pairs {
				if seen[pair[0]] || seen[pair[1]] || pair[0] == pair[1] {
					t.Fatalf("%s: pair %v is not disjoint", spec, pair)
				}
				seen[pair[0]], seen[pair[1]] = true, true
				reads[pair[0]]++
				reads[pair[1]]++
				w.find(&x, pair[0], pair[1])
				for direction, arcs := range w.routesOf(&x) {
					for _, e := range arcs {
						load[direction][e] += w.slowest(arcs)
						crossed[w.link[e]]++
						if load[direction][e] > 1.001*w.rate[e] {
							t.Fatalf("%s: arc %v carries %g B/s of %g", spec, w.graph.Arcs()[e], load[direction][e], w.rate[e])
						}
					}
				}
			}
			for _, demand := range p.demand {
				p.learn(demand)
			}
		}
		if least := slices.Min(reads); least < screenings-3 {
			t.Errorf("%s: a host is in %d of %d rounds", spec, least, screenings)
		}
		if least := slices.Min(crossed); least < fewCrossings {
			t.Errorf("%s: a link is crossed %d times", spec, least)
		}
	}
}

func TestOrderByName(t *testing.T) {
	names := []string{"n10", "n9", "rack2-n1", "rack1-n12", "rack1-n2", "n010", "n"}
	w := &wiring{hosts: len(names), names: names}
	w.orderByName()
	var got []string
	for _, h := range w.order {
		got = append(got, names[h])
	}
	want := []string{"n", "n9", "n010", "n10", "rack1-n2", "rack1-n12", "rack2-n1"}
	if !slices.Equal(got, want) {
		t.Errorf("order is %v, want %v", got, want)
	}
}

// Hosts of one switch follow each other, whatever their numbers.
func TestOrderByWiring(t *testing.T) {
	m := newMachine(t, "tree:4x4x4 shuffle seed=3", 1)
	s, err := m.settings(1).validate(64)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWiring(&s, 64, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := m.cluster.Graph
	for i := 0; i < 64; i += 4 {
		for _, h := range w.order[i : i+4] {
			if g.Out(h)[0].To != g.Out(w.order[i])[0].To {
				t.Fatalf("hosts %v are not of one switch", w.order[i:i+4])
			}
		}
	}
}

// What comes and goes may be crossed for the first time after the screening: it is measured again by the pairs that crossed it then.
func TestLateTargetsHavePairs(t *testing.T) {
	m := newMachine(t, "tree:4x4", 1)
	f, err := newFinder(t.Context(), &job{hosts: 16, measure: m.read}, m.settings(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	f.plan.begin(false)
	f.plan.others(8)
	if err := f.round(); err != nil {
		t.Fatal(err)
	} // and none of the samples is of the screening
	for c, crossings := range f.r.crossings {
		if len(crossings) > 0 && len(f.r.target(int32(c)).pairs) == 0 {
			t.Errorf("candidate %d was crossed by %d samples, and has no pairs", c, len(crossings))
		}
	}
}
