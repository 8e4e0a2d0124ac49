package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// topocast runs the command line and returns its status and output.
func topocast(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

// twoPairs is a matrix in us: hosts 0, 2 and 1, 3 are close.
const twoPairs = "# unit: us\n,9,1,9\n9,,9,1\n1,9,,9\n9,1,9,\n"

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReconstructJSON holds the output that scripts rely on.
func TestReconstructJSON(t *testing.T) {
	status, out, stderr := topocast("reconstruct", "--unit", "us", "--method", "average", "--json", write(t, "m.csv", twoPairs))
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var got struct {
		Format  string
		Version int
		N       int
		Levels  []struct {
			Name      string
			LatencyS  float64 `json:"latency_s"`
			Groups    [][]int
			Singleton []int
		}
		Fit      map[string]any
		Warnings []string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Format != "topocast/hierarchy" || got.Version != 2 || got.N != 4 || len(got.Levels) != 1 || got.Fit == nil || got.Warnings == nil {
		t.Fatalf("got %s", out)
	}
	l := got.Levels[0]
	if len(l.Groups) != 2 || l.Groups[0][0] != 0 || l.Groups[0][1] != 2 || l.Groups[1][0] != 1 || l.Groups[1][1] != 3 {
		t.Errorf("groups %v, want [[0 2] [1 3]]", l.Groups)
	}
	if l.LatencyS < 0.99e-6 || l.LatencyS > 1.01e-6 {
		t.Errorf("latency %g s, want 1e-6", l.LatencyS)
	}
}

// TestEveryMethodRuns: all names of --method lead to a method, with the
// settings that it has.
func TestEveryMethodRuns(t *testing.T) {
	path := write(t, "m.csv", twoPairs)
	for _, m := range methods() {
		args := []string{"reconstruct", "--unit", "us", "--method", m.name, path}
		if m.k != refused {
			args = append(args, "--k", "2")
		}
		if m.eps != refused {
			args = append(args, "--eps", "0.1")
		}
		status, out, stderr := topocast(args...)
		if status != 0 || !strings.Contains(out, "4 endpoints") {
			t.Errorf("%s: status %d, %s%s", m.name, status, out, stderr)
		}
	}
}

func TestWrongInputIsOneLineAndStatus2(t *testing.T) {
	ok := write(t, "m.csv", twoPairs)
	for _, c := range []struct {
		args []string
		want string // in the line
	}{
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"reconstruct"}, "want FILE, of topocast measure"},
		{[]string{"reconstruct", "--nonsense", ok}, "unknown flag: --nonsense"},
		{[]string{"reconstruct", "--unit", "miles", ok}, `"miles"`},
		{[]string{"reconstruct", "--method", "guess", ok}, "--method guess: want one of linkage"},
		{[]string{"reconstruct", "--k", "3", ok}, "--k: the method linkage has no such setting"},
		{[]string{"reconstruct", "--method", "hdbscan", "--eps", "1", ok}, "--eps: the method hdbscan has no such setting"},
		{[]string{"reconstruct", "--method", "kmedoids", ok}, "--method kmedoids: want --k, too"},
		{[]string{"reconstruct", "--method", "components", ok}, "--method components: want --eps, too"},
		{[]string{"reconstruct", "--method", "kmedoids", "--k", "9", ok}, "--k 9: there are 4 ranks, which make no more groups"},
		{[]string{"reconstruct", "--method", "clique", "--eps", "-1", ok}, "--eps -1: want at least 0"},
		{[]string{"reconstruct", "no/such/file"}, "no/such/file"},
		{[]string{"reconstruct", write(t, "bad.csv", ",1\nmany,\n")}, "line 2, column 1"},
		{[]string{"reconstruct", "--unit", "us", write(t, "neg.csv", ",1,1\n1,,-2\n1,1,\n")}, "line 2, column 3"},
		{[]string{"reconstruct", write(t, "ragged.csv", ",1,1\n1,\n1,1,\n")}, "line 2"},
		{[]string{"reconstruct", write(t, "empty.csv", "")}, "empty"},
		{[]string{"reconstruct", write(t, "null.json", "null\n")}, "null.json: holds null and nothing else"},
		{[]string{"show", write(t, "null.json", "null\n")}, "null.json: no network: want JSON of topocast, node-link JSON, DOT"},
		{[]string{"show", ok}, "m.csv: no network: want JSON of topocast, as topocast reconstruct --output makes of these latencies"},
		{[]string{"bcast", "--sim", "star:4", "--fault", "host 0 1e5x", "--fault", "host 0 1e5x"}, `fault "host 0 1e5x": with those before it, "h0" is 1e+10 times as slow: want at most 1e+06`},
		{[]string{"bcast", "--sim", "star:4", "--fault", "link h0-s0 rate=1e-4x", "--fault", "direction h0>s0 rate=1e-4x from=2s"}, `fault "direction h0>s0 rate=1e-4x from=2s": with those before it, "h0>s0" is 1e+08 times as slow: want at most 1e+06`},
		{[]string{"reconstruct", "--reps", write(t, "small.csv", "# unit: us\n,1\n1,\n"), ok}, "2 x 2"},
	} {
		status, out, stderr := topocast(c.args...)
		if status != 2 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, stdout %q, stderr %q, want 2, nothing, and one line with %q", c.args, status, out, stderr, c.want)
		}
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, c := range command(cli.RunJob).Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s: no example or no summary", c.Name())
		}
	}
}
