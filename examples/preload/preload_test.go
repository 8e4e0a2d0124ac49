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

// The environment that make test-preload sets.
const (
	libraryVar  = "TOPOCAST_TEST_PRELOAD" // the library to preload
	launcherVar = "TOPOCAST_TEST_MPIRUN"  // the launcher and its flags; the number of ranks follows
	mpiVar      = "MPI"                   // openmpi or mpich
	compilerVar = "CC"                    // of C programs
	standardVar = "TOPOCAST_MPI"          // set if the compiler is for the standard ABI, which has no Fortran
)

// jobLimit is for jobs that hang. Others take seconds, but 2.5 GiB took more than four minutes on a busy machine.
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

// perRank runs a program so that each rank writes to a file of its own: launchers may mix the lines of several ranks.
const perRank = `out=$1; shift; exec "$@" >"$out/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"`

// launcherOf returns the launcher of jobs and its flags. Without one the test is skipped: only make test-preload runs jobs.
func launcherOf(t testing.TB) []string {
	t.Helper()
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skip(launcherVar + " is not set: make test-preload sets it")
	}
	return launcher
}

// run runs the job and returns what it wrote, standard output by ascending rank. Whatever the status, the job has to end.
func (j job) run(t testing.TB) (status int, stdout, stderr string) {
	t.Helper()
	launcher := launcherOf(t)
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
	dir := t.TempDir()
	args = append(append(args, "-n", fmt.Sprint(j.ranks), "/bin/sh", "-c", perRank, "sh", dir), j.program...)
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	c := exec.CommandContext(ctx, launcher[0], args...)
	c.Dir = j.dir
	c.WaitDelay = 10 * time.Second
	var errs bytes.Buffer
	c.Stdout, c.Stderr = &errs, &errs // the launcher's
	err := c.Run()
	var out []byte
	for rank := range j.ranks {
		text, _ := os.ReadFile(filepath.Join(dir, fmt.Sprint(rank))) // none of a rank that never began
		out = append(out, text...)
	}
	if ctx.Err() != nil {
		t.Fatalf("%q: no end within %v\n%s%s", args, jobLimit, out, &errs)
	}
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out), errs.String()
}

// compile compiles a program of testdata, in C or Fortran.
func compile(t testing.TB, source string) string {
	t.Helper()
	launcherOf(t)
	program := filepath.Join(t.TempDir(), "program")
	compiler, flags := os.Getenv(compilerVar), []string{"-O1", "-pthread", "-rdynamic"}
	if filepath.Ext(source) == ".f90" {
		compiler, flags = "mpif90."+os.Getenv(mpiVar), []string{"-O1", "-w", "-fallow-argument-mismatch"}
	}
	if _, err := exec.LookPath(compiler); err != nil {
		tooltest.Lacks(t, "compile %s: %v: make test-preload installs compilers", source, err)
	}
	flags = append(flags, "-o", program, filepath.Join("testdata", source), "-ldl")
	if out, err := exec.Command(compiler, flags...).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", source, err, out)
	}
	return program
}

// racks writes a network of this host as if its ranks were in two racks, so that topology-aware broadcasts
// go by several ranks.
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

