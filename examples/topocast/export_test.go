package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/topology/encode"
)

// simulatedNetwork is the file of a network of two switches with two hosts each, all values known.
func simulatedNetwork(t *testing.T) string {
	t.Helper()
	return networkOfCluster(t, "tree:2x2")
}

func networkOfCluster(t *testing.T, cluster string) string {
	t.Helper()
	return once(t, "simulate "+cluster, func(file string) {
		if status, _, stderr := topocast("discover", "--sim", cluster, "--patterns", "0", "-o", file); status != 0 {
			t.Fatal(stderr)
		}
	})
}

// TestExport writes each format of the help, and looks for what only this network has in it.
func TestExport(t *testing.T) {
	network := simulatedNetwork(t)
	for format, want := range map[string]string{
		"json":             `"groups":[[0,1],[2,3]]`,
		"dot":              "\n  4 -> 0 [label=\"",
		"tgf":              "\n4 s0 (switch)\n5 s1 (switch)\n#\n0 4 l: 5.",
		"graphml":          `<node id="n4"><data key="label">s0</data><data key="kind">switch</data></node>`,
		"simgrid":          `<link id="h0 to s0" bandwidth="1`,
		"lgate":            "cluster {\n  cluster { group { 0-1 } }\n  cluster { group { 2-3 } }\n}\n",
		"csv":              "unit: us\nh0,h1,h2,h3\n,10.",
		"slurm-conf":       "SwitchName=root Switches=",
		"slurm-yaml":       "      - switch: root\n        children: ",
		"slurm-block":      "BlockSizes=2\n",
		"slurm-block-yaml": "    block_sizes:\n      - 2\n",
		"ibnetdiscover":    "\nSwitch\t",
		"topograph":        "\"network_layers\": [\n    \"",
	} {
		status, out, stderr := topocast("export", "--format", format, network)
		if status != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %s\n%s", format, status, stderr, out)
		}
	}
	file := filepath.Join(t.TempDir(), "out")
	for _, f := range encode.Formats() {
		if writerOf(f) == nil {
			continue
		}
		if status, out, stderr := topocast("export", "--format", f.Name, "-o", file, network); status != 0 || out != f.Name+" written to "+file+"\n" {
			t.Errorf("%s: status %d, %s, %s", f.Name, status, out, stderr)
		}
		if content, err := os.ReadFile(file); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", f.Name, len(content), err)
		}
	}
}

// TestForeignNetworks compares a network with what it was exported as, read back: nothing differs.
func TestForeignNetworks(t *testing.T) {
	network := simulatedNetwork(t)
	for format, want := range map[string]string{
		"dot": "links: 5 same", "tgf": "links: 5 same", "graphml": "links: 5 same", "simgrid": "links: 5 same",
		"lgate": "confident groups: 2 the same, 0 missing, 0 extra",
	} {
		file := filepath.Join(t.TempDir(), "out")
		if status, _, stderr := topocast("export", "--format", format, "-o", file, network); status != 0 {
			t.Fatal(stderr)
		}
		_, out, stderr := topocast("compare", network, file)
		if stderr != "" || !strings.Contains(out, want) || !strings.Contains(out, "nothing differs") {
			t.Errorf("%s: %s\n%s; want %q", format, stderr, out, want)
		}
	}
}

// A dump of ibnetdiscover has the same wiring, with the rates that InfiniBand has: 1.25 GB/s is below its 2 GB/s.
func TestForeignInfiniBand(t *testing.T) {
	network, file := filepath.Join(t.TempDir(), "network.json"), filepath.Join(t.TempDir(), "out")
	if status, _, stderr := topocast("discover", "--sim", "tree:2x2", "--fault", "noise 0%", "--patterns", "0", "-o", network); status != 0 {
		t.Fatal(stderr)
	}
	if status, _, stderr := topocast("export", "--format", "ibnetdiscover", "-o", file, network); status != 0 {
		t.Fatal(stderr)
	}
	_, out, stderr := topocast("compare", network, file)
	if stderr != "" || !strings.Contains(out, "4 hosts in both") || !strings.Contains(out, "5 links: ") || !strings.Contains(out, "1.25 GB/s, 1.6 times as slow as the reference's 2 GB/s") {
		t.Errorf("%s\n%s", stderr, out)
	}
}

