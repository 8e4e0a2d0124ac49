package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/encode"
)

// TestReconstructReadsWhatMeasureWrites: both files, without a word on units,
// and what it makes of them is read by the other commands. On the simulated
// tree, a message between racks takes 2 x (2 + 10) us on the links, and 0.6 us of
// overhead.
func TestReconstructReadsWhatMeasureWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, stderr := topocast("measure", "--sim", "tree:2x4 latency=10us,2us", "--sizes", "8,64Ki", "--csv", "latencies.csv", "-o", "readings.json")
	if status != 0 {
		t.Fatalf("measure: status %d: %s", status, stderr)
	}
	for file, noun := range map[string]string{"readings.json": "8 ranks, tree", "latencies.csv": "8 endpoints, tree"} {
		status, out, stderr := topocast("reconstruct", "-o", "network.json", file)
		words := strings.Join(strings.Fields(out), " ")
		if status != 0 || !strings.Contains(out, noun) || !strings.Contains(words, " 4-7 4.") || !strings.Contains(words, " all 0-7 24.") {
			t.Errorf("reconstruct %s: status %d: %s%s, want %s, and 4.6 and 24.6 us", file, status, out, stderr, noun)
		}
		n, err := model.Load("network.json")
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Time(0, 7, 8); got < 24e-6 || got > 25.5e-6 {
			t.Errorf("%s: Time(0, 7, 8) = %g s, want 24.6e-6", file, got)
		}
		if status, out, stderr := topocast("place", "--ranks", "4", "network.json"); status != 0 || strings.Count(out, "\n") != 4 {
			t.Errorf("place: status %d: %s%s", status, out, stderr)
		}
		if status, _, stderr := topocast("compare", "network.json", "network.json"); status == 1 || status == 2 {
			t.Errorf("compare: status %d: %s", status, stderr)
		}
	}
	// Two runs of the same ranks are one of twice the repetitions, of others they are refused.
	if status, out, stderr := topocast("reconstruct", "--reps", "readings.json", "readings.json"); status != 0 || !strings.Contains(out, "8 ranks, tree") {
		t.Errorf("two runs: status %d: %s%s", status, out, stderr)
	}
	if status, _, stderr := topocast("measure", "--sim", "star:8", "-o", "others.json"); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--reps", "others.json", "readings.json"}, "sizes of [8 65536] B and of [8] B"},
		{[]string{"--unit", "s", "latencies.csv"}, "latencies.csv: read matrix: line 1: the file is in us, not in s"},
		{[]string{"--unit", "us", "readings.json"}, "--unit: readings.json holds its own"},
		{[]string{"--reps", "readings.json", "latencies.csv"}, "--reps: readings.json: files of topocast measure go with each other only"},
		{[]string{"network.json"}, `format is "topocast/network"`},
		{[]string{"--json", "--output", "-", "latencies.csv"}, "--json and --output -"},
	} {
		if status, _, stderr := topocast(append([]string{"reconstruct"}, c.args...)...); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q, want 2 and %q", c.args, status, stderr, c.want)
		}
	}
	if status, _, stderr := topocast("reconstruct", "--unit", "us", "latencies.csv"); status != 0 {
		t.Errorf("the unit of the file, given: status %d: %s", status, stderr)
	}
}

