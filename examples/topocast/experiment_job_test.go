//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestJobExperimentWantsHosts: all ranks of this job are on one host, which is told
// before anything is measured; then all of them end. The laboratory has more.
func TestJobExperimentWantsHosts(t *testing.T) {
	status, out, stderr := launch(t, 4, "experiment", "zhu", "--budget", "10s")
	if status != 2 || out != "" || !strings.Contains(stderr, "1 hosts: want 4 at least") {
		t.Errorf("status %d, %q, want an error about hosts in\n%s", status, out, stderr)
	}
	if status, _, stderr := launch(t, 2, "experiment", "zhu", "--cluster", "star:4"); status != 2 || strings.Count(stderr, "without a launcher") != 1 {
		t.Errorf("--cluster under a launcher: status %d, want 2 and one line in\n%s", status, stderr)
	}
}

// TestJobExperimentReinfjell: a job clusters its ranks and times its broadcasts beside the library's own.
func TestJobExperimentReinfjell(t *testing.T) {
	status, out, stderr := launch(t, 3, "experiment", "reinfjell", "--reps", "2", "--budget", "1m")
	if status != 0 || !strings.Contains(out, "3 ranks on 1 host") || !strings.Contains(out, "library is the library's own") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}
