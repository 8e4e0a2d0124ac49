package netlab

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

func TestDecodeClusterRefusesNamingTheField(t *testing.T) {
	const wired = `"hosts":["a","b"],"switches":["s"],"links":[{"from":"a","to":"s","latency_s":1e-4,"rate_Bps":1e7},`
	tests := []struct{ name, fields, want string }{
		{"nothing", ``, "spec, graph, hosts: want exactly one"},
		{"two wirings", `"spec":"star:4","hosts":["a"]`, "spec, graph, hosts: want exactly one"},
		{"an unknown field", `"spec":"star:4","colour":"red"`, "colour"},
		{"a bad spec", `"spec":"star:x"`, "spec: "},
		{"a spec of cores", `"spec":"core:2 host:4"`, "spec: has levels inside the host"},
		{"no graph file", `"graph":"nowhere.json"`, "graph: "},
		{"an unknown host", wired + `{"from":"c","to":"s","latency_s":1e-4,"rate_Bps":1e7}]`, `links[1].from: unknown host or switch "c"`},
		{"an unknown switch", wired + `{"from":"b","to":"x","latency_s":1e-4,"rate_Bps":1e7}]`, `links[1].to: unknown host or switch "x"`},
		{"a rate of zero", wired + `{"from":"b","to":"s","latency_s":1e-4,"rate_Bps":0}]`, "links[1].rate_Bps: 0"},
		{"a negative delay", wired + `{"from":"b","to":"s","latency_s":-1e-4,"rate_Bps":1e7}]`, "links[1].latency_s: -0.0001"},
		{"a missing rate", wired + `{"from":"b","to":"s","latency_s":1e-4}]`, "links[1].latency_s, rate_Bps: want both"},
		{"a loop", wired + `{"from":"b","to":"b","latency_s":1e-4,"rate_Bps":1e7}]`, `links[1].to: "b"`},
		{"a link given twice", wired + `{"from":"a","to":"s","latency_s":1e-4,"rate_Bps":1e7}]`, "links[1]: a to s given twice"},
		{"a name given twice", `"hosts":["a","a"]`, `hosts, switches: name "a" given twice`},
		{"disconnected hosts", strings.TrimSuffix(wired, ",") + "]", "links: disconnected: no way from a to b"},
		{"one host", `"hosts":["a"]`, "hosts: 1 of them"},
		{"a host that is no host name", `"hosts":["a b","c"]`, `hosts: name "a b"`},
		{"a host called control", `"hosts":["control","c"]`, `hosts: name "control"`},
		{"a cycle", `"spec":"ring:4 hosts=1"`, `make a cycle: want a tree, or "cycles": true`},
		{"a change of no link", `"spec":"star:4","links":[{"from":"h0","to":"h1","rate_Bps":1e7}]`, "links[0]: there is no link from h0 to h1"},
		{"a link of no rate in the graph", `"graph":"norate.json"`, "rate_Bps: NaN"},
		{"no ranks", `"spec":"star:4","ranks_per_host":0`, "ranks_per_host: 0"},
		{"a tiny mtu", `"spec":"star:4","mtu":68`, "mtu: 68"},
		{"an unknown discipline", `"spec":"star:4","queues":{"nic":{"discipline":"lifo"}}`, "queues.nic.discipline"},
		{"an unknown depth", `"spec":"star:4","queues":{"switch":{"depth":"bottomless"}}`, "queues.switch.depth"},
		{"a queue of no frame", `"spec":"star:4","queues":{"switch":{"bytes":9000}}`, "queues.switch.bytes: 9000"},
		{"a negative mark", `"spec":"star:4","queues":{"switch":{"ecn_bytes":-1}}`, "queues.switch.ecn_bytes: -1"},
		{"negative jitter", `"spec":"star:4","jitter":{"mean_s":-1}`, "jitter.mean_s: -1"},
		{"an impossible probability", `"spec":"star:4","jitter":{"outlier_probability":2}`, "jitter.outlier_probability: 2"},
		{"an endless outlier", `"spec":"star:4","jitter":{"outlier_s":1e9}`, "jitter.outlier_s"},
		{"unknown switching", `"spec":"star:4","switching":"telephone"`, "switching"},
		{"unknown routing", `"spec":"star:4","routing":"scenic"`, "routing"},
		{"a name with a slash", `"spec":"star:4","name":"../etc"`, `name: "../etc"`},
	}
	dir := t.TempDir()
	g, err := topology.NewGraph(2, 0, nil, []topology.Arc{{From: 0, To: 1, Latency: 1e-4, Bandwidth: math.NaN(), Probability: 1}, {From: 1, To: 0, Latency: 1e-4, Bandwidth: 1e7, Probability: 1}})
	if err != nil {
		t.Fatal(err)
	}
	writeGraph(t, filepath.Join(dir, "norate.json"), g)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields := `{"format":"topocast/netlab","version":1`
			if tt.fields != "" {
				fields += "," + tt.fields
			}
			_, err := DecodeCluster(strings.NewReader(fields+"}"), dir, "test")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("DecodeCluster(%s) = %v, want an error with %q", tt.fields, err, tt.want)
			}
		})
	}
	for _, text := range []string{"", "{}", `{"format":"topocast/netlab","version":2,"spec":"star:4"}`, `{"format":"topocast/netlab","version":1,"spec":"star:4"} {}`} {
		if _, err := DecodeCluster(strings.NewReader(text), dir, "test"); err == nil {
			t.Errorf("DecodeCluster(%s) = nil error", text)
		}
	}
}

