package main

import (
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
)

// TestReconstructReadsWhatMeasureWrites: both files, without a word on units,
// and what it makes of them is read by the other commands. On the simulated
// tree, a message between racks takes 2 x (2 + 10) us on the links, and 0.6 us of
// overhead.
func TestReconstructReadsWhatMeasureWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, stderr := topocast("simulate", "--cluster", "tree:2x4 latency=10us,2us", "--",
		"measure", "--sizes", "8,64Ki", "--csv", "latencies.csv", "-o", "readings.json")
	if status != 0 {
		t.Fatalf("measure: status %d: %s", status, stderr)
	}
	for file, noun := range map[string]string{"readings.json": "8 ranks, tree", "latencies.csv": "8 endpoints, tree"} {
		status, out, stderr := topocast("reconstruct", "-o", "network.json", file)
		if status != 0 || !strings.Contains(out, noun) || !strings.Contains(out, ": 4-7  4.") || !strings.Contains(out, "all: 0-7  24.") {
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
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--unit", "s", "latencies.csv"}, "latencies.csv: encode: read matrix: line 1: the file is in us, not in s"},
		{[]string{"--unit", "us", "readings.json"}, "--unit: readings.json holds its own"},
		{[]string{"--reps", "readings.json", "latencies.csv"}, "--reps: readings.json: measured readings hold their repetitions"},
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
	if status != 0 || !strings.Contains(out, ": kiel,bonn  1.5 ms") || !strings.Contains(out, ": köln,ulm  1.5 ms") {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	n, err := model.Load("network.json")
	if err != nil || n.Location(1).Host != "köln" {
		t.Errorf("network: %v, rank 1 is on %q", err, n.Location(1).Host)
	}
	other := strings.ReplaceAll(named, "ulm", "hof")
	status, _, stderr = topocast("reconstruct", "--reps", write(t, "other.csv", other), write(t, "sites.csv", named))
	if status != 2 || !strings.Contains(stderr, "other names") {
		t.Errorf("repetitions of other sites: status %d: %s", status, stderr)
	}
}

// TestReconstructDoubts: what is odd about the numbers is said beside the
// result.
func TestReconstructDoubts(t *testing.T) {
	status, out, stderr := topocast("reconstruct", write(t, "m.csv", twoPairs)) // in us, but who knows
	if status != 0 || !strings.Contains(out, "the shortest latency is 1 s") {
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
