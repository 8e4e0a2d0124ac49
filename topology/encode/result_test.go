package encode

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// onePair is a whole result: two hosts close to each other and one far away, on one switch.
func onePair(t testing.TB) *topology.Result {
	h, err := topology.NewHierarchy(3,
		[]topology.Level{{Name: "pair", Latency: 1e-6, Confidence: 1}},
		[]topology.Group{{Hosts: []int{0, 1}, Latency: 1e-6, Confidence: 1}}, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	var arcs []topology.Arc
	for host, latency := range []float64{0.5e-6, 0.5e-6, 3.5e-6} {
		arcs = topology.AppendLink(arcs, host, 3, latency, nan)
	}
	g, err := topology.NewGraph(3, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{
		Graph: g, Hierarchy: h, Warnings: []string{},
		Fit: topology.Fit{Family: topology.FamilyTree, R2: 1, Residual: nan, TreeLikeness: nan, Noise: nan},
	}
}

// The layout that scripts rely on; written by hand from the descriptions of both formats.
const (
	wholeHead = `{"format":"topocast/hierarchy","version":2,"n":3,"levels":[{"name":"pair","latency_s":0.000001,"support":1,` +
		`"groups":[[0,1]],"group_latency_s":[0.000001],"group_support":[1]}],"root_latency_s":0.000004,"fit":{"family":"tree","r2":1},"warnings":[],`
	wholeLinks = `"switches":["s0"],"links":[{"a":0,"b":3,"latency_s":5e-7},{"a":1,"b":3,"latency_s":5e-7},{"a":2,"b":3,"latency_s":0.0000035}]}}` + "\n"
	unnamed    = wholeHead + `"graph":{"format":"topocast/graph","version":2,"hosts":["h0","h1","h2"],` + wholeLinks
	withNames  = wholeHead + `"names":["kiel","bonn","ulm"],"graph":{"format":"topocast/graph","version":2,"hosts":["kiel","bonn","ulm"],` + wholeLinks
)

func TestWriteResultLayout(t *testing.T) {
	r := onePair(t)
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, unnamed}, {[]string{"kiel", "bonn", "ulm"}, withNames}} {
		var b bytes.Buffer
		if err := WriteResult(&b, r, c.names); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != c.want {
			t.Errorf("WriteResult wrote\n%swant\n%s", got, c.want)
		}
		back, names, err := ReadResult(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("names are %q, want %q", names, c.names)
		}
		want := r.Graph
		if c.names != nil {
			if want, err = r.Graph.WithHostNames(c.names); err != nil {
				t.Fatal(err)
			}
		}
		checkSameGraph(t, back.Graph, want)
		var again bytes.Buffer
		if err := WriteResult(&again, back, names); err != nil || again.String() != c.want {
			t.Errorf("written again: %v\n%swant\n%s", err, again.String(), c.want)
		}
		// ReadHierarchy takes it, too.
		if h, err := ReadHierarchy(strings.NewReader(c.want)); err != nil || h.Graph == nil || len(h.Hierarchy.Groups()) != 2 {
			t.Errorf("ReadHierarchy = %+v, %v", h, err)
		}
	}
}

func TestWriteResultRefuses(t *testing.T) {
	r := onePair(t)
	other, bare := *r, *r
	other.Graph, bare.Graph = smallGraph(t), nil
	for _, c := range []struct {
		name  string
		r     *topology.Result
		names []string
		want  string
	}{
		{"no graph", &bare, nil, "want a graph of the hierarchy's 3 hosts"},
		{"a graph of others", &other, nil, "want a graph of the hierarchy's 3 hosts"},
		{"too few names", r, []string{"kiel"}, "1 name for 3 hosts"},
	} {
		var b bytes.Buffer
		if err := WriteResult(&b, c.r, c.names); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("%s: WriteResult = %v after %d bytes, want an error with %q", c.name, err, b.Len(), c.want)
		}
	}
}

func TestReadResultRefuses(t *testing.T) {
	change := func(old, with string) string { return strings.Replace(withNames, old, with, 1) }
	for _, c := range []struct{ name, file, want string }{
		{"version 1 with a graph", change(`"version":2`, `"version":1`), "version 1 has no graph"},
		{"a later version", change(`"version":2`, `"version":3`), "version is 3, this program reads 1 to 2"},
		{"too few names", change(`"names":["kiel",`, `"names":[`), "2 names of 3 hosts"},
		{"no graph", wholeHead + `"names":["kiel","bonn","ulm"]}`, "no content"},
		{"a graph of a later version", change(`"topocast/graph","version":2`, `"topocast/graph","version":9`), "version is 9"},
		{"a graph of more hosts", change(`"hosts":["kiel",`, `"hosts":["köln","kiel",`), "4 hosts in the graph, 3 in the hierarchy"},
		{"a graph that is none", change(`"links":[{"a":0`, `"links":[{"a":7`), "7"},
	} {
		if _, _, err := ReadResult(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ReadResult = %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func FuzzReadResult(f *testing.F) {
	f.Add([]byte(unnamed))
	f.Add([]byte(withNames))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, names, err := ReadResult(bytes.NewReader(file))
		if err != nil || r.Graph == nil {
			return
		}
		var first, second bytes.Buffer
		if err := WriteResult(&first, r, names); err != nil {
			t.Fatal(err)
		}
		again, same, err := ReadResult(bytes.NewReader(first.Bytes()))
		if err != nil || !slices.Equal(names, same) {
			t.Fatalf("our own file is refused: %v, or its names are %q, want %q", err, same, names)
		}
		if err := WriteResult(&second, again, same); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("written again: %s, want %s", second.String(), first.String())
		}
	})
}

// Topologies by message length are written as the description says, and read again; those of other hosts,
// of sizes that do not grow, and without their latencies are refused.
func TestResultsKeepMessageLengths(t *testing.T) {
	r := onePair(t)
	r.Local = []topology.LocalTopology{
		{Bytes: 8, Arcs: []topology.Arc{{From: 0, To: 1, Latency: 1e-6, Bandwidth: nan, Probability: 1}, {From: 1, To: 2, Latency: nan, Bandwidth: nan, Probability: 1}}},
		{Bytes: 1024, Absent: []topology.Arc{{From: 0, To: 1, Latency: 3e-6, Bandwidth: nan, Probability: 1}}},
	}
	const layout = `"by_size":[{"bytes":8,"arcs":[[0,1],[1,2]],"latency_s":[0.000001,null]},` +
		`{"bytes":1024,"arcs":[],"latency_s":[],"absent":[[0,1]],"absent_latency_s":[0.000003]}]`
	var b, again bytes.Buffer
	if err := WriteResult(&b, r, nil); err != nil || !strings.Contains(b.String(), layout) {
		t.Fatalf("%v: wrote %s, want %s in it", err, b.String(), layout)
	}
	text := b.String()
	back, _, err := ReadResult(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteResult(&again, back, nil); err != nil || again.String() != text {
		t.Errorf("written again: %v\n%swant\n%s", err, again.String(), text)
	}
	for _, c := range [][2]string{{"[1,2]", "[1,3]"}, {"[1,2]", "[1,1]"}, {"[1,2]", "[-1,2]"}, {`"bytes":1024`, `"bytes":8`}, {"0.000001,null", "0.000001"}, {"0.000001,null", "-1,null"}, {`"absent":[[0,1]]`, `"absent":[[0,9]]`}, {"[0.000003]", "[]"}} {
		if _, _, err := ReadResult(strings.NewReader(strings.Replace(text, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), "by_size") {
			t.Errorf("%s in place of %s: %v, want an error that names by_size", c[1], c[0], err)
		}
	}
}
