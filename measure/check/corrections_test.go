package check

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// Each correction of a check has a machine here on which the check is wrong without it.

// uplinks are the arcs between switches.
func (m *machine) uplinks() (arcs []int) {
	g := m.cluster.Graph
	for i, a := range g.Arcs() {
		if g.IsSwitch(a.From) && g.IsSwitch(a.To) {
			arcs = append(arcs, i)
		}
	}
	return arcs
}

// slow makes arcs take longer by a factor.
func (m *machine) slow(factor float64, arcs ...int) {
	for _, e := range arcs {
		m.latency[e] *= factor
		m.rate[e] /= factor
	}
}

// accused are the places that a check of the machine names.
func accused(t *testing.T, hosts int, s *Settings, measure oracle) (named []place) {
	t.Helper()
	r, err := find(context.Background(), &job{hosts: hosts, measure: measure}, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Named() {
		named = append(named, placeOfSuspect(&x))
	}
	return named
}

// Other jobs load all links between racks by a half once the screening is over. What crosses racks is held against
// others that do, at the same time, and nothing is slow. Were it held against what was usual before, all of the runs would
// name an uplink. With one healthy machine in 200 accused, two of six are in one of 2,700 (binomial).
func TestLoadBetweenRacksAccusesNoUplink(t *testing.T) {
	const runs = 6
	wrong := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "tree:4x8", seed)
		named := accused(t, 32, m.settings(seed), func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
			if m.rounds == screenings {
				m.slow(1.5, m.uplinks()...)
			}
			return m.read(ctx, pairs)
		})
		if len(named) > 0 {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("something is named in %d of %d runs", wrong, runs)
	}
}

// Load on all links grows by 30 % during the check. Messages between two racks show all of it, and nothing is like them. Most others stay
// within a host, where links make little of their time, and hardly show it. The link between the racks is not slow for that. With one
// healthy machine in 200 accused, two of six are in one of 2,700 (binomial). Held against the plain median of the others, most are.
func TestLoadOnLinksAccusesNoLinkBetweenRacks(t *testing.T) {
	const runs = 6
	wrong := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "core:4 socket:2 host:6 rack:2", seed)
		m.sigma, m.outliers = 0.002, 0
		m.load = func(round, _ int) float64 { return 1 + 0.3*float64(round)/(screenings+narrowings) }
		if named := accused(t, m.cluster.Graph.Hosts(), m.settings(seed), m.read); len(named) > 0 {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("something is named in %d of %d runs", wrong, runs)
	}
}

// Some of many hosts have bad luck in the screening, where one measurement in ten is far off. They are picked for that, and what
// picked them does not test them. So the rate of false alarms holds, also if a check ends soon after the screening. With one
// healthy machine in five accused, seven of twelve are in one of 256 (binomial). Tested by all measurements nine are.
func TestWhatPickedASuspectDoesNotTestIt(t *testing.T) {
	const runs, most = 12, 6
	wrong := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "tree:16x16", seed)
		m.outliers = 0.1
		s := m.settings(seed)
		s.FalseAlarms = 0.2
		named := accused(t, 256, s, func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
			if m.rounds == screenings+2 {
				return nil, nil
			}
			return m.read(ctx, pairs)
		})
		if len(named) > 0 {
			wrong++
		}
	}
	if wrong > most {
		t.Errorf("something is named in %d of %d runs, want at most %d", wrong, runs, most)
	}
}

