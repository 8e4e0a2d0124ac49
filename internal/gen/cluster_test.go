package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

func parse(t testing.TB, spec string) *Cluster {
	t.Helper()
	c, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The numbers of vertices and links follow from the definitions: XGFT has
// m_(l+1)..m_h * w_1..w_l vertices on level l; a k-ary fat tree k^3/4 hosts and
// 5k^2/4 switches; a balanced dragonfly a*h+1 groups.
func TestParseCountsHostsSwitchesAndLinks(t *testing.T) {
	for _, c := range []struct {
		spec                   string
		hosts, switches, links int
		groups                 string // sizes per level, fine to coarse
	}{
		{"star:8", 8, 1, 8, ""},
		{"tree:8", 8, 1, 8, ""},
		{"tree:1", 1, 1, 1, ""},
		{"tree:2x4x8", 64, 11, 74, "rack 8*8 pod 2*32"},
		{"tree:[2,5,5]", 12, 4, 15, "rack 1*2 2*5"},
		{"tree:[2,5,5]x8", 96, 16, 111, "rack 12*8 pod 1*16 2*40"},
		{"tree:2x[2,3]", 10, 7, 16, "rack 2*2 2*3 pod 2*5"},
		{"tree:[[2,3],4]", 9, 5, 13, "rack 1*2 1*3 pod 1*4 1*5"},
		{"tree:[1,3]", 4, 3, 6, "rack 1*3"},
		{"tree:2x1x4", 8, 5, 12, "rack 2*4"},
		{"fattree:4", 16, 20, 48, "switch 8*2 pod 4*4"},
		{"fattree:4,8", 32, 12, 64, "switch 8*4"},
		{"fattree:8,8;1,4", 64, 12, 96, "switch 8*8"},
		{"fattree:8,8;1,4;1,2", 64, 12, 96, "switch 8*8"},
		{"fattree:2,2,2;1,2,2", 8, 12, 24, "switch 4*2 pod 2*4"},
		{"ring:6", 6, 0, 6, ""},
		{"ring:2", 2, 0, 1, ""},
		{"ring:6 hosts=4", 24, 6, 30, "switch 6*4"},
		{"line:5", 5, 0, 4, ""},
		{"line:3 hosts=2", 6, 3, 8, "switch 3*2"},
		{"torus:8x8", 64, 0, 128, ""},
		{"torus:2x4", 8, 0, 4 + 8, ""},
		{"torus:4x4x4 hosts=8", 512, 64, 192 + 512, "switch 64*8"},
		{"mesh:3x4", 12, 0, 3*3 + 2*4, ""},
		{"mesh:2x2x2", 8, 0, 12, ""},
		{"dragonfly:2,4,2", 72, 36, 9*6 + 36 + 72, "switch 36*2 group 9*8"},
		{"dragonfly:2,4,2,5", 40, 20, 5*6 + 10 + 40, "switch 20*2 group 5*8"},
		{"core:4 socket:2 host:16 rack:4", 512, 1 + 4 + 64 + 128, 4 + 64 + 128 + 512, "socket 128*4 host 64*8 rack 4*128"},
		{"rack:4 host:16 socket:2 core:4", 512, 1 + 4 + 64 + 128, 4 + 64 + 128 + 512, "socket 128*4 host 64*8 rack 4*128"},
		{"Package:2 L3Cache:1 core:6 pu:2", 24, 1 + 2 + 2 + 12, 2 + 2 + 12 + 24, "core 12*2 l3 2*12"},
		{"core:8", 8, 1, 8, ""},
	} {
		got := parse(t, c.spec)
		g := got.Graph
		if g.Hosts() != c.hosts || g.Vertices()-g.Hosts() != c.switches || g.NumArcs() != 2*c.links {
			t.Errorf("Parse(%q) has %d hosts, %d switches, %d arcs, want %d, %d, %d", c.spec,
				g.Hosts(), g.Vertices()-g.Hosts(), g.NumArcs(), c.hosts, c.switches, 2*c.links)
		}
		if s := describe(got.Hierarchy); s != c.groups {
			t.Errorf("Parse(%q) has groups %q, want %q", c.spec, s, c.groups)
		}
		checkHierarchy(t, c.spec, got)
	}
}

func describe(h *topology.Hierarchy) string {
	var words []string
	for i, l := range h.Levels() {
		words = append(words, l.Name)
		sizes := map[int]int{}
		for _, g := range h.GroupsAt(i) {
			sizes[len(g.Hosts)]++
		}
		var keys []int
		for k := range sizes {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			words = append(words, fmt.Sprintf("%d*%d", sizes[k], k))
		}
	}
	return strings.Join(words, " ")
}

// Where a group has a latency, hosts of different children of it are that far
// apart: by the routes, which know nothing of the groups. In a dragonfly it is
// the latency between routers that no global link joins directly.
func checkHierarchy(t *testing.T, spec string, c *Cluster) {
	t.Helper()
	h := c.Hierarchy
	m, err := c.Latencies()
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	n := h.Hosts()
	for i := range n {
		for j := range n {
			want, got := h.Latency(i, j), m.At(i, j)
			if i == j || math.IsNaN(want) {
				continue
			}
			bad := math.Abs(got-want) > 1e-12
			if strings.HasPrefix(spec, "dragonfly") {
				bad = got > want+1e-12
			}
			if strings.HasPrefix(spec, "tree:[[") && h.Common(i, j) == 0 {
				continue // branches of unequal depth: the root's latency is of the first and last
			}
			if bad {
				t.Fatalf("%s: latency %d->%d is %g by route, %g by hierarchy", spec, i, j, got, want)
			}
		}
	}
}

func TestLatencyAndRateListsRunFromCoarseToFine(t *testing.T) {
	g := parse(t, "tree:2x2x3 latency=30us,12us,5us rate=100Mbps,200Mbps,1GBps").Graph
	// Switches are numbered from the root down: 12 the root, 13 a pod, 15 its first rack.
	for _, c := range []struct {
		u, v          int
		latency, rate float64
	}{{12, 13, 30e-6, 12.5e6}, {13, 15, 12e-6, 25e6}, {15, 0, 5e-6, 1e9}} {
		a := g.Arcs()[g.ArcIndex(c.u, c.v)]
		if a.Latency != c.latency || a.Bandwidth != c.rate {
			t.Errorf("arc %d->%d has %g s, %g B/s, want %g, %g", c.u, c.v, a.Latency, a.Bandwidth, c.latency, c.rate)
		}
	}
	g = parse(t, "ring:4 hosts=2 latency=9us,2us").Graph
	if a := g.Arcs()[g.ArcIndex(8, 9)]; a.Latency != 9e-6 {
		t.Errorf("switch to switch %g s, want 9e-6", a.Latency)
	}
	if a := g.Arcs()[g.ArcIndex(0, 8)]; a.Latency != 2e-6 {
		t.Errorf("host to switch %g s, want 2e-6", a.Latency)
	}
	// Two cables of 10 Gbit/s between the switches of an XGFT are one link of 20.
	g = parse(t, "fattree:2,2;1,1;1,2").Graph
	if a := g.Arcs()[g.ArcIndex(4, 6)]; a.Bandwidth != 2.5e9 {
		t.Errorf("two cables have %g B/s, want 2.5e9", a.Bandwidth)
	}
}

func TestNodeTellsWhichCoresShareAMachine(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []int
	}{
		{"host:2 core:3", []int{0, 0, 0, 1, 1, 1}},
		{"socket:2 core:2", []int{0, 0, 0, 0}},
		{"rack:2 host:2", []int{0, 1, 2, 3}},
		{"tree:2x2", []int{0, 1, 2, 3}},
	} {
		if got := parse(t, c.spec).Node; !slices.Equal(got, c.want) {
			t.Errorf("Parse(%q).Node = %v, want %v", c.spec, got, c.want)
		}
	}
}

