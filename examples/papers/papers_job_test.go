//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestJobExperimentWantsHosts: all ranks of this job are on one host, which is told
// before anything is measured; then all of them end. The emulated cluster has more.
func TestJobExperimentWantsHosts(t *testing.T) {
	status, out, stderr := launch(t, 4, "zhu", "--budget", "10s")
	if status != 2 || out != "" || !strings.Contains(stderr, "1 hosts: want 4 at least") {
		t.Errorf("status %d, %q, want an error about hosts in\n%s", status, out, stderr)
	}
	if status, _, stderr := launch(t, 2, "zhu", "--sim", "star:4"); status != 2 || strings.Count(stderr, "without a launcher") != 1 {
		t.Errorf("--sim under a launcher: status %d, want 2 and one line in\n%s", status, stderr)
	}
}

// TestJobExperimentReinfjell: a job clusters its ranks.
func TestJobExperimentReinfjell(t *testing.T) {
	status, out, stderr := launch(t, 3, "reinfjell", "--reps", "2", "--budget", "1m")
	if status != 0 || !strings.Contains(out, "3 ranks on 1 host") || !strings.Contains(out, "| kmedoids ") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// launcherVar is the launcher and its flags. The number of ranks follows.
const launcherVar = "TOPOCAST_TEST_MPIRUN"

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