// The wiring of an InfiniBand dump, of which nobody knows latencies, makes the switches of topology.conf and the groups of LGate.
func TestExportOfWiring(t *testing.T) {
	fabric := write(t, "fabric.txt", "Switch\t8 \"S-1\"\t# \"leaf1\"\n[1]\t\"H-1\"[1]\t# \"n1 HCA-1\" lid 1 4xEDR\n[2]\t\"H-2\"[1]\t# \"n2 HCA-1\" lid 2 4xEDR\n[8]\t\"S-2\"[8]\t# \"leaf2\" lid 9 4xEDR\n"+
		"\nSwitch\t8 \"S-2\"\t# \"leaf2\"\n[1]\t\"H-3\"[1]\t# \"n3 HCA-1\" lid 3 4xEDR\n[2]\t\"H-4\"[1]\t# \"n4 HCA-1\" lid 4 4xEDR\n[8]\t\"S-1\"[8]\t# \"leaf1\" lid 8 4xEDR\n")
	for format, want := range map[string]string{
		"slurm-conf": "SwitchName=tier0-1 Nodes=n[1-2]\nSwitchName=tier0-2 Nodes=n[3-4]\nSwitchName=root Switches=tier0-[1-2]\n",
		"lgate":      "cluster {\n  cluster { group { 0-1 } }\n  cluster { group { 2-3 } }\n}\n",
	} {
		if status, out, stderr := topocast("export", "--format", format, fabric); status != 0 || !strings.HasSuffix(out, want) || stderr != "" {
			t.Errorf("%s: status %d, %s%s; want %s", format, status, out, stderr, want)
		}
	}
	if _, out, _ := topocast("show", fabric); !strings.Contains(out, "|- level 1 leaf1  0-1") || !strings.Contains(out, "`- level 1 leaf2  2-3") {
		t.Errorf("show prints\n%s\nwant ranks on leaf1 and leaf2", out)
	}
}

// TestGroupsOfAMesh: switches that are wired to each other in a mesh are not a fault against groups, which
// say nothing of that.
func TestGroupsOfAMesh(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	network, file := networkOfCluster(t, "dragonfly:3,2,2"), filepath.Join(t.TempDir(), "groups")
	if status, _, stderr := topocast("export", "--format", "lgate", "-o", file, network); status != 0 {
		t.Fatal(stderr)
	}
	const want = "confident groups: 10 the same, 0 missing, 0 extra"
	if status, out, stderr := topocast("compare", network, file); status != cli.StatusFine || !strings.Contains(out, want) {
		t.Errorf("status %d, %s\n%s; want %q", status, stderr, out, want)
	}
}

// A specification as in Bannikov 2.3: which vertices are hosts the measured network tells, and what
// is wrong with it is found.
func TestSpecificationInDOT(t *testing.T) {
	const spec = `graph { h0 -- rack [label=10]; h1 -- rack [label=10]; h2 -- %[1]s [label=10]; h3 -- %[1]s [label=%[2]d]; rack -- other [label=10]; other -- empty [label=10] }`
	network := simulatedNetwork(t)
	for _, c := range []struct {
		file, want string
		status     int
	}{
		{fmt.Sprintf(spec, "other", 10), "nothing differs", cli.StatusFine},
		{fmt.Sprintf(spec, "other", 1), "times as fast as the reference's 125 MB/s", cli.StatusDifferent},
		{"graph { h0 -- h1 [latency=fast] }", "specified: DOT: ", cli.StatusInput},
		{"graph { h0 -- ", "specified: DOT: ", cli.StatusInput},
		{"h0\nh1\n#\nh0 h2\n", "specified: TGF: line 4: there is no vertex \"h2\"", cli.StatusInput},
		{"<graphml/>", "specified: GraphML: 0 graphs", cli.StatusInput},
		{"<platform/>", "specified: SimGrid: version", cli.StatusInput},
		{"cluster { group { 0-7 } }", "groups of 8 ranks, and the other file is of 4", cli.StatusInput},
		{"cluster { group { 0-1 } group { 2-3 } }", "confident groups: 2 the same, 0 missing, 0 extra", cli.StatusFine},
		{"cluster { group { 0, 2 } group { 1, 3 } }", "confident groups: 0 the same, 2 missing, 2 extra\n|4 differences, the worst first\n" +
			"  group h0,h2: the reference has it, and it was not measured\n  group h1,h3: the reference has it, and it was not measured\n" +
			"  group h0,h1: it was measured, and the reference does not have it\n", cli.StatusDifferent},
		{"<topology/>", "specified: hwloc: 0 machines", cli.StatusInput},
		{"a,b\n1,2\n", "specified: no network: want", cli.StatusInput},
		{"", "no content", cli.StatusInput},
	} {
		status, out, stderr := topocast("compare", network, write(t, "specified", c.file))
		for _, want := range strings.Split(c.want, "|") {
			if status != c.status || !strings.Contains(out+stderr, want) || strings.Count(stderr, "\n") > 1 {
				t.Errorf("%s: status %d\n%s%s; want %d, %s", c.file, status, out, stderr, c.status, want)
			}
		}
	}
}

