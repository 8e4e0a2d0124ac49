package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
)

// uplinkRuns are 36 runs of 3 pairs of each host, one at a time, with 2 % of noise. From the 24th on a link between switches,
// drawn, is slower by a share: in latency, or else in the rate of one direction, or of both. It returns the names that are
// right then.
func uplinkRuns(t testing.TB, m *machine, kind string, step float64, seed uint64) (runs []Run, right []string) {
	rng := rand.New(rand.NewPCG(seed, 9))
	m.heal()
	g, noise := m.cluster.Graph, func() float64 { return math.Exp(0.02 * rng.NormFloat64()) }
	hosts := g.Hosts()
	var links []int
	for i, a := range g.Arcs() {
		if a.From >= hosts && a.To >= hosts {
			links = append(links, i)
		}
	}
	there := links[rng.IntN(len(links))]
	ends := g.Arcs()[there]
	back := g.ArcIndex(ends.To, ends.From)
	a, b := g.Name(ends.From), g.Name(ends.To)
	oneWay := func(from, to int) (short, long float64) {
		route, err := m.routes.AppendRoute(nil, from, to)
		if err != nil {
			t.Fatal(err)
		}
		slowest := math.Inf(1)
		for _, e := range route {
			short, slowest = short+m.latency[e], min(slowest, m.rate[e])
		}
		return short, short + defaultBytes/slowest + overhead
	}
	for night := range 36 {
		if night == 24 {
			switch kind {
			case "latency":
				m.latency[there] *= 1 + step
				m.latency[back] *= 1 + step
				c := newCandidatesOf(t, m)
				right = []string{c.nameOf(c.ofLink(c.w.link[there]))}
			case "both directions":
				m.rate[back] /= 1 + step
				right = []string{"link " + b + " > " + a}
				fallthrough
			case "direction":
				m.rate[there] /= 1 + step
				right = append(right, "link "+a+" > "+b)
			}
		}
		run := Run{Date: time.Date(2026, 11, 1+night, 0, 0, 0, 0, time.UTC)}
		for h := range hosts {
			for _, apart := range []int{1, 5, hosts/2 - 1} {
				x := (h + apart) % hosts
				short, long := oneWay(h, x)
				shortBack, longBack := oneWay(x, h)
				run.Points = append(run.Points,
					Point{false, g.Name(h), g.Name(x), ((short+shortBack)/2 + overhead) * noise()},
					Point{true, g.Name(h), g.Name(x), long * noise()}, Point{true, g.Name(x), g.Name(h), longBack * noise()})
			}
		}
		runs = append(runs, run)
	}
	return runs, right
}

// An uplink that becomes slower is told in the nights that it takes, and nothing else is: no link and no host that its
// pairs share, and none of these pairs. Of what is told 5 % may be innocent. In a fat tree an uplink is
// an eighth of what its pairs take, so that 20 % of its latency are 2.5 % of theirs, a half of the least step looked for.
func TestWatchTellsUplinksAndNoInnocents(t *testing.T) {
	all, innocent := 0, 0
	for _, c := range []struct {
		spec, kind string
		step       float64
		within     int
	}{
		{"tree:8x8", "direction", 0.05, 3},
		{"tree:8x8", "both directions", 0.2, 3},
		{"tree:8x8", "latency", 0.1, 4},
		{"tree:8x8", "latency", 0.2, 4},
		{"tree:4x8", "both directions", 0.05, 3},
		{"tree:4x8", "both directions", 0.1, 3},
		{"tree:4x8", "direction", 0.2, 3},
		{"tree:3x8", "both directions", 0.05, 4},
		{"tree:3x8", "both directions", 0.1, 3},
		{"tree:3x8", "direction", 0.2, 3},
		{"fattree:8,8;1,4 routing=modulo", "direction", 0.05, 3},
		{"fattree:8,8;1,4 routing=modulo", "both directions", 0.1, 3},
		{"fattree:8,8;1,4 routing=modulo", "latency", 0.2, 9},
	} {
		sites := 4
		switch {
		case testing.Short():
			sites = 1
		case tooltest.Long():
			sites = 10
		}
		told := 0
		m := newMachine(t, c.spec, 1)
		for seed := range uint64(sites) {
			runs, right := uplinkRuns(t, m, c.kind, c.step, seed)
			r, err := Watch(runs, &WatchSettings{Graph: m.cluster.Graph, Routing: m.cluster.Choice})
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, x := range r.Changes {
				all++
				switch {
				case !slices.Contains(right, x.Name):
					innocent++
				case x.Run >= 24 && x.Run < 24+c.within:
					found[x.Name] = true
					if c.kind != "latency" && math.Abs(x.Factor-1-c.step) > 0.03 {
						t.Errorf("%s, %s %g: %s is told to be %.3f times as slow", c.spec, c.kind, c.step, x.Name, x.Factor)
					}
				}
			}
			if len(found) == len(right) {
				told++
			}
		}
		t.Logf("%s, %s %g: told within %d nights at %d of %d sites", c.spec, c.kind, c.step, c.within, told, sites)
		if float64(told) < 0.8*float64(sites) {
			t.Errorf("%s, %s %g: told within %d nights at %d of %d sites", c.spec, c.kind, c.step, c.within, told, sites)
		}
	}
	if float64(innocent) > 0.05*float64(all) {
		t.Errorf("%d of %d changes are innocent", innocent, all)
	}
}
