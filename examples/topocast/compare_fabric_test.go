package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// sixHosts are six hosts in two racks, h1 to h3 and h4 to h6.
const sixHosts = "# unit: us\n,h1,h2,h3,h4,h5,h6\n" +
	"h1,,1,1,9,9,9\nh2,1,,1,9,9,9\nh3,1,1,,9,9,9\nh4,9,9,9,,1,1\nh5,9,9,9,1,,1\nh6,9,9,9,1,1,\n"

// A network against what a scheduler is told of it. Where the hosts are was chosen by hand.
func TestCompareWithSchedulerFiles(t *testing.T) {
	network := filepath.Join(t.TempDir(), "network.json")
	if status, _, stderr := topocast("reconstruct", "--method", "average", "-o", network, write(t, "m.csv", sixHosts)); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		name, file string
		status     int
		want       string
	}{
		{"as measured", "# ours\nSwitchName=a Nodes=h[1-3]\nSwitchName=b Nodes=h[4-6]\nSwitchName=t Switches=a,b\n", cli.StatusFine, "2 as measured, 0 not seen, 0 measured and not in the file\n\nnothing contradicts"},
		{"another host", "SwitchName=a Nodes=h[1-3]\nSwitchName=b Nodes=h[4-5,7]\nSwitchName=t Switches=a,b\n", cli.StatusFine, "5 hosts in both; 1 host of the reference not measured: h7; 1 host that the reference does not know: h6"},
		{"exchanged", "SwitchName=a Nodes=h[1-2,4]\nSwitchName=b Nodes=h[3,5-6]\nSwitchName=t Switches=a,b\n", cli.StatusDifferent, "  host h3: specified with h5,h6, measured with h1,h2\n"},
		{"finer than latencies show", "SwitchName=a Nodes=h[1-2]\nSwitchName=c Nodes=h3\nSwitchName=b Nodes=h[4-6]\nSwitchName=t Switches=a,b,c\n", cli.StatusFine, "1 as measured, 1 not seen, 1 measured and not in the file"},
		{"finer alone", "SwitchName=a Nodes=h[1-2]\nSwitchName=b Nodes=h[5-6]\nSwitchName=c Nodes=h3,h4\nSwitchName=t Switches=a,b,c\n", cli.StatusDifferent, "host h"},
		{"all on one switch", "SwitchName=t Nodes=h[1-6]\n", cli.StatusFine, "0 as measured, 0 not seen, 2 measured and not in the file"},
		{"cut elsewhere", "SwitchName=a Nodes=h[1-2]\nSwitchName=t Switches=a,b\nSwitchName=b Nodes=h[3-6]\n", cli.StatusDifferent, "host h3: specified with h4-h6, measured with h1,h2"},
		{"cannot tell", "SwitchName=a Nodes=h[1-2]\nSwitchName=b Nodes=h3\nSwitchName=c Nodes=h[4-5]\nSwitchName=d Nodes=h6\nSwitchName=t Switches=a,b,c,d\n", cli.StatusUnknown, "cannot tell: no switch of the file shows"},
		{"networks apart", "SwitchName=a Nodes=h[1-3]\nSwitchName=b Nodes=h[4-6]\n", cli.StatusDifferent, "  h1-h6: messages pass between them, and the file has them in networks that are not connected\n"},
		{"YAML", "# c\n---\n- topology: x\n  tree: {switches: [{switch: a, nodes: 'h[1-3]'}, {switch: b, nodes: 'h[4-6]'}, {switch: t, children: 'a,b'}]}\n", cli.StatusFine, "2 as measured"},
		{"blocks", "BlockName=a Nodes=h[1-3]\nBlockName=b Nodes=h[4-6]\nBlockSizes=3\n", cli.StatusFine, "2 as measured"},
		{"topograph", `{"instances": [{"id": "h1", "network_layers": ["a"]}, {"id": "h2", "network_layers": ["a"]}]}`, cli.StatusFine, "2 hosts in both"},
	} {
		file := write(t, "spec", c.file)
		status, out, stderr := topocast("compare", network, file)
		if status != c.status || stderr != "" || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, %s\n%s\nwant %d, %q", c.name, status, stderr, out, c.status, c.want)
		}
		if status, _, stderr := topocast("compare", file, network); status != cli.StatusInput || !strings.Contains(stderr, "is a reference: topocast compare NET ") {
			t.Errorf("%s, in the wrong place: status %d, %s", c.name, status, stderr)
		}
		if status, out, _ := topocast("compare", "--json", network, file); status != c.status || !strings.Contains(out, `"format":"topocast/fabric-comparison"`) {
			t.Errorf("%s in JSON: status %d\n%s", c.name, status, out)
		}
	}
	crossed, err := os.Open(write(t, "spec", "SwitchName=a Nodes=h[1-2,4]\nSwitchName=b Nodes=h[3,5-6]\nSwitchName=t Switches=a,b\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer crossed.Close()
	stdin := os.Stdin
	os.Stdin = crossed
	defer func() { os.Stdin = stdin }()
	if status, out, stderr := topocast("compare", network, "--against", "-"); status != cli.StatusDifferent || !strings.Contains(out, "  host h3: specified with h5,h6, measured with h1,h2\n") {
		t.Errorf("on standard input: status %d, %s%s", status, out, stderr)
	}
	domains := write(t, "spec", "SwitchName=a Nodes=h[1-3].x\nSwitchName=b Nodes=h4.x,h5.x,h6.x\nSwitchName=t Switches=a,b\n")
	if status, out, stderr := topocast("compare", network, domains); status != cli.StatusFine || !strings.Contains(out, "2 as measured") ||
		!strings.Contains(stderr, "6 hosts matched without their domains: h1 is taken for h1.x") {
		t.Errorf("names with domains: status %d, %s%s", status, out, stderr)
	}
	for _, c := range []struct {
		flag, file, want string
	}{
		{"--all", "SwitchName=a Nodes=x[1-3]\n", "no host of"},
		{"--all", "SwitchName=a Nodes=h1\nSwitchName=a Nodes=h2\n", `line 2: switch "a" is there twice`},
		{"--topology=ib", "SwitchName=a Nodes=h1\n", "only a topology.yaml has several"},
		{"--topology=ib", line3, "only a topology.yaml has several"},
		{"--tolerance=0.5", "SwitchName=a Nodes=h1\n", "--tolerance: the file of a scheduler has no latencies"},
	} {
		status, out, stderr := topocast("compare", c.flag, network, write(t, "spec", c.file))
		if status != cli.StatusInput || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %s; want an error with %q", c.file, status, stderr, c.want)
		}
	}
}
