package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/reduce"
)

// onGoroutines runs the command line on ranks of one process, which have a broadcast of their own.
func onGoroutines(ranks int, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	c := command(func(_ int, work func(mpi.Communicator) error) error {
		err := local.Run(ranks, nil, work)
		var input *cli.InputError
		if errors.As(err, &input) {
			return input
		}
		return err
	})
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&errs)
	if err := c.Execute(); err != nil {
		status = cli.Report(&errs, "topocast", err)
	}
	return status, out.String(), errs.String()
}

// tunings are those of broadcasts in a network's file.
func tunings(t *testing.T, file string) []table.Tuning {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(tables(t, file)), func(x table.Tuning) bool { return x.Collective != "" })
}

// tables are all tunings of a network's file.
func tables(t *testing.T, file string) []table.Tuning {
	t.Helper()
	n, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := table.Of(n)
	if err != nil {
		t.Fatal(err)
	}
	return all.Tunings()
}

// TestTuneKeepsItsChoices with the network, besides those for other jobs, and prints them.
func TestTuneKeepsItsChoices(t *testing.T) {
	network := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	for _, c := range []struct {
		ranks int
		sizes string
		cells []int64
	}{{4, "8,1KiB", []int64{8, 1024}}, {3, "5", []int64{8}}, {4, "64", []int64{8, 64, 1024}}} {
		status, out, stderr := onGoroutines(c.ranks, "bcast", "tune", "--in-place", "--sizes", c.sizes, network)
		if status != 0 || !strings.Contains(stderr, "written to "+network) || !strings.Contains(out, "ranks, places ") {
			t.Fatalf("status %d, %s\n%s", status, stderr, out)
		}
		all := tunings(t, network)
		last := all[len(all)-1]
		var cells []int64
		for _, x := range last.Cells {
			if cells = append(cells, x.Bytes); x.Pairs < 1 || !(x.Measured > 0) || !(x.Choice.Native > 0) {
				t.Errorf("cell %+v, want it measured", x)
			}
		}
		if last.Ranks != c.ranks || len(last.Places) != 16 || len(cells) != len(c.cells) || cells[len(cells)-1] != c.cells[len(cells)-1] || last.Date == "" {
			t.Errorf("%d ranks, %s: %+v, want %v", c.ranks, c.sizes, last, c.cells)
		}
	}
	if all := tunings(t, network); len(all) != 2 {
		t.Errorf("%d tunings, want those of 3 and of 4 ranks", len(all))
	}
	// The job starts tuned: nothing warns of choices for others.
	if _, _, stderr := onGoroutines(4, "bcast", network, "--sizes", "8", "--repetitions", "1", "--only", "ours"); strings.Contains(stderr, "table") {
		t.Error(stderr)
	}
	if _, _, stderr := onGoroutines(2, "bcast", network, "--sizes", "8", "--repetitions", "1", "--only", "ours"); !strings.Contains(stderr, "table of tuned broadcasts is of other ranks") {
		t.Errorf("of another job: %q", stderr)
	}
	status, out, _ := onGoroutines(4, "bcast", "tune", "--sizes", "8", "--print", "c", "-o", "-", network)
	if n, err := model.Read(strings.NewReader(out)); status != 0 || err != nil || n.Settings().BcastTable == nil {
		t.Errorf("-o -: status %d, %v", status, err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if status, out, _ := onGoroutines(4, "bcast", "tune", "--sizes", "8", "--print", "c", "-o", other, network); status != 0 || !strings.Contains(out, "choose_bcast(long long bytes") || !strings.Contains(out, "ranks == 3") {
		t.Errorf("--print c: status %d, %s", status, out)
	}
	if len(tunings(t, other)) != 2 {
		t.Error("the other file lacks tunings")
	}
}

// TestTuneKeepsAllreduces besides broadcasts, where a program that uses package reduce finds them.
func TestTuneKeepsAllreduces(t *testing.T) {
	network := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	status, _, stderr := onGoroutines(4, "bcast", "tune", "--in-place", "--sizes", "8,1KiB", network)
	if status != 0 || !strings.Contains(stderr, "MPI_Allreduce stays for: ") && !strings.Contains(stderr, "Allreduces are faster for: ") {
		t.Fatalf("status %d, %s", status, stderr)
	}
	all := tables(t, network)
	if len(all) != 2 || all[0].Collective == all[1].Collective {
		t.Fatalf("%d tunings, want one of broadcasts and one of Allreduces: %+v", len(all), all)
	}
	n, err := model.Load(network)
	if err != nil {
		t.Fatal(err)
	}
	if err := local.Run(4, nil, func(comm mpi.Communicator) error {
		r, err := reduce.New(comm, &reduce.Settings{Network: n})
		if err != nil {
			return err
		}
		for _, bytes := range []int{8, 1 << 10} {
			// A stored win is confirmed first.
			if name, _, decided := r.Chosen(bytes, reduce.AllRanks); name == "" && !decided {
				return fmt.Errorf("nothing is stored for %d bytes: warnings %q", bytes, r.Warnings())
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestTuneOfSimulatedRanks has nothing to compare with.
func TestTuneOfSimulatedRanks(t *testing.T) {
	const cluster = "tree:2x4 latency=30us,10us rate=100Mbps,200Mbps"
	network := discovered(t, "--patterns", "0", "--sim", cluster)
	before, err := os.ReadFile(network)
	if err != nil {
		t.Fatal(err)
	}
	status, out, stderr := topocast("bcast", "tune", "--sim", cluster, "--sizes", "8,64KiB", "--print", "go", network)
	after, err := os.ReadFile(network)
	if status != 0 || !strings.Contains(stderr, "these are predictions, and are not stored") || !strings.Contains(out, "if bytes <= 8 {\n\t\t\treturn \"flat\", 0, false") || err != nil || !bytes.Equal(after, before) {
		t.Errorf("status %d, %v, %s\n%s", status, err, stderr, out)
	}
}

func TestTuneRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	network := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	platform := write(t, "platform.json", line3)
	edited, _, _ := strings.Cut(read(t, network), `,"checksum"`)
	damaged := write(t, "damaged.json", strings.Replace(edited, `"hierarchy":`, `"bcast_table":{"version":9},"hierarchy":`, 1)+"}")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "want NET"},
		{[]string{"missing.json"}, "missing.json"},
		{[]string{"--sizes", "many", network}, "many"},
		{[]string{"--print", "python", network}, "--print python: want text, go or c"},
		{[]string{"--budget", "-1s", network}, "--budget -1s"},
		{[]string{"-o", "missing/file", network}, "--output: "},
		{[]string{platform}, "the file has 3 ranks and does not say where they ran, the job has 4"},
	} {
		status, out, stderr := onGoroutines(4, append([]string{"bcast", "tune"}, c.args...)...)
		if status != cli.StatusInput || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("tune %q: status %d, %q, %q, want 2 and %q", c.args, status, out, stderr, c.want)
		}
	}
	fresh := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	status, _, stderr := onGoroutines(2, "bcast", "tune", "--in-place", "--sizes", "0,8", "--budget", "1ns", fresh)
	if status != 0 || !strings.Contains(stderr, "not decided within --budget, so native stays for: 8 B, Allreduce of 8 B\n") {
		t.Errorf("no time: status %d, %s", status, stderr)
	}
	// A full disk takes the file, not what was measured.
	status, out, stderr := onGoroutines(2, "bcast", "tune", "--sizes", "8", "-o", "/dev/full", network)
	if _, at, kept := strings.Cut(stderr, "kept in "); status != cli.StatusFailed || !kept || len(tunings(t, strings.TrimSpace(at))) != 1 || !strings.Contains(out, "ranks, places") {
		t.Errorf("a full disk: status %d, %s\n%s", status, stderr, out)
	}
	status, _, stderr = onGoroutines(2, "bcast", "tune", "--in-place", "--sizes", "8", damaged)
	if status != 0 || !strings.Contains(stderr, "what was tuned before is lost: table: read: version is 9") || len(tunings(t, damaged)) != 1 {
		t.Errorf("a damaged table: status %d, %s", status, stderr)
	}
}

// TestBcastOnlyAndCSV: what is asked for and no more, in a file for programs.
func TestBcastOnlyAndCSV(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"bcast", "--sim", "tree:2x2 latency=20us,5us rate=1Gbps", "--sizes", "8-16", "--repetitions", "7"}
	status, out, stderr := topocast(append(args, "--only", "ours,chain", "--csv", "times.csv")...)
	if status != 0 || strings.Contains(out, "binomial,") || !strings.Contains(out, "of bound") {
		t.Errorf("status %d, %s\n%s", status, stderr, out)
	}
	records, err := csv.NewReader(strings.NewReader(read(t, "times.csv"))).ReadAll()
	if err != nil || len(records) != 5 || records[1][3] != "ours" || records[2][3] != "chain" || records[3][2] != "16" || records[1][6] == "" {
		t.Errorf("%q, %v, want ours and chain at two sizes with intervals", records, err)
	}
	if status, out, _ := topocast(append(args, "--only", "chain", "--csv", "-")...); status != 0 || !strings.HasPrefix(out, "ranks,root,bytes,variant") {
		t.Errorf("--csv -: status %d, %s", status, out)
	}
	if status, out, _ := topocast(append(args, "--only", "chain", "--repetitions", "5")...); status != 0 || !strings.Contains(out, "too few samples") {
		t.Errorf("5 repetitions: status %d, %s", status, out)
	}
	for _, c := range []struct {
		more []string
		want string
	}{
		{[]string{"--only", "native"}, "--only native: simulated ranks have no MPI library"},
		{[]string{"--only", "quick"}, "--only quick"},
		{[]string{"--repetitions", "0"}, "--repetitions 0"},
		{[]string{"--warm-ups", "0"}, "--warm-ups 0"},
		{[]string{"--json", "--csv", "-"}, "both are standard output"},
		{[]string{"--csv", "missing/times.csv"}, "--csv: "},
	} {
		if status, _, stderr := topocast(append(args, c.more...)...); status != cli.StatusInput || !strings.Contains(stderr, c.want) {
			t.Errorf("bcast %q: status %d, %s, want 2 and %q", c.more, status, stderr, c.want)
		}
	}
	if status, out, stderr := topocast(append(args, "--csv", "/dev/full")...); status != cli.StatusFailed || !strings.Contains(stderr, "kept in ") || !strings.Contains(out, "of bound") {
		t.Errorf("a full disk: status %d, %s\n%s", status, stderr, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTuneKeepsFilesThatItWasNotToldToWrite: NET stays as it is without --in-place, and so does an earlier file of the
// default name.
func TestTuneKeepsFilesThatItWasNotToldToWrite(t *testing.T) {
	network := discovered(t, "--patterns", "0", "--sim", "tree:2x2")
	tuned := strings.TrimSuffix(network, ".json") + ".tuned.json"
	args := []string{"bcast", "tune", network, "--sizes", "8"}
	if status, _, stderr := onGoroutines(4, args...); status != 0 || !strings.Contains(stderr, "written to "+tuned) {
		t.Fatalf("status %d, %s", status, stderr)
	}
	if len(tunings(t, network)) != 0 || len(tunings(t, tuned)) != 1 {
		t.Errorf("NET has %d tunings, want 0; its copy %d, want 1", len(tunings(t, network)), len(tunings(t, tuned)))
	}
	if status, _, stderr := onGoroutines(3, args...); status != cli.StatusInput || !strings.Contains(stderr, tuned+" exists") || len(tunings(t, tuned)) != 1 {
		t.Errorf("the file is there: status %d, %s", status, stderr)
	}
	if status, _, stderr := onGoroutines(3, "bcast", "tune", tuned, "--in-place", "--sizes", "8"); status != 0 || len(tunings(t, tuned)) != 2 {
		t.Errorf("in place: status %d, %s", status, stderr)
	}
}