// Where several transfers share a link, it carries 65 % from some round on, and 94 % before: a library that shares worse is no
// slow link. Among two racks nothing like what crosses them is there to compare with, and what is not alike may differ by
// half. Among four racks the others that cross racks are alike. With one healthy machine in 200 accused, two of four are in
// one of 6,700 (binomial). Without the first rule all of two racks are accused, and without controls all of four racks.
func TestWorseSharingAccusesNoLink(t *testing.T) {
	const runs = 4
	for _, spec := range []string{"tree:2x8", "tree:4x8"} {
		wrong := 0
		for seed := range uint64(runs) {
			m := newBusy(t, spec, seed)
			named := accused(t, m.cluster.Graph.Hosts(), m.settings(seed), func(ctx context.Context, transfers [][2]int) ([]measurement, error) {
				if m.rounds == loadScreenings {
					m.sharing = 0.65
				}
				return m.transfer(ctx, transfers)
			})
			if len(named) > 0 {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%s: something is named in %d of %d runs", spec, wrong, runs)
		}
	}
}

// Two thirds of all measurements between three racks cross one uplink. What is usual between racks is the lowest level of these, which the
// last third tells. By their median the uplink, slower by a fifth, is named first in every second run. Of such
// faults 95 in 100 are found, so seven of ten or fewer are in one of 87 cases (binomial).
func TestUsualIsTheLowestLevel(t *testing.T) {
	const runs, least = 10, 8
	first := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "tree:3x16", seed)
		g, up := m.cluster.Graph, m.uplinks()[0]
		a := g.Arcs()[up]
		m.slow(1.2, up, g.ArcIndex(a.To, a.From))
		if named := accused(t, 48, m.settings(seed), m.read); len(named) > 0 && named[0] == m.at(up) {
			first++
		}
	}
	if first < least {
		t.Errorf("the uplink is named first in %d of %d runs, want %d", first, runs, least)
	}
}

// Few measurements between the same two switches still tell that short messages spread by more than long ones: measurements of one
// level would else be split into several, of which the lowest is far too low. Seven differences of 0.1*sqrt(2)*0.6745 are the
// median of a normal spread of 0.1 (MAD).
func TestFewMeasurementsTellTheirSpread(t *testing.T) {
	r := &measurements{w: &wiring{}}
	for range fewAlike - 1 {
		r.apart[ofLatency] = append(r.apart[ofLatency], 0.1*math.Sqrt2*0.6745)
	}
	for range 100 {
		r.back = append(r.back, 0.01)
	}
	if got := r.spreadOfPairs(ofLatency); math.Abs(got-0.1) > 1e-4 {
		t.Errorf("spread %g, want 0.1", got)
	}
}

