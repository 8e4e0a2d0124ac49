package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
)

// TestMeasureResumes: a file under way that was cut off is gone on with, with the settings
// that it has, and one that is whole with more repetitions.
func TestMeasureResumes(t *testing.T) {
	t.Chdir(t.TempDir())
	simulate := func(args ...string) (int, string, string) {
		return topocast(append([]string{"measure", "--sim", "tree:2x3 latency=1ms,1ms"}, args...)...)
	}
	if status, _, stderr := simulate("--sizes", "8,64", "-o", "whole.json"); status != 0 {
		t.Fatal(stderr)
	}
	whole, err := measure.ReadFile("whole.json")
	if err != nil {
		t.Fatal(err)
	}
	// A journal as it was after seven rounds and some more rows.
	var journal strings.Builder
	w := record.NewWriter(&journal, &whole.Header)
	section := whole.Section()
	begun := *section
	begun.Rows, begun.Unfinished, begun.Rounds = nil, true, 0
	w.Begin(&begun)
	for i := range section.NumRows() {
		if row := section.Row(i); row[0] == 0 && row[4] < 5 || row[0] == 1 && row[4] < 2 {
			w.Rows(row)
		}
	}
	w.Mark(7, 15)
	cut := journal.String() + "[1,0,2,"
	if err := os.WriteFile("some.json.part", []byte(cut), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, stderr := simulate("--resume", "some.json.part")
	if status != 0 || !strings.Contains(out, "15 of 15 rounds, 180 measurements written to some.json") || !strings.Contains(stderr, "7 of 15 rounds are of an earlier run") {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	after, err := measure.ReadFile("some.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Measurements()) != len(whole.Measurements()) || !slices.Equal(after.Sizes, whole.Sizes) {
		t.Errorf("%d measurements of %v B, want %d of %v B", len(after.Measurements()), after.Sizes, len(whole.Measurements()), whole.Sizes)
	}
	if status, out, stderr = simulate("--resume", "whole.json", "--repetitions", "4"); status != 0 || !strings.Contains(out, "20 of 20 rounds") {
		t.Errorf("more repetitions: status %d: %s%s", status, out, stderr)
	}
	if status, _, stderr := simulate("--what", "plogp", "--budget", "1s", "-o", "plogp.json"); status != 0 {
		t.Fatal(stderr)
	}
	before, err := os.ReadFile("whole.json")
	if err != nil {
		t.Fatal(err)
	}
	if status, out, stderr = simulate("--resume", "whole.json"); status != 0 || !strings.Contains(out, "20 of 20 rounds") {
		t.Errorf("nothing missing: status %d: %s%s", status, out, stderr)
	}
	if now, err := os.ReadFile("whole.json"); err != nil || string(now) != string(before) {
		t.Errorf("nothing was missing, and the file has changed: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--resume", "whole.json", "--sizes", "4"}, "with other --sizes"},
		{[]string{"--resume", "whole.json", "--rounds", "2", "--repetitions", "9"}, "--resume: Settings.Resume: "},
		{[]string{"--resume", "whole.json", "--schedule", "halving", "--repetitions", "9"}, "--resume: Settings.Resume: "},
		{[]string{"--resume", "plogp.json", "--what", "plogp"}, "the file has a part of plogp, and only latencies are gone on with: measure without --resume"},
		{[]string{"--resume", "none.json"}, "none.json"},
		{[]string{"--resume", write(t, "x", "latencies")}, "not a measurement of topocast"},
		{[]string{"--what", "weather"}, `--what: "weather": want latency, oneway, plogp, throughput, concurrent, `},
		{[]string{"--what", "latency,latency"}, "given twice"},
		{[]string{"whole.json"}, "holds measurements"},
	} {
		if status, _, stderr := simulate(c.args...); status != 2 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, want 2 and one line with %q", c.args, status, stderr, c.want)
		}
	}
	if status, _, stderr := topocast("measure", "--sim", "star:4", "--resume", "whole.json"); status != 2 || !strings.Contains(stderr, "6 ranks and 4") {
		t.Errorf("other ranks: status %d: %s", status, stderr)
	}
}

