package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	network := discovered(t, "--sim", "tree:3x4 latency=10us,2us")
	measurements := write(t, "m.csv", "# unit: us\n"+strings.Repeat(strings.Repeat("7,", 11)+"7\n", 12))
	page := filepath.Join(t.TempDir(), "report.html")
	for _, c := range []struct {
		flags []string
		want  []string
	}{
		{nil, []string{"<h1>Network of 12 hosts</h1>", "<td>level 1 (switch)</td><td>3</td><td>4</td>", "as the network predicts them", "<dt>file</dt><dd>network.json</dd>"}},
		{[]string{"--measurements", measurements}, []string{"as measured", "<dt>file</dt><dd>m.csv</dd>"}},
		{[]string{"--against", racks(t, "aaabbbbbcccc", true)}, []string{"compared with spec.json", "<td>host h3</td><td>its latencies are those of a host on the switch of h0-h2", "1 suspect to look at, first host h3"}},
	} {
		status, out, stderr := topocast(append([]string{"report", network, "-o", page}, c.flags...)...)
		if status != 0 || out != "page written to "+page+"\n" || stderr != "" {
			t.Errorf("report %q: status %d, %s%s", c.flags, status, out, stderr)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("report %q: no %q in the page", c.flags, want)
			}
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{network, "-o", filepath.Join(t.TempDir(), "not", "there.html")}, "--output"},
		{[]string{network, "-o", page, "--measurements", write(t, "two.csv", "# unit: us\n0,1\n1,0\n")}, "two.csv: holds 2 ranks, the network 12"},
		{[]string{filepath.Join(t.TempDir(), "none.json"), "-o", page}, "none.json"},
		{[]string{network, "-o", page, "--against", write(t, "other.json", `{"graph":{"hosts":["x"],"switches":[],"links":[]}}`)}, "the two describe different machines"},
	} {
		if status, _, stderr := topocast(append([]string{"report"}, c.args...)...); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("report %q: status %d: %s, want 2 and %q", c.args, status, stderr, c.want)
		}
	}
}

// Of wiring without latencies, as InfiniBand's tools print it, there is a page without groups.
func TestReportOfUnknownLatencies(t *testing.T) {
	fabric := write(t, "fabric.txt", "Switch\t8 \"S-1\"\t# \"sw\"\n[1]\t\"H-2\"[1]\t# \"n1 HCA-1\" lid 1 4xEDR\n[2]\t\"H-3\"[1]\t# \"n2 HCA-1\" lid 2 4xEDR\n")
	page := filepath.Join(t.TempDir(), "report.html")
	if status, out, stderr := topocast("report", fabric, "-o", page); status != 0 || out != "page written to "+page+"\n" {
		t.Errorf("status %d, %q, %q, want a page", status, out, stderr)
	}
}

// A link that is specified with a quarter of what it takes stands out, and the links beside it do not.
func TestReportColoursTheSlowLink(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	file := discovered(t, "--sim", "tree:3x4 latency=10us,2us")
	measured, err := cli.LoadNetwork(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	plan := racks(t, "aaaabbbbcccc", true)
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	faster := strings.Replace(string(text), `{"a":"b","b":"root","latency_us":10}`, `{"a":"b","b":"root","latency_us":2.5}`, 1)
	r, err := reportOf(file, measured)
	if err != nil {
		t.Fatal(err)
	}
	if err := addSpecification(r, file, measured, write(t, "faster.json", faster)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range r.Specification.Links {
		name := r.Specification.Graph.Name(l.U) + "-" + r.Specification.Graph.Name(l.V)
		if times := l.Measured / l.Specified; l.Unused || math.IsNaN(times) || name != "b-root" && times > 1.5 {
			t.Errorf("%s: measured %g, specified %g, unused %v", name, l.Measured, l.Specified, l.Unused)
		} else if times > 3 {
			names = append(names, name)
		}
	}
	if len(r.Specification.Links) != 15 || !slices.Equal(names, []string{"b-root"}) {
		t.Errorf("%d links, of which %v are slow; want 15, and b-root", len(r.Specification.Links), names)
	}
}

// Ranks are named by what tells them apart.
func TestReportNamesRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for spec, want := range map[string]string{
		"tree:2x2": "host h3",
		"core:2 host:2 rack:1 latency=5us,1us,0.2us": "rank",
	} {
		measured, err := cli.LoadNetwork(nil, discovered(t, "--sim", spec))
		if err != nil {
			t.Fatal(err)
		}
		noun, names := rankNames(measured)
		if len(names) != 4 || !strings.HasPrefix(noun+" "+names[3], want) {
			t.Errorf("%s: %s %q, want the last to be %s", spec, noun, names, want)
		}
	}
}

// Rows of a file belong to the network's hosts by their names, in whatever order they are and with or without domains; a file of
// other hosts shows nothing. The expected numbers are those of sixHosts: 1 us in a rack, 9 between racks.
func TestReportMatchesMeasurementsByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "network.json")
	if status, _, stderr := topocast("reconstruct", "--method", "average", "-o", file, write(t, "m.csv", sixHosts)); status != 0 {
		t.Fatal(stderr)
	}
	measured, err := cli.LoadNetwork(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	const turned = "# unit: us\n,h4.x,h1.x,h5.x,h2.x,h6.x,h3.x\n" +
		"h4.x,,9,1,9,1,9\nh1.x,9,,9,1,9,1\nh5.x,1,9,,9,1,9\nh2.x,9,1,9,,9,1\nh6.x,1,9,1,9,,9\nh3.x,9,1,9,1,9,\n"
	r, err := reportOf(file, measured)
	if err == nil {
		err = addMeasurements(r, measured, write(t, "turned.csv", turned))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		for j := range 6 {
			want := 9e-6
			if i/3 == j/3 {
				want = 1e-6
			}
			if got := r.Latencies.At(i, j); i != j && math.Abs(got-want) > 1e-12 {
				t.Errorf("h%d to h%d takes %g s, want %g", i+1, j+1, got, want)
			}
		}
	}
	rows := r.How[len(r.How)-1].Rows
	if want := []string{"hosts", "6 hosts matched without their domains: h4.x is taken for h4"}; !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
		t.Errorf("the page says %q, want %q", rows, want)
	}
	other := strings.ReplaceAll(sixHosts, "h6", "h7")
	if err := addMeasurements(r, measured, write(t, "other.csv", other)); err == nil || !strings.Contains(err.Error(), "measured other hosts than the network has: h6 has 0 rows") {
		t.Errorf("a file of other hosts: %v", err)
	}
}
