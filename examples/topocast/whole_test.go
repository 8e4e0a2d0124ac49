package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryInputFile: each command that reads a file, given one that is
// missing, a folder, empty, cut short, of another format or with a key that nobody
// knows, says so on one line that names the file, with status 2.
func TestEveryInputFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	get := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	run := func(args ...string) {
		if status, _, stderr := topocast(args...); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr)
		}
	}
	run("measure", "--sim", "tree:2x2", "-o", "measurements", "--csv", "csv")
	run("discover", "--patterns", "0", "--sim", "tree:2x2", "--repetitions", "1", "-o", "network")
	status, whole, stderr := topocast("reconstruct", "--json", "csv")
	if status != 0 {
		t.Fatal(stderr)
	}
	put("reconstruction", whole)
	put("hierarchy", `{"format":"topocast/hierarchy","version":1,"n":4,"levels":[{"name":"pair","groups":[[0,1],[2,3]]}],"fit":{},"warnings":[]}`)
	put("platform", line3)
	put("transfers", `{"transfers":[{"src":0,"dst":1,"bytes":1000000}]}`)
	put("traffic", "0,1,0,0\n1,0,0,0\n0,0,0,1\n0,0,1,0\n")
	put("hosts", "3\n1\n0\n2\n")

	good := map[string]string{} // kind -> content
	for _, kind := range []string{"measurements", "csv", "network", "platform", "transfers", "traffic", "hosts", "hierarchy", "reconstruction"} {
		good[kind] = get(kind)
	}
	for _, c := range []struct {
		name  string
		kinds []string // that it takes
		args  []string // FILE stands for the file
	}{
		{"reconstruct", []string{"csv", "measurements", "traffic"}, []string{"reconstruct", "FILE"}},
		{"reconstruct --reps", []string{"csv", "traffic"}, []string{"reconstruct", "--reps", "FILE", "csv"}},
		{"compare NET", []string{"network", "platform", "reconstruction"}, []string{"compare", "FILE", "network"}},
		{"compare REF", []string{"network", "platform", "reconstruction"}, []string{"compare", "network", "FILE"}},
		{"predict NET", []string{"network", "platform", "reconstruction"}, []string{"predict", "FILE", "transfers"}},
		{"predict TRANSFERS", []string{"transfers"}, []string{"predict", "network", "FILE"}},
		{"place NET", []string{"network", "platform", "reconstruction"}, []string{"place", "FILE"}},
		{"place TRAFFIC", []string{"traffic"}, []string{"place", "network", "FILE"}},
		{"bcast --network", []string{"network", "platform", "reconstruction"}, []string{"bcast", "--sim", "tree:2x2", "FILE", "--sizes", "8", "--repetitions", "1"}},
		{"simulate --placement", []string{"hosts"}, []string{"measure", "--sim", "tree:2x2", "--placement", "FILE", "-o", "-"}},
	} {
		with := func(file string) []string {
			args := strings.Split(strings.ReplaceAll(strings.Join(c.args, "\x00"), "FILE", file), "\x00")
			return args
		}
		main := good[c.kinds[0]]
		bad := map[string]string{
			"empty":   "",
			"blank":   "\n \n",
			"binary":  "\x7fELF\x02\x01\x01\x00\x00\x00",
			"cut":     main[:len(main)/2],
			"unknown": strings.Replace(main, "{", `{"swiches":1,`, 1),
			"foreign": `{"format":"topocast/other","version":1}`,
			"list":    "[1,2]",
		}
		if !strings.HasPrefix(main, "{") {
			delete(bad, "unknown")
		}
		if c.name == "simulate --placement" {
			delete(bad, "cut") // too few hosts are no hosts, and that is tested with the command
		}
		takes := map[string]bool{}
		for _, kind := range c.kinds {
			takes[kind] = true
		}
		for kind, content := range good {
			if !takes[kind] {
				bad["of "+kind] = content
			}
		}
		for kind, content := range bad {
			bad[kind] = put("bad-"+strings.ReplaceAll(kind, " ", "-"), content)
		}
		bad["missing"] = filepath.Join(dir, "no", "such", "file")
		bad["folder"] = t.TempDir()
		for kind, path := range bad {
			status, out, stderr := topocast(with(path)...)
			if status != 2 || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, path) {
				t.Errorf("%s, file %s: status %d, stdout %q, stderr %q, want 2, nothing, and one line with the file", c.name, kind, status, out, stderr)
			}
		}
		for _, kind := range c.kinds {
			if kind == "traffic" && c.args[0] == "reconstruct" || kind == "platform" && c.args[0] != "place" {
				continue // would do, but not with the other file
			}
			if kind == "reconstruction" && c.args[0] == "predict" {
				continue // has no bandwidths
			}
			if status, _, stderr := topocast(with(filepath.Join(dir, kind))...); status == 1 || status == 2 {
				t.Errorf("%s, file %s: status %d: %s", c.name, kind, status, stderr)
			}
		}
	}
}

// TestFlagsThatDoNothingAreRefused.
func TestFlagsThatDoNothingAreRefused(t *testing.T) {
	network := discovered(t, "--sim", "tree:2x2")
	transfers := write(t, "transfers.json", `{"transfers":[{"src":0,"dst":1,"bytes":1000000}]}`)
	traffic := write(t, "traffic.csv", "0,1\n1,0\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", "--ack-weight", "0.1", network, transfers}, "--ack-weight: only with --sharing asymmetric"},
		{[]string{"predict", "--coverage", "0.5", write(t, "platform.json", line3), transfers}, "--coverage: the network was not fitted"},
		{[]string{"place", "--memory-bound", network, traffic}, "--memory-bound: only with --method servet"},
		{[]string{"place", "--hwloc", "host.xml", network, traffic}, "--hwloc: only with --method servet"},
		{[]string{"place", "--json", "--format", "rankfile", network}, "--json and --format"},
	} {
		if status, _, stderr := topocast(c.args...); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q, want 2 and %q", c.args, status, stderr, c.want)
		}
	}
}
