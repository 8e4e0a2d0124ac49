package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// numbers are what differs from run to run: times and rates, and residuals, whose last digits
// may. What a program makes of them, passed or failed, has to be the same.
var numbers = regexp.MustCompile(`[-+]?\d+\.\d*([EeDd][-+]?\d+)?|\*+|[Nn]a[Nn]`)

// verdicts is what a program says of itself, without numbers that differ.
func verdicts(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(numbers.ReplaceAllString(line, "#")), " "); line != "" {
			lines = append(lines, line+"\n")
		}
	}
	return strings.Join(lines, "")
}

// TestPreloadScaLAPACK runs the tests of ScaLAPACK, which broadcast rows and columns of matrices, with gaps,
// and check what they compute. Debian's inputs are for some sizes below a kilobyte; ours ask for matrices
// and grids whose broadcasts are not short.
func TestPreloadScaLAPACK(t *testing.T) {
	launcherOf(t)
	folders, err := filepath.Glob("/usr/lib/*/scalapack/" + os.Getenv(mpiVar) + "-tests")
	if err != nil || len(folders) != 1 {
		tooltest.Lacks(t, "ScaLAPACK's tests are not there (%v, %v): make test-preload installs them", folders, err)
	}
	grids := []string{"number of process grids", "2 number of process grids\n1 2 P\n2 1 Q"}
	// With iterative refinement (T) these tests do not always end under Open MPI 4.1.4, without the library:
	// of four runs on a busy machine two ended with MPI_ERR_TRUNCATE, and two did not end within 90 s.
	refined := []string{"Test Cond. Est. and Iter. Ref. Routines", "F"}
	for _, c := range []struct {
		program, input string
		replaced       [][]string // what stands in the first of some lines, and what they are to be
	}{
		{"xdlu", "LU.dat", [][]string{refined, grids, {"number of problems sizes", "2 problems\n57 200 M\n50 200 N"}, {"number of NB's", "2 NB's\n5 24 NB"}}},
		{"xdqr", "QR.dat", [][]string{grids, {"number of problems sizes", "2 problems\n30 120 M\n35 100 N"}, {"number of blocking sizes", "2 sizes\n3 16 MB\n5 16 NB"}}},
		{"xdllt", "LLT.dat", [][]string{refined, grids, {"number of problems sizes", "2 problems\n57 200 N"}, {"number of NB's", "2 NB's\n5 24 NB"}}},
		{"PBLAS/dpb3tst", "PBLAS/PDBLAS3TST.dat", [][]string{grids}},
	} {
		t.Run(c.program, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("/usr/share/scalapack", c.input))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(c.input)), []byte(replaced(t, string(text), c.replaced)), 0o644); err != nil {
				t.Fatal(err)
			}
			program := []string{filepath.Join(folders[0], c.program)}
			status, want, stderr := job{ranks: 2, program: program, dir: dir}.run(t)
			if status != 0 || !strings.Contains(strings.ToLower(want), "passed") && !strings.Contains(want, "End of Tests") {
				t.Fatalf("without the library: status %d\n%s%s", status, want, stderr)
			}
			got, r := aware(t, dir, 2, program...)
			if verdicts(got) != verdicts(want) {
				t.Errorf("it writes\n%s\nand without the library\n%s", got, want)
			}
			t.Logf("%d of %d broadcasts are topology-aware", r.Ours, r.Calls)
			if r.Ours == 0 && !strings.HasPrefix(c.program, "PBLAS") {
				t.Error("no broadcast was topology-aware")
			}
		})
	}
}

// replaced replaces lines of an input: the first that has some words in it, and those that follow.
func replaced(t *testing.T, text string, by [][]string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	for _, r := range by {
		found := false
		for i, line := range lines {
			if strings.Contains(line, r[0]) {
				values := strings.Split(r[1], "\n")
				copy(lines[i:], values)
				found = true
				break
			}
		}
		if !found {
			t.Fatalf("the input has no %q:\n%s", r[0], text)
		}
	}
	return strings.Join(lines, "\n")
}

// TestPreloadHPCC runs the HPC Challenge on a small matrix. Debian has it for Open MPI.
func TestPreloadHPCC(t *testing.T) {
	launcherOf(t)
	if os.Getenv(mpiVar) != "openmpi" {
		t.Skip("Debian's hpcc is one of Open MPI")
	}
	text, err := os.ReadFile("/usr/share/doc/hpcc/examples/_hpccinf.txt")
	if _, absent := exec.LookPath("hpcc"); err != nil || absent != nil {
		tooltest.Lacks(t, "hpcc or its input is not there (%v): make test-preload installs them", errors.Join(absent, err))
	}
	input := regexp.MustCompile(`(?m)^\d+ +Ns$`).ReplaceAllString(string(text), "64 Ns")
	input = regexp.MustCompile(`(?m)^\d+ +NBs$`).ReplaceAllString(input, "16 NBs")
	input = regexp.MustCompile(`(?m)^\d+ +Ps$`).ReplaceAllString(input, "1 Ps")
	var said [2]string
	for i, preload := range []bool{false, true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(input), 0o644); err != nil {
			t.Fatal(err)
		}
		j := job{ranks: 2, program: []string{"hpcc"}, dir: dir, preload: preload}
		if preload {
			j.env = []string{"TOPOCAST_NETWORK=" + racks(t), "TOPOCAST_CHOICE=model"}
		}
		if status, out, stderr := j.run(t); status != 0 {
			t.Fatalf("preload %t: status %d\n%s%s", preload, status, out, stderr)
		}
		out, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(verdicts(string(out))) {
			// PTRANS prints times of the processor, too, where they are not 0.
			if regexp.MustCompile(`(?i)pass|fail|success`).MatchString(line) && !strings.HasPrefix(line, "CPU ") {
				said[i] += line
			}
		}
	}
	if said[0] != said[1] || !strings.Contains(said[0], "Success=1") {
		t.Errorf("it says\n%s\nand without the library\n%s", said[1], said[0])
	}
}

// TestPreloadPython: mpi4py asks for MPI_THREAD_MULTIPLE unless it is told otherwise, and finds MPI's functions in a library
// that it opens itself.
func TestPreloadPython(t *testing.T) {
	launcherOf(t)
	if os.Getenv(mpiVar) != "openmpi" {
		t.Skip("Debian's mpi4py is one of Open MPI")
	}
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('mpi4py') is None)").CombinedOutput(); err != nil {
		tooltest.Lacks(t, "%s has no mpi4py (%v%s): make test-preload installs it", python, err, out)
	}
	script, err := filepath.Abs("testdata/casts.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		level string
		ours  bool
	}{{"serialized", true}, {"multiple", false}} {
		if r := unchanged(t, 2, python, script, c.level); r.Ours > 0 != c.ours || r.Allreduce.Ours > 0 != c.ours {
			t.Errorf("%s: %d of %d broadcasts and %d of %d allreduces are topology-aware, want some: %t (%s)", c.level, r.Ours, r.Calls, r.Allreduce.Ours, r.Allreduce.Calls, c.ours, r.Reason)
		}
	}
}
