package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pairsNetwork is the file of a network of two pairs of hosts.
func pairsNetwork(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "network.json")
	if status, _, stderr := topocast("reconstruct", "--unit", "us", "--method", "average", "-o", file, write(t, "m.csv", twoPairs)); status != 0 {
		t.Fatal(stderr)
	}
	return file
}

// TestExport writes each format of the help, and looks for what only this network has in it.
func TestExport(t *testing.T) {
	network := pairsNetwork(t)
	for format, want := range map[string]string{
		"dot":              "\n  5 -- 0 [label=\"500 ns\" latency=\"",
		"slurm-conf":       "SwitchName=root Switches=",
		"slurm-yaml":       "      - switch: root\n        children: ",
		"slurm-block":      "BlockSizes=2\n",
		"slurm-block-yaml": "    block_sizes:\n      - 2\n",
		"topograph":        "\"network_layers\": [\n    \"",
		"lgate":            "cluster {\n  cluster { group { 0, 2 } }\n  cluster { group { 1, 3 } }\n}\n",
	} {
		status, out, stderr := topocast("export", "--format", format, network)
		if status != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %s\n%s", format, status, stderr, out)
		}
	}
	file := filepath.Join(t.TempDir(), "out")
	for _, f := range exportFormats() {
		if status, out, stderr := topocast("export", "--format", f.name, "-o", file, network); status != 0 || out != "" {
			t.Errorf("%s: status %d, %s, %s", f.name, status, out, stderr)
		}
		if content, err := os.ReadFile(file); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", f.name, len(content), err)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	network := pairsNetwork(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{network}, `--format "": want one of dot, `},
		{[]string{"--format", "visio", network}, `--format "visio": want one of dot, `},
		{[]string{"--format", "dot"}, "accepts 1 arg"},
		{[]string{"--format", "dot", "missing.json"}, "missing.json"},
		{[]string{"--format", "dot", "-o", "/nowhere/x.dot", network}, "--output"},
	} {
		status, out, stderr := topocast(append([]string{"export"}, c.args...)...)
		if status != statusInput || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %s, %q; want one line with %q", c.args, status, out, stderr, c.want)
		}
	}
}