func TestErrorsPointAtTheOffendingPart(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", `gen: cluster "": column 1: want a family and a colon, as in tree:2x4x8, got the end`},
		{"tree", `column 5: want a family and a colon`},
		{"bush:3", `column 1: unknown family "bush"`},
		{"tree:", `column 6: children: want a number, got the end`},
		{"tree:2x0x8", `column 8: children: 0: want 1 to 1048576`},
		{"tree:2xx8", `column 8: children: want a number, got "x8"`},
		{"tree:[2,5", `column 10: want , or ] in the list from column 6`},
		{"tree:[2,]", `column 9: children: want a number, got "]"`},
		{"tree:4x8 latency=5", `column 18: latency: "5": want a number and a unit, such as 10us`},
		{"tree:4x8 latency=5us,6us,7us", `column 26: latency: 3 values: want 1, or 2 for the links of rack, host`},
		{"tree:2x4x8 latency=5us,6us", `column 24: latency: 2 values: want 1, or 3 for the links of pod, rack, host`},
		{"tree:4 latency=-5us", `column 16: latency: "-5us": want a number and a unit`},
		{"tree:4 rate=0Mbps", `column 13: rate: 0Mbps: want 1 to 1e+15 in SI units`},
		{"tree:4 rate=5qbps", `column 13: rate: "5qbps": want a number and a unit`},
		{"tree:4 rate=NaNMbps", `column 13: rate: "NaNMbps"`},
		{"tree:4 spread=120%", `column 15: spread: 120%: want 0 to 0.99`},
		{"tree:4 seed=1 seed=2", `column 15: seed given twice`},
		{"tree:4 hosts=3", `column 8: hosts= belongs to ring, line, torus and mesh`},
		{"tree:4 lanes=3", `column 8: unknown option "lanes=3"`},
		{"tree:4 latency=5us;", `column 16: latency: "5us;"`},
		{"tree:4 routing=best", `column 16: routing: "best": want lowest, modulo or ecmp`},
		{"tree:1024x1024x1024", `more than 1048576 hosts and switches`},
		{"star:3x4", `column 7: unexpected "x4"`},
		{"torus:8", `column 7: a torus has two or three sizes`},
		{"ring:3x4", `column 6: a ring has one size`},
		{"ring:3 hosts=x", `column 14: hosts: want a number`},
		{"fattree:3", `column 9: a 3-ary fat tree: want an even number, or a list of children`},
		{"fattree:4,4;1", `column 13: parents: 1 numbers: want 2, one per level`},
		{"dragonfly:2,4", `column 11: 2 numbers: want hosts per router`},
		{"dragonfly:2,4,2,10", `column 11: 10 groups: the global links reach 9`},
		{"torus:1024x1025", `column 7: more than 1048576 hosts and switches`},
		{"torus:1024x1024 hosts=1", `column 7: more than 1048576 hosts and switches`},
		{"fattree:70,1;200000,1", `column 9: more than 4194304 links`},
		{"dragonfly:1,171,7", `column 11: more than 1048576 links of one kind`},
		{"core:4 sokcet:2", `column 8: unknown part "sokcet": want one of pu core`},
		{"core:4 rack:2 host:3", `column 15: host does not hold rack`},
		{"rack:4 core:2 host:3", `column 15: host is no part of core`},
		{"core:4 core:2", `column 8: core is no part of core`},
		{"core:4 3", `column 8: want an option such as latency=, got "3"`},
	} {
		_, err := Parse(c.spec)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", c.spec, err, c.want)
		}
	}
}

