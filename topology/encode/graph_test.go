package encode

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology"
)

func smallGraph(t testing.TB) *topology.Graph {
	arcs := topology.AppendLink(nil, 0, 2, 1e-6, 117.5e6)
	arcs[0].Estimated, arcs[1].Estimated = true, true
	arcs = topology.AppendLink(arcs, 1, 2, nan, nan)
	arcs[3].Latency = 2e-6
	arcs[3].Probability = 0.5
	g, err := topology.NewGraph(2, 1, []string{"a", "b", "sw"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWriteGraphLayout(t *testing.T) {
	var b bytes.Buffer
	if err := WriteGraph(&b, smallGraph(t)); err != nil {
		t.Fatal(err)
	}
	want := `{"format":"topocast/graph","version":2,"hosts":["a","b"],"switches":["sw"],` +
		`"links":[{"a":0,"b":2,"latency_s":0.000001,"bandwidth_Bps":117500000,"estimated":true}],` +
		`"arcs":[{"a":1,"b":2},{"a":2,"b":1,"latency_s":0.000002,"probability":0.5}]}` + "\n"
	if got := b.String(); got != want {
		t.Errorf("WriteGraph wrote\n%swant\n%s", got, want)
	}
	g, err := ReadGraph(&b)
	if err != nil {
		t.Fatal(err)
	}
	checkSameGraph(t, g, smallGraph(t))
}

func checkSameGraph(t *testing.T, got, want *topology.Graph) {
	t.Helper()
	if got.Hosts() != want.Hosts() || got.Vertices() != want.Vertices() || got.NumArcs() != want.NumArcs() {
		t.Fatalf("graph of %d hosts, %d vertices, %d arcs, want %d, %d, %d",
			got.Hosts(), got.Vertices(), got.NumArcs(), want.Hosts(), want.Vertices(), want.NumArcs())
	}
	for i, a := range got.Arcs() {
		b := want.Arcs()[i]
		if a.From != b.From || a.To != b.To || !sameValues(a, b) {
			t.Errorf("arc %d = %+v, want %+v", i, a, b)
		}
	}
	for v := range got.Vertices() {
		if got.Name(v) != want.Name(v) {
			t.Errorf("Name(%d) = %q, want %q", v, got.Name(v), want.Name(v))
		}
	}
}

// Arcs of a pair that differ in one thing are no link, and come back as they were.
func TestGraphKeepsDirectionsApart(t *testing.T) {
	arc := topology.Arc{From: 0, To: 1, Latency: 1e-6, Bandwidth: 1e9, Probability: 1}
	for _, c := range []struct {
		name   string
		change func(a *topology.Arc)
		links  int
	}{
		{"the same", func(*topology.Arc) {}, 1},
		{"latency", func(a *topology.Arc) { a.Latency = 2e-6 }, 0},
		{"latency not known", func(a *topology.Arc) { a.Latency = nan }, 0},
		{"bandwidth", func(a *topology.Arc) { a.Bandwidth = 2e9 }, 0},
		{"bandwidth not known", func(a *topology.Arc) { a.Bandwidth = nan }, 0},
		{"estimated", func(a *topology.Arc) { a.Estimated = true }, 0},
		{"probability", func(a *topology.Arc) { a.Probability = 0.5 }, 0},
	} {
		back := arc
		back.From, back.To = 1, 0
		c.change(&back)
		g, err := topology.NewGraph(2, 0, nil, []topology.Arc{arc, back})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteGraph(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		read, err := ReadGraph(&b)
		if err != nil {
			t.Fatal(err)
		}
		// NaN differs from itself, so they are compared as text.
		if got, want := fmt.Sprint(read.Arcs()), fmt.Sprint(g.Arcs()); got != want {
			t.Errorf("%s: read arcs %s, want %s", c.name, got, want)
		}
		if got := strings.Contains(text, `"links":[{`); got != (c.links == 1) || strings.Contains(text, `"arcs"`) == got {
			t.Errorf("%s: wrote %s, want %d links", c.name, text, c.links)
		}
	}
}

func TestReadGraphPlatform(t *testing.T) {
	g, err := ReadGraph(strings.NewReader(`{"platform":"x","n":2,"graph":{"hosts":["h0","h1"],"switches":["sw"],
		"links":[{"a":"h0","b":"sw","latency_us":12,"bandwidth_MBps":117.5,"kind":"nic"},{"a":"sw","b":"h1","latency_us":8,"bandwidth_MBps":1175}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	a := g.Arcs()[g.ArcIndex(2, 0)]
	if math.Abs(a.Latency-12e-6) > 1e-18 || a.Bandwidth != 117.5e6 || g.NumArcs() != 4 {
		t.Errorf("arc sw->h0 = %+v of %d arcs, want 12 us, 117.5 MB/s, 4 arcs", a, g.NumArcs())
	}
}

func TestReadGraphRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", ``, "no content"},
		{"another format", `{"format":"topocast/network","version":1}`, `format is "topocast/network"`},
		{"no format", `{}`, `format is ""`},
		{"a later version", `{"format":"topocast/graph","version":9}`, "version is 9"},
		{"an unknown name", `{"graph":{"hosts":["a"],"links":[{"a":"a","b":"x"}]}}`, `no host or switch is called "x"`},
		{"an ambiguous name", `{"graph":{"hosts":["a","a","b"],"links":[{"a":"a","b":"b"}]}}`, `more than one host or switch is called "a"`},
		{"a vertex outside", `{"graph":{"hosts":["a","b"],"links":[{"a":0,"b":2}]}}`, "outside [0, 2)"},
		{"an unknown key", `{"format":"topocast/graph","version":1,"hosts":["a"],"swiches":["s"],"links":[]}`, `unknown field "swiches"`},
		{"an unknown key of a platform's graph", `{"graph":{"hosts":["a"],"swiches":["s"],"links":[]}}`, `unknown field "swiches"`},
		{"an unknown key of a link", `{"graph":{"hosts":["a","b"],"links":[{"a":0,"b":1,"latency":1}]}}`, `unknown field "latency"`},
		{"an estimate of nothing", `{"format":"topocast/graph","version":2,"hosts":["a","b"],"links":[{"a":0,"b":1,"estimated":true}]}`, "bandwidth estimated, but not given"},
		{"a bandwidth of zero", `{"graph":{"hosts":["a","b"],"links":[{"a":0,"b":1,"bandwidth_MBps":0}]}}`, "bandwidth 0 B/s"},
		{"a probability of 2", `{"format":"topocast/graph","version":2,"hosts":["a","b"],"links":[{"a":0,"b":1,"probability":2}]}`, "probability 2"},
		{"a platform's graph in a graph", `{"format":"topocast/graph","version":2,"graph":{"hosts":["a"],"links":[]}}`, `unknown field "graph"`},
		{"a negative latency", `{"graph":{"hosts":["a","b"],"links":[{"a":0,"b":1,"latency_us":-1}]}}`, "latency -1e-06 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGraph(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ReadGraph(%s) = %v, want an error with %q", c.file, err, c.want)
			}
		})
	}
}

// Reference: the platform files of the SimGrid runs; n is stated beside the graph.
func TestReadGraphSimGridPlatforms(t *testing.T) {
	data, ok := published.Beside()
	if !ok {
		t.Skip("these data may not enter the repository, and are not beside it; TestReadGraphPlatform does without")
	}
	files, err := filepath.Glob(filepath.Join(data, "simgrid", "*", "truth.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no platform files in %s: %v", data, err)
	}
	for _, file := range files {
		r, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		g, err := ReadGraph(r)
		r.Close()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var b bytes.Buffer
		if err := WriteGraph(&b, g); err != nil {
			t.Fatal(err)
		}
		back, err := ReadGraph(&b)
		if err != nil {
			t.Fatal(err)
		}
		checkSameGraph(t, back, g)
	}
}

func FuzzReadGraph(f *testing.F) {
	var b bytes.Buffer
	if err := WriteGraph(&b, smallGraph(f)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"format":"topocast/graph","version":1,"hosts":["a","b"],"switches":[],"links":[{"a":0,"b":1,"latency_s":1}]}`))
	f.Add([]byte(`{"graph":{"hosts":["a","b"],"switches":[],"links":[{"a":"a","b":"b","latency_us":1}]}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		g, err := ReadGraph(bytes.NewReader(file))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteGraph(&out, g); err != nil {
			t.Fatal(err)
		}
		back, err := ReadGraph(&out)
		if err != nil {
			t.Fatalf("our own file is refused: %v", err)
		}
		checkSameGraph(t, back, g)
	})
}