func writeGraph(t *testing.T, path string, g *topology.Graph) {
	t.Helper()
	var b bytes.Buffer
	if err := encode.WriteGraph(&b, g); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLinksOfASpecCanBeChangedOneByOne(t *testing.T) {
	// The second entry is a direction of its own; the first holds for both.
	c := cluster(t, `"spec":"star:3 latency=100us rate=10MBps","links":[
		{"from":"h0","to":"s0","latency_s":3e-4},
		{"from":"s0","to":"h2","rate_Bps":5e6},
		{"from":"h2","to":"s0","rate_Bps":6e6}]`)
	want := []topology.Arc{
		{From: 0, To: 3, Latency: 3e-4, Bandwidth: 1e7, Probability: 1},
		{From: 1, To: 3, Latency: 1e-4, Bandwidth: 1e7, Probability: 1},
		{From: 2, To: 3, Latency: 1e-4, Bandwidth: 6e6, Probability: 1},
		{From: 3, To: 0, Latency: 3e-4, Bandwidth: 1e7, Probability: 1},
		{From: 3, To: 1, Latency: 1e-4, Bandwidth: 1e7, Probability: 1},
		{From: 3, To: 2, Latency: 1e-4, Bandwidth: 5e6, Probability: 1},
	}
	if !slices.Equal(c.Graph.Arcs(), want) {
		t.Errorf("arcs = %v\nwant %v", c.Graph.Arcs(), want)
	}
}

func TestClusterFilesSayTheSameWiringInThreeWays(t *testing.T) {
	dir := t.TempDir()
	spec := cluster(t, `"spec":"tree:2x2 latency=200us,50us rate=100Mbps,200Mbps"`)
	writeGraph(t, filepath.Join(dir, "graph.json"), spec.Graph)
	path := filepath.Join(dir, "two-racks.json")
	if err := os.WriteFile(path, []byte(`{"format":"topocast/netlab","version":1,"graph":"graph.json"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadCluster(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "two-racks" {
		t.Errorf("name = %q, want that of the file", c.Name)
	}
	if !slices.Equal(c.Graph.Arcs(), spec.Graph.Arcs()) {
		t.Errorf("arcs of the graph file = %v\nwant %v", c.Graph.Arcs(), spec.Graph.Arcs())
	}
}

func TestEncodedClustersReadBack(t *testing.T) {
	for _, fields := range []string{
		`"spec":"tree:[2,5,5] latency=200us,50us rate=100Mbps,200Mbps","ranks_per_host":3,"mtu":1500,"switching":"store-and-forward"`,
		`"spec":"fattree:2,2 routing=ecmp","cycles":true,"queues":{"nic":{"discipline":"fifo","depth":"deep"},"switch":{"bytes":99999,"ecn_bytes":0},"back_pressure":false}`,
		`"name":"n","spec":"star:3","jitter":{"seed":7,"mean_s":1e-5,"outlier_probability":0.5,"outlier_s":0.25}`,
	} {
		c := cluster(t, fields)
		checkReadsBack(t, c)
	}
}

// checkReadsBack encodes and decodes c, and compares.
func checkReadsBack(t *testing.T, c *Cluster) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Encode(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	again, err := DecodeCluster(&b, "", "")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !slices.Equal(c.Graph.Arcs(), again.Graph.Arcs()) || c.Graph.Hosts() != again.Graph.Hosts() {
		t.Errorf("arcs = %v\nwant %v", again.Graph.Arcs(), c.Graph.Arcs())
	}
	for v := range c.Graph.Vertices() {
		if c.Graph.Name(v) != again.Graph.Name(v) {
			t.Errorf("vertex %d is called %q, want %q", v, again.Graph.Name(v), c.Graph.Name(v))
		}
	}
	x, y := *c, *again
	x.Graph, y.Graph = nil, nil
	if x != y {
		t.Errorf("Encode and DecodeCluster = %+v, want %+v", y, x)
	}
}

func FuzzDecodeCluster(f *testing.F) {
	f.Add(`{"format":"topocast/netlab","version":1,"spec":"star:4"}`)
	f.Add(`{"format":"topocast/netlab","version":1,"spec":"ring:4 hosts=1","cycles":true,"jitter":{"seed":1,"mean_s":1e-6}}`)
	f.Add(`{"format":"topocast/netlab","version":1,"hosts":["a","b"],"links":[{"from":"a","to":"b","latency_s":0,"rate_Bps":1e6}]}`)
	f.Add(`{"format":"topocast/netlab","version":1,"spec":"tree:2x2","links":[{"from":"h0","to":"s1","rate_Bps":1e6}],"queues":{"nic":{"depth":"deep"}}}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := DecodeCluster(strings.NewReader(text), dir, "fuzz")
		if err != nil {
			return
		}
		checkReadsBack(t, c)
		if _, err := newEngine(c); err != nil {
			t.Errorf("no network of a cluster that was accepted: %v", err)
		}
	})
}
