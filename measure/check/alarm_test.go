package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
)

// A weather is what happens to all links while a machine is checked.
type weather struct {
	name string
	load func(rng *rand.Rand, rounds int) func(round, phase int) float64
}

// weathers are load that steps by up to 50 % at any moment, drifts, or comes in bursts, and none.
func weathers() []weather {
	return []weather{
		{"constant", func(*rand.Rand, int) func(int, int) float64 { return nil }},
		{"step", func(rng *rand.Rand, rounds int) func(int, int) float64 {
			at, by := rng.IntN(3*rounds), 0.5*rng.Float64()
			return func(round, phase int) float64 {
				if 3*round+phase < at {
					return 1
				}
				return 1 + by
			}
		}},
		{"step back", func(rng *rand.Rand, rounds int) func(int, int) float64 {
			at, by := rng.IntN(3*rounds), 0.5*rng.Float64()
			return func(round, phase int) float64 {
				if 3*round+phase < at {
					return 1 + by
				}
				return 1
			}
		}},
		{"drift", func(rng *rand.Rand, rounds int) func(int, int) float64 {
			by := 0.3 * rng.Float64()
			return func(round, _ int) float64 { return 1 + by*float64(round)/float64(rounds) }
		}},
		{"bursts", func(rng *rand.Rand, _ int) func(int, int) float64 {
			by, seed := 0.5*rng.Float64(), rng.Uint64()
			return func(round, phase int) float64 {
				if rand.New(rand.NewPCG(seed, uint64(3*round+phase))).Float64() < 0.2 {
					return 1 + by
				}
				return 1
			}
		}},
	}
}

// alarmSpecs are machines of 16 to 256 hosts.
func alarmSpecs() []string {
	return []string{
		"tree:4x4", "tree:4x8", "tree:2x4x4", "tree:4x4x16", "tree:[3,7,6]", "tree:2x8", "tree:3x8",
		"fattree:4,4;1,2 routing=modulo", "fattree:4,4;1,4 routing=ecmp", "fattree:8,8;1,4 routing=modulo", "fattree:16,16;1,8 routing=ecmp",
		"tree:8x8 latency=30us,5us rate=40Gbps,10Gbps",
	}
}

// alarms is in how many of some runs on healthy machines something is named.
func alarms(t testing.TB, runs int, first uint64) (named int, text string) {
	specs, kinds := alarmSpecs(), weathers()
	for run := range runs {
		seed := first + uint64(run)
		rng := rand.New(rand.NewPCG(seed, 77))
		spec, kind := specs[run%len(specs)], kinds[run/len(specs)%len(kinds)]
		m := newMachine(t, spec, seed)
		if rng.IntN(2) == 0 {
			m.differ(0.03)
		}
		m.sigma = []float64{0.01, 0.02, 0.03, 0.05}[rng.IntN(4)]
		m.load = kind.load(rng, screenings+narrowings)
		r, err := find(context.Background(), &job{hosts: m.cluster.Graph.Hosts(), measure: m.read}, m.settings(seed))
		if err != nil {
			t.Fatal(err)
		}
		if all := r.Named(); len(all) > 0 {
			named++
			f := all[0].Findings[0]
			text += fmt.Sprintf("%s, load %s, noise %g, seed %d: %s, %s %.3g of %.2g, p %.2g\n", spec, kind.name, m.sigma, seed, all[0].Name, f.What, f.Factor, f.Often, f.P)
		}
	}
	return named, text
}

// At most one healthy machine in 200 is accused, whatever happens to all of its links. The runs leave room for chance: with
// one in 200, more than five of 240 are accused in 0.2 %, and more than two of 60 in 0.3 % (binomial).
func TestHealthyMachinesAreNotAccused(t *testing.T) {
	runs, most := 60, 2 // each machine in each weather
	if tooltest.Long() {
		runs, most = 240, 5
	}
	if named, text := alarms(t, runs, 1); named > most {
		t.Errorf("%d of %d healthy machines are accused:\n%s", named, runs, text)
	}
}

// uneasy are the measurements of a machine without faults, each of whose measurements are spread by a share: only those of short
// messages, or all that one host has in a round alike.
func uneasy(m *machine, share float64, byHost bool) oracle {
	return func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
		read, err := m.read(ctx, pairs)
		for i := range read {
			slow := math.Exp(share * m.rng.NormFloat64())
			read[i].Latency *= slow
			if byHost { // pairs are disjoint
				read[i].Forward *= slow
				read[i].Back *= slow
			}
		}
		return read, err
	}
}

