package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// TestExitStatuses: the table that the help promises is what report returns, and
// only failures and wrong input print a line.
func TestExitStatuses(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		silent bool
	}{
		{errors.New("broken"), 1, false},
		{badInput("wrong"), 2, false},
		{fmt.Errorf("compare: %w", badInput("wrong")), 2, false},
		{answer(statusDifferent), 3, true},
		{fmt.Errorf("simulate: %w", answer(statusUnknown)), 4, true},
	} {
		var b bytes.Buffer
		if got := report(&b, c.err); got != c.status || (b.Len() == 0) != c.silent {
			t.Errorf("report(%v) = %d with %q, want %d", c.err, got, b.String(), c.status)
		}
	}
	status, out, _ := topocast("--help")
	if status != 0 {
		t.Fatalf("--help: status %d", status)
	}
	for status, word := range []string{"fine", "the run failed", "wrong input", "a difference or a fault", "cannot tell"} {
		if want := fmt.Sprintf("  %d  %s", status, word); !strings.Contains(out, want) {
			t.Errorf("--help does not say %q:\n%s", want, out)
		}
	}
}

func TestVersion(t *testing.T) {
	status, out, stderr := topocast("--version")
	if status != 0 || !strings.HasPrefix(out, "topocast ") || !strings.Contains(out, "go1.") || strings.Count(out, "\n") != 1 {
		t.Errorf("--version: status %d, %q, %q", status, out, stderr)
	}
	got := describeBuild(&debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}, {Key: "-tags", Value: "gompi"},
	}})
	if want := "v1.2.3 (abc with changes, 2026-01-02T03:04:05Z) tags gompi go1.26"; got != want {
		t.Errorf("describeBuild = %q, want %q", got, want)
	}
	if got := describeBuild(&debug.BuildInfo{GoVersion: "go1.26"}); got != "(devel) go1.26" {
		t.Errorf("without a version: %q", got)
	}
}

// TestSimulateRefusesWhatItDoesNotDo: what would be run without the cluster of
// --cluster, or on another one, is a mistake, and so is a size given twice.
func TestSimulateRefusesWhatItDoesNotDo(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"discover", "--sim", "star:3"}, "--sim: the cluster is that of --cluster already"},
		{[]string{"reconstruct", "m.csv"}, "reconstruct has no ranks to simulate: want discover, measure, bcast, tune, check, watch or experiment"},
		{[]string{"compare", "a", "b"}, "compare has no ranks"},
		{[]string{"export", "--format", "dot", "a"}, "export has no ranks"},
		{[]string{"correct", "a", "b"}, "correct has no ranks"},
		{[]string{"cut", "a"}, "cut has no ranks"},
		{[]string{"join", "a", "b"}, "join has no ranks"},
		{[]string{"simulate", "--cluster", "star:3", "--", "discover"}, "no other simulation"},
		{[]string{"nosuch"}, "unknown command"},
		{[]string{"experiment", "zhu", "--cluster", "star:4"}, "experiment zhu: the cluster is that of simulate --cluster already"},
		{[]string{"measure", "--schedule", "square"}, `--schedule "square": want circle or halving`},
		{[]string{"measure", "--precision", "2"}, "--precision 2: want in [0, 1)"},
		{[]string{"measure", "--batch", "-1"}, "--batch -1: want in"},
		{[]string{"measure", "--silence", "0s"}, "--silence 0s"},
		{[]string{"bcast", "--silence", "0s"}, "--silence 0s"},
		{[]string{"measure", "--sizes", "1Ki,1024", "--output", t.TempDir() + "/m.json"}, `"1024": given twice`},
		{[]string{"bcast", "--sizes", "8,8"}, `"8": given twice`},
	} {
		status, _, stderr := topocast(append([]string{"simulate", "--cluster", "star:4", "--"}, c.args...)...)
		if status != statusInput || !strings.Contains(stderr, c.want) {
			t.Errorf("simulate -- %q: status %d, %q, want 2 and %q", c.args, status, stderr, c.want)
		}
	}
}