// TestMeasureOfNothing: a run without a measurement has failed, and leaves what was there.
func TestMeasureOfNothing(t *testing.T) {
	file := write(t, "readings.json", "of before")
	for _, args := range [][]string{
		{"measure", "--ranks", "1", "-o", file},
		{"measure", "--sim", "star:4", "--budget", "1ns", "-o", file},
	} {
		if status, _, stderr := topocast(args...); status != 1 || !strings.Contains(stderr, "nothing was measured") {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != "of before" {
			t.Errorf("%q: the file has %q, %v", args, data, err)
		}
		if _, err := os.Stat(file + journalSuffix); err == nil {
			t.Errorf("%q: left %s", args, file+journalSuffix)
		}
	}
}

// TestMeasureByHost: on a star of hosts with latencies of 5 us per link, one line for each
// ordered pair.
func TestMeasureByHost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "readings.json")
	status, out, stderr := topocast("measure", "--sim", "star:3", "--by-host", "-o", file)
	if status != 0 || strings.Count(out, "latency: ") != 6 || !strings.Contains(out, "3 measurements)") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	status, out, stderr = topocast("measure", "--sim", "star:3", "--by-host", "--json", "-o", file)
	var got results.Measured
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, stderr)
	}
	if got.Measurements != 18 || len(got.Sections) != 1 || len(got.Sections[0].Hosts) != 6 || got.Sections[0].Hosts[0].Size != 8 {
		t.Errorf("report %+v", got)
	}
}

// TestMeasureManyKinds: each is a section of one file and a table of its own, and what an
// earlier run has is not measured again.
func TestMeasureManyKinds(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(args ...string) (string, string) {
		t.Helper()
		status, out, stderr := topocast(append([]string{"measure", "--sim", "tree:2x2 rate=10Gbps"}, args...)...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr)
		}
		return out, stderr
	}
	run("--what", "distance,latency", "--budget", "5s", "-o", "all.json", "--csv", "all.csv")
	out, _ := run("--what", "latency,distance,access,concurrent", "--budget", "300ms", "--resume", "all.json")
	f, err := record.ReadFile("all.json")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range f.Sections {
		kinds = append(kinds, s.Kind)
		if s.NumRows() == 0 {
			t.Errorf("%s: no rows", s.Kind)
		}
	}
	if want := []string{"latency", "distance", "concurrent", "access"}; !slices.Equal(kinds, want) || f.Unfinished || !strings.Contains(out, "concurrent: ") {
		t.Errorf("sections %q, want %q; printed %s", kinds, want, out)
	}
	for file, want := range map[string]string{"all.csv": "# topocast latencies", "all-distance.csv": "at,hosts,seconds_s,repetition,from,to,from_host,to_host\n"} {
		if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), want) {
			t.Errorf("%s: %v, %.80s", file, err, data)
		}
	}
	status, out, stderr := topocast("measure", "--sim", "star:2", "--what", "plogp", "-o", "plogp.json", "--csv", "plogp.csv")
	if r, err := os.ReadFile("plogp.csv"); status != 0 || err != nil || !strings.HasPrefix(string(r), "from,to,bytes,round_trip_s,gap_s,") {
		t.Errorf("plogp: status %d, %v: %s%s", status, err, out, stderr)
	}
	for _, args := range [][]string{{"--what", "memory"}, {"--what", "cache"}, {"--hosts", "-1"}} {
		if status, _, stderr := topocast(append([]string{"measure", "--sim", "star:4"}, args...)...); status != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
	if status, _, stderr := topocast("measure", "--ranks", "2", "--what", "distance", "-o", "none.json"); status != 1 || !strings.Contains(stderr, "nothing was measured") {
		t.Errorf("distances on one host: status %d: %s", status, stderr)
	}
}