// Where a machine has two halves, nothing like the messages between them is measured at the same time. What is usual there
// is told by few measurements, whose error all rounds share. It accuses nobody, whether short messages spread more than long
// ones, or hosts are busy for a round. The runs leave room for chance: with one in 200, more than three of 80 are accused in
// one of 1,000, and more than one of 24 in 6 (binomial).
func TestHealthyHalvesAreNotAccused(t *testing.T) {
	runs, most := 24, 1
	if tooltest.Long() {
		runs, most = 80, 3
	}
	named, text := 0, ""
	specs := []string{"tree:2x12", "tree:2x2x2x4", "tree:2x4x8"}
	for run := range runs {
		m := newMachine(t, specs[run%len(specs)], uint64(run))
		m.sigma, m.outliers = 0.01, 0
		r, err := find(context.Background(), &job{hosts: m.cluster.Graph.Hosts(), measure: uneasy(m, 0.08, run%2 == 0)}, m.settings(uint64(run)))
		if err != nil {
			t.Fatal(err)
		}
		if all := r.Named(); len(all) > 0 {
			named++
			text += fmt.Sprintf("%s, run %d: %s, %+v\n", specs[run%len(specs)], run, all[0].Name, all[0].Findings[0])
		}
	}
	if named > most {
		t.Errorf("%d of %d are accused:\n%s", named, runs, text)
	}
}

// BenchmarkAlarms counts them in 2,000 runs.
func BenchmarkAlarms(b *testing.B) {
	const runs = 2000
	for b.Loop() {
		named, text := alarms(b, runs, 1e6)
		b.ReportMetric(float64(named)/runs, "accused")
		b.Log(text)
	}
}

// An illness is what is done to a machine, and what a check has to say of it.
type illness struct {
	name   string
	what   string
	factor float64
	do     func(m *machine) place
}

// illnesses are faults by 20 %, 50 % and twice, and what comes and goes.
func illnesses() []illness {
	inner := func(m *machine) int {
		g := m.cluster.Graph
		for {
			i := m.rng.IntN(g.NumArcs())
			if a := g.Arcs()[i]; g.IsSwitch(a.From) && g.IsSwitch(a.To) {
				return i
			}
		}
	}
	var all []illness
	for _, factor := range []float64{1.2, 1.5, 2} {
		all = append(all,
			illness{fmt.Sprintf("host %gx", factor), hostAnswer, factor, func(m *machine) place {
				h := m.rng.IntN(m.cluster.Graph.Hosts())
				m.host[h] = factor
				return place{h, -1}
			}},
			illness{fmt.Sprintf("direction %gx", factor), linkRate, factor, func(m *machine) place {
				arc := m.anyArc()
				m.rate[arc] /= factor
				return m.at(arc)
			}})
	}
	for _, factor := range []float64{2, 10} {
		all = append(all, illness{fmt.Sprintf("uplink latency %gx", factor), linkLatency, factor, func(m *machine) place {
			i, g := inner(m), m.cluster.Graph
			a := g.Arcs()[i]
			m.latency[i] *= factor
			m.latency[g.ArcIndex(a.To, a.From)] *= factor
			return m.at(i)
		}})
	}
	return append(all,
		illness{"uplink 10x", linkRate, 10, func(m *machine) place {
			i, g := inner(m), m.cluster.Graph
			a := g.Arcs()[i]
			for _, e := range []int{i, g.ArcIndex(a.To, a.From)} {
				m.latency[e] *= 10
				m.rate[e] /= 10
			}
			return m.at(i)
		}},
		illness{"host 2x now and then", hostAnswer, 2, func(m *machine) place {
			h := m.rng.IntN(m.cluster.Graph.Hosts())
			m.flicker = &flicker{h, 2, 1.0 / 3}
			return place{h, -1}
		}})
}

// found tells of some runs with a fault, while the load on all links steps by 20 %, in how many it is named first, how
// many intervals of that there are, and how many hold the truth.
func found(t testing.TB, spec string, runs int, x *illness) (first, intervals, held int) {
	for seed := range uint64(runs) {
		m := newMachine(t, spec, 100+seed)
		where := x.do(m)
		step := m.rng.IntN(3 * (screenings + narrowings))
		m.load = func(round, phase int) float64 {
			if 3*round+phase < step {
				return 1
			}
			return 1.2
		}
		r, err := find(context.Background(), &job{hosts: m.cluster.Graph.Hosts(), measure: m.read}, m.settings(seed))
		if err != nil {
			t.Fatal(err)
		}
		named := r.Named()
		if len(named) == 0 {
			continue
		}
		got := place{named[0].U, named[0].V}
		if named[0].Host >= 0 {
			got = place{named[0].Host, -1}
		}
		if got != where {
			continue
		}
		first++
		for _, f := range named[0].Findings {
			if f.What == x.what && f.P < 0.005 {
				intervals++
				if f.Low <= x.factor && x.factor <= f.High {
					held++
				}
				break
			}
		}
	}
	return first, intervals, held
}