// aware runs a program in a folder so that its broadcasts are topology-aware at once. It returns what
// reported does.
func aware(t *testing.T, dir string, ranks int, program ...string) (stdout string, r reportFile) {
	t.Helper()
	return reported(t, job{ranks: ranks, program: program, dir: dir, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model", "TOPOCAST_PATIENCE=0"}})
}

// reported runs a job with the library, and returns its standard output and the report.
func reported(t *testing.T, j job) (stdout string, r reportFile) {
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

// reportFile is a report as its file has it.
type reportFile struct {
	Format  string
	Version int
	Comms   int `json:"communicators"`
	tallies
	Allreduce, Reduce tallies
}

// of is what the report says of a collective, by its name in tables of what is tuned.
func (r *reportFile) of(collective string) tallies {
	return map[string]tallies{"": r.tallies, table.Allreduce: r.Allreduce, table.Reduce: r.Reduce}[collective]
}

// unchanged runs a program with and without the library, and compares what it writes.
func unchanged(t *testing.T, ranks int, program ...string) reportFile {
	t.Helper()
	status, want, stderr := job{ranks: ranks, program: program}.run(t)
	if status != 0 {
		t.Fatalf("%q on %d ranks, without the library: status %d\n%s%s", program, ranks, status, want, stderr)
	}
	got, r := aware(t, "", ranks, program...)
	if got != want {
		t.Errorf("%q on %d ranks writes\n%s\nand without the library\n%s", program, ranks, got, want)
	}
	return r
}

// TestPreloadPrograms runs programs of our own, each of which looks at every byte that it gets. Which of them have
// topology-aware broadcasts follows from what the library has to leave to MPI.
func TestPreloadPrograms(t *testing.T) {
	for _, c := range []struct {
		what   string
		ranks  int
		source string
		args   []string
		ours   bool
		calls  int64 // of rank 0 that are counted; 0: any number
	}{
		{"many sizes, roots and communicators", 5, "sizes.c", nil, true, 0},
		{"one rank", 1, "sizes.c", nil, false, 0},
		{"types that differ between ranks", 4, "types.c", nil, true, 0},
		{"wrong arguments", 2, "errors.c", nil, true, 0},
		{"receives from any source", 3, "wildcards.c", nil, true, 0},
		{"intercommunicators", 3, "inter.c", nil, true, 0},
		{"threads one after the other", 2, "threads.c", []string{"serialized"}, true, 0},
		{"threads at once", 2, "threads.c", []string{"multiple"}, false, 0},
		{"signals and limits of the program", 2, "signals.c", nil, true, 0},
		{"broadcasts in MPI_Finalize", 3, "ending.c", nil, true, 0},
		// By mpif.h, by mpi and by mpi_f08 a broadcast and a reduction for each of three roots, and two allreduces.
		{"Fortran by mpif.h, mpi and mpi_f08", 3, "entries.f90", nil, true, 9},
		{"a profiler, which counts the program's calls only", 3, "profiled.c", nil, true, 20},
		{"what every ABI has to do", 3, "trial.c", nil, true, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			if filepath.Ext(c.source) == ".f90" && os.Getenv(standardVar) != "" {
				t.Skip("no library has entries of Fortran in the standard ABI")
			}
			r := unchanged(t, c.ranks, append([]string{compile(t, c.source)}, c.args...)...)
			if r.Ours > 0 != c.ours || c.calls > 0 && r.Calls != c.calls {
				t.Errorf("%d of %d broadcasts are topology-aware, want some: %t, and %d in all (%s)", r.Ours, r.Calls, c.ours, c.calls, r.Reason)
			}
			if c.source == "entries.f90" && (r.Allreduce.Ours != 6 || r.Allreduce.Calls != 6 || r.Reduce.Ours != 9 || r.Reduce.Calls != 9) {
				t.Errorf("%d of %d allreduces and %d of %d reductions are topology-aware, want 6 and 9", r.Allreduce.Ours, r.Allreduce.Calls, r.Reduce.Ours, r.Reduce.Calls)
			}
		})
	}
}

// TestPreloadReductions: reductions of every type and operation that is served are as the library's own, in place or not, and all
// are topology-aware. Those that are not served reach the library, and are not counted.
func TestPreloadReductions(t *testing.T) {
	const ranks = 4
	out, r := aware(t, "", ranks, compile(t, "reductions.c"))
	var want strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&want, "rank %d: 0 wrong; %d allreduces and %d reductions; 14 of 14 others reached the library\n", rank, r.Allreduce.Calls, r.Reduce.Calls)
	}
	if out != want.String() {
		t.Errorf("it writes\n%s\nand by the report\n%s", out, &want)
	}
	if r.Allreduce.Ours != r.Allreduce.Calls || r.Reduce.Ours != r.Reduce.Calls || r.Calls != 0 {
		t.Errorf("%d of %d allreduces and %d of %d reductions are topology-aware, and there were %d broadcasts: want all, and none", r.Allreduce.Ours, r.Allreduce.Calls, r.Reduce.Ours, r.Reduce.Calls, r.Calls)
	}
}

// TestPreloadKeepsReductions: TOPOCAST_REDUCE=off keeps the library's reductions, and changes nothing for broadcasts.
func TestPreloadKeepsReductions(t *testing.T) {
	program := compile(t, "slow.c")
	for _, collective := range []string{"", table.Allreduce, table.Reduce} {
		_, r := reported(t, job{ranks: 2, program: []string{program, "65536", "9", "0", collective}, env: []string{
			"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model", "TOPOCAST_PATIENCE=0", "TOPOCAST_REDUCE=off",
		}})
		x := r.of(collective)
		if collective == "" && (x.Ours != 9 || x.Reason != "") || collective != "" && (x.Ours != 0 || x.Reason != "TOPOCAST_REDUCE=off") || x.Calls != 9 {
			t.Errorf("%d of %d calls (%s) are topology-aware (%s), want 9 broadcasts, and no reductions because of TOPOCAST_REDUCE=off", x.Ours, x.Calls, collective, x.Reason)
		}
	}
}