// Nothing is like messages between two racks. What is usual there is told to 5 % (one sigma), and so all of them may take that
// much longer by chance. By hand: one in 200 of a normal distribution is beyond 2.5758 sigma, or 12.9 %, and 95 % are
// within 1.96 sigma. The factors of all rounds are alike, so the interval has no other doubt but that.
func TestWhatIsUsualIsDoubted(t *testing.T) {
	const doubt, rounds = 0.05, 20
	for _, c := range []struct {
		excess float64
		named  bool
	}{{0.12, false}, {0.14, true}} {
		m := newMachine(t, "tree:2x4", 1)
		f, err := newFinder(context.Background(), &job{hosts: 8}, m.settings(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		r := f.r
		pairs := [][2]int{{0, 4}, {1, 2}, {5, 6}}
		for range rounds {
			if err := r.add(pairs, slices.Repeat([]measurement{{Latency: 1}}, len(pairs)), func([]float64) {}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range r.samples {
			if s := &r.samples[i]; s.from == 0 {
				s.excess, s.doubt = c.excess, doubt
			}
		}
		uplink := r.c.ofLink(r.w.link[m.uplinks()[0]])
		e := r.measure(uplink, 1, 0.01, 0.005, 1)
		if named := e.P <= 0.005; named != c.named {
			t.Errorf("%g longer: p %g, want named %t", c.excess, e.P, c.named)
		}
		weight := r.crossings[uplink][0].weight // of the first sample
		factor := math.Expm1(c.excess)/weight + 1
		high := factor + 1.96*doubt*(factor-1+1/weight)
		if math.Abs(e.Factor-factor) > 1e-9 || math.Abs(e.High-high) > 1e-9 {
			t.Errorf("%g longer: factor %g up to %g, want %g and %g", c.excess, e.Factor, e.High, factor, high)
		}
	}
}

// One length alone does not tell overheads from what links take. What short messages take longer than the graph has it is
// overhead, and none of it is two sigma off: if it is a quarter, links may be slower by that. Long messages tell of rates.
func TestOverheadOfOneLengthIsDoubted(t *testing.T) {
	for _, c := range []struct {
		k             kind
		offset, slope float64
		doubt         float64
	}{
		{ofLatency, math.Log(1.25), 1, math.Hypot(0.01, 0.125)},
		{ofLatency, 0, 1, 0.01},
		{ofLatency, math.Log(0.8), 0.8, 0.01},
		{ofRate, math.Log(1.25), 1.25, 0.01},
	} {
		l := lineOf(c.k, []class{{nominal: 1e-5, known: 20, offset: c.offset, doubt: 0.01}})
		if math.Abs(l.doubt-c.doubt) > 1e-9 || math.Abs(l.slope-c.slope) > 1e-9 || math.Abs(l.at(1e-5)-1e-5*math.Exp(c.offset)) > 1e-15 {
			t.Errorf("kind %d, %g times as long: %+v, want a slope of %g with a doubt of %g", c.k, math.Exp(c.offset), l, c.slope, c.doubt)
		}
	}
}

// Hosts on one switch give messages of one length. The interval of a cable of three times the latency holds the truth, as
// overheads are not the cable's. At 95 % seven of ten or fewer hold it in one of 87 cases (binomial).
func TestIntervalsOnOneSwitchHoldTheTruth(t *testing.T) {
	const runs, least = 10, 8
	held := 0
	for seed := range uint64(runs) {
		m := newMachine(t, "star:16", seed)
		g := m.cluster.Graph
		for _, e := range []int{g.ArcIndex(3, 16), g.ArcIndex(16, 3)} {
			m.latency[e] *= 3
		}
		r, err := find(context.Background(), &job{hosts: 16, measure: m.read}, m.settings(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Named() {
			for _, f := range x.Findings {
				if x.Host == 3 && f.What == linkLatency && f.Low <= 3 && 3 <= f.High {
					held++
				}
			}
		}
	}
	if held < least {
		t.Errorf("%d of %d intervals hold the truth, want %d", held, runs, least)
	}
}

// Of a machine with one switch nobody can tell whether the switch is slow: all transfers cross it. A warning says so.
func TestTheOnlySwitchIsComparedWithNothing(t *testing.T) {
	for spec, want := range map[string]bool{"star:16": true, "tree:2x8": false} {
		m := newBusy(t, spec, 1)
		m.switches[m.cluster.Graph.Out(0)[0].To] = 8 * m.rate[0] // of 16 hosts
		r := m.find(t, 1)
		text := strings.Join(r.Warnings, " ")
		if got := strings.Contains(text, "all transfers filled switch s0"); got != want || r.Complete == want {
			t.Errorf("%s: warnings %q, want one of the switch %t", spec, text, want)
		}
	}
}

// Other jobs make all links between switches 1.4 times as slow, from some round under load on. Then transfers over them take longer
// than those within racks, whose cables are as narrow, and no link is slower than others. With one healthy machine in 200 accused,
// two of ten are in one of 900 (binomial). Held against all transfers that cables bound, four of ten are.
func TestSlowerLinksBetweenSwitchesAccuseNone(t *testing.T) {
	const runs = 10
	for _, spec := range []string{"tree:3x8", "fattree:8,8;1,2 routing=modulo"} {
		wrong := 0
		for seed := range uint64(runs) {
			m := newBusy(t, spec, seed)
			at, slow := m.rng.IntN(loadScreenings+loadNarrowings), map[int]float64{}
			for _, e := range m.uplinks() {
				slow[e] = 1 / 1.4
			}
			m.at = func(round int) map[int]float64 {
				if round < at {
					return nil
				}
				return slow
			}
			if len(m.find(t, seed).Named()) > 0 {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%s: something is named in %d of %d runs", spec, wrong, runs)
		}
	}
}

// A link of ten times the latency is not one of a slow rate: long messages that a library first asks for take four latencies,
// and ten times these are longer by a fifth or more.
func TestSlowLatencyIsNoSlowRate(t *testing.T) {
	m := newMachine(t, "tree:4x8", 1)
	m.sigma, m.outliers = 0.002, 0
	up := m.uplinks()[0]
	a := m.cluster.Graph.Arcs()[up]
	for _, e := range []int{up, m.cluster.Graph.ArcIndex(a.To, a.From)} {
		m.latency[e] *= 10
	}
	r, err := find(context.Background(), &job{hosts: 32, measure: func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
		read, err := m.read(ctx, pairs)
		for i := range read {
			read[i].Forward += 2 * read[i].Latency
			read[i].Back += 2 * read[i].Latency
		}
		return read, err
	}}, m.settings(1))
	if err != nil {
		t.Fatal(err)
	}
	named := r.Named()
	if len(named) != 1 || placeOfSuspect(&named[0]) != m.at(up) || len(named[0].Findings) != 1 || named[0].Findings[0].What != linkLatency {
		t.Errorf("named are %+v, want the latency of the link alone", named)
	}
}

// namedWithOverhead are the suspects that are named where the short messages of a host take so many seconds more.
func namedWithOverhead(t *testing.T, m *machine, seed uint64, host int, more float64) []Suspect {
	t.Helper()
	r, err := find(context.Background(), &job{hosts: m.cluster.Graph.Hosts(), measure: func(ctx context.Context, pairs [][2]int) ([]measurement, error) {
		read, err := m.read(ctx, pairs)
		for i, x := range pairs {
			if x[0] == host || x[1] == host {
				read[i].Latency += more
			}
		}
		return read, err
	}}, m.settings(seed))
	if err != nil {
		t.Fatal(err)
	}
	return r.Named()
}

// A core is wired with 10 ns to its socket, and takes 600 ns itself. A quarter more is the core's: of its wire alone it would be sixteen
// times as much.
func TestOverheadOfACoreIsNotItsCable(t *testing.T) {
	const core, more = 5, 0.155e-6 // s
	for seed := range uint64(5) {
		m := newMachine(t, "core:4 socket:4 host:2 latency=5us,200ns,10ns", seed)
		m.sigma, m.outliers = 0.01, 0
		named := namedWithOverhead(t, m, seed, core, more)
		if len(named) != 1 || named[0].Host != core {
			t.Errorf("seed %d: named are %+v, want the core", seed, named)
			continue
		}
		for _, f := range named[0].Findings {
			if f.Factor > 2 {
				t.Errorf("seed %d: %s %.3g times as long, want less than twice", seed, f.What, f.Factor)
			}
		}
	}
}

// A core that takes half as long again for its own part of a short message is slow always: messages within its host show that more than
// those to other hosts, where the network takes most of the time. By hand, it takes 600/2 + 10 ns, and 155 ns are half of that. Held to be
// slow to all alike, which nothing contradicts where differences are far above the noise, it would seem to come and go.
func TestOverheadIsSlowAlways(t *testing.T) {
	const core, more = 9, 0.155e-6 // s
	for seed := range uint64(3) {
		m := newMachine(t, "core:4 socket:2 host:4 latency=5us,200ns,10ns", seed)
		m.sigma, m.outliers = 0.002, 0
		named := namedWithOverhead(t, m, seed, core, more)
		if len(named) != 1 || named[0].Host != core || len(named[0].Findings) != 1 {
			t.Errorf("seed %d: named are %+v, want the core for one thing", seed, named)
			continue
		}
		if f := named[0].Findings[0]; f.Often < 1 || math.Abs(f.Factor-1.5) > 0.02 {
			t.Errorf("seed %d: %.3g times as long in %.2g of the measurements, want 1.5 in all", seed, f.Factor, f.Often)
		}
	}
}

// Messages of two lengths cross the uplink of a rack in one round: the link makes more of the time of the shorter ones. Both are what a link
// ten times as slow makes of them, and so is what a round says of it.
func TestMessagesOfTwoLengthsTellOneFactor(t *testing.T) {
	m := newMachine(t, "tree:3x3x4", 1)
	f, err := newFinder(context.Background(), &job{hosts: 36}, m.settings(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := f.r
	pairs := [][2]int{{0, 4}, {1, 12}, {16, 20}, {17, 24}, {13, 14}} // in the order of depth: racks of 4, 3 racks beside each other
	if err := r.add(pairs, slices.Repeat([]measurement{{Latency: 1}}, len(pairs)), func([]float64) {}); err != nil {
		t.Fatal(err)
	}
	up := m.cluster.Graph.Out(0)[0].To
	lengths := map[float64]bool{}
	for _, link := range r.w.link {
		uplink := r.c.ofLink(link)
		if at := r.c.all[uplink].place; at.u != up && at.v != up || at.v < 0 {
			continue
		}
		for s, cr := range r.ofAll(uplink) {
			if s.excess == 0 {
				s.excess = cr.shift(10)
				lengths[cr.weight] = true
			}
		}
		d, ok := r.difference(uplink, 0)
		if factor := d.by.factor(d.excess); !ok || math.Abs(factor-10) > 1e-9 || len(lengths) != 2 {
			t.Errorf("%d lengths tell a factor of %g, want 10 of two lengths", len(lengths), factor)
		}
		return
	}
	t.Error("the rack has no uplink")
}
