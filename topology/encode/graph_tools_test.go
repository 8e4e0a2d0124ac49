package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
)

// budget is what a tool gets for a file of a few hundred links.
const budget = 2 * time.Minute

// Graphviz draws each vertex and each edge of what we write.
func TestToolsDOT(t *testing.T) {
	tooltest.Need(t, "dot")
	for name, g := range smallGraphs(t) {
		var b bytes.Buffer
		if err := WriteDOT(&b, g); err != nil {
			t.Fatal(err)
		}
		var drawn struct {
			Objects []struct{ Label, Kind string }
			Edges   []struct{ Label, Latency, Bandwidth string }
		}
		if err := json.Unmarshal([]byte(tooltest.Run(t, budget, b.String(), "dot", "-Tjson")), &drawn); err != nil {
			t.Fatal(err)
		}
		if len(drawn.Objects) != g.Vertices() || len(drawn.Edges) != len(edgesOf(g)) {
			t.Errorf("%s: dot has %d vertices and %d edges, want %d and %d", name, len(drawn.Objects), len(drawn.Edges), g.Vertices(), len(edgesOf(g)))
		}
		for v, o := range drawn.Objects {
			if got := dotLabel(o.Label, ""); got != g.Name(v) || o.Kind != string(kindOf(g, v)) {
				t.Errorf("%s: dot has the %s %q, want the %s %q", name, o.Kind, got, kindOf(g, v), g.Name(v))
			}
		}
		if svg := tooltest.Run(t, budget, b.String(), "dot", "-Tsvg"); strings.Count(svg, `class="node"`) != g.Vertices() {
			t.Errorf("%s: not all of %d vertices are drawn in\n%s", name, g.Vertices(), svg)
		}
	}
}