func TestSpreadIsSeededAndBounded(t *testing.T) {
	const spec = "tree:4x8 latency=10us spread=0,20% rate-spread=10%,0"
	a, b, other := parse(t, spec+" seed=3"), parse(t, spec+" seed=3"), parse(t, spec+" seed=4")
	if !slices.Equal(a.Graph.Arcs(), b.Graph.Arcs()) {
		t.Error("the same seed gives different links")
	}
	if slices.Equal(a.Graph.Arcs(), other.Graph.Arcs()) {
		t.Error("different seeds give the same links")
	}
	low, high := math.Inf(1), 0.0
	for _, arc := range a.Graph.Arcs() {
		if a.Graph.IsSwitch(arc.From) && a.Graph.IsSwitch(arc.To) {
			if arc.Latency != 10e-6 {
				t.Errorf("uplink %g s, want 10e-6: it has no spread", arc.Latency)
			}
			continue
		}
		if arc.Bandwidth != 1.25e9 {
			t.Errorf("host link %g B/s, want 1.25e9: it has no spread", arc.Bandwidth)
		}
		low, high = min(low, arc.Latency), max(high, arc.Latency)
	}
	if low < 8e-6 || high > 12e-6 || low > 9e-6 || high < 11e-6 {
		t.Errorf("host links of %g to %g s, want them spread over 8e-6 to 12e-6", low, high)
	}
}