func TestExportRefuses(t *testing.T) {
	network := simulatedNetwork(t)
	latencies := filepath.Join(t.TempDir(), "latencies.json")
	if status, _, stderr := topocast("reconstruct", "--unit", "us", "-o", latencies, write(t, "m.csv", twoPairs)); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{network}, `--format "": want one of json, dot, `},
		{[]string{"--format", "visio", network}, `--format "visio": want one of json, dot, `},
		{[]string{"--format", "simgrid", latencies}, "its latency or bandwidth is not known"},
		{[]string{"--format", "csv", write(t, "topology.conf", "SwitchName=s1 Nodes=a,b\n")}, "no latency is known"},
		{[]string{"--format", "dot"}, "want NET"},
		{[]string{"--format", "dot", "missing.json"}, "missing.json"},
		{[]string{"--format", "dot", "-o", "/nowhere/x.dot", network}, "--output"},
	} {
		status, out, stderr := topocast(append([]string{"export"}, c.args...)...)
		if status != cli.StatusInput || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %s, %q; want one line with %q", c.args, status, out, stderr, c.want)
		}
	}
}

// Two hosts on a switch each, and nothing between the switches: a root each, and a warning.
func TestExportOfSeparateNetworks(t *testing.T) {
	network := write(t, "platform.json", `{"graph": {"hosts": ["a", "b", "c", "d"], "switches": ["s", "t"], "links": [
		{"a": "a", "b": "s", "latency_us": 5}, {"a": "b", "b": "s", "latency_us": 5}, {"a": "c", "b": "t", "latency_us": 5}, {"a": "d", "b": "t", "latency_us": 5}]}}`)
	status, out, stderr := topocast("export", "--format", "slurm-conf", network)
	if want := "SwitchName=root-1 Nodes=a,b\nSwitchName=root-2 Nodes=c,d\n"; status != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("status %d, %s, want %s", status, out, want)
	}
	if want := "warning: 2 parts of the network are not connected"; !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%s, want a line with %q", stderr, want)
	}
}

// What was measured between the cores of a host is held against what hwloc knows of it.
func TestCompareWithHwloc(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const core = `<object type="Core"><object type="PU" os_index="%d"/></object>`
	cache := func(cores ...any) string {
		return fmt.Sprintf(`<object type="L3Cache">`+strings.Repeat(core, len(cores))+`</object>`, cores...)
	}
	machine := func(inside string) string {
		return `<topology version="2.0"><object type="Machine">` + inside + `</object></topology>`
	}
	cores := filepath.Join(t.TempDir(), "cores.json")
	if status, _, stderr := topocast("discover", "--sim", "core:4 socket:2 host:1 latency=5us,1us,200ns", "-o", cores); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		network, file, want string
		status              int
	}{
		{cores, machine(cache(0, 1, 2, 3) + cache(4, 5, 6, 7)), "confident groups: 2 the same, 0 missing, 0 extra", cli.StatusFine},
		{cores, "Package:1 [NUMANode(memory=16GB)] L3Cache:2(size=33554432) Core:4 PU:1\n", "confident groups: 2 the same, 0 missing, 0 extra", cli.StatusFine},
		{cores, machine(cache(0, 2, 4, 6) + cache(1, 3, 5, 7)), "confident groups: 0 the same, 2 missing, 2 extra", cli.StatusDifferent},
		{cores, machine(cache(0, 1)), "has no core of its own for rank 2, which is at core 2", cli.StatusInput},
		{simulatedNetwork(t), machine(cache(0, 1)), "describes one host, and the other network is of 4 hosts", cli.StatusInput},
	} {
		status, out, stderr := topocast("compare", c.network, write(t, "host.xml", c.file))
		if status != c.status || !strings.Contains(out+stderr, c.want) || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: status %d\n%s%s; want %d, %s", c.file, status, out, stderr, c.status, c.want)
		}
	}
	if status, _, stderr := topocast("predict", write(t, "host.xml", machine(cache(0, 1))), "none"); status != cli.StatusInput || !strings.Contains(stderr, "describes the inside of a host") {
		t.Errorf("predict: status %d, %s", status, stderr)
	}
}
