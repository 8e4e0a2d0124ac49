package encode

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// oddGraph has all that a graph can have: two hosts of one name, a one-way arc, a link with unlike ways,
// values that are not known, and names that need care.
func oddGraph(t testing.TB) *topology.Graph {
	arcs := topology.AppendLink(nil, 0, 3, 1.25e-6, 1.25e9)
	arcs = topology.AppendLink(arcs, 1, 3, 1e-6/3, nan)
	arcs = topology.AppendLink(arcs, 2, 4, nan, 1e8)
	arcs[4].Estimated, arcs[5].Estimated = true, true
	arcs = append(arcs,
		topology.Arc{From: 3, To: 4, Latency: 2e-6, Bandwidth: 1e9, Probability: 0.75},
		topology.Arc{From: 4, To: 3, Latency: 3e-6, Bandwidth: 5e8, Probability: 1},
		topology.Arc{From: 0, To: 1, Latency: 0, Bandwidth: nan, Probability: 0.5})
	g, err := topology.NewGraph(3, 2, []string{"node1", "node1", `a "b"\n<c> & ü`, "sw 1", "sw\\2"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sameGraph tells whether two graphs have equal vertices, names and arcs.
func sameGraph(a, b *topology.Graph) bool {
	if a.Hosts() != b.Hosts() || a.Vertices() != b.Vertices() || a.NumArcs() != b.NumArcs() {
		return false
	}
	for v := range a.Vertices() {
		if a.Name(v) != b.Name(v) {
			return false
		}
	}
	for i, x := range a.Arcs() {
		if y := b.Arcs()[i]; x.From != y.From || x.To != y.To || !sameValues(x, y) {
			return false
		}
	}
	return true
}

// smallGraphs are a graph for each way in which files tell hosts from switches.
func smallGraphs(t testing.TB) map[string]*topology.Graph {
	build := func(hosts, switches int, links ...[2]int) *topology.Graph {
		var arcs []topology.Arc
		for _, l := range links {
			arcs = topology.AppendLink(arcs, l[0], l[1], 1e-6, 1e9)
		}
		g, err := topology.NewGraph(hosts, switches, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	return map[string]*topology.Graph{
		"odd":       oddGraph(t),
		"none":      build(0, 0),
		"one host":  build(1, 0),
		"no links":  build(2, 1),
		"line":      build(3, 0, [2]int{0, 1}, [2]int{1, 2}),
		"ring":      build(3, 0, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 2}),
		"star":      build(3, 1, [2]int{0, 3}, [2]int{1, 3}, [2]int{2, 3}),
		"dead ends": build(1, 3, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}),
	}
}

func TestDOTRoundTrip(t *testing.T) {
	for name, g := range smallGraphs(t) {
		var b bytes.Buffer
		if err := WriteDOT(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if again, _, err := ReadDOT(&b, nil); err != nil || !sameGraph(again, g) {
			t.Errorf("%s: read back %v, %v of\n%s", name, again, err, text)
		}
	}
}

// describe lists hosts, switches and arcs by name, with latencies in us and bandwidths in Gbit/s.
func describe(g *topology.Graph) string {
	var b strings.Builder
	for v := range g.Vertices() {
		if v == g.Hosts() {
			b.WriteString("|")
		}
		b.WriteString(g.Name(v) + " ")
	}
	for _, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		switch {
		case back < 0 || !sameValues(a, g.Arcs()[back]):
			b.WriteString("; " + g.Name(a.From) + ">" + g.Name(a.To))
		case a.From < a.To:
			b.WriteString("; " + g.Name(a.From) + "-" + g.Name(a.To))
		default:
			continue
		}
		b.WriteString(values(a))
	}
	return b.String()
}

// values are the latency and bandwidth of an arc, in the units of describe.
func values(a topology.Arc) string {
	text := ""
	for _, x := range []float64{a.Latency * 1e6, a.Bandwidth * 8e-9} {
		text += " "
		if !math.IsNaN(x) {
			text += exact(math.Round(x*1e6) / 1e6)
		}
	}
	return text
}

func TestReadDOT(t *testing.T) {
	for _, c := range []struct {
		name, file string
		hosts      []string
		want       string // by hand
	}{
		{"a specification as in Bannikov 2.3", `graph { a [label=n1] b [label=n1] c [label=n2]; sw; a -- sw [label=10] b -- sw [label="10"]; c -- sw [label=2.5] }`, nil, "n1 n1 n2 |sw ; n1-sw  10; n1-sw  10; n2-sw  2.5"},
		{"cores of one processor", "graph { a [label=n1]; b [label=n1]; c [label=n2]; a -- b; b -- c; c -- a }", nil, "n1 n1 |n2 ; n1-n1  ; n1-n2  ; n1-n2  "},
		{"a ring", "graph { a -- b -- c -- a }", nil, "a b c ; a-b  ; a-c  ; b-c  "},
		{"a line", "graph { a -- b -- c }", nil, "a c |b ; a-b  ; c-b  "},
		{"a tree drawn from its root", "digraph { s -> {l m}; l -> a; l -> b; m -> c; m -> d [dir=forward] }", nil, "a b c d |s l m ; a-l  ; b-l  ; c-m  ; d-m  ; s-l  ; s-m  "},
		{"a ring of one direction", "digraph { a -> b -> c -> a }", nil, "a b c ; a>b  ; b>c  ; c>a  "},
		{"functions as Cumulus names them", `graph { s [function="spine"] l [function=leaf] h [function=host] m [function="oob-server"] o [function="oob-switch"]; l:swp51 -- s:swp1; l:swp52 -- s:swp2; h:eth1 -- l:swp1; m -- o; h -- o }`, nil, "h m |s l o ; h-l  ; h-o  ; m-o  ; s-l  "},
		{"a line of known hosts", "graph { a -- b -- c }", []string{"b", "x"}, "a b c ; a-b  ; b-c  "},
		{"kinds of switches alone", "graph { a; s [kind=switch]; a -- s -- b -- a}", nil, "a b |s ; a-b  ; a-s  ; b-s  "},
		{"kinds by default", `digraph { node [kind=host] a b; node [kind=switch] s; s -> {a b} [latency=0.000001] a -> s [latency="2e-6"]}`, nil, "a b |s ; a>s 2 ; s>a 1 ; s>b 1 "},
		{"both ways in a digraph", "digraph { edge [dir=both]; a -> b; c -> d [dir=none]; b -> c [dir=back]}", nil, "a d |b c ; a-b  ; d-c  ; b>c  "},
		{"scopes", `strict graph "x y" { subgraph cluster_1 { edge [latency="3e-6"] a -- s } b -- s [bandwidth="1.25e9", label=99, color=red] /* } */ }`, nil, "a b |s ; a-s 3 ; b-s  10"},
		{"a subgraph again", "graph { subgraph x { a b c } subgraph x {} -- s }", nil, "a b c |s ; a-s  ; b-s  ; c-s  "},
		{"a link of a switch to itself", "graph { s -- s; a -- s; b -- s; b -- b }", nil, "a b |s ; a-s  ; b-s  "},
		{"labels with units", `graph { a -- s [label="10 Gbit/s"]; b -- s [label="1.25GB/s"]; c -- s [label="to rack 4"] }`, nil, "a b c |s ; a-s  10; b-s  10; c-s  "},
		{"a label for people", `graph { a -- b [label="uplink"] a [label="\N"] b [label="x\\y"] }`, nil, `a x\y ; a-x\y  `},
		{"ports, comments, lines that go on", "graph { // {{{\n a:p1:n -- \"b\\\nc\" \n# x\n}", nil, "a bc ; a-bc  "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _, err := ReadDOT(strings.NewReader(c.file), c.hosts)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadDOTRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", "", "encode: DOT: "},
		{"a cut file", "graph { a -- ", "encode: DOT: "},
		{"two graphs", "graph {} graph {}", "2 graphs in the file: want one"},
		{"a latency below 0", "graph { a -- b [latency=-1] }", `latency_s "-1": want a number`},
		{"an infinite bandwidth", `graph { a -- b [bandwidth="1e999"] }`, `bandwidth "1e999": want a number`},
		{"a bandwidth of 0", "graph { a -- b [bandwidth=0] }", "bandwidth 0 B/s: want above 0"},
		{"a probability above 1", "graph { a -- b [probability=2] }", "probability 2: want in (0, 1]"},
		{"an unknown kind", "graph { a [kind=cable] }", `vertex "a": kind "cable": want host or switch`},
		{"a vertex without kind", "graph { a [kind=host] b [kind=switch] c }", `vertex "c": is it a host or a switch?`},
		{"subgraphs in subgraphs", "graph " + strings.Repeat("{", 1000) + strings.Repeat("}", 1000), "more than 50 deep"},
		{"subgraphs without end", "graph " + strings.Repeat("{", 1000), "expected one of"},
		{"a short text for many edges", "graph { subgraph s {" + manyNames(3000) + "} subgraph s {} -- subgraph s {} }", "more than 1048576 edges"},
		{"a subgraph again and again", "graph { subgraph s {" + manyNames(3000) + "}" + strings.Repeat(" subgraph s {}", 2000) + "}", "named more than 1048576 times"},
		{"a huge file", "graph {" + strings.Repeat(" ", maxDOT) + "}", "more than 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadDOT(strings.NewReader(c.file), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ReadDOT = %v, want one line with %q", err, c.want)
			}
		})
	}
}

// manyNames are so many different names of vertices.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" v" + exact(float64(i)))
	}
	return b.String()
}