// Latencies agree with gonum's all-pairs shortest paths.
func TestLatenciesAreShortestPaths(t *testing.T) {
	for _, spec := range []string{
		"tree:2x[2,3]x3", "fattree:4", "ring:7 hosts=2", "torus:4x5", "mesh:3x3x2", "dragonfly:1,3,2", "core:2 socket:2 host:3", "line:6",
	} {
		c := parse(t, spec+" spread=30% seed=1")
		got, err := c.Latencies()
		if err != nil {
			t.Fatal(err)
		}
		all, ok := path.FloydWarshall(c.Graph.Weighted())
		if !ok {
			t.Fatal("negative cycle")
		}
		for i := range c.Graph.Hosts() {
			for j := range c.Graph.Hosts() {
				if want := all.Weight(int64(i), int64(j)); math.Abs(got.At(i, j)-want) > 1e-12*want {
					t.Errorf("%s: latency %d->%d = %g, want %g", spec, i, j, got.At(i, j), want)
				}
				if got.At(i, j) != got.At(j, i) {
					t.Errorf("%s: latencies %d->%d and back differ", spec, i, j)
				}
			}
		}
	}
}

func TestRelabelMovesEverythingWithTheHosts(t *testing.T) {
	c := parse(t, "core:2 socket:2 host:3 spread=20% seed=5")
	label := rand.New(rand.NewPCG(1, 2)).Perm(c.Graph.Hosts())
	r, err := c.Relabel(label)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := c.Latencies()
	after, _ := r.Latencies()
	if !mat.Equal(RelabelMatrix(before, label), after) {
		t.Error("latencies of the relabelled graph are not the relabelled latencies")
	}
	for i := range label {
		if r.Node[label[i]] != c.Node[i] {
			t.Errorf("host %d is in machine %d, want %d", label[i], r.Node[label[i]], c.Node[i])
		}
		for j := range label {
			if a, b := c.Hierarchy.Latency(i, j), r.Hierarchy.Latency(label[i], label[j]); a != b {
				t.Errorf("hierarchy latency %d,%d = %g, relabelled %g", i, j, a, b)
			}
		}
	}
	for _, bad := range [][]int{{0, 1}, nil, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}, {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		if _, err := c.Relabel(bad); err == nil {
			t.Errorf("Relabel(%v): no error", bad)
		}
	}
	shuffled := parse(t, "tree:4x4 shuffle seed=2")
	if slices.Equal(shuffled.Hierarchy.Groups()[1].Hosts, []int{0, 1, 2, 3}) {
		t.Error("shuffle leaves the hosts in order")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"star:8", "tree:2x4x8", "tree:[2,[5,1]]x8 latency=1us rate=3Gbps", "fattree:4,8;1,2;1,1", "torus:4x4 hosts=2 shuffle",
		"dragonfly:2,4,2,5 spread=1%,2%,3% seed=9", "core:4 socket:2 host:3 routing=ecmp", "tree:1x1x1", "fattree:1,1;2,2", "ring:1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		c, err := Parse(spec)
		if err != nil {
			if c != nil {
				t.Error("a cluster and an error")
			}
			return
		}
		if c.Graph.Hosts() != c.Hierarchy.Hosts() || len(c.Node) != c.Graph.Hosts() {
			t.Errorf("%d hosts, hierarchy of %d, %d nodes", c.Graph.Hosts(), c.Hierarchy.Hosts(), len(c.Node))
		}
		if c.Graph.Hosts() <= 64 && c.Graph.NumArcs() <= 1<<16 { // routes look at all links
			if _, err := c.Latencies(); err != nil {
				t.Errorf("%q: %v", spec, err)
			}
		}
	})
}

