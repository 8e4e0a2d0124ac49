//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
)

const (
	launcherVar = "TOPOCAST_TEST_MPIRUN" // the launcher and its flags; the number of ranks follows
	commandVar  = "TOPOCAST_TEST_MAIN"   // set in a process that is to be the command, not its test
)

// TestMain lets the test binary be the command line itself, as a rank of a job.
func TestMain(m *testing.M) {
	if knocked := os.Getenv(knockVar); os.Getenv(commandVar) != "" && knocked != "" {
		os.Exit(mainUnderKnock(knocked))
	}
	if os.Getenv(commandVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// jobLimit is for jobs that hang. Others take seconds, on a busy machine many.
const jobLimit = 4 * time.Minute

// launch runs the command line on n ranks.
func launch(t *testing.T, n int, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skip(launcherVar + " is not set: make test sets it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), jobLimit)
	defer cancel()
	c := exec.CommandContext(ctx, launcher[0], append(append(launcher[1:], "-n", fmt.Sprint(n), self), args...)...)
	c.Env = append(os.Environ(), commandVar+"=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%d ranks, %q: no end within %v\n%s%s", n, args, jobLimit, &out, &errs)
	}
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestJobDiscoverAndBcast: discover writes a network of the job, and bcast
// takes it: every variant at every size, every byte right.
func TestJobDiscoverAndBcast(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8} {
		file := filepath.Join(t.TempDir(), "network.json")
		status, out, stderr := launch(t, n, "discover", "--budget", "15s", "--repetitions", "2", "--output", file, "--json")
		if status != 0 {
			t.Fatalf("discover on %d ranks: status %d\n%s", n, status, stderr)
		}
		if !strings.Contains(out, `"format":"topocast/discovery"`) || strings.Count(out, "\n") != 1 {
			t.Errorf("discover on %d ranks printed %q, want one line of JSON", n, out)
		}
		network, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if network.Ranks() != n {
			t.Errorf("discover on %d ranks wrote a network of %d", n, network.Ranks())
		}
		for _, flags := range [][]string{{file}, {"--budget", "5s"}} {
			args := append([]string{"bcast", "--sizes", "0,8,1KiB,100001", "--root", fmt.Sprint(n - 1), "--repetitions", "5", "--json"}, flags...)
			status, out, stderr = launch(t, n, args...)
			if status != 0 {
				t.Fatalf("bcast on %d ranks: status %d\n%s", n, status, stderr)
			}
			checkBenchmark(t, out, n)
		}
	}
}

// checkBenchmark holds the fixed output of topocast bcast.
func checkBenchmark(t *testing.T, out string, ranks int) {
	t.Helper()
	var got struct {
		Format      string
		Version     int
		Ranks, Root int
		Rows        []struct {
			Bytes    int
			Variant  string
			Median   float64 `json:"median_s"`
			Min      float64 `json:"min_s"`
			Max      float64 `json:"max_s"`
			Verified bool
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if got.Format != "topocast/bcast-benchmark" || got.Version != 2 || got.Ranks != ranks || got.Root != ranks-1 {
		t.Errorf("header of %q", out)
	}
	seen := make(map[string]int)
	for _, r := range got.Rows {
		seen[r.Variant]++
		if !r.Verified || !(r.Min >= 0 && r.Min <= r.Median && r.Median <= r.Max) {
			t.Errorf("%d ranks: row %+v", ranks, r)
		}
	}
	for _, v := range []string{"ours", "native", "flat", "binomial", "chain"} {
		if seen[v] != 4 {
			t.Errorf("%d ranks: %d rows of %s, want one per size", ranks, seen[v], v)
		}
	}
}

// TestJobFailsWithOneLine: what ends all ranks is told by rank 0, in words of the command. A journal without measurements goes.
func TestJobFailsWithOneLine(t *testing.T) {
	folder := t.TempDir()
	status, out, stderr := launch(t, 3, "discover", "--budget", "1us", "--output", filepath.Join(folder, "n.json"))
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left of no measurement (%v)", left, err)
	}
	all := out + stderr
	if status != 1 || strings.Count(all, "the budget of 1µs ended") != 1 || !strings.Contains(all, "rank 0: discover: the budget of 1µs ended before") {
		t.Errorf("status %d: %s", status, all)
	}
}

// TestJobWrongInput: one line, status 2, on a whole job too.
func TestJobWrongInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bcast", "--root", "4"}, "--root 4: want in [0, 4)"},
		{[]string{"bcast", "--sizes", "many"}, "many"},
		{[]string{"discover", "--patterns", "0", "--sim", "star:4"}, "--sim"},
		{[]string{"discover", "--ranks", "3"}, "--ranks 3"},
	} {
		status, _, stderr := launch(t, 4, c.args...)
		if status != 2 || strings.Count(stderr, c.want) != 1 || strings.Contains(stderr, "panic") {
			t.Errorf("%q: status %d, want 2 and %q once in\n%s", c.args, status, c.want, stderr)
		}
	}
}

// TestJobInterruptedKeepsWhatWasMeasured: Ctrl-C at the launcher, which ends the
// ranks in its own way: Open MPI a second after it has told them. The file is
// there, and holds about as much as the journal did, which is gone; a job that is killed
// on the spot leaves the journal.
func TestJobInterruptedKeepsWhatWasMeasured(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skip(launcherVar + " is not set: make test sets it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kill := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "readings.json")
		ctx, cancel := context.WithTimeout(context.Background(), jobLimit)
		defer cancel()
		c := exec.CommandContext(ctx, launcher[0], append(launcher[1:], "-n", "4", self,
			"measure", "--repetitions", "1000", "--budget", "1m", "--output", file)...)
		c.Env = append(os.Environ(), commandVar+"=1")
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var before *measure.Result
		for ctx.Err() == nil {
			if before, err = measure.ReadFile(file + journalSuffix); err == nil && before.Rounds >= 3 { // all pairs
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if kill {
			signalRanks(t, file, syscall.SIGKILL)
		} else if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // the status is the launcher's
		if ctx.Err() != nil {
			t.Fatalf("no end within %v\n%s", jobLimit, &errs)
		}
		kept := file
		// Open MPI's launcher, interrupted, kills its ranks a second after it has told them, in which a busy machine
		// may not let one write a file.
		_, written := os.Stat(file)
		if kill || os.IsNotExist(written) && strings.Contains(launcher[0], "openmpi") {
			kept += journalSuffix
		} else if _, err := os.Stat(file + journalSuffix); err == nil {
			t.Errorf("the journal is still there\n%s", &errs)
		}
		after, err := measure.ReadFile(kept)
		if err != nil {
			t.Fatalf("%v\n%s", err, &errs)
		}
		if after.Rounds < before.Rounds || len(after.Measurements()) < len(before.Measurements()) || after.Stopped == "" {
			t.Errorf("killed %t: %d rounds and %d measurements were kept, stopped by %q; the journal had %d and %d",
				kill, after.Rounds, len(after.Measurements()), after.Stopped, before.Rounds, len(before.Measurements()))
		}
		if status, out, stderr := topocast("reconstruct", kept); status != 0 {
			t.Errorf("reconstruct: status %d: %s%s", status, out, stderr)
		}
		// Three rounds make a repetition: what was begun is finished, and one more follows.
		repetitions := (after.Rounds+2)/3 + 1
		status, out, stderr := launch(t, 4, "measure", "--resume", kept, "--repetitions", strconv.Itoa(repetitions))
		if status != 0 {
			t.Fatalf("resume: status %d: %s%s", status, out, stderr)
		}
		resumed, err := measure.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if resumed.Rounds != 3*repetitions || len(resumed.Measurements()) != 12*repetitions || resumed.Stopped != "" {
			t.Errorf("resumed: %d rounds and %d measurements, stopped by %q, want %d and %d",
				resumed.Rounds, len(resumed.Measurements()), resumed.Stopped, 3*repetitions, 12*repetitions)
		}
		if _, err := os.Stat(file + journalSuffix); err == nil {
			t.Error("the file under way is still there")
		}
	}
}

// signalRanks sends a signal to the processes that have the argument, but for their launcher.
func signalRanks(t *testing.T, argument string, signal syscall.Signal) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		line, err := os.ReadFile(path)
		args := strings.Split(string(line), "\x00")
		if err != nil || args[0] != self || !slices.Contains(args, argument) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, signal) // it may have ended, as the launcher ends the others
	}
}
