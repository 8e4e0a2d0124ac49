package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// What make test-preload sets.
const (
	libraryVar  = "TOPOCAST_TEST_PRELOAD" // the library to preload
	launcherVar = "TOPOCAST_TEST_MPIRUN"  // the launcher and its flags; the number of ranks follows
	mpiVar      = "MPI"                   // openmpi or mpich
	compilerVar = "CC"                    // of C programs
)

// jobLimit is for jobs that hang. Others take seconds; but where many others run, 2.5 GiB took more than four minutes.
const jobLimit = 15 * time.Minute

// A job is a program on some ranks.
type job struct {
	ranks   int
	program []string
	preload bool
	env     []string // of the ranks, as NAME=value
	dir     string   // "": this one
	bound   bool     // each rank has a core of its own
}

// run runs the job and returns what it wrote. Whatever the status, the job has to end.
func (j job) run(t testing.TB) (status int, stdout, stderr string) {
	t.Helper()
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skip(launcherVar + " is not set: make test-preload sets it")
	}
	env := slices.Clone(j.env)
	if j.preload {
		env = append(env, "LD_PRELOAD="+os.Getenv(libraryVar))
	}
	args := launcher[1:]
	switch {
	case j.bound:
		args = append(args, "-bind-to", "core") // of both launchers
	case os.Getenv(mpiVar) == "openmpi":
		args = append(args, "--bind-to", "none")
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if os.Getenv(mpiVar) == "openmpi" {
			args = append(args, "-x", e)
		} else {
			args = append(args, "-genv", name, value)
		}
	}
	args = append(append(args, "-n", fmt.Sprint(j.ranks)), j.program...)
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	c := exec.CommandContext(ctx, launcher[0], args...)
	c.Dir = j.dir
	c.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q: no end within %v\n%s%s", args, jobLimit, &out, &errs)
	}
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// compile compiles a program of testdata, in C or Fortran.
func compile(t testing.TB, source string) string {
	t.Helper()
	if os.Getenv(launcherVar) == "" {
		t.Skip(launcherVar + " is not set: make test-preload sets it")
	}
	compiler, flags := os.Getenv(compilerVar), []string{"-O1", "-pthread", "-rdynamic"}
	if filepath.Ext(source) == ".f90" {
		compiler, flags = "mpif90."+os.Getenv(mpiVar), []string{"-O1", "-w", "-fallow-argument-mismatch"}
	}
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(compiler, append(flags, "-o", program, filepath.Join("testdata", source), "-ldl")...).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", source, err, out)
	}
	return program
}

// racks writes a network of this host as if its ranks were in two racks, so that broadcasts
// along it go by several ranks.
func racks(t testing.TB) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return network(t, host)
}

// elsewhere writes a network of another host.
func elsewhere(t *testing.T) string { return network(t, "elsewhere") }