// TestMeasureInGroupsOfANetwork: pairs inside the groups of the network come in rounds apart from
// those between them: three of two pairs inside groups of four, and at least four of pairs between.
func TestMeasureInGroupsOfANetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	network := discovered(t, "--sim", "tree:2x4 latency=10us,2us")
	file := filepath.Join(t.TempDir(), "readings.json")
	status, out, stderr := topocast("measure", "--sim", "tree:2x4 latency=10us,2us", network, "-o", file, "--repetitions", "1")
	if status != 0 || !strings.Contains(out, "7 of 7 rounds") {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	r, err := measure.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Measurements() {
		if inside := x.From/4 == x.To/4; inside != (x.Round < 3) {
			t.Errorf("the pair %d and %d is in round %d", x.From, x.To, x.Round)
		}
	}
	// Throughput is measured along the wiring, and goes back into the network.
	updated := filepath.Join(t.TempDir(), "updated.json")
	status, out, stderr = topocast("measure", "--sim", "tree:2x4 latency=10us,2us",
		"--what", "throughput", network, "--update", updated, "-o", file)
	if status != 0 || !strings.Contains(out, "throughput: ") {
		t.Fatalf("throughput: status %d: %s%s", status, out, stderr)
	}
	n, err := model.Load(updated)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Measured().Tool; got != "topocast measure" || n.Ranks() != 8 {
		t.Errorf("the network is of %q, %d ranks", got, n.Ranks())
	}
	for _, args := range [][]string{{"--what", "throughput"}, {"--update", updated}} {
		if status, _, stderr := topocast(append([]string{"measure", "--sim", "star:4"}, args...)...); status != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
	if status, _, stderr := topocast("measure", "--sim", "star:3", network); status != 2 || !strings.Contains(stderr, "is of 8 ranks, this job has 3") {
		t.Errorf("a network of other ranks: status %d: %s", status, stderr)
	}
}

// What a small budget has left out is measured by --resume, and what was measured is told to stay. With --precision pairs are measured
// again whose median is not known well enough.
func TestResumeMeasuresWhatTheBudgetLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	sim := []string{"measure", "--sim", "tree:4x4", "--fault", "noise 5%"}
	for _, c := range []struct {
		flags            []string
		out, err, notErr string
	}{
		{[]string{"--repetitions", "30", "--budget", "130ms", "-o", "1.json"}, "45 of 45 rounds", "the budget is too small for 30 repetitions", ""},
		{[]string{"--resume", "1.json", "--budget", "1m", "-o", "2.json"}, "450 of 450 rounds", "45 of 450 rounds are of an earlier run", "stays as it is"},
		{[]string{"--resume", "2.json", "-o", "3.json"}, "450 of 450 rounds", "note: latency: the file of --resume has all of it, which stays as it is", ""},
		{[]string{"--repetitions", "6", "-o", "4.json"}, "90 of 90 rounds", "", "earlier run"},
		{[]string{"--resume", "4.json", "--precision", "0.01", "-o", "5.json"}, "", "90 of", "stays as it is"},
		{[]string{"--what", "latency,plogp", "--budget", "1s", "-o", "6.json"}, "plogp: ", "not measured at all sizes", ""},
		{[]string{"--what", "plogp", "--resume", "6.json", "--budget", "1s", "-o", "7.json"}, "plogp: ", "a part of plogp: measured again, as only latencies are gone on with", "stays as it is"},
	} {
		status, out, stderr := topocast(append(sim, c.flags...)...)
		if status != 0 || !strings.Contains(out, c.out) || !strings.Contains(stderr, c.err) || c.notErr != "" && strings.Contains(stderr, c.notErr) {
			t.Errorf("%q: status %d: %s%s", c.flags, status, out, stderr)
		}
	}
}
