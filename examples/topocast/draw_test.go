package main

import (
	"bytes"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// TestDraw: every picture of every file that it may be made of, as SVG and, by the name's end, as PNG.
func TestDraw(t *testing.T) {
	t.Chdir(t.TempDir())
	const cluster = "tree:2x4 latency=10us,2us rate=10Gbps"
	for _, args := range [][]string{
		{"measure", "--sim", cluster, "--sizes", "8,4Ki,64Ki", "--csv", "latencies.csv", "-o", "readings.json"},
		{"reconstruct", "-o", "network.json", "readings.json"},
		{"export", "--format", "dot", "-o", "network.dot", "network.json"},
		{"bcast", "--sim", cluster, "network.json", "--sizes", "8,4Ki", "--repetitions", "6", "--csv", "times.csv", "--only", "ours,binomial"},
	} {
		if status, _, stderr := topocast(args...); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, stderr)
		}
	}
	for _, c := range []struct{ what, file, want string }{
		{"heatmap", "network.json", "order is that of the groups"},
		{"heatmap", "readings.json", "order is that of the groups"},
		{"heatmap", "latencies.csv", "Latencies, measured"},
		{"histogram", "readings.json", "level 1"},
		{"dendrogram", "network.json", "level 1"},
		{"dendrogram", "latencies.csv", "level 1"},
		{"bandwidth", "network.json", "one message between ranks of each level"},
		{"bandwidth", "readings.json", "quartiles"},
		{"broadcasts", "times.csv", "binomial"},
		{"layout", "network.json", "8 hosts (dots), 2 switches (squares)."},
		{"layout", "network.dot", "8 hosts (dots), 2 switches (squares)."},
	} {
		if status, _, stderr := topocast("plot", c.what, "-o", "x.svg", c.file); status != 0 {
			t.Errorf("%s of %s: status %d: %s", c.what, c.file, status, stderr)
			continue
		}
		if svg, err := os.ReadFile("x.svg"); err != nil || !strings.Contains(string(svg), c.want) {
			t.Errorf("%s of %s does not say %q (%v)", c.what, c.file, c.want, err)
		}
	}
	if status, _, stderr := topocast("plot", "dendrogram", "-o", "x.png", "network.json"); status != 0 {
		t.Fatal(stderr)
	}
	if data, err := os.ReadFile("x.png"); err != nil {
		t.Error(err)
	} else if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pie", "network.json"}, `KIND "pie": want heatmap`},
		{[]string{"layout"}, "want FILE"},
		{nil, "want KIND, heatmap"},
		{[]string{"layout", "-o", "x.gif", "network.json"}, ".svg or .png"},
		{[]string{"bandwidth", "latencies.csv"}, "one size only"},
		{[]string{"broadcasts", "network.json"}, "topocast bcast --json"},
		{[]string{"broadcasts", "latencies.csv"}, `no column "ranks"`},
		{[]string{"broadcasts", write(t, "casts.csv", "ranks,bytes,variant,median_s,median_low_s,median_high_s,bound_s\n4,,tree,1e-5,,,\n")}, `line 2: bytes is ""`},
		{[]string{"layout", "--order", "file", "network.json"}, "--order: only of a heatmap"},
		{[]string{"heatmap", "--percentile", "0", "network.json"}, "--percentile 0"},
		{[]string{"layout", "--unit", "us", "network.json"}, "--unit"},
		{[]string{"heatmap", "--probability", "0.5", "network.json"}, "--probability: only of a layout"},
		{[]string{"layout", "--probability", "2", "network.json"}, "--probability 2: want in [0, 1]"},
		{[]string{"layout", "no-such-file"}, "no-such-file"},
	} {
		if status, _, stderr := topocast(append([]string{"plot"}, c.args...)...); status != cli.StatusInput || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("draw %q: status %d, %q, want %d and one line with %q", c.args, status, stderr, cli.StatusInput, c.want)
		}
	}
}

// TestDrawLikelyLinks: of three hosts in a row, whose second link is found with a third of the message lengths, a layout of
// links of at least a half has one link fewer.
func TestDrawLikelyLinks(t *testing.T) {
	arcs := topology.AppendLink(topology.AppendLink(nil, 0, 1, 1e-6, 1e9), 1, 2, 1e-6, 1e9)
	arcs[2].Probability, arcs[3].Probability = 1./3, 1./3
	g, err := topology.NewGraph(3, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.FromGraph(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	var lines [2]int
	for k, least := range []float64{0, 0.5} {
		f, err := drawLayout(&drawSource{network: n, graph: n.Graph(), probability: least})
		if err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := f.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		lines[k] = bytes.Count(svg.Bytes(), []byte("<path"))
	}
	if lines[0] != lines[1]+1 {
		t.Errorf("%d and %d lines are drawn, want one fewer", lines[0], lines[1])
	}
}