// What is slow is named first, also while the load on all links steps: in 95 of 100 runs (BenchmarkFound), so of 10 in 8
// but for once in 90, and of 3 in 2 but for once in 140 (binomial), and the seeds are fixed. Uplinks of four racks are among it.
func TestFaultsAreFoundUnderLoad(t *testing.T) {
	runs := 3
	if tooltest.Long() {
		runs = 10
	}
	for _, spec := range []string{"tree:4x8", "fattree:8,8;1,4 routing=modulo"} {
		for _, x := range illnesses() {
			if first, _, _ := found(t, spec, runs, &x); first < runs*4/5 { // of 3 in 2
				t.Errorf("%s, %s: named first in %d of %d runs", spec, x.name, first, runs)
			}
		}
	}
}

// Intervals of 95 % hold the truth in 90 to 99 of 100 right findings of uplinks (BenchmarkFound), whether others of the same
// length are measured at the same time, as among four racks, or not, as among three. Of 40 runs 33 hold it but for once in 24
// (binomial, 90 %), of one kind of fault, or of four kinds that have 10 runs each.
func TestIntervalsOfUplinksHoldTheTruth(t *testing.T) {
	const runs, least = 40, 33
	for _, spec := range []string{"tree:4x8", "tree:3x8"} {
		all := 0
		for _, x := range illnesses() {
			switch {
			case !strings.HasPrefix(x.name, "uplink") && x.name != "direction 1.2x":
			case tooltest.Long():
				if _, _, held := found(t, spec, runs, &x); held < least {
					t.Errorf("%s, %s: %d of %d intervals hold the truth, want %d", spec, x.name, held, runs, least)
				}
			default:
				_, _, held := found(t, spec, runs/4, &x)
				all += held
			}
		}
		if !tooltest.Long() && all < least {
			t.Errorf("%s: %d of %d intervals hold the truth, want %d", spec, all, runs, least)
		}
	}
}

// What comes and goes is named first in 95 of 100 runs (BenchmarkFound), so of 40 in 34 but for once in 100 (binomial).
func TestIntermittentHostIsNamed(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("TestFaultsAreFoundUnderLoad looks at a few")
	}
	all := illnesses()
	for _, spec := range []string{"tree:4x8", "tree:4x4x8"} {
		if first, _, _ := found(t, spec, 40, &all[len(all)-1]); first < 34 {
			t.Errorf("%s: named first in %d of 40 runs", spec, first)
		}
	}
}

// besideLinks counts machines on which a link between switches, 1.5 times as slow in a share of the rounds, is named first, those
// on which anything else is named, and the intervals of the link that hold the truth.
func besideLinks(t testing.TB, spec string, runs int, share float64) (first, accused, intervals, held int, text string) {
	for run := range runs {
		m := newMachine(t, spec, uint64(500+run))
		g := m.cluster.Graph
		arc := -1
		for arc < 0 || m.at(arc).v < 0 {
			arc = m.rng.IntN(g.NumArcs())
		}
		a, healthy, slow := g.Arcs()[arc], [2]float64{m.latency[arc], m.rate[arc]}, [2]float64{1.5 * m.latency[arc], m.rate[arc] / 1.5}
		rng := rand.New(rand.NewPCG(m.rng.Uint64(), 3))
		r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
			now := healthy
			if rng.Float64() < share {
				now = slow
			}
			for _, e := range []int{arc, g.ArcIndex(a.To, a.From)} {
				m.latency[e], m.rate[e] = now[0], now[1]
			}
			return m.read(ctx, pairs)
		}}, m.settings(uint64(run)))
		if err != nil {
			t.Fatal(err)
		}
		wrong := false
		for i, x := range r.Named() {
			if at := placeOfSuspect(&x); at != m.at(arc) {
				wrong = true
				text += fmt.Sprintf("  %s, run %d: %s instead of %v\n", spec, run, x.Name, m.at(arc))
				continue
			}
			if i == 0 {
				first++
			}
			for _, f := range x.Findings {
				intervals++
				if f.Low <= 1.5 && 1.5 <= f.High {
					held++
				}
			}
		}
		if wrong {
			accused++
		}
	}
	return first, accused, intervals, held, text
}

// A link that comes and goes does not make others slow that the same messages cross. In most of these runs others were named
// while what had crossed it was held against them.
func TestIntermittentLinkAccusesNoOthers(t *testing.T) {
	for _, spec := range []string{"dragonfly:2,4,2", "fattree:8,8;1,4 routing=modulo"} {
		if first, accused, _, _, text := besideLinks(t, spec, 3, 1.0/3); first < 2 || accused > 0 {
			t.Errorf("%s: named first in %d of 3, others in %d:\n%s", spec, first, accused, text)
		}
	}
}

