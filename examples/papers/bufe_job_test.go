//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestJobExperimentBufe: of a job on one host the ways to measure are compared.
func TestJobExperimentBufe(t *testing.T) {
	status, out, stderr := launch(t, 3, "bufe", "--samples", "5", "--budget", "1m")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"Table 3.1", "2 and 3", "batched execution", "This machine", "p = 99.99 %, n = 256", "3.2, 1 and 2: MD"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if status, _, stderr := launch(t, 2, "bufe"); status != 2 || strings.Count(stderr, "want at least 3") != 1 {
		t.Errorf("two ranks: status %d, want 2 and one line in\n%s", status, stderr)
	}
}