func FuzzReadDOT(f *testing.F) {
	f.Add(`graph { a [label=n1 kind=host]; sw [kind=switch]; a -- sw [label=10 latency=1e-6 probability=0.5 estimated=true bandwidth=2] }`)
	f.Add(`digraph "x" { subgraph s { a b } -> c -> subgraph s {} [dir=both]; node [kind=host] }`)
	f.Fuzz(func(t *testing.T, file string) {
		g, _, err := ReadDOT(strings.NewReader(file), nil)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteDOT(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		again, _, err := ReadDOT(&b, nil)
		if err != nil || !sameGraph(again, g) {
			t.Fatalf("read back %v of\n%s", err, text)
		}
		if !reflect.DeepEqual(describe(g), describe(again)) {
			t.Errorf("%s\nthen %s", describe(g), describe(again))
		}
	})
}

// Two cables between two switches are one link of both rates, with the shorter latency.
func TestParallelLinksAreOne(t *testing.T) {
	g, _, err := ReadDOT(strings.NewReader(`graph { a [kind=host] b [kind=host] s [kind=switch] r [kind=switch]
		a -- s; b -- r; s -- r [latency="2e-6", bandwidth="1e9"]; s -- r [latency="1e-6", bandwidth="3e9"] }`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := g.Arcs()[g.ArcIndex(2, 3)]; a.Latency != 1e-6 || a.Bandwidth != 4e9 {
		t.Errorf("the link has %g s and %g B/s, want 1e-6 and 4e9", a.Latency, a.Bandwidth)
	}
}