// What comes and goes is not taken for what is always slow, however often it is there: its interval would be one of a mixture. Of
// some 20 intervals of 95 % three may miss the truth, and more but for once in 60 (binomial).
func TestIntervalsOfWhatComesAndGoesHoldTheTruth(t *testing.T) {
	_, _, intervals, held, text := besideLinks(t, "tree:4x4x4", 10, 0.6)
	if intervals < 20 || held < intervals-3 {
		t.Errorf("%d of %d intervals hold the truth:\n%s", held, intervals, text)
	}
}

// An uplink that becomes slow during the check is told with the round in which it did, or one of the next three, as not each one
// tells of it. One that is slow from the first has no such round.
func TestSlowSinceIsTold(t *testing.T) {
	for _, begins := range []int{0, 7, 13} { // rounds before it
		m := newMachine(t, "tree:4x8", 1)
		g := m.cluster.Graph
		uplink := slices.IndexFunc(g.Arcs(), func(a topology.Arc) bool { return g.IsSwitch(a.From) && g.IsSwitch(a.To) })
		rounds := 0
		r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
			if rounds == begins {
				m.rate[uplink] /= 2
			}
			rounds++
			return m.read(ctx, pairs)
		}}, m.settings(1))
		if err != nil {
			t.Fatal(err)
		}
		named := r.Named()
		if len(named) != 1 || placeOfSuspect(&named[0]) != m.at(uplink) {
			t.Fatalf("slow after %d rounds: named are %+v, want the uplink", begins, named)
		}
		since := named[0].Findings[0].Since
		if begins == 0 && since != 0 || begins > 0 && (since <= begins || since > begins+4) {
			t.Errorf("slow after %d rounds: told to be slow since round %d", begins, since)
		}
	}
}

// BenchmarkBesideLinks counts them in 40 runs of each machine.
func BenchmarkBesideLinks(b *testing.B) {
	for _, spec := range []string{"dragonfly:2,4,2", "torus:4x4 hosts=4", "torus:4x4x4", "tree:4x4x4", "fattree:8,8;1,4 routing=modulo"} {
		b.Run(strings.ReplaceAll(spec, " ", ","), func(b *testing.B) {
			for b.Loop() {
				first, accused, intervals, held, text := besideLinks(b, spec, 40, 1.0/3)
				b.ReportMetric(float64(first), "first-of-40")
				b.ReportMetric(100*float64(held)/float64(intervals), "%held")
				b.ReportMetric(float64(accused), "accused-of-40")
				b.Log(text)
			}
		})
	}
}

// BenchmarkFound counts faults that are named first, and intervals of 95 % that hold the truth.
func BenchmarkFound(b *testing.B) {
	for _, spec := range []string{"tree:4x8", "tree:3x8", "tree:4x4x8", "fattree:8,8;1,4 routing=modulo"} {
		for _, x := range illnesses() {
			b.Run(spec+"/"+x.name, func(b *testing.B) {
				for b.Loop() {
					first, intervals, held := found(b, spec, 100, &x)
					b.ReportMetric(float64(first), "first-of-100")
					b.ReportMetric(100*float64(held)/float64(intervals), "%held")
				}
			})
		}
	}
}

// A host that hangs on the switch of another rack is named first in all of 15 runs, and told to hang there, or on one of
// two switches that its measurements fit alike, in 12 at least. Links that its messages share unforeseen are not named for that,
// but for a few where the route depends on the number of the host.
func TestMisplacedHostIsNamed(t *testing.T) {
	told, others, text := 0, 0, ""
	for _, spec := range []string{"tree:4x8", "tree:2x4x4", "fattree:8,8;1,4 routing=modulo"} {
		for seed := range uint64(5) {
			m := newMachine(t, spec, seed)
			g := m.cluster.Graph
			host, from, to := m.misplace(t)
			r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, m.settings(seed))
			if err != nil {
				t.Fatal(err)
			}
			named := r.Named()
			if len(named) == 0 || named[0].Host != host {
				t.Errorf("%s, seed %d: named are %+v, want host %d first", spec, seed, named, host)
				continue
			}
			for _, x := range named[1:] {
				others++
				text += fmt.Sprintf("  %s, seed %d: %s\n", spec, seed, x.Name)
			}
			if f := named[0].Findings[0]; f.What == cabling && f.From == g.Name(from) && slices.Contains(strings.Split(f.To, " or "), g.Name(to)) {
				told++
			}
		}
	}
	if told < 12 || others > 3 {
		t.Errorf("told in %d of 15 runs, want 12; %d others are named, want at most 3:\n%s", told, others, text)
	}
}
