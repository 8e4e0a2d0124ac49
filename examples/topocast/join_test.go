package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestJoinMeasuredModels: of three nodes of two sockets of four cores, the nodes are measured by one rank on
// each, and one node with a rank on its neighbour, as Bufe 2014 does in section 2.7: the two networks joined
// have the groups of the machine, and every two cores are as far apart as in it.
func TestJoinMeasuredModels(t *testing.T) {
	const machine, overhead = "core:4 socket:2 host:3 latency=50us,300ns,200ns", 2 * 300e-9 // of the software at both ends
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"measure", "--sim", machine, "--ranks", "3", "--placement", "cyclic", "-o", at("b.json")},
		{"measure", "--sim", machine, "--ranks", "9", "--placement", "block", "-o", at("i.json")},
		{"reconstruct", "-o", at("between.json"), at("b.json")},
		{"reconstruct", "-o", at("inside.json"), at("i.json")},
		{"network", "join", "-o", at("joined.json"), at("between.json"), at("inside.json")},
	} {
		if status, _, stderr := topocast(args...); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, stderr)
		}
	}
	n, err := cli.LoadNetwork(nil, at("joined.json"))
	if err != nil {
		t.Fatal(err)
	}
	truth, err := simnet.ParseCluster(machine)
	if err != nil {
		t.Fatal(err)
	}
	if n.Ranks() != 24 || n.Location(23).Host != "n2" || n.Location(23).Core != 7 {
		t.Fatalf("%d ranks, the last on %+v: want 24, core 7 of n2", n.Ranks(), n.Location(n.Ranks()-1))
	}
	var groups []string
	for _, g := range n.Hierarchy().Groups() {
		groups = append(groups, fmt.Sprint(g.Hosts))
	}
	for _, g := range truth.Hierarchy.Groups() {
		if !slices.Contains(groups, fmt.Sprint(g.Hosts)) {
			t.Errorf("no group %v", g.Hosts)
		}
	}
	if want := len(truth.Hierarchy.Groups()); len(groups) != want {
		t.Errorf("%d groups, want %d", len(groups), want)
	}
	got, want := n.Graph().HostDistances(), truth.Graph.HostDistances()
	for i := range want {
		if apart := want[i] + overhead; want[i] > 0 && math.Abs(got[i]-apart) > 0.03*apart {
			t.Fatalf("ranks %d and %d are %g s apart, want %g", i/24, i%24, got[i], apart)
		}
	}

	// One network of the inside for each node, and which core measured, by number.
	inside := at("inside.json")
	status, out, stderr := topocast("network", "join", "--core", "4", "--external", "8", at("between.json"), inside, inside, inside)
	if status != 0 || !strings.HasPrefix(out, "24 ranks") || !strings.Contains(out, "warning: between nodes: ") {
		t.Errorf("status %d: %s\n%s", status, stderr, out)
	}
}

// TestJoinForeignGraphs: two nodes as graphs of other tools. Without a rank outside, a node's own vertex is put on
// its switch: 1 us to each core, and of the 20 us between the nodes 18 are left.
func TestJoinForeignGraphs(t *testing.T) {
	between := write(t, "b.tgf", "0 left (host)\n1 right (host)\n#\n0 1 l: 20\n")
	inside := write(t, "i.tgf", "0 a\n1 b\n2 c\n3 hub (switch)\n#\n0 3 l: 1\n1 3 l: 1\n2 3 l: 1\n")
	joined := filepath.Join(t.TempDir(), "joined.json")
	status, out, stderr := topocast("network", "join", "-o", joined, between, inside)
	if status != 0 || !strings.Contains(out, "6 ranks") {
		t.Fatalf("status %d: %s\n%s", status, stderr, out)
	}
	n, err := cli.LoadNetwork(nil, joined)
	if err != nil {
		t.Fatal(err)
	}
	apart := n.Graph().HostDistances()
	if math.Abs(apart[1]-2e-6) > 1e-12 || math.Abs(apart[3]-20e-6) > 1e-12 || n.Location(3).Host != "right" {
		t.Errorf("cores are %g s apart, nodes %g; rank 3 is on %s: want 2e-6, 2e-5, right", apart[1], apart[3], n.Location(3).Host)
	}
	if status, _, stderr := topocast("network", "join", "--json", between, inside); status != 0 {
		t.Errorf("--json: status %d: %s", status, stderr)
	}
}

func TestJoinWrongInput(t *testing.T) {
	between := write(t, "b.tgf", "0 left (host)\n1 right (host)\n#\n0 1 l: 20\n")
	inside := write(t, "i.tgf", "0 a\n1 b\n2 c\n3 hub (switch)\n#\n0 3 l: 1\n1 3 l: 1\n2 3 l: 1\n")
	unknown := write(t, "u.tgf", "0 a\n1 b\n2 c\n3 hub (switch)\n#\n0 3 l: 1\n1 3\n2 3 l: 1\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{between, inside, inside, inside}, "3 networks of insides: want one, or one for each of 2 nodes"},
		{[]string{between, unknown}, "link b - hub: its latency is not known"},
		{[]string{between, inside, "--external", "3"}, `i.tgf: "3": want one of a, b, c, or the number of a rank, in [0, 3)`},
		{[]string{between, inside, "--core", "d"}, `--core: `},
		{[]string{between, inside, "--core", "a", "--external", "0"}, "is the external rank"},
		{[]string{between, inside, "--json", "-o", "-"}, "both are standard output"},
		{[]string{between, write(t, "m.csv", twoPairs)}, "no network"},
		{[]string{between}, "want INSIDE"},
	} {
		status, out, stderr := topocast(append([]string{"network", "join"}, c.args...)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("join %v: status %d, %q, %q: want %d and %q", c.args, status, out, stderr, cli.StatusInput, c.want)
		}
	}
}
