package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
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

// jobLimit is for jobs that hang. Others take seconds, on a busy machine many.
const jobLimit = 4 * time.Minute

// A job is a program on some ranks.
type job struct {
	ranks   int
	program []string
	preload bool
	env     []string // of the ranks, as NAME=value
	dir     string   // "": this one
}

// run runs the job and returns what it wrote. Whatever the status, the job has to end.
func (j job) run(t *testing.T) (status int, stdout, stderr string) {
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
	if os.Getenv(mpiVar) == "openmpi" {
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

// compile compiles a program of testdata.
func compile(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv(launcherVar) == "" {
		t.Skip(launcherVar + " is not set: make test-preload sets it")
	}
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command(os.Getenv(compilerVar), "-O1", "-o", program, filepath.Join("testdata", name+".c"), "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", name, err, out)
	}
	return program
}

// racks writes a network of this host as if its ranks were in two racks, so that broadcasts
// along it go by several ranks.
func racks(t *testing.T) string {
	t.Helper()
	c, err := gen.Parse("tree:2x4")
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
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
	file := filepath.Join(t.TempDir(), "report.json")
	status, out, stderr := job{ranks: ranks, program: program, preload: true, env: []string{
		"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model", "TOPOCAST_REPORT=" + file,
	}}.run(t)
	if status != 0 {
		t.Fatalf("%q on %d ranks: status %d\n%s%s", program, ranks, status, out, stderr)
	}
	if n := len(regexp.MustCompile(`(?m)^topocast: rank 0: `).FindAllString(stderr, -1)); n != 1 {
		t.Errorf("%q on %d ranks: %d reports, want one:\n%s", program, ranks, n, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return sorted(out), r
}

// written is a report as its file has it.
type written struct {
	Format  string
	Version int
	Calls   int64
	Ours    int64  `json:"along_network"`
	Reason  string `json:"left_to_library_because"`
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

func TestPreloadSizes(t *testing.T) {
	program := compile(t, "sizes")
	for _, ranks := range []int{1, 2, 5} {
		r := unchanged(t, ranks, program)
		if wanted := ranks > 1; r.Ours > 0 != wanted {
			t.Errorf("%d ranks: %d of %d broadcasts along the network, want some: %t", ranks, r.Ours, r.Calls, wanted)
		}
	}
}