func BenchmarkLatencies(b *testing.B) {
	for _, spec := range []string{"tree:8x16x8", "fattree:16", "torus:8x8x16"} {
		b.Run(spec, func(b *testing.B) {
			c := parse(b, spec)
			n := float64(c.Graph.Hosts())
			for b.Loop() {
				if _, err := c.Latencies(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n), "ns/pair")
		})
	}
}

// Rates are written as in all files that the library reads.
func TestRatesAsPeopleWriteThem(t *testing.T) {
	for _, text := range []string{"1Gbps", "1gbps", "1Gbit/s", "1000Mbit", "125MBps", "125MB/s", "1.25e8Bps"} {
		c, err := Parse("star:2 rate=" + text)
		if err != nil {
			t.Errorf("rate=%s: %v", text, err)
		} else if got := c.Graph.Arcs()[0].Bandwidth; got != 1e9/8 {
			t.Errorf("rate=%s is %g B/s, want 1.25e8", text, got)
		}
	}
}

// TestDragonflyHasTheLinksOfKim: by Kim et al. 2008 a router has p hosts, a-1 routers of its group and h global links, and every
// two groups share one of these. With fewer groups than the links reach, routers of a group differ by one at most.
func TestDragonflyHasTheLinksOfKim(t *testing.T) {
	for _, c := range []struct {
		spec                  string
		p, a, groups          int
		leastLinks, mostLinks int // global links of a router
	}{{"dragonfly:2,4,2", 2, 4, 9, 2, 2}, {"dragonfly:1,3,2", 1, 3, 7, 2, 2}, {"dragonfly:2,4,2,5", 2, 4, 5, 1, 1}, {"dragonfly:1,3,2,5", 1, 3, 5, 1, 2}} {
		g := parse(t, c.spec).Graph
		between := make(map[[2]int]int)
		for r := range c.groups * c.a {
			router, hosts, local, global := g.Hosts()+r, 0, 0, 0
			for _, arc := range g.Out(router) {
				switch group := (arc.To - g.Hosts()) / c.a; {
				case arc.To < g.Hosts():
					hosts++
				case group == r/c.a:
					local++
				default:
					global++
					between[[2]int{r / c.a, group}]++
				}
			}
			if hosts != c.p || local != c.a-1 || global < c.leastLinks || global > c.mostLinks {
				t.Errorf("%s: router %d has %d hosts, %d local and %d global links, want %d, %d and %d to %d", c.spec, r, hosts, local, global, c.p, c.a-1, c.leastLinks, c.mostLinks)
			}
		}
		for pair, links := range between {
			if links != 1 {
				t.Errorf("%s: groups %v share %d links, want 1", c.spec, pair, links)
			}
		}
		if want := c.groups * (c.groups - 1); len(between) != want {
			t.Errorf("%s: %d pairs of groups are linked, want %d", c.spec, len(between), want)
		}
	}
}
