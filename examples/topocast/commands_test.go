package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
)

// networks are the files that discover writes of simulated clusters, the same at each run (TestSimulatedFilesRepeat).
var networks = make(map[string][]byte)

// once returns a file of the test's own with what write writes, or has written in an earlier test that gave the same name.
func once(t *testing.T, name string, write func(file string)) string {
	t.Helper()
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	file := filepath.Join(t.TempDir(), "network.json")
	if text, ok := networks[name]; ok {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write(file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	networks[name] = text
	return file
}

// discovered runs discover, on a simulated cluster once for all tests, and returns the network's file.
func discovered(t *testing.T, flags ...string) string {
	t.Helper()
	discover := func(file string) {
		t.Helper()
		status, out, stderr := topocast(append([]string{"discover", "--repetitions", "2", "--output", file}, flags...)...)
		if status != 0 {
			t.Fatalf("discover %q: status %d: %s", flags, status, stderr)
		}
		for _, want := range []string{"predicted time of one message", "broadcast from rank 0", "written to " + file} {
			if !strings.Contains(out, want) {
				t.Errorf("discover %q: no %q in\n%s", flags, want, out)
			}
		}
	}
	if slices.Contains(flags, "--sim") {
		return once(t, strings.Join(flags, " "), discover)
	}
	file := filepath.Join(t.TempDir(), "network.json")
	discover(file)
	return file
}

// TestDiscoverSimulated: the wiring of the simulated cluster comes out, and
// predicted times agree with it. Between racks a message crosses two links of
// 2 us and two of 10 us, 24 us, and 1 MiB at 1.25 GB/s takes 839 us; sending and
// receiving take 0.3 us each.
func TestDiscoverSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	n, err := model.Load(discovered(t, "--sim", "tree:3x4 latency=10us,2us rate=10Gbps"))
	if err != nil {
		t.Fatal(err)
	}
	h := n.Hierarchy()
	if n.Ranks() != 12 || len(h.Levels()) != 1 || len(h.GroupsAt(0)) != 3 || len(h.GroupsAt(0)[1].Hosts) != 4 {
		t.Fatalf("groups %+v", h.Groups())
	}
	for _, c := range []struct {
		src, dst int
		bytes    int64
		want     float64
	}{{0, 1, 8, 4.6e-6}, {0, 11, 8, 24.6e-6}, {0, 11, 1 << 20, 24.6e-6 + float64(1<<20)/1.25e9}} {
		// 1 % of noise; long messages also shake hands.
		if got := n.Time(c.src, c.dst, c.bytes); got < 0.97*c.want || got > 1.12*c.want {
			t.Errorf("Time(%d, %d, %d) = %g s, want about %g", c.src, c.dst, c.bytes, got, c.want)
		}
	}
}

// TestDiscoverThisMachine runs the main job as a newcomer does: real cores, no
// MPI. Times depend on the machine; that they are there does not.
func TestDiscoverThisMachine(t *testing.T) {
	n, err := model.Load(discovered(t, "--ranks", "2", "--budget", "5s"))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Time(0, 1, 8); !(got > 0) {
		t.Errorf("Time(0, 1, 8) = %g s, want above 0", got)
	}
	if got := n.Location(0).Host; got == "" {
		t.Error("the host's name is not known")
	}
}

func TestDiscoverJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "network.json")
	status, out, stderr := topocast("discover", "--sim", "tree:2x4", "--output", file, "--json")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var got struct {
		Format    string
		Hierarchy struct {
			Format string
			Levels []struct{ Groups [][]int }
		}
		Times []struct {
			TimeS float64 `json:"time_s"`
		}
		Bcast []struct{ Algorithm string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Format != "topocast/discovery" || got.Hierarchy.Format != "topocast/hierarchy" || len(got.Hierarchy.Levels) != 1 ||
		len(got.Times) != 8 || len(got.Bcast) != 4 {
		t.Errorf("got %s", out)
	}
}

// TestSimulate runs the other commands on simulated clusters, with ranks placed
// in every way; the same line gives the same output.
func TestSimulate(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	dir := t.TempDir()
	hosts := write(t, "hosts", "3\n1\n0\n2\n")
	for _, placement := range []string{"block", "cyclic", "shuffled", "shuffled:7", hosts} {
		var first string
		for range 2 {
			status, out, stderr := topocast("bcast", "--sim", "tree:2x2", "--placement", placement, "--sizes", "8,64KiB", "--repetitions", "3", "--json")
			if status != 0 {
				t.Fatalf("placement %s: status %d: %s", placement, status, stderr)
			}
			if first == "" {
				first = out
			}
			if out != first || !strings.Contains(out, `"format":"topocast/bcast-benchmark"`) || strings.Contains(out, `"verified":false`) {
				t.Errorf("placement %s: %s\nand before: %s", placement, out, first)
			}
		}
	}
	measurements, matrix := filepath.Join(dir, "readings.json"), filepath.Join(dir, "latencies.csv")
	status, out, stderr := topocast("measure", "--sim", "tree:2x4 latency=10us,2us", "--output", measurements, "--csv", matrix)
	if status != 0 || !strings.Contains(out, "8 ranks, 21 of 21 rounds") {
		t.Fatalf("measure: status %d: %s%s", status, out, stderr)
	}
	if r, err := measure.ReadFile(measurements); err != nil || r.Ranks != 8 {
		t.Errorf("measurements: %v", err)
	}
	status, out, stderr = topocast("reconstruct", "--unit", "us", matrix)
	if status != 0 || !strings.Contains(out, "4-7") {
		t.Errorf("reconstruct: status %d: %s%s", status, out, stderr)
	}
}

// TestSimulateManyRanks: the harness as it is, on 256 simulated ranks, or 1,024.
func TestSimulateManyRanks(t *testing.T) {
	cluster := "tree:4x8x8"
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if tooltest.Long() {
		cluster = "tree:8x16x8"
	}
	for _, args := range [][]string{
		{"measure", "--rounds", "2", "--repetitions", "1", "--output", filepath.Join(t.TempDir(), "readings.json")},
	} {
		status, out, stderr := topocast(append(args, "--sim", cluster)...)
		if status != 0 {
			t.Errorf("%q: status %d: %s%s", args, status, out, stderr)
		}
	}
}

// TestSimulatedFilesHaveNamesOfTheirOwn: a simulation without --output leaves
// the files of the real machine as they are.
func TestSimulatedFilesHaveNamesOfTheirOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		file string
	}{
		{[]string{"discover", "--patterns", "0", "--sim", "star:4"}, "simulated-network.json"},
		{[]string{"discover", "--sim", "star:4", "--patterns", "0"}, "simulated-network.json"},
		{[]string{"discover", "--sim", "star:4", "--patterns", "0", "--output", "mine.json"}, "mine.json"},
		{[]string{"measure", "--sim", "star:4"}, "simulated-readings.json"},
	} {
		if status, _, stderr := topocast(c.args...); status != 0 {
			t.Fatalf("%q: status %d: %s", c.args, status, stderr)
		}
		all, err := os.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Name() != c.file {
			t.Errorf("%q wrote %v, want %s", c.args, all, c.file)
		}
		os.Remove(c.file)
	}
}