// TestReconstructNames: names of a matrix are the names in the output, and in
// the network's file.
func TestReconstructNames(t *testing.T) {
	t.Chdir(t.TempDir())
	const named = ";kiel;köln;bonn;ulm\nkiel;0;9,5;1,5;9,5\nköln;9,5;0;9,5;1,5\nbonn;1,5;9,5;0;9,5\nulm;9,5;1,5;9,5;0\n"
	status, out, stderr := topocast("reconstruct", "--unit", "ms", "-o", "network.json", write(t, "sites.csv", named))
	if status != 0 || !strings.Contains(out, "endpoint bonn,kiel ") || !strings.Contains(out, "endpoint köln,ulm ") || strings.Count(out, "1.5 ms") != 3 {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	n, err := model.Load("network.json")
	if err != nil || n.Location(1).Host != "köln" {
		t.Errorf("network: %v, rank 1 is on %q", err, n.Location(1).Host)
	}
	other := strings.ReplaceAll(named, "ulm", "hof")
	status, _, stderr = topocast("reconstruct", "--unit", "ms", "--reps", write(t, "other.csv", other), write(t, "sites.csv", named))
	if status != 2 || !strings.Contains(stderr, "other names") {
		t.Errorf("repetitions of other sites: status %d: %s", status, stderr)
	}
}

// TestReconstructJSONIsWhole: the graph and the names are in it, by every method, and the other
// commands read it as they read the network that --output keeps.
func TestReconstructJSONIsWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	const named = ";kiel;köln;bonn;ulm\nkiel;0;9,5;1,5;9,5\nköln;9,5;0;9,5;1,5\nbonn;1,5;9,5;0;9,5\nulm;9,5;1,5;9,5;0\n"
	names := []string{"kiel", "köln", "bonn", "ulm"}
	sites, bare := write(t, "sites.csv", named), write(t, "bare.csv", strings.TrimPrefix(twoPairs, "# unit: us\n"))
	keep := func(file string, args ...string) string {
		t.Helper()
		status, out, stderr := topocast(append([]string{"reconstruct", "--unit", "ms", "--json"}, args...)...)
		if status != 0 {
			t.Fatalf("reconstruct %q: status %d: %s", args, status, stderr)
		}
		return write(t, file, out)
	}
	for _, m := range methods() {
		args := []string{"--method", m.name, sites}
		if m.k != refused {
			args = append(args, "--k", "2")
		}
		if m.eps != refused {
			args = append(args, "--eps", "0.1")
		}
		data, err := os.ReadFile(keep("method.json", args...))
		if err != nil {
			t.Fatal(err)
		}
		r, got, err := encode.ReadResult(bytes.NewReader(data))
		if err != nil || !slices.Equal(got, names) || r.Graph == nil || r.Graph.Name(1) != "köln" {
			t.Errorf("%s: names %q, graph %v, %v", m.name, got, r.Graph, err)
		}
	}
	whole, plain := keep("whole.json", "-o", "network.json", sites), keep("plain.json", "-o", "plain-network.json", bare)
	n, err := model.Load(whole)
	if err != nil || n.Location(1).Host != "köln" {
		t.Fatalf("%v, rank 1 is on %q, want köln", err, n.Location(1).Host)
	}
	if n, err := model.Load(plain); err != nil || n.Hosts() != nil {
		t.Errorf("%v, hosts %q where the matrix names none", err, n.Hosts())
	}
	traffic := write(t, "traffic.csv", "0,0,0,9\n0,0,9,0\n0,9,0,0\n9,0,0,0\n")
	for _, args := range [][]string{
		{"place", "NET", traffic},
		{"place", "--json", "NET", traffic},
		{"compare", "NET", "network.json"},
		{"compare", "network.json", "NET"},
		{"bcast", "--sim", "tree:2x2", "NET", "--sizes", "8", "--repetitions", "1"},
	} {
		of := func(file string) (string, int) {
			given := slices.Clone(args)
			given[slices.Index(given, "NET")] = file
			status, out, stderr := topocast(given...)
			return strings.NewReplacer(file, "NET", "network.json", "NET").Replace(out + stderr), status
		}
		want, wantStatus := of("network.json")
		if got, status := of(whole); status != wantStatus || got != want || got == "" {
			t.Errorf("%q with the JSON: status %d, %s\nwant as with the network: %d, %s", args, status, got, wantStatus, want)
		}
	}
	// Without a bandwidth no transfer can be predicted, which is what it says of the network, too.
	transfers := write(t, "transfers.json", `{"transfers":[{"src":0,"dst":1,"bytes":1000}]}`)
	for _, file := range []string{whole, "network.json"} {
		if status, _, stderr := topocast("predict", file, transfers); status != cli.StatusInput || !strings.Contains(stderr, "bandwidth of the link") {
			t.Errorf("predict %s: status %d, %s", file, status, stderr)
		}
	}
}

// TestReconstructDoubts: what is odd about the numbers is said beside the
// result.
func TestReconstructDoubts(t *testing.T) {
	matrix := write(t, "m.csv", strings.TrimPrefix(twoPairs, "# unit: us\n")) // in us, but who knows
	if status, out, stderr := topocast("reconstruct", matrix); status != cli.StatusInput || !strings.Contains(stderr, "no unit is named") {
		t.Errorf("status %d: %s%s, want the unit asked for", status, out, stderr)
	}
	status, out, stderr := topocast("reconstruct", "--unit", "s", matrix)
	if status != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "the shortest latency is 1 s") {
		t.Errorf("status %d: %s%s, want a doubt about seconds", status, out, stderr)
	}
}

// TestReconstructReadsStandardInput: "-" may be a file of any form.
func TestReconstructReadsStandardInput(t *testing.T) {
	f, err := os.Open(write(t, "m.csv", twoPairs))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stdin := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = stdin }()
	if status, out, stderr := topocast("reconstruct", "--unit", "us", "-"); status != 0 || !strings.Contains(out, "4 endpoints") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// TestReconstructJSONOfOthers: a matrix in an object is read, and without a unit it is refused as any other.
func TestReconstructJSONOfOthers(t *testing.T) {
	file := write(t, "clouds.json", `{"hosts": ["a", "b", "c", "d"], "rtt": [[0, 1.1, 2.2, 2.3], [1.1, 0, 2.2, 2.1], [2.2, 2.2, 0, 1.1], [2.3, 2.1, 1.1, 0]]}`)
	if status, out, stderr := topocast("reconstruct", "--unit", "us", file); status != 0 || !strings.HasPrefix(out, "4 endpoints, tree, 2 switches") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if status, _, stderr := topocast("reconstruct", file); status != cli.StatusInput || !strings.Contains(stderr, "no unit is named") {
		t.Errorf("without a unit: status %d: %s", status, stderr)
	}
}