func network(t testing.TB, host string) string {
	t.Helper()
	c, err := gen.Parse("tree:2x4")
	if err != nil {
		t.Fatal(err)
	}
	where := make([]model.Location, c.Graph.Hosts())
	for i := range where {
		where[i] = model.Location{Host: host, Core: -1}
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
		&model.Settings{Locations: where, LevelBandwidth: []float64{1e9, 1e8}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "network.json")
	if err := n.Save(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// alongNetwork runs a program so that its broadcasts go along the network at once, and returns what it
// wrote to standard output, its lines in ascending order, and the report.
func alongNetwork(t *testing.T, ranks int, program ...string) (stdout string, r written) {
	t.Helper()
	stdout, r = alongNetworkIn(t, "", ranks, program...)
	return sorted(stdout), r
}

// alongNetworkIn does so in a folder, and leaves the lines as they are.
func alongNetworkIn(t *testing.T, dir string, ranks int, program ...string) (stdout string, r written) {
	t.Helper()
	return reported(t, job{ranks: ranks, program: program, dir: dir, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model", "TOPOCAST_PATIENCE=0"}})
}

// reported runs a job with the library, and returns what it wrote to standard output and the report.
func reported(t *testing.T, j job) (stdout string, r written) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	j.preload, j.env = true, append(j.env, "TOPOCAST_REPORT="+file)
	status, out, stderr := j.run(t)
	if status != 0 {
		t.Fatalf("%q on %d ranks: status %d\n%s%s", j.program, j.ranks, status, out, stderr)
	}
	if n := len(regexp.MustCompile(`(?m)^topocast: rank 0: `).FindAllString(stderr, -1)); n != 1 {
		t.Errorf("%q on %d ranks: %d reports, want one:\n%s", j.program, j.ranks, n, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return out, r
}

// written is a report as its file has it.
type written struct {
	Format  string
	Version int
	Comms   int `json:"communicators"`
	Calls   int64
	Bytes   int64
	Ours    int64   `json:"along_network"`
	Gain    float64 `json:"estimated_gain_s"`
	Reason  string  `json:"left_to_library_because"`
}

func sorted(lines string) string {
	all := strings.SplitAfter(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "")
}

// unchanged runs a program with and without the library, and compares.
func unchanged(t *testing.T, ranks int, program ...string) written {
	t.Helper()
	status, want, stderr := job{ranks: ranks, program: program}.run(t)
	if status != 0 {
		t.Fatalf("%q on %d ranks, without the library: status %d\n%s%s", program, ranks, status, want, stderr)
	}
	got, r := alongNetwork(t, ranks, program...)
	if want = sorted(want); got != want {
		t.Errorf("%q on %d ranks writes\n%s\nand without the library\n%s", program, ranks, got, want)
	}
	return r
}

// TestPreloadPrograms runs programs of our own, each of which looks at every byte that it gets. The numbers
// of broadcasts along the network follow from the programs: zero is what the library is to leave alone.
func TestPreloadPrograms(t *testing.T) {
	for _, c := range []struct {
		what   string
		ranks  int
		source string
		args   []string
		ours   bool
	}{
		{"many sizes, roots and communicators", 5, "sizes.c", nil, true},
		{"one rank", 1, "sizes.c", nil, false},
		{"types that differ between ranks", 4, "types.c", nil, true},
		{"wrong arguments", 2, "errors.c", nil, true},
		{"receives from any source", 3, "wildcards.c", nil, true},
		{"intercommunicators", 3, "inter.c", nil, true},
		{"threads one after the other", 2, "threads.c", []string{"serialized"}, true},
		{"threads at once", 2, "threads.c", []string{"multiple"}, false},
		{"signals and limits of the program", 2, "signals.c", nil, true},
		{"broadcasts in MPI_Finalize", 3, "ending.c", nil, true},
		{"Fortran by mpif.h, mpi and mpi_f08", 3, "entries.f90", nil, true},
		{"a profiler, which counts the program's calls only", 3, "profiled.c", nil, true},
		{"what every ABI has to do", 3, "trial.c", nil, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := unchanged(t, c.ranks, append([]string{compile(t, c.source)}, c.args...)...)
			if r.Ours > 0 != c.ours {
				t.Errorf("%d of %d broadcasts along the network, want some: %t (%s)", r.Ours, r.Calls, c.ours, r.Reason)
			}
		})
	}
}

// TestPreloadThousands: 3,000 communicators, of which 100 broadcast enough to pay for a broadcaster, and no more than
// 64 have one at a time; the others have what is left to the library.
func TestPreloadThousands(t *testing.T) {
	program := []string{compile(t, "many.c"), "1500", "1500"}
	_, want, _ := job{ranks: 2, program: program}.run(t)
	got, r := reported(t, job{ranks: 2, program: program, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model"}})
	if sorted(got) != sorted(want) || !strings.Contains(got, "rank 0: 0 bytes are wrong") {
		t.Errorf("it writes\n%s\nand without the library\n%s", got, want)
	}
	// Each of the 100 has had two broadcasts by then, and 20 more of 5,000 bytes and a kilobyte each; the
	// 11th is the first with 64 KiB in all, as the one before all is for the ranks to agree.
	if r.Comms != 64 || r.Ours < 64*9 || r.Ours > 64*11 {
		t.Errorf("%d communicators had a broadcaster, and %d broadcasts were along the network: want 64, and 9 to 11 for each", r.Comms, r.Ours)
	}
}

// TestPreloadContest: the library's broadcasts take 50 ms longer than ours and are compared with them at the first; then
// ours are used, and the gain is told. A machine that is busy enough hides 50 ms once in a while.
func TestPreloadContest(t *testing.T) {
	program := []string{compile(t, "slow.c"), "65536", "30", "50"}
	for attempt := 1; ; attempt++ {
		_, r := reported(t, job{ranks: 2, program: program, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_PATIENCE=0"}})
		if r.Ours == 30 && r.Comms == 1 && r.Gain > 0.1 {
			return
		}
		if t.Logf("%d of 30 broadcasts along the network, gain %g s: want all, and some 0.05 s each", r.Ours, r.Gain); attempt == 3 {
			t.Fatal("so in three jobs")
		}
	}
}

// TestPreloadTuned: what is tuned in the network's file for these ranks is used at once where it is long
// enough, and what is not tuned is left to the library.
func TestPreloadTuned(t *testing.T) {
	program := compile(t, "slow.c")
	_, version, _ := job{ranks: 2, program: []string{program, "1", "1", "0"}}.run(t)
	version, _, _ = strings.Cut(version, "\n")
	n, err := model.Load(racks(t))
	if err != nil {
		t.Fatal(err)
	}
	where := n.Hosts()[0]
	places := []model.Location{{Host: where, Core: -1}, {Host: where, Core: -1}}
	view, err := n.View(places)
	if err != nil {
		t.Fatal(err)
	}
	tuned, err := (*table.Table)(nil).With(table.Tuning{
		Job:       table.Job{Ranks: 2, Library: strings.Join(strings.Fields(strings.Trim(version, "\x00")), " "), Places: table.Fingerprint(places)},
		RootClass: table.RootClasses(view.Hierarchy()),
		Cells: []table.Cell{
			{Bytes: 1 << 16, Choice: table.Choice{Algorithm: "chain", Segment: 8192, Measured: 1e-3, Native: 3e-3, Pairs: 7}},
			{Bytes: 1 << 17, Choice: table.Choice{Algorithm: table.Native, Measured: 1e-3, Native: 1e-3, Pairs: 7}},
		},
	})
	if err == nil {
		n, err = tuned.Keep(n)
	}
	file := filepath.Join(t.TempDir(), "tuned.json")
	if err == nil {
		err = n.Save(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes string
		ours  int64
	}{{"65536", 9}, {"65537", 0}, {"20000", 0}} {
		_, r := reported(t, job{ranks: 2, program: []string{program, c.bytes, "9", "0"}, env: []string{"TOPOCAST_NETWORK=" + file}})
		if gain := 2e-3 * float64(c.ours); r.Ours != c.ours || r.Comms != 1 || math.Abs(r.Gain-gain) > 1e-6 {
			t.Errorf("%s bytes: %d of 9 broadcasts along the network, gain %g s, want %d and %g s (%s)", c.bytes, r.Ours, r.Gain, c.ours, gain, r.Reason)
		}
	}
}

// TestPreloadHuge broadcasts 2.5 GiB, of which each of two ranks has one or two copies.
func TestPreloadHuge(t *testing.T) {
	program := compile(t, "huge.c")
	const needed = 10 << 20 // KiB
	if free := available(t); free < needed {
		tooltest.Lacks(t, "%d KiB of memory are free, and it takes %d", free, needed)
	}
	if _, r := alongNetwork(t, 2, program); r.Ours != 2 {
		t.Errorf("%d broadcasts along the network, want 2", r.Ours)
	}
}

// available is the memory in KiB that programs may still take.
func available(t *testing.T) (free int) {
	t.Helper()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &free); err == nil {
			return free
		}
	}
	t.Fatal("/proc/meminfo does not tell MemAvailable")
	return 0
}

// TestPreloadWithoutNetwork: a job goes on as without the library, and is told why, whatever is wrong and
// whichever rank has it.
func TestPreloadWithoutNetwork(t *testing.T) {
	program := compile(t, "sizes.c")
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, env, want string }{
		{"no network", "TOPOCAST_NETWORK=", "TOPOCAST_NETWORK names no network"},
		{"no such file", "TOPOCAST_NETWORK=" + bad + ".not", "no such file"},
		{"no network in the file", "TOPOCAST_NETWORK=" + bad, "bad.json"},
		{"a network of other hosts", "TOPOCAST_NETWORK=" + elsewhere(t), "does not know 1 host"},
		{"a wrong patience", "TOPOCAST_PATIENCE=-1", "want seconds"},
		{"a wrong choice", "TOPOCAST_CHOICE=quick", "want timed or model"},
	} {
		env := []string{"TOPOCAST_CHOICE=model", "TOPOCAST_NETWORK=" + racks(t), c.env}
		status, _, stderr := job{ranks: 2, program: []string{program}, preload: true, env: env}.run(t)
		if status != 0 || !strings.Contains(stderr, "all left to the library: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, want 0 and %q", c.what, status, stderr, c.want)
		}
	}
}

// TestPreloadShort: what is short never makes the ranks look for a network.
func TestPreloadShort(t *testing.T) {
	program := compile(t, "many.c")
	status, _, stderr := job{ranks: 2, program: []string{program, "9", "0"}, preload: true, env: []string{
		"TOPOCAST_NETWORK=/no/such/file", "TOPOCAST_CHOICE=model",
	}}.run(t)
	if want := "18 broadcasts"; status != 0 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q, want 0 and %q", status, stderr, want)
	}
}

// TestPreloadPasses: short broadcasts that are not looked at are counted, on all ranks alike, before a contest and
// after it. A hang or a wrong byte tells of ranks that went different ways.
func TestPreloadPasses(t *testing.T) {
	program := compile(t, "passes.c")
	for _, patience := range []string{"2.5", "1e-5"} {
		out, r := reported(t, job{ranks: 2, program: []string{program}, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_PATIENCE=" + patience}})
		want := fmt.Sprintf("rank 0: %d broadcasts, %d bytes, 0 wrong", r.Calls, r.Bytes)
		if !strings.Contains(out, want) || r.Reason != "" {
			t.Errorf("patience of %s s: it says\n%s\nand the report %q (%s)", patience, out, want, r.Reason)
		}
	}
}