// TestPreloadThousands: of 3,000 communicators 100 broadcast enough to pay for a broadcaster, and no more than 64 have one
// at a time. The other broadcasts are native.
func TestPreloadThousands(t *testing.T) {
	program := []string{compile(t, "many.c"), "1500", "1500"}
	_, want, _ := job{ranks: 2, program: program}.run(t)
	got, r := reported(t, job{ranks: 2, program: program, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model"}})
	if got != want || !strings.Contains(got, "rank 0: 0 bytes are wrong") {
		t.Errorf("it writes\n%s\nand without the library\n%s", got, want)
	}
	// Each of the 100 has had two broadcasts by then, and 20 more of 5,000 bytes and a kilobyte each; the
	// 11th is the first with 64 KiB in all, as the one before all is for the ranks to agree.
	if r.Comms != 64 || r.Ours < 64*9 || r.Ours > 64*11 {
		t.Errorf("%d communicators had a broadcaster, and %d broadcasts were topology-aware: want 64, and 9 to 11 for each", r.Comms, r.Ours)
	}
}

// TestPreloadContest: native calls of a collective take 50 ms longer than ours, and both are compared from the first call on. Then
// ours are used, and the report has the gain. A busy machine hides 50 ms once in a while.
func TestPreloadContest(t *testing.T) {
	program := compile(t, "slow.c")
	for _, collective := range []string{"", table.Allreduce, table.Reduce} {
		for attempt := 1; ; attempt++ {
			_, r := reported(t, job{ranks: 2, program: []string{program, "65536", "30", "50", collective}, env: []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_PATIENCE=0"}})
			x := r.of(collective)
			if x.Ours == 30 && r.Comms == 1 && x.Gain > 0.1 {
				break
			}
			if t.Logf("%d of 30 calls (%s) are topology-aware, gain %g s: want all, and some 0.05 s each", x.Ours, collective, x.Gain); attempt == 3 {
				t.Fatal("so in three jobs")
			}
		}
	}
}

// TestPreloadTuned: a choice that is tuned in the network's file for these ranks and settings is confirmed by the first
// call of its size, against native ones that take 50 ms longer, and used from then on. If messages take 1 ms longer it is not
// confirmed, and native is used from then on. Native is kept for a size for which the file says so, and for sizes and collectives
// without a choice. The gain is the file's.
func TestPreloadTuned(t *testing.T) {
	program := compile(t, "slow.c")
	_, version, _ := job{ranks: 2, program: []string{program, "1", "1", "0"}}.run(t)
	version, _, _ = strings.Cut(version, "\n")
	_, environment, _ := job{ranks: 1, program: []string{"env"}}.run(t)
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
	tuned := (*table.Table)(nil)
	for _, collective := range []string{"", table.Allreduce} {
		tuned, err = tuned.With(table.Tuning{
			Job: table.Job{
				Collective: collective,
				Ranks:      2, Library: strings.Join(strings.Fields(strings.Trim(version, "\x00")), " "),
				Places: table.Fingerprint(places), Settings: table.SettingsFingerprint(strings.Split(environment, "\n")),
			},
			RootClass: table.RootClasses(view.Hierarchy()),
			Cells: []table.Cell{
				{Bytes: 1 << 16, Choice: table.Choice{Algorithm: "chain", Segment: 8192, Measured: 1e-3, Native: 3e-3, Pairs: 7}},
				{Bytes: 1 << 17, Choice: table.Choice{Algorithm: table.Native, Measured: 1e-3, Native: 1e-3, Pairs: 7}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n, err = tuned.Keep(n)
	file := filepath.Join(t.TempDir(), "tuned.json")
	if err == nil {
		err = n.Save(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		collective, bytes, delay string
		comms                    int
		ours, winning            int64
	}{
		{"", "65536", "50", 1, 9, 9},
		{"", "65537", "50", 1, 0, 0},
		{"", "20000", "50", 1, 0, 0},
		{"", "65536", "-1", 1, 1, 0},
		{table.Allreduce, "65536", "50", 1, 9, 9},
		{table.Allreduce, "65544", "50", 1, 0, 0},
		{table.Allreduce, "65536", "-1", 1, 1, 0},
		{table.Reduce, "65536", "50", 0, 0, 0},
	} {
		_, r := reported(t, job{ranks: 2, program: []string{program, c.bytes, "9", c.delay, c.collective}, env: []string{"TOPOCAST_NETWORK=" + file}})
		x := r.of(c.collective)
		if gain := 2e-3 * float64(c.winning); x.Ours != c.ours || r.Comms != c.comms || math.Abs(x.Gain-gain) > 1e-6 {
			t.Errorf("%s bytes (%s): %d of 9 calls with a delay of %s ms are topology-aware, gain %g s, %d communicators, want %d, %g s and %d (%s)", c.bytes, c.collective, x.Ours, c.delay, x.Gain, r.Comms, c.ours, gain, c.comms, x.Reason)
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
	if _, r := aware(t, "", 2, program); r.Ours != 2 {
		t.Errorf("%d broadcasts are topology-aware, want 2", r.Ours)
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
		{"a wrong choice of reductions", "TOPOCAST_REDUCE=0", "want on or off"},
	} {
		env := []string{"TOPOCAST_CHOICE=model", "TOPOCAST_NETWORK=" + racks(t), c.env}
		status, _, stderr := job{ranks: 2, program: []string{program}, preload: true, env: env}.run(t)
		if status != 0 || !strings.Contains(stderr, "all native (MPI_Bcast): ") || !strings.Contains(stderr, c.want) {
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
		want := fmt.Sprintf("rank 0: %d broadcasts, %d bytes, 0 wrong", r.Calls, r.Sum)
		if !strings.Contains(out, want) || r.Reason != "" {
			t.Errorf("patience of %s s: it says\n%s\nand the report %q (%s)", patience, out, want, r.Reason)
		}
	}
}
