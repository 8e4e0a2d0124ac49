package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
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
		{cli.BadInput("wrong"), 2, false},
		{fmt.Errorf("compare: %w", cli.BadInput("wrong")), 2, false},
		{cli.Answer(cli.StatusDifferent), 3, true},
		{fmt.Errorf("check: %w", cli.Answer(cli.StatusUnknown)), 4, true},
	} {
		var b bytes.Buffer
		if got := cli.Report(&b, "topocast", c.err); got != c.status || (b.Len() == 0) != c.silent {
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
}

// TestUnusedFlagsAreRefused: flags of simulations and of ranks are refused where nothing is measured or simulated.
func TestUnusedFlagsAreRefused(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.json") // two hosts of two cores
	if status, _, stderr := topocast("discover", "--sim", "core:2 host:2", "--output", small); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"reconstruct", "m.csv", "--sim", "star:4"}, "--sim: topocast reconstruct measures no ranks"},
		{[]string{"network", "bisect", "a", "--ranks", "2"}, "--ranks: topocast network bisect measures no ranks"},
		{[]string{"export", "--format", "dot", "a", "--json"}, "--json: topocast export prints no JSON"},
		{[]string{"discover", "--fault", "host h0 2x"}, "--fault: only with --sim"},
		{[]string{"bcast", "--placement", "cyclic"}, "--placement: only with --sim"},
		{[]string{"bcast", "--sim", "star:4", "--placement", write(t, "places", "h0\nh9\n")}, `places: line 2: "h9": want the name of a host`},
		{[]string{"bcast", "--sim", "star:4", "--placement", "nowhere"}, "topocast: --placement: want block, cyclic, shuffled or a file"},
		{[]string{"discover", "--sim", ""}, "--sim: want a cluster"},
		{[]string{"nosuch"}, "unknown command"},
		{[]string{"measure", "--sim", "star:4", "--schedule", "square"}, `--schedule "square": want circle or halving`},
		{[]string{"measure", "--sim", "star:4", "--precision", "2"}, "--precision 2: want in [0, 1)"},
		{[]string{"measure", "--sim", "star:4", "--batch", "-1"}, "--batch -1: want in"},
		{[]string{"measure", "--timeout", "0s"}, "--timeout 0s"},
		{[]string{"measure", "--sizes", "1Ki,1024", "--output", t.TempDir() + "/m.json"}, `"1024": given twice`},
		{[]string{"bcast", "--sizes", "8,8"}, `"8": given twice`},
		{[]string{"compare", "a", "--against", "b", "--tolerance", "x"}, "--tolerance x: want a number; see topocast compare --help"},
		{[]string{"measure", "--budget", "5"}, "--budget 5: want a time with its unit, such as 30s or 5m; see"},
		{[]string{"measure", "--rounds", "few"}, "--rounds few: want a whole number; see"},
		{[]string{"check", "--seed", "-1"}, "--seed -1: want a whole number from 0 on; see"},
		{[]string{"check", "--load=maybe"}, "--load maybe: want true or false; see"},
		{[]string{"discover", "--sim", "missing.json"}, "missing.json: no such file, and no cluster such as tree:2x4x8"},
		{[]string{"check", "--history", "missing.history", "--measure=false"}, "--history: stat missing.history: no such file"},
		{[]string{"export", "a", "--format", "dot", "--output", ""}, "--output: want the name of a file"},
		{[]string{"bcast", "--budget", "-1s"}, "--budget -1s: want above 0"},
		{[]string{"discover", "--ranks", "100000"}, "--ranks 100000: want 1 to 10000"},
		{[]string{"place", small, "--ranks", "7"}, "--ranks 7: want 1 to 4, the places that the network has\n"},
		{[]string{"place", small, "--ranks", "-1"}, "--ranks -1: want 1 to 4"},
		{[]string{"place", small, "--ranks", "7", "--ranks-per-host", "1"}, "--ranks 7: want 1 to 2, the places that the network has with 1 rank on each host"},
		{[]string{"discover", "--sim", "star:4", "--memory"}, "--memory: simulated hosts have no caches"},
		{[]string{"check", "--load", "--history", "h"}, "--load: not with --history"},
		{[]string{"measure", "--what", "latency,distance", "--csv", "-"}, "--csv -: want a file"},
		{[]string{"check", "--sim", "star:3"}, "topocast: 3 hosts: want at least 4"},
	} {
		status, _, stderr := topocast(c.args...)
		if status != cli.StatusInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q, want 2 and %q", c.args, status, stderr, c.want)
		}
	}
}
