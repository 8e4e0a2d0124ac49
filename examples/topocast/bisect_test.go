package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

type cutFile struct {
	Format    string
	Names     []string
	Bisection *struct {
		Bandwidth float64 `json:"bandwidth_Bps"`
		OwnLinks  float64 `json:"own_links_Bps"`
		Exact     bool
		Halves    [2][]int
		Links     []struct{ Ends []string }
	}
	Unknown  string
	Switches []struct {
		Name  string
		Sides [2][]int
	}
}

func cutOf(t *testing.T, want int, args ...string) (c cutFile) {
	t.Helper()
	status, out, stderr := topocast(append([]string{"network", "bisect", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &c); status != want || err != nil {
		t.Fatalf("cut %v: status %d, want %d; %v: %s", args, status, want, err, stderr)
	}
	return c
}

// TestCutMeasuredNetwork: two racks of two hosts of 10 Gbit/s whose uplinks carry 8 Gbit/s, simulated, and their
// links measured: the halves are the racks, with 1 GB/s between them, of the 2.5 GB/s of two hosts.
func TestCutMeasuredNetwork(t *testing.T) {
	wiring := write(t, "wiring.tgf", "0 a\n1 b\n2 c\n3 d\n4 left (switch)\n5 right (switch)\n#\n"+
		"0 4 l: 2 t: 1250\n1 5 l: 2 t: 1250\n2 4 l: 2 t: 1250\n3 5 l: 2 t: 1250\n4 5 l: 5 t: 1000\n")
	dir := t.TempDir()
	network := filepath.Join(dir, "network.json")
	status, _, stderr := topocast("measure", "--sim", wiring, "--what", "throughput", wiring, "--update", network, "-o", filepath.Join(dir, "r.json"))
	if status != 0 {
		t.Fatalf("measure: status %d: %s", status, stderr)
	}
	got := cutOf(t, cli.StatusFine, network)
	b := got.Bisection
	if b == nil || !b.Exact || fmt.Sprint(b.Halves) != "[[0 2] [1 3]]" && fmt.Sprint(b.Halves) != "[[1 3] [0 2]]" || len(b.Links) != 1 {
		t.Fatalf("bisection %+v, want a and c, b and d, one link between them", b)
	}
	if math.Abs(b.Bandwidth-1e9) > 0.05e9 || math.Abs(b.OwnLinks-2.5e9) > 0.1e9 {
		t.Errorf("bisection of %g of %g B/s, want 1e9 of 2.5e9", b.Bandwidth, b.OwnLinks)
	}
	status, out, stderr := topocast("network", "bisect", network)
	for _, want := range []string{"bisection of 2 and 2 ranks", "no halves have less", "left - right", "of what the links", "a,c"} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("status %d: %s: no %q in\n%s", status, stderr, want, out)
		}
	}
}

// TestCutAtASwitch: the figure 2.21 of Bufe 2014, section 2.3.4: behind S1 stand switches of 2, 3, 3, 4 and 6
// nodes, of which it makes (2, 3, 4) and (3, 6). No bandwidth is known, which the sides do not need.
func TestCutAtASwitch(t *testing.T) {
	var graph, links strings.Builder
	host := 0
	for i, size := range []int{2, 3, 3, 4, 6} {
		fmt.Fprintf(&links, "%d 99\n", 100+i)
		for range size {
			fmt.Fprintf(&graph, "%d n%d\n", host, host)
			fmt.Fprintf(&links, "%d %d\n", host, 100+i)
			host++
		}
	}
	graph.WriteString("99 S1 (switch)\n100 S2 (switch)\n101 S3 (switch)\n102 S4 (switch)\n103 S5 (switch)\n104 S6 (switch)\n#\n")
	file := write(t, "figure.tgf", graph.String()+links.String())
	for _, args := range [][]string{{"--switch", "S1", file}, {"--switch", "18", file}} {
		got := cutOf(t, cli.StatusFine, args...)
		if len(got.Switches) != 1 || got.Switches[0].Name != "S1" || len(got.Switches[0].Sides[0]) != 9 || len(got.Switches[0].Sides[1]) != 9 {
			t.Errorf("%v: %+v, want S1 with nine nodes on each side", args, got.Switches)
		}
	}
	got := cutOf(t, cli.StatusUnknown, file)
	if got.Bisection != nil || !strings.Contains(got.Unknown, "46 of 46 directions") || len(got.Switches) != 6 {
		t.Errorf("without bandwidths: %+v", got)
	}
	if status, out, _ := topocast("network", "bisect", file); status != cli.StatusUnknown || !strings.Contains(out, "cannot tell the bisection") || !strings.Contains(out, "9 + 9") {
		t.Errorf("without bandwidths: status %d:\n%s", status, out)
	}
}

// A square of hosts wired to each other: two links of four are between any halves of neighbours.
func TestCutWithoutSwitches(t *testing.T) {
	square := write(t, "square.tgf", "0 a (host)\n1 b (host)\n2 c (host)\n3 d (host)\n#\n0 1 t: 100\n1 2 t: 100\n2 3 t: 100\n3 0 t: 100\n")
	if b := cutOf(t, cli.StatusFine, square).Bisection; b.Bandwidth != 200e6 || !b.Exact || len(b.Links) != 2 {
		t.Errorf("%+v, want 200 MB/s over two links", b)
	}
	if c := cutOf(t, cli.StatusUnknown, write(t, "one.tgf", "0 a (host)\n#\n")); c.Bisection != nil || c.Unknown != "a single rank has no halves" {
		t.Errorf("one rank: %+v", c)
	}
	status, out, stderr := topocast("network", "bisect", "--switch", "s0", square)
	if status != cli.StatusInput || out != "" || !strings.Contains(stderr, `--switch: "s0": the network has 0 switches`) {
		t.Errorf("status %d, %q, %q", status, out, stderr)
	}
}

func TestCutWrongInput(t *testing.T) {
	star := write(t, "star.tgf", "1 a\n2 b\n3 c\n4 hub\n#\n1 4\n2 4\n3 4\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--switch", "s9", star}, `"s9": want one of hub`},
		{[]string{"--switch", "2", star}, "want one of hub"},
		{[]string{write(t, "m.csv", twoPairs)}, "no network"},
		{[]string{filepath.Join(t.TempDir(), "none")}, "no such file"},
		{[]string{""}, "the name of a file is empty"},
		{nil, "want NET, a file that topocast discover writes"},
	} {
		status, out, stderr := topocast(append([]string{"network", "bisect"}, c.args...)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("cut %v: status %d, %q, %q: want %d and %q", c.args, status, out, stderr, cli.StatusInput, c.want)
		}
	}
}
