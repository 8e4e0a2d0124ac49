package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// TestFlagsWithoutValue: a variable of a script that is not set leaves no command with less to do than it was asked for.
func TestFlagsWithoutValue(t *testing.T) {
	matrix := write(t, "m.csv", twoPairs)
	for _, args := range [][]string{
		{"check", "--sim", "star:4", "--history", ""},
		{"bcast", "--sim", "star:4", "--only", ""},
		{"bcast", "--sim", "star:4", "--topology", ""},
		{"discover", "--sim", "star:4", "--hwloc", ""},
		{"reconstruct", matrix, "--unit", ""},
		{"reconstruct", matrix, "--reps", ""},
		{"network", "bisect", "net.json", "--switch", ""},
	} {
		flag := args[len(args)-2]
		status, out, stderr := topocast(args...)
		if want := fmt.Sprintf("topocast: %s: want a value; see topocast", flag); status != cli.StatusInput || out != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%q: status %d, %q, %q, want 2 and %q", args, status, out, stderr, want)
		}
	}
}

// TestStandardInputOnce: two files cannot be standard input, and only one rank of a job has it.
func TestStandardInputOnce(t *testing.T) {
	for _, args := range [][]string{
		{"compare", "-", "-"},
		{"compare", "-", "--against", "-"},
		{"predict", "-", "-"},
		{"place", "-", "--hwloc", "-"},
		{"reconstruct", "-", "--reps", "m.csv,-"},
		{"network", "join", "-", "-"},
	} {
		status, _, stderr := topocast(args...)
		if status != cli.StatusInput || stderr != "topocast: -: want standard input for one file\n" {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
	t.Setenv("OMPI_COMM_WORLD_RANK", "0")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	for _, args := range [][]string{{"bcast", "-"}, {"bcast", "tune", "-", "-o", "x"}, {"check", "-"}} {
		if status, _, stderr := topocast(args...); status != cli.StatusInput || !strings.Contains(stderr, "launchers give standard input to one rank") {
			t.Errorf("%q in a job: status %d, %q", args, status, stderr)
		}
	}
}

// TestFaultsOfHostsCalledByNumbers: standard error says which numbers of --fault are names, and nothing where they are the
// same vertex or no names.
func TestFaultsOfHostsCalledByNumbers(t *testing.T) {
	names := []string{"1", "2", "3", "3-1", "9"}
	for _, c := range []struct {
		fault string
		want  []string // the numbers
	}{
		{"host 3 2x", []string{`"3" is read as the name of number 2, not as number 3`}},
		{"host 0 2x", nil},
		{"host 9 2x", nil}, // there is no number 9
		{"host 3-1 2x", nil},
		{"link 1-9 2x", []string{`"1" is read as the name of number 0`}},
		{"direction 2>9 2x", []string{`"2" is read`}},
		{"host 1 at 3", []string{`"1" is read`, `"3" is read`}},
		{"lost 3", nil},
		{"load 2x", nil},
	} {
		var stderr strings.Builder
		explainFaults([]string{c.fault}, names, &stderr)
		if strings.Count(stderr.String(), "\n") != len(c.want) {
			t.Errorf("%s: %q, want %q", c.fault, &stderr, c.want)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: %q, want %q", c.fault, &stderr, want)
			}
		}
	}
	cluster := write(t, "net.json", `{"graph":{"hosts":["1","2"],"switches":["s"],"links":[
		{"a":"1","b":"s","latency_us":1,"bandwidth_MBps":100},{"a":"2","b":"s","latency_us":1,"bandwidth_MBps":100}]}}`)
	if _, _, stderr := topocast("measure", "--sim", cluster, "--fault", "host 1 2x", "-o", t.TempDir()+"/m.json"); !strings.Contains(stderr, `--fault "host 1 2x": "1" is read as the name of number 0`) {
		t.Errorf("measure: %q", stderr)
	}
}

// TestGuessesAreTold: commands that read a tree with arrows from its root say in one line that the arrows are cables. Of a graph
// without arrows they say nothing.
func TestGuessesAreTold(t *testing.T) {
	const links = "sw %[1]s a %[2]s sw %[1]s b %[2]s sw %[1]s c %[2]s sw %[1]s d %[2]s }"
	const values = `[latency="1e-6" bandwidth="1e9"];`
	tree := write(t, "tree.dot", "digraph { "+fmt.Sprintf(links, "->", values))
	cables := write(t, "cables.dot", "graph { "+fmt.Sprintf(links, "--", values))
	out := filepath.Join(t.TempDir(), "out.svg")
	const said = "are read as cables, which lead both ways"
	for _, args := range [][]string{
		{"export", "NET", "--format", "tgf"},
		{"compare", "NET", "--against", cables},
		{"compare", cables, "--against", "NET"},
		{"plot", "heatmap", "NET", "-o", out},
		{"measure", "--sim", "NET", "-o", filepath.Join(t.TempDir(), "m.json")},
		{"predict", "NET", "0", "1", "8"},
		{"place", "NET", "--ranks", "2"},
		{"report", "NET", "-o", filepath.Join(t.TempDir(), "r.html")},
	} {
		for file, times := range map[string]int{tree: 1, cables: 0} {
			call := slices.Clone(args)
			call[slices.Index(call, "NET")] = file
			if status, _, stderr := topocast(call...); status == cli.StatusInput || strings.Count(stderr, said) != times || times > 0 && !strings.Contains(stderr, "warning: "+tree+": ") {
				t.Errorf("%q: status %d, %q, want %q %d times", call, status, stderr, said, times)
			}
		}
	}
	if status, out, stderr := topocast("show", tree); status != 0 || strings.Count(strings.Join(strings.Fields(out+stderr), " "), said) != 1 {
		t.Errorf("show: %d, %q, %q, want %q once", status, out, stderr, said)
	}
}

// TestErrorsNameTheFlag: an error about the value of a flag says which one.
func TestErrorsNameTheFlag(t *testing.T) {
	network := discovered(t, "--sim", "tree:2x2")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"place", network, "--ranks", "9"}, "topocast: --ranks 9: want 1 to 4, the places that the network has"},
		{[]string{"place", network, "--ranks", "4", "--ranks-per-host", "1"}, ""},
		{[]string{"reconstruct", "m.csv", "--method", "greedy", "--duplex-eps", "-1"}, "--duplex-eps -1: want at least 0"},
		{[]string{"reconstruct", "m.csv", "--method", "greedy", "--shared-eps", "nan"}, "--shared-eps NaN: want at least 0"},
		{[]string{"reconstruct", "m.csv", "--method", "clique", "--eps", "1.5"}, "--eps 1.5: the method clique wants less than 1"},
		{[]string{"reconstruct", "m.csv", "--method", "hdbscan", "--k", "1"}, "--k 1: the method hdbscan wants at least 2 ranks"},
		{[]string{"reconstruct", write(t, "m.csv", twoPairs), "--method", "average", "--k", "9"}, "--k 9: there are 4 ranks"},
		{[]string{"reconstruct", "m.csv", "--method", "dbscan", "--eps", "inf"}, "--eps +Inf: want at least 0"},
		{[]string{"check", "--sim", "star:4", "--history", t.TempDir()}, "--history: "},
		{[]string{"bcast", "--sim", "star:4", "--only", "native"}, "--only native: simulated ranks have no MPI library"},
	} {
		status, _, stderr := topocast(c.args...)
		if wrong := c.want != ""; (status == cli.StatusInput) != wrong || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}
