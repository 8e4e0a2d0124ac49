//go:build mpi && cgo

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/model"
)

const (
	launcherVar = "TOPOCAST_TEST_MPIRUN" // the launcher and its flags; the number of ranks follows
	commandVar  = "TOPOCAST_TEST_MAIN"   // set in a process that is to be the command, not its test
)

// TestMain lets the test binary be the command line itself, as a rank of a job.
func TestMain(m *testing.M) {
	if os.Getenv(commandVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

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
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, launcher[0], append(append(launcher[1:], "-n", fmt.Sprint(n), self), args...)...)
	c.Env = append(os.Environ(), commandVar+"=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%d ranks, %q: no end within a minute\n%s%s", n, args, &out, &errs)
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
		status, out, stderr := launch(t, n, "discover", "--budget", "5s", "--repetitions", "2", "--output", file, "--json")
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
		for _, flags := range [][]string{{"--network", file}, {"--budget", "2s"}} {
			args := append([]string{"bcast", "--sizes", "0,8,1KiB,100001", "--root", fmt.Sprint(n - 1), "--reps", "5", "--json"}, flags...)
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
	if got.Format != "topocast/bcast-benchmark" || got.Version != 1 || got.Ranks != ranks || got.Root != ranks-1 {
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

// TestJobWrongInput: one line, status 2, on a whole job too.
func TestJobWrongInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bcast", "--root", "4"}, "--root 4: want in [0, 4)"},
		{[]string{"bcast", "--sizes", "many"}, "many"},
		{[]string{"discover", "--sim", "star:4"}, "--sim"},
		{[]string{"discover", "--ranks", "3"}, "--ranks 3"},
	} {
		status, _, stderr := launch(t, 4, c.args...)
		if status != 2 || strings.Count(stderr, c.want) != 1 || strings.Contains(stderr, "panic") {
			t.Errorf("%q: status %d, want 2 and %q once in\n%s", c.args, status, c.want, stderr)
		}
	}
}
