package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

func wired(t *testing.T, spec string) *topology.Graph {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph
}

// changed is the graph with its arcs changed; names stay.
func changed(t *testing.T, g *topology.Graph, change func(a *topology.Arc)) *topology.Graph {
	t.Helper()
	names := make([]string, g.Vertices())
	for v := range names {
		names[v] = g.Name(v)
	}
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		if change(&a); a.Probability > 0 {
			arcs = append(arcs, a)
		}
	}
	out, err := topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// on tells whether an arc is one of the two between u and v.
func on(a *topology.Arc, u, v int) bool {
	return a.From == u && a.To == v || a.From == v && a.To == u
}

func compareLinks(t *testing.T, measured, reference *topology.Graph, s *compare.LinkSettings) *compare.LinkComparison {
	t.Helper()
	c, err := compare.Links(measured, reference, s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// found writes findings as kind, what and how many times.
func found(c *compare.LinkComparison) []string {
	var all []string
	for _, f := range c.Findings {
		what := strings.Join(f.Hosts, "-")
		if f.Link >= 0 {
			l := c.Links[f.Link]
			if what = strings.Join(l.Below, ","); l.Below == nil {
				what = strings.Join(l.Ends[0], ",") + " - " + strings.Join(l.Ends[1], ",")
			}
		}
		if f.Kind == "class" {
			what = strings.TrimPrefix(f.What, "all ")
		}
		all = append(all, fmt.Sprintf("%s %s %.2f", f.Kind, what, f.Times))
	}
	return all
}

func wantFound(t *testing.T, c *compare.LinkComparison, want ...string) {
	t.Helper()
	if got := found(c); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestAMachineDoesNotDifferFromItself(t *testing.T) {
	for _, spec := range []string{
		"tree:4x4", "tree:2x8", "tree:3x3x3 latency=9us,5us,1us", "tree:[2,5,9]", "star:2", "star:3", "ring:7", "ring:6 hosts=3",
		"torus:4x4", "torus:4x4 hosts=2", "mesh:3x4", "fattree:4", "fattree:4,8", "dragonfly:2,4,2", "line:5 hosts=2",
	} {
		g := wired(t, spec)
		c := compareLinks(t, g, g, nil)
		if len(c.Findings) > 0 || c.Unknown != "" || c.Judged == 0 || c.Judged != len(c.Links) || math.Abs(c.Latency-1) > 1e-6 {
			t.Errorf("%s: found %q, %d of %d links judged, factor %g, unknown %q, want nothing, all, 1", spec, found(c), c.Judged, len(c.Links), c.Latency, c.Unknown)
		}
		for _, l := range c.Links {
			for _, q := range []compare.Quantity{l.Latency, l.Bandwidth[0], l.Bandwidth[1]} {
				if q.Verdict != compare.LinkSame || math.Abs(q.Slower-1) > 1e-4 {
					t.Fatalf("%s: link %+v is not what it is itself", spec, l)
				}
			}
		}
	}
}

// One uplink is three times as slow and everything takes 1.3 times as long: the
// factor is told once, and the link's own is 3.
func TestOneSlowLinkBesideACommonFactor(t *testing.T) {
	reference := wired(t, "tree:5x4 latency=10us,2us")
	up := reference.Out(4)[0].To // of h4-h7
	measured := changed(t, reference, func(a *topology.Arc) {
		a.Latency *= 1.3
		if on(a, up, 20) {
			a.Latency *= 3
		}
	})
	c := compareLinks(t, measured, reference, nil)
	wantFound(t, c, "slow h4,h5,h6,h7 3.00")
	if math.Abs(c.Latency-1.3) > 1e-6 || len(c.Links) != 25 || c.Judged != 25 {
		t.Errorf("factor %g of %d links, %d judged, want 1.3 of 25, all", c.Latency, len(c.Links), c.Judged)
	}
	if l := c.Links[0]; math.Abs(l.Latency.Measured-39e-6) > 1e-10 || l.Latency.Reference != 10e-6 || l.V != up {
		t.Errorf("the worst link is %+v, want 39 us, 10 us, at switch %d", l, up)
	}
	// A tolerance of three times lets it pass.
	wantFound(t, compareLinks(t, measured, reference, &compare.LinkSettings{Tolerance: 2.1}))
	// With software that costs 1 us at each host the links of hosts are 1.5
	// times as slow, which is no fault, and the others as they were.
	costly := changed(t, reference, func(a *topology.Arc) {
		if !reference.IsSwitch(a.From) || !reference.IsSwitch(a.To) {
			a.Latency += 1e-6
		}
	})
	wantFound(t, compareLinks(t, costly, reference, nil))
	// All uplinks three times as slow are a difference of the class.
	spine := changed(t, reference, func(a *topology.Arc) {
		if reference.IsSwitch(a.From) && reference.IsSwitch(a.To) {
			a.Latency *= 3
		}
	})
	wantFound(t, compareLinks(t, spine, reference, nil), "class uplinks of switches of hosts 3.00")
}

// Ranks are two on each host and in reverse order, hosts of either side are not on
// the other, and switches have other numbers: the slow link is the same.
func TestRanksAndHostsOfEitherSideDiffer(t *testing.T) {
	reference := wired(t, "tree:4x4 latency=10us,2us")
	names := []string{"new", "new"}
	for h := 15; h >= 2; h-- { // h0 and h1 are not measured
		names = append(names, fmt.Sprintf("h%d", h), fmt.Sprintf("h%d", h))
	}
	n := len(names)
	var arcs []topology.Arc
	link := func(u, v int, latency float64) {
		arcs = topology.AppendLink(arcs, u, v, latency, math.NaN())
	}
	for i, name := range names {
		names = append(names, "")
		link(i, n+i/2, 0.5e-6) // a switch in each host
		if i%2 == 0 {
			h := 0
			fmt.Sscanf(name, "h%d", &h)
			link(n+i/2, n+n/2+h/4, 1.5e-6)
		}
	}
	names = names[:n+n/2+5]
	for rack := range 4 {
		link(n+n/2+rack, n+n/2+4, []float64{10e-6, 10e-6, 25e-6, 10e-6}[rack])
	}
	measured, err := topology.NewGraph(n, n/2+5, names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	c := compareLinks(t, measured, reference, nil)
	wantFound(t, c, "slow h8,h9,h10,h11 2.50")
	if !slices.Equal(c.Missing, []string{"h0", "h1"}) || !slices.Equal(c.Extra, []string{"new"}) || len(c.Hosts) != 14 {
		t.Errorf("missing %q, extra %q, %d hosts in common, want h0 and h1, new, 14", c.Missing, c.Extra, len(c.Hosts))
	}
	// The other way round, and each with itself: insides of hosts are compared.
	back := compareLinks(t, reference, measured, nil)
	wantFound(t, back, "fast h11,h10,h9,h8 2.50")
	twice := changed(t, measured, func(a *topology.Arc) {
		if a.From < 6 || a.To < 6 { // of new, h15 and h14
			a.Latency *= 4
		}
	})
	c = compareLinks(t, twice, measured, nil)
	var inside []string
	for _, l := range c.Links {
		if l.U == l.V && l.Verdict == compare.LinkSlow {
			inside = append(inside, l.Below...)
		}
	}
	slices.Sort(inside)
	if !slices.Equal(inside, []string{"h14", "h15", "new"}) {
		t.Errorf("slow inside are %q, want h14, h15 and new; found %q", inside, found(c))
	}
}

// A specification without latencies: links are held against others of their level.
func TestAReferenceWithoutLatencies(t *testing.T) {
	truth := wired(t, "tree:5x4 latency=10us,2us")
	reference := changed(t, truth, func(a *topology.Arc) { a.Latency, a.Bandwidth = math.NaN(), math.NaN() })
	measured := changed(t, truth, func(a *topology.Arc) {
		if on(a, truth.Out(8)[0].To, 20) {
			a.Latency *= 2
		}
		if on(a, 3, truth.Out(3)[0].To) {
			a.Bandwidth /= 4
		}
	})
	wantFound(t, compareLinks(t, measured, reference, nil), "slow h3 4.00", "slow h8,h9,h10,h11 2.00")
	wantFound(t, compareLinks(t, truth, reference, nil))
}

// A link that is specified and not there is missing, also where the specification has bandwidths only, or neither: then the number of
// links on the paths tells.
func TestALinkThatNothingTakes(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"ring:7", "missing h0 - h1 NaN"},
		{"torus:4x4", "missing h0 - h1 NaN"},
		{"ring:6 hosts=3", "missing h0,h1,h2 - h3,h4,h5 NaN"},
		{"torus:4x4 hosts=2", "missing h0,h1 - h2,h3 NaN"},
	} {
		g := wired(t, c.spec)
		u, v := 0, 1
		if g.IsSwitch(g.Out(0)[0].To) {
			u, v = g.Hosts(), g.Hosts()+1
		}
		cut := changed(t, g, func(a *topology.Arc) {
			if on(a, u, v) {
				a.Probability = 0
			}
		})
		wantFound(t, compareLinks(t, cut, g, nil), c.want)
		rates := changed(t, g, func(a *topology.Arc) { a.Latency = math.NaN() })
		wantFound(t, compareLinks(t, cut, rates, nil), c.want)
		wantFound(t, compareLinks(t, g, rates, nil))
		hops := changed(t, rates, func(a *topology.Arc) { a.Bandwidth = math.NaN() })
		wantFound(t, compareLinks(t, cut, hops, nil), c.want)
		wantFound(t, compareLinks(t, g, hops, nil))
	}
}

// Links of hosts are judged whatever is uncertain inside the hosts: eight hosts of two ranks on each of two sockets that nobody is
// sure of, and whose links have no rate therefore. The cable of the third host is at 0.3 of its rate.
func TestUncertainInsidesOfHosts(t *testing.T) {
	const hosts, sockets, perSocket = 8, 2, 2
	const ranks = hosts * sockets * perSocket
	machine := func(slow int) *topology.Graph {
		names := make([]string, ranks+hosts*(1+sockets)+1)
		var arcs []topology.Arc
		link := func(u, v int, latency, rate, probability float64) {
			for _, end := range [2][2]int{{u, v}, {v, u}} {
				arcs = append(arcs, topology.Arc{From: end[0], To: end[1], Latency: latency, Bandwidth: rate, Probability: probability})
			}
		}
		root := len(names) - 1
		for h := range hosts {
			node, rate := ranks+h*(1+sockets), 1e9
			if h == slow {
				rate *= 0.3
			}
			link(node, root, 1e-6, rate, 1)
			for s := range sockets {
				link(node+1+s, node, 5e-8, math.NaN(), 0.8)
				for r := range perSocket {
					rank := (h*sockets+s)*perSocket + r
					names[rank] = fmt.Sprint("n", h)
					link(rank, node+1+s, 3e-7, 1e10, 1)
				}
			}
		}
		for v := ranks; v < len(names); v++ {
			names[v] = fmt.Sprint("s", v)
		}
		g, err := topology.NewGraph(ranks, len(names)-ranks, names, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	c := compareLinks(t, machine(2), machine(-1), nil)
	wantFound(t, c, "slow n2 3.33")
	if c.Judged != len(c.Links) {
		t.Errorf("%d of %d links judged", c.Judged, len(c.Links))
	}
	wantFound(t, compareLinks(t, machine(2), machine(2), nil))
}

// A machine of which all bandwidths are 40 % of what is specified differs; one that lacks a tenth everywhere, as
// protocols do, is the same. Latencies that are longer everywhere are those of another library.
func TestBandwidthsThatAllLinksLack(t *testing.T) {
	g := wired(t, "tree:5x4 latency=10us,2us")
	for _, c := range []struct {
		rate float64
		want []string
	}{{0.4, []string{"class links of hosts 2.50", "class uplinks of switches of hosts 2.50"}}, {0.9, nil}} {
		measured := changed(t, g, func(a *topology.Arc) {
			a.Bandwidth *= c.rate
			a.Latency *= 1.6
		})
		wantFound(t, compareLinks(t, measured, g, nil), c.want...)
	}
}

func TestAHostOnAnotherSwitch(t *testing.T) {
	reference := wired(t, "tree:4x5 latency=10us,2us")
	own, other := reference.Out(7)[0].To, reference.Out(12)[0].To
	measured := changed(t, reference, func(a *topology.Arc) {
		if a.From == 7 {
			a.To = other
		}
		if a.To == 7 {
			a.From = other
		}
	})
	c := compareLinks(t, measured, reference, nil)
	if len(c.Findings) != 1 || c.Findings[0].Kind != "moved" {
		t.Fatalf("found %q, want host h7 moved and nothing else", found(c))
	}
	f := c.Findings[0]
	if got, want := fmt.Sprint(f.Hosts, f.From, f.To), "[h7] [h5 h6 h8 h9] [h10 h11 h12 h13 h14]"; got != want || own == other {
		t.Errorf("moved %s, want %s", got, want)
	}
}

// Bandwidths: an uplink carries a third of what one pair takes in one direction, a twelfth of what the reference says. Of two others nothing was
// measured: one has an estimate, and the hosts of one show that it carries at least what one pair takes.
func TestBandwidthsByDirection(t *testing.T) {
	reference := wired(t, "tree:5x4 latency=10us,2us rate=40Gbps,10Gbps")
	spine, of := 20, func(h int) int { return reference.Out(h)[0].To }
	measured := changed(t, reference, func(a *topology.Arc) {
		switch {
		case a.From == of(4) && a.To == spine:
			a.Bandwidth = 1.25e9 / 3
		case on(a, of(8), spine):
			a.Estimated, a.Bandwidth = true, 1e8
		case on(a, of(0), spine):
			a.Estimated, a.Bandwidth = true, 1.25e9
		}
	})
	c := compareLinks(t, measured, reference, nil)
	wantFound(t, c, "slow h4,h5,h6,h7 12.00")
	for _, l := range c.Links {
		want := []compare.Verdict{compare.LinkSame, compare.LinkSame}
		switch strings.Join(l.Below, ",") {
		case "h4,h5,h6,h7": // towards them, and from them
			want[1] = compare.LinkSlow
		case "h0,h1,h2,h3", "h8,h9,h10,h11":
			want[0], want[1] = compare.LinkUnknown, compare.LinkUnknown
		}
		if got := []compare.Verdict{l.Bandwidth[0].Verdict, l.Bandwidth[1].Verdict}; !slices.Equal(got, want) {
			t.Errorf("bandwidth of the link of %s: %q, want %q", l.Below, got, want)
		}
	}
}

// Four hosts of 1.25 GB/s load an uplink of 12.5 GB/s with 5 GB/s, and one pair with 1.25. A rate between these is that of the link if it was
// measured; 5 GB/s, or what is marked as an estimate, is what was asked of it.
func TestBandwidthsOfUplinksThatManyHostsLoad(t *testing.T) {
	reference := wired(t, "tree:5x4 rate=100Gbps,10Gbps")
	spine, rack := 20, reference.Out(4)[0].To
	for _, c := range []struct {
		rate      float64
		estimated bool
		want      []string
	}{
		{3e9, false, []string{"slow h4,h5,h6,h7 4.17"}},
		{3e9, true, nil},
		{4.9e9, false, nil},
		{12.5e9, false, nil},
		{1.25e9, false, []string{"slow h4,h5,h6,h7 10.00"}}, // others carry more, and what single pairs show is an estimate
		{1.25e9, true, nil},
	} {
		measured := changed(t, reference, func(a *topology.Arc) {
			if on(a, rack, spine) {
				a.Bandwidth, a.Estimated = c.rate, c.estimated
			}
		})
		found := compareLinks(t, measured, reference, nil)
		wantFound(t, found, c.want...)
		if len(found.Warnings) > 0 {
			t.Errorf("%g B/s: warnings %q, want none", c.rate, found.Warnings)
		}
	}
}

// Of machines with one host per switch the wiring found has links between hosts, and what the links of hosts take is part of what every message pays
// at its ends. Held against switches with a host each it is on the links of hosts again: 5 us at either end.
func TestOverheadIsThatOfTheLinksOfHosts(t *testing.T) {
	for _, spec := range []string{"ring:5", "torus:3x5"} {
		measured, reference := wired(t, spec), wired(t, spec+" hosts=1")
		c := compareLinks(t, measured, reference, &compare.LinkSettings{Overhead: 10e-6})
		wantFound(t, c)
		for _, l := range c.Links {
			if math.Abs(l.Latency.Slower-1) > 1e-6 {
				t.Errorf("%s: %s: %g times as slow, want 1", spec, l.Name, l.Latency.Slower)
			}
		}
		if c := compareLinks(t, measured, measured, &compare.LinkSettings{Overhead: 10e-6}); c.Outcome != compare.Same {
			t.Errorf("%s against itself: %v", spec, found(c))
		}
	}
}

// Of a link that the reference is not sure of nothing is said, however slow it is.
func TestDoubtfulLinksAreNotJudged(t *testing.T) {
	g := wired(t, "tree:5x4 latency=10us,2us")
	up := g.Out(4)[0].To // of h4-h7
	for _, c := range []struct {
		probability float64
		want        []string
	}{
		{1, []string{"slow h4,h5,h6,h7 3.00"}},
		{topology.ConfidentFrom, []string{"slow h4,h5,h6,h7 3.00"}},
		{0.89, nil},
	} {
		reference := changed(t, g, func(a *topology.Arc) {
			if on(a, up, 20) {
				a.Probability = c.probability
			}
		})
		measured := changed(t, g, func(a *topology.Arc) {
			if on(a, up, 20) {
				a.Latency, a.Bandwidth = 3*a.Latency, a.Bandwidth/3
			}
		})
		got := compareLinks(t, measured, reference, nil)
		wantFound(t, got, c.want...)
		judged := 25
		if c.want == nil {
			judged--
		}
		if got.Judged != judged {
			t.Errorf("probability %g: %d links judged, want %d of 25", c.probability, got.Judged, judged)
		}
	}
}

// A cable between two racks is specified and does not exist. The only way around it is over the root, a switch without hosts.
func TestAMissingLinkBesideAPathOverASwitchWithoutHosts(t *testing.T) {
	for _, spec := range []string{"tree:3x4 latency=10us,2us", "tree:4x3 latency=3us,1us", "tree:2x3x2 latency=9us,4us,1us"} {
		measured := wired(t, spec)
		leaf := measured.Out(0)[0].To
		other := measured.Out(measured.Hosts() - 1)[0].To
		for _, latency := range []float64{1e-6, math.NaN()} {
			reference, err := topology.NewGraph(measured.Hosts(), measured.Vertices()-measured.Hosts(), measured.Names(),
				topology.AppendLink(slices.Clone(measured.Arcs()), leaf, other, latency, 1.25e9))
			if err != nil {
				t.Fatal(err)
			}
			c := compareLinks(t, measured, reference, nil)
			if got := found(c); len(got) != 1 || !strings.HasPrefix(got[0], "missing ") || c.Outcome != compare.Differs {
				t.Errorf("%s and a cable of %g s: found %q, outcome %v, want the cable missing", spec, latency, got, c.Outcome)
			}
			there := changed(t, reference, func(a *topology.Arc) {
				if on(a, leaf, other) {
					a.Latency = 1e-6
				}
			})
			if got := found(compareLinks(t, there, reference, nil)); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "missing ") }) {
				t.Errorf("%s and a cable of %g s that was measured, too: found %q", spec, latency, got)
			}
		}
	}
}

// The link of h0 and h1 takes 10 us, the path around it 5 us: nothing takes it,
// in the reference either. That the path around became longer is the fault of
// another link.
func TestALinkThatNothingTookIsNotMissing(t *testing.T) {
	reference := changed(t, wired(t, "ring:6"), func(a *topology.Arc) {
		if a.Latency = 1e-6; on(a, 0, 1) {
			a.Latency = 10e-6
		}
	})
	measured := changed(t, reference, func(a *topology.Arc) {
		if on(a, 2, 3) {
			a.Latency = 4e-6
		}
	})
	c := compareLinks(t, measured, reference, nil)
	for _, l := range c.Links {
		if l.Verdict == compare.LinkMissing {
			t.Errorf("link %v is missing", l)
		}
	}
	wantFound(t, c, "slow h2 - h3 4.00")
}

// Two more ranks of h0, the first and the last in number, are four times as far from
// the switch: the one between them stands for the host, on either side.
func TestTheNearestRankStandsForItsHost(t *testing.T) {
	reference := wired(t, "tree:3x4 latency=10us,2us")
	n := reference.Hosts()
	moved := func(v int) int { // in the graph with both
		if v < n {
			return v + 1
		}
		return v + 2
	}
	names := make([]string, reference.Vertices()+2)
	for v := range reference.Vertices() {
		names[moved(v)] = reference.Name(v)
	}
	names[0], names[n+1] = "h0", "h0"
	var arcs []topology.Arc
	for _, a := range reference.Arcs() {
		a.From, a.To = moved(a.From), moved(a.To)
		arcs = append(arcs, a)
	}
	for _, h := range []int{0, n + 1} {
		arcs = topology.AppendLink(arcs, h, moved(reference.Out(0)[0].To), 8e-6, 1.25e9)
	}
	measured, err := topology.NewGraph(n+2, reference.Vertices()-n, names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, compareLinks(t, measured, reference, nil))
	wantFound(t, compareLinks(t, reference, measured, nil))
}

func TestASlowHostAmongHosts(t *testing.T) {
	reference := wired(t, "torus:5x5")
	measured := changed(t, reference, func(a *topology.Arc) {
		if a.From == 7 || a.To == 7 {
			a.Latency *= 1.8
		}
	})
	wantFound(t, compareLinks(t, measured, reference, nil), "slow h7 1.80")
	// A link that is not specified, between hosts four links apart.
	extra, err := topology.NewGraph(25, 0, nil, topology.AppendLink(slices.Clone(reference.Arcs()), 0, 12, 1e-6, 1.25e9))
	if err != nil {
		t.Fatal(err)
	}
	if c := compareLinks(t, extra, reference, nil); !slices.ContainsFunc(found(c), func(s string) bool { return strings.HasPrefix(s, "extra h0-h12") }) || math.Abs(c.Similarity-100) > 1e-9 {
		t.Errorf("found %q, similarity %g %%, want the link h0-h12 and 100 %%", found(c), c.Similarity)
	}
}

func TestAnotherMachineDoesNotFit(t *testing.T) {
	c := compareLinks(t, wired(t, "tree:4x4 latency=10us,2us shuffle seed=3"), wired(t, "tree:4x4 latency=10us,2us"), nil)
	if len(c.Findings) == 0 {
		t.Errorf("hosts in random racks: found nothing, misfit %g", c.Misfit)
	}
}

func TestCompareLinksCannotTell(t *testing.T) {
	g := wired(t, "tree:2x4")
	blank := changed(t, g, func(a *topology.Arc) { a.Latency, a.Bandwidth = math.NaN(), math.NaN() })
	c := compareLinks(t, blank, g, nil)
	if c.Judged != 0 || c.Unknown == "" || len(c.Findings) > 0 {
		t.Errorf("without measured latencies: %d links judged, unknown %q, found %q, want none, a reason, nothing", c.Judged, c.Unknown, found(c))
	}
	for name, f := range map[string]func() error{
		"no host in common": func() error {
			one, err := topology.NewGraph(1, 0, []string{"elsewhere"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = compare.Links(one, g, nil)
			return err
		},
		"tolerance": func() error { _, err := compare.Links(g, g, &compare.LinkSettings{Tolerance: -1}); return err },
		"noise":     func() error { _, err := compare.Links(g, g, &compare.LinkSettings{Noise: -1}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What is below the floors is the same, what is above them is slow: ln 1.105 is 0.1 and
// ln 1.162 is 0.15. The other links of the class are exact and have no spread.
func TestWhatNobodyWouldLookIntoIsTheSame(t *testing.T) {
	reference := wired(t, "tree:5x4 latency=10us,2us")
	up := reference.Out(4)[0].To // of h4-h7
	for _, c := range []struct {
		latency, bandwidth float64 // times as slow
		want               []string
	}{
		{1.09, 1, nil},
		{1.12, 1, []string{"slow h4,h5,h6,h7 1.12"}},
		{1, 1.15, nil},
		{1, 1.18, []string{"slow h4,h5,h6,h7 1.18"}},
		{1.09, 1.15, nil},
	} {
		measured := changed(t, reference, func(a *topology.Arc) {
			if on(a, up, 20) {
				a.Latency *= c.latency
				a.Bandwidth /= c.bandwidth
			}
		})
		wantFound(t, compareLinks(t, measured, reference, nil), c.want...)
	}
}

// TestALatencyThatVanished: where links have none left, measurements show only that it is below their resolution: how many
// times as fast they are is not known.
func TestALatencyThatVanished(t *testing.T) {
	reference := wired(t, "tree:2x3x4 latency=20us,8us,2us")
	measured := changed(t, reference, func(a *topology.Arc) {
		if a.Latency == 8e-6 {
			a.Latency = 1e-9
		}
	})
	c := compareLinks(t, measured, reference, nil)
	if len(c.Findings) != 1 || c.Findings[0].Kind != "class" || !strings.HasPrefix(c.Findings[0].Reason, "latency at least ") {
		t.Errorf("findings %+v, want the latencies of one class, unseen", c.Findings)
	}
	for _, l := range c.Links {
		if want := len(l.Below) == 4; l.Latency.Unseen != want {
			t.Errorf("link to %q: unseen is %t, want %t", l.Below, l.Latency.Unseen, want)
		}
	}
}

// TestExactMeasurementsMoveNobody: where the measured machine is one switch and the reference two, hosts are as well
// explained on either, but for rounding, of which any latency leaves another amount.
func TestExactMeasurementsMoveNobody(t *testing.T) {
	reference := wired(t, "tree:2x4 latency=4us,1us")
	star := wired(t, "star:8")
	for k := range 40 {
		measured := changed(t, star, func(a *topology.Arc) { a.Latency = 1e-6 * math.Pow(0.93, float64(k)) / 3 })
		for _, f := range compareLinks(t, measured, reference, nil).Findings {
			if f.Kind == "moved" || f.Kind == "odd" {
				t.Fatalf("latency %g s: found %+v, want no host", measured.Arcs()[0].Latency, f)
			}
		}
	}
}

// TestAReferenceWithoutUplinks: a machine of two racks is not the flat one that the reference has, although most pairs may be
// equally far: hosts of one rack are nearer to each other than one switch can explain. With four racks a fifth of the pairs are,
// which is no more than outliers may be; only groups tell then.
func TestAReferenceWithoutUplinks(t *testing.T) {
	for _, spec := range []string{"tree:2x4", "tree:2x8", "tree:3x4"} {
		measured := wired(t, spec+" latency=10us,5us")
		reference := wired(t, fmt.Sprintf("star:%d latency=5us", measured.Hosts()))
		c := compareLinks(t, measured, reference, nil)
		if len(c.Findings) != 1 || c.Findings[0].Kind != "misfit" {
			t.Errorf("%s against one switch: found %q, want that the reference does not fit", spec, found(c))
		}
	}
}

// TestSlowBandwidthsBesideHiddenLinks: without latencies of their own uplinks are not in the measured wiring, and the
// rates that they leave look like those of the hosts' links. The comparison says so, and only then.
func TestSlowBandwidthsBesideHiddenLinks(t *testing.T) {
	reference := wired(t, "tree:2x4 latency=1us,1us rate=1GBps,1GBps")
	star := func(rate float64) *topology.Graph {
		return changed(t, wired(t, "star:8 latency=1us rate=1GBps"), func(a *topology.Arc) {
			if a.From == 1 || a.To == 1 {
				a.Bandwidth = rate
			}
		})
	}
	c := compareLinks(t, star(0.3e9), reference, nil)
	want := "links between switches of hosts do not show in the measured latencies: what they hold up counts for the links beside them"
	if !slices.Equal(c.Warnings, []string{want}) {
		t.Errorf("warnings %q, want %q", c.Warnings, want)
	}
	if c = compareLinks(t, star(1e9), reference, nil); len(c.Warnings) > 0 {
		t.Errorf("nothing is slow: warnings %q, want none", c.Warnings)
	}
}

// TestLatenciesOfZeroTellNothing: a clock that sees no message take any time gives no link its latency, and no
// host its place.
func TestLatenciesOfZeroTellNothing(t *testing.T) {
	reference := wired(t, "tree:2x4 latency=4us,1us")
	zero := changed(t, wired(t, "star:8"), func(a *topology.Arc) { a.Latency, a.Bandwidth = 0, math.NaN() })
	c := compareLinks(t, zero, reference, nil)
	if c.Judged > 0 || len(c.Findings) > 0 || c.Unknown != "every latency that was measured between hosts is 0" {
		t.Errorf("%d links judged, found %q, unknown %q, want none, nothing, that all is 0", c.Judged, found(c), c.Unknown)
	}
}

// Machines that nobody planned: hosts and switches linked at random, some links of which nothing takes, or that have equally short ways
// around them. None differs from itself. Bundles of links stand for them only where these are as long between all hosts.
func TestIrregularMachinesDoNotDifferFromThemselves(t *testing.T) {
	judged := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 99))
		hosts, switches := 3+rng.IntN(7), rng.IntN(5)
		var arcs []topology.Arc
		has := map[[2]int]bool{}
		for range rng.IntN(3 * (hosts + switches)) {
			u, v := rng.IntN(hosts+switches), rng.IntN(hosts+switches)
			if u != v && !has[[2]int{u, v}] && !has[[2]int{v, u}] {
				has[[2]int{u, v}] = true
				arcs = topology.AppendLink(arcs, u, v, []float64{1e-6, 2e-6, 1e-6 * (0.1 + rng.Float64())}[rng.IntN(3)], 1e9)
			}
		}
		g, err := topology.NewGraph(hosts, switches, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		c := compareLinks(t, g, g, nil)
		if len(c.Findings) > 0 {
			t.Errorf("seed %d: found %q", seed, found(c))
		}
		judged += c.Judged
	}
	if judged < 5000 {
		t.Errorf("%d links judged of 1,000 machines", judged)
	}
}

// A link that the reference lacks is named, and nobody for it: the others are judged as if the reference had it. By hand: a line of
// nine hosts that was measured as a ring, and a mesh whose corner has one link instead of two.
func TestAnExtraLinkAccusesNobodyElse(t *testing.T) {
	for _, c := range []struct {
		spec string
		want string
	}{{"ring:9", "extra h0-h1 8.00"}, {"mesh:2x7", "extra h0-h1 3.00"}, {"torus:3x3x3", "extra h0-h1 2.00"}} {
		g := wired(t, c.spec)
		without := func(latency float64) *topology.Graph {
			return changed(t, g, func(a *topology.Arc) {
				a.Latency *= latency
				if on(a, 0, 1) {
					a.Probability = 0
				}
			})
		}
		wantFound(t, compareLinks(t, g, without(1), nil), c.want)
		wantFound(t, compareLinks(t, g, without(math.NaN()), nil), c.want)
		// A slow link beside it is found as well.
		slow := changed(t, g, func(a *topology.Arc) {
			if on(a, 1, 2) {
				a.Latency *= 1.5
			}
		})
		if got := found(compareLinks(t, slow, without(1), nil)); len(got) != 2 || !strings.HasPrefix(got[0], "extra h0-h1 ") || !strings.HasPrefix(got[1], "slow h1") || !strings.HasSuffix(got[1], " 1.50") {
			t.Errorf("%s with a slow link: found %q, want it and the extra one", c.spec, got)
		}
	}
}

// Each host of a column of three has an extra link, and switches of a line have one that makes them a ring: these are named,
// and no link is fast or slow for them.
func TestExtraLinksOfThreesAndOfSwitches(t *testing.T) {
	for _, c := range []struct {
		measured, reference string
		extra               int
	}{{"torus:3x4", "mesh:3x4", 7}, {"torus:3x3", "mesh:3x3", 6}, {"ring:5 hosts=2", "line:5 hosts=2", 1}, {"torus:4x3 hosts=3", "mesh:4x3 hosts=3", 7}} {
		measured, reference := wired(t, c.measured), wired(t, c.reference)
		unknown := changed(t, reference, func(a *topology.Arc) { a.Latency = math.NaN() })
		for _, r := range []*topology.Graph{reference, unknown} {
			got := found(compareLinks(t, measured, r, nil))
			if len(got) != c.extra || slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "extra ") }) {
				t.Errorf("%s against %s: found %q, want %d extra links", c.measured, c.reference, got, c.extra)
			}
		}
	}
}

// Links of no latency on either side are not infinitely slow, whatever is measured over them.
func TestLinksWithoutLatency(t *testing.T) {
	reference := changed(t, wired(t, "ring:4"), func(a *topology.Arc) { a.Latency = 0 })
	measured := changed(t, wired(t, "ring:4"), func(a *topology.Arc) { a.Latency = 1e-6 })
	for _, sides := range [][2]*topology.Graph{{measured, reference}, {reference, measured}, {reference, reference}} {
		c := compareLinks(t, sides[0], sides[1], nil)
		for _, l := range c.Links {
			if math.IsInf(l.Latency.Slower, 0) {
				t.Errorf("link %s is %g times as slow", l.Name, l.Latency.Slower)
			}
		}
	}
}

// Groups count where the reference has nothing else, and must be of the hosts of their graph.
func TestGroupsOfOtherHostsAreRefused(t *testing.T) {
	g := wired(t, "tree:2x4")
	h, err := topology.NewHierarchy(3, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []compare.LinkSettings{{MeasuredGroups: h}, {ReferenceGroups: h}} {
		if c, err := compare.Links(g, g, &s); err == nil {
			t.Errorf("groups of 3 hosts for a graph of 8: %+v, want an error", c)
		}
	}
}
