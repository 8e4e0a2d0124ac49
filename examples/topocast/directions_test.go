package main

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
)

// TestDirectionsOfLinks: one-way times name the slow direction of a link, and reconstruct follows them.
func TestDirectionsOfLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	measured := func(cluster, fault string, args ...string) string {
		status, _, stderr := topocast(append([]string{"measure", "--sim", cluster, "--fault", fault, "-o", "r.json"}, args...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		return stderr
	}
	reconstructed := func(args ...string) string {
		status, out, stderr := topocast(append([]string{"reconstruct", "r.json", "-o", "n.json"}, args...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		return strings.Join(strings.Fields(out), " ") // lines are filled
	}
	const torus, h0h1 = "torus:4x4 latency=1us rate=10Gbps", "direction h0>h1 latency=3x"
	const simplex = "channel 1->0 is simplex: 0->1 takes " // 3 us against 1 us, when the overheads are taken out
	measured(torus, h0h1, "--what", "latency")
	if out := reconstructed("--method", "witness"); strings.Contains(out, simplex) {
		t.Errorf("halved round trips: %s", out)
	}
	if stderr := measured(torus, h0h1, "--what", "latency,oneway"); !strings.Contains(stderr, "slow in one direction: 0 > 1 takes 3.6") {
		t.Errorf("measure says %q", stderr)
	}
	out := reconstructed("--method", "witness")
	_, after, _ := strings.Cut(out, simplex)
	times, _, _ := strings.Cut(after, " times")
	if x, err := strconv.ParseFloat(times, 64); err != nil || math.Abs(x-3) > 0.03 || !strings.Contains(out, "slow in one direction: 0 > 1 takes 3.6") {
		t.Errorf("witness: %s", out)
	}
	if out := reconstructed("--method", "greedy", "--eps", "0.1"); !strings.Contains(out, simplex) {
		t.Errorf("greedy: %s", out)
	}

	const tree, uplink = "tree:4x4 latency=5us,1us rate=10Gbps", "direction s1>s0 latency=3x"
	measured(tree, uplink, "--what", "latency,oneway", "--one-clock")
	if out := reconstructed(); !strings.Contains(out, "link s0 > s1 takes 14.") && !strings.Contains(out, "link s1 > s0 takes 14.") {
		t.Errorf("tree: %s", out)
	}
	n, err := model.Load("n.json")
	if err != nil {
		t.Fatal(err)
	}
	from, to, ok := n.Graph().LinkAbove([]int{0, 1, 2, 3})
	if !ok {
		t.Fatal("no link above the rack")
	}
	arc := func(from, to int) float64 { return n.Graph().Arcs()[n.Graph().ArcIndex(from, to)].Latency }
	if up, down := arc(from, to), arc(to, from); math.Abs(up-15e-6) > 0.5e-6 || math.Abs(down-5e-6) > 0.5e-6 {
		t.Errorf("uplink %g s up, %g s down in the network, want 15 us and 5 us", up, down)
	}
	if _, out, _ := topocast("show", "n.json"); !strings.Contains(out, "warning: slow in one direction: 0-3 > 4-15 takes 22.") {
		t.Errorf("show: %s", out)
	}

	for want, args := range map[string][]string{
		"--repetitions 2: --what oneway wants at least 3":              {"--what", "oneway", "--repetitions", "2"},
		"--one-clock: sets nothing of --what latency: it is of oneway": {"--one-clock"},
	} {
		if status, _, stderr := topocast(append([]string{"measure", "--sim", "star:4"}, args...)...); status != cli.StatusInput || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}