// TestSimulatedFilesRepeat: what is simulated is the same on every day, so its
// files have no date.
func TestSimulatedFilesRepeat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file.json")
	for _, args := range [][]string{
		{"discover", "--patterns", "0", "--sim", "star:4", "-o", file},
		{"discover", "--patterns", "0", "--sim", "star:4", "-o", os.DevNull, "--keep", file},
		{"discover", "--sim", "star:4", "--patterns", "0", "-o", file},
		{"measure", "--sim", "star:4", "-o", file},
	} {
		if status, _, stderr := topocast(args...); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"date"`) || len(b) < 100 {
			t.Errorf("%q wrote a date: %.200s", args, b)
		}
	}
}

// TestSimulatedBudgetRepeats: the budget of a simulation is one of virtual time.
func TestSimulatedBudgetRepeats(t *testing.T) {
	file := filepath.Join(t.TempDir(), "readings.json")
	var first string
	for range 3 {
		status, out, stderr := topocast("measure", "--sim", "tree:2x4",
			"--budget", "100ms", "--repetitions", "1000", "--output", file)
		if status != 0 || !strings.Contains(stderr, "too small for 1000 repetitions of 20 samples") || strings.Contains(out, "7000") {
			t.Fatalf("status %d: %s%s", status, out, stderr)
		}
		if first == "" {
			first = out
		}
		if out != first {
			t.Errorf("printed %q, and before %q", out, first)
		}
	}
}

func TestPlace(t *testing.T) {
	network := discovered(t, "--sim", "tree:2x4 latency=10us,2us", "--patterns", "0")
	// Ranks 0-1 and 2-3 talk: both pairs fit into one rack each.
	traffic := write(t, "traffic.csv", "0,1e6,0,0\n1e6,0,0,0\n0,0,0,1e6\n0,0,1e6,0\n")
	status, out, stderr := topocast("place", "--json", network, traffic)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var got struct {
		Format string
		Ranks  []struct{ Rank, Place int }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Format != "topocast/placement" || len(got.Ranks) != 4 {
		t.Fatalf("%v in %s", err, out)
	}
	for _, pair := range [][2]int{{0, 1}, {2, 3}} {
		if a, b := got.Ranks[pair[0]].Place, got.Ranks[pair[1]].Place; a/4 != b/4 {
			t.Errorf("ranks %v are at places %d and %d, want one rack", pair, a, b)
		}
	}
	if status, out, stderr := topocast("place", "--ranks", "2", network); status != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("servet: status %d: %s%s", status, out, stderr)
	}
	// A platform file knows no cores, but names.
	if status, out, stderr := topocast("place", write(t, "platform.json", line3)); status != 0 || out != "0 a\n1 b\n2 c\n" {
		t.Errorf("platform file: status %d: %s%s", status, out, stderr)
	}
	for _, format := range []string{"mpich", "rankfile"} {
		want := "topocast: --format " + format + ": the host of rank 0 is not known; --format hosts needs no cores\n"
		if status, _, stderr := topocast("place", "--format", format, write(t, "platform.json", line3)); status != cli.StatusInput || stderr != want {
			t.Errorf("status %d, %q, want %d and %q", status, stderr, cli.StatusInput, want)
		}
	}
	for want, args := range map[string][]string{
		"three.json: the file has 3 ranks":                           {"bcast", write(t, "three.json", line3), "--sim=star:4"},
		"many.txt: traffic of 4 x 4":                                 {"place", write(t, "three.json", line3), write(t, "many.txt", "0 1 2 3\n1 0 1 1\n1 1 0 1\n1 1 1 0\n")},
		"few.csv: the measurements are of 2 ranks, the network of 8": {"network", "correct", network, write(t, "few.csv", "# unit: us\n0,1\n1,0\n")},
	} {
		if status, _, stderr := topocast(args...); status != cli.StatusInput || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %d and %q", args, status, stderr, cli.StatusInput, want)
		}
	}
	for _, args := range [][]string{
		{"place", network, write(t, "bad.csv", "0,x\n1,0\n")},
		{"place", network, write(t, "ragged.csv", "0,1\n1\n")},
		{"place", "--method", "magic", network},
		{"place", "--method", "mapping", network},
		{"place", "--ranks", "3", network, traffic},
		{"place", "--ranks", "9", network},
		{"place", "--memory-bound", network, traffic},
		{"place", "--json", "--format", "rankfile", network, traffic},
		{"place", "--json", "--format", "mpich", network, traffic},
		{"place", "--format", "pdf", network},
		{"discover", "--sim", ""},
		{"discover", "--sim", "star:4", "--memory"},
		{"discover", "--sim", "blob:4"},
		{"measure", "--sim", "star:4", "--placement", "no/file"},
		{"measure", "--rounds", "-1"},
		{"discover", "--budget", "-1s"},
	} {
		if status, _, stderr := topocast(args...); status != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, want 2 and one line", args, status, stderr)
		}
	}
}

// TestDiscoverKeepsALargerNetwork: a file of the default name with more ranks is not replaced unless it is named.
func TestDiscoverKeepsALargerNetwork(t *testing.T) {
	t.Chdir(t.TempDir())
	discover := func(args ...string) (int, string) {
		status, _, stderr := topocast(append([]string{"discover", "--patterns", "0"}, args...)...)
		return status, stderr
	}
	if status, stderr := discover("--sim", "star:4"); status != 0 {
		t.Fatal(stderr)
	}
	if status, stderr := discover("--sim", "star:1"); status != cli.StatusInput || !strings.Contains(stderr, "simulated-network.json is a network of 4 ranks, this job has 1: --output simulated-network.json replaces it") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if status, stderr := discover("--sim", "star:4"); status != 0 {
		t.Errorf("as many ranks: status %d, %s", status, stderr)
	}
	if status, stderr := discover("--sim", "star:2", "-o", "simulated-network.json"); status != 0 {
		t.Errorf("named: status %d, %s", status, stderr)
	}
	if err := os.WriteFile("simulated-network.json", []byte(`{"of": "somebody else"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, stderr := discover("--sim", "star:4"); status != cli.StatusInput || !strings.Contains(stderr, "simulated-network.json is no network: --output simulated-network.json replaces it") {
		t.Errorf("something else: status %d, %s", status, stderr)
	}
}