// networkx reads what we write, and we read what it writes of it.
func TestToolsGraphML(t *testing.T) {
	const python = "/usr/bin/python3" // the system's, to which its packages belong
	tooltest.Need(t, python)
	const script = `
import sys, networkx as nx
for name in sys.argv[1:]:
    g = nx.read_graphml(name)
    for v, d in g.nodes(data=True): print(name, "vertex", d["label"], d["kind"], sep="\t")
    for u, v, d in g.edges(data=True): print(name, u, v, d.get("latency_s", "nan"), d.get("bandwidth_Bps", "nan"), d.get("probability", 1.0), d.get("estimated", False), sep="\t")
    nx.write_graphml(g, name + ".theirs")`
	graphs, folder := smallGraphs(t), t.TempDir()
	args := []string{"-c", script}
	for name, g := range graphs {
		var b bytes.Buffer
		if err := WriteGraphML(&b, g); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	seen := map[string][]string{} // by graph
	for line := range strings.Lines(tooltest.Run(t, budget, "", python, args...)) {
		file, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		seen[filepath.Base(file)] = append(seen[filepath.Base(file)], rest)
	}
	for name, g := range graphs {
		var want []string
		for v := range g.Vertices() {
			want = append(want, fmt.Sprintf("vertex\t%s\t%s", g.Name(v), kindOf(g, v)))
		}
		if got := seen[name]; !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: networkx has vertices %q, want %q", name, got[:len(want)], want)
		}
		edges := seen[name][len(want):]
		for _, edge := range edges {
			f := strings.Split(edge, "\t")
			u, _ := strconv.Atoi(f[0][1:])
			v, _ := strconv.Atoi(f[1][1:])
			a := g.Arcs()[max(0, g.ArcIndex(u, v))]
			same := func(text string, x float64) bool {
				got, err := strconv.ParseFloat(text, 64)
				return err == nil && (got == x || math.IsNaN(got) && math.IsNaN(x))
			}
			if a.From != u || a.To != v || !same(f[2], a.Latency) || !same(f[3], a.Bandwidth) || !same(f[4], a.Probability) || f[5] == "True" != a.Estimated {
				t.Errorf("%s: networkx has %q, want %+v", name, edge, a)
			}
		}
		if len(edges) != len(edgesOf(g)) && len(edges) != g.NumArcs() {
			t.Errorf("%s: networkx has %d edges, want %d", name, len(edges), len(edgesOf(g)))
		}
		file, err := os.Open(filepath.Join(folder, name+".theirs"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if again, _, err := ReadGraphML(file, nil); err != nil || lines(again) != lines(g) {
			t.Errorf("%s: of networkx %v, %v", name, again, err)
		}
	}
}

// SimGrid loads what we write, its routes have the latencies and least bandwidths of the shortest
// paths, and a message that it simulates takes as long as both say.
//
// A whole machine becomes a platform whose size grows with its links.
func TestToolsSimGrid(t *testing.T) {
	tooltest.Need(t, "g++")
	program := filepath.Join(t.TempDir(), "latencies")
	tooltest.Run(t, 5*time.Minute, "", "g++", "-o", program, "testdata/latencies.cpp", "-lsimgrid")
	for name, g := range simGridGraphs(t) {
		if name == "no links" || name == "one host" {
			continue // there are no routes
		}
		checkSimGrid(t, program, name, g, 1)
	}
	data, ok := published.Beside()
	if !ok {
		t.Skip("the wirings of whole machines may not enter the repository, and are not beside it; the others were checked")
	}
	g := wiredGraph(t, wiredMachine(t, filepath.Join(data, "wirings", "leonardo.json")))
	checkSimGrid(t, program, "leonardo", g, 400)
}

// SimGrid's routes in clusters with a topology are as long as the shortest paths of what we read, and as fast.
func TestToolsSimGridClusters(t *testing.T) {
	tooltest.Need(t, "g++")
	program := filepath.Join(t.TempDir(), "latencies")
	tooltest.Run(t, 5*time.Minute, "", "g++", "-o", program, "testdata/latencies.cpp", "-lsimgrid")
	for _, c := range [][3]string{ // the first two are SimGrid's examples
		{"FAT_TREE", "2;4,4;1,2;1,2", "0-15"},
		{"TORUS", "3,2,2", "0-11"},
		{"FAT_TREE", "3;2,3,2;1,2,3;1,2,1", "0-11"},
		{"TORUS", "5,4", "0-19"},
		// SimGrid 3.32 takes detours over the first chassis of a group: with one chassis there are none.
		{"DRAGONFLY", "4,1;1,1;4,1;2", "0-31"},
	} {
		file := simGridCluster(c[0], c[1], c[2])
		g, _, err := ReadSimGrid(strings.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		compareSimGrid(t, program, fmt.Sprint(c), file, g, 1)
	}
}

// wiredGraph is the graph of a fabric, with other latencies and bandwidths at each height.
func wiredGraph(t *testing.T, f *Fabric) *topology.Graph {
	t.Helper()
	hosts, names, switches := f.Hosts(), f.Hosts(), 0
	number := map[string]int{}
	for i, name := range hosts {
		number[name] = i
	}
	of := map[*FabricSwitch]int{}
	var arcs []topology.Arc
	f.walk(func(s *FabricSwitch, above []*FabricSwitch) {
		of[s] = len(hosts) + switches
		names = append(names, s.Name)
		switches++
		for _, h := range s.Hosts {
			arcs = topology.AppendLink(arcs, number[h], of[s], 0.55e-6, 12.5e9)
		}
	})
	f.walk(func(s *FabricSwitch, above []*FabricSwitch) {
		for _, below := range s.Switches {
			arcs = topology.AppendLink(arcs, of[below], of[s], 0.25e-6*float64(1+len(above)), 100e9)
		}
	})
	g, err := topology.NewGraph(len(hosts), switches, names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkSimGrid compares the platform that we write of a graph with the graph.
func checkSimGrid(t *testing.T, program, name string, g *topology.Graph, step int) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSimGrid(&b, g, topology.ChooseLowest); err != nil {
		t.Fatal(err)
	}
	if most := 400 * g.NumArcs() / 2; g.IsForest() && b.Len() > most {
		t.Errorf("%s: %d bytes for %d links, want at most %d", name, b.Len(), g.NumArcs()/2, most)
	}
	compareSimGrid(t, program, name, b.String(), g, step)
}

// compareSimGrid compares a platform's routes between every so many-th host with the graph's.
func compareSimGrid(t *testing.T, program, name, platform string, g *topology.Graph, step int) {
	t.Helper()
	const bytesSent = 1e6
	file := filepath.Join(t.TempDir(), "platform.xml")
	if err := os.WriteFile(file, []byte(platform), 0o600); err != nil {
		t.Fatal(err)
	}
	routes, err := topology.NewRoutes(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	host := map[string]int{}
	for v := range g.Hosts() {
		host[g.Name(v)] = v
		host[fmt.Sprintf("%s:%d", g.Name(v), v)] = v
	}
	// The model that takes latencies and bandwidths as they are.
	out := tooltest.Run(t, budget, "", program, file, strconv.Itoa(bytesSent), strconv.Itoa(step),
		"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0", "--log=root.thresh:warning")
	pairs := 0
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		arcs, err := routes.AppendRoute(nil, host[f[0]], host[f[1]])
		if err != nil {
			t.Fatal(err)
		}
		latency, bandwidth := 0.0, math.Inf(1)
		for _, i := range arcs {
			latency += g.Arcs()[i].Latency
			bandwidth = min(bandwidth, g.Arcs()[i].Bandwidth)
		}
		got, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if f[3] == "sent" {
			if want := latency + bytesSent/bandwidth; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: a message from %s to %s takes %g s, want %g", name, f[0], f[1], got, want)
			}
			continue
		}
		least, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if pairs++; math.Abs(got-latency) > 1e-9*latency || least != bandwidth {
			t.Errorf("%s: from %s to %s %g s, %g B/s; want %g, %g", name, f[0], f[1], got, least, latency, bandwidth)
		}
	}
	if seen := (g.Hosts() + step - 1) / step; pairs != seen*(seen-1) {
		t.Errorf("%s: %d pairs, want %d", name, pairs, seen*(seen-1))
	}
}
