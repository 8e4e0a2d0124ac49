package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/tooltest"
)

// TestMeasureFlagsAct: a flag changes what is measured of every kind that it is of, and one line refuses it for all others. Simulated
// measurements repeat exactly, so a file that is the same with the flag shows that the flag did nothing.
func TestMeasureFlagsAct(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const cluster = "core:2 host:5 latency=10us,1us rate=10Gbps"
	network := discovered(t, "--sim", cluster)
	values := map[string]string{
		"sizes": "4096", "repetitions": "4", "rounds": "3", "schedule": "halving", "sequential": "true", "precision": "0.001",
		"batch": "5", "hosts": "4", "fast": "true", "one-clock": "true", "switches": "true",
	}
	measured := func(kind string, flags ...string) (file string, status int, stderr string) {
		t.Helper()
		file = filepath.Join(t.TempDir(), "m.json")
		args := []string{"measure", "--what", kind, "--sim", cluster, "-o", file}
		if kind == "throughput" {
			args = append(args, network)
		}
		status, _, stderr = topocast(append(args, flags...)...)
		text, _ := os.ReadFile(file)
		return string(text), status, stderr
	}
	for _, p := range parts() {
		switch p.kind {
		case "memory", "cache":
			continue // simulated hosts have none
		case "plogp", "throughput", "concurrent", "access":
			if !tooltest.Long() {
				continue // seconds each
			}
		}
		plain, status, stderr := measured(p.kind)
		if again, _, _ := measured(p.kind); status != cli.StatusFine || plain == "" || again != plain {
			t.Fatalf("%s: status %d, %s; or two files differ", p.kind, status, stderr)
		}
		for flag, value := range values {
			if flag == "precision" && p.kind == "concurrent" {
				value = "0.2" // a finer one takes half a minute
			}
			of := p.takes(flag)
			file, status, stderr := measured(p.kind, "--"+flag+"="+value)
			switch {
			case of && (status != cli.StatusFine || file == plain):
				t.Errorf("%s --%s=%s: status %d, %s; or the file is as without it", p.kind, flag, value, status, stderr)
			case !of && (status != cli.StatusInput || !strings.Contains(stderr, "--"+flag+": sets nothing of --what "+p.kind)):
				t.Errorf("%s --%s=%s: status %d, %s; want a refusal", p.kind, flag, value, status, stderr)
			}
		}
	}
	for _, sizes := range []string{"8,16", "0"} { // 0 would stand for the default
		if _, status, stderr := measured("plogp", "--sizes", sizes); status != cli.StatusInput || !strings.Contains(stderr, "plogp takes one size") {
			t.Errorf("sizes %s: status %d, %s", sizes, status, stderr)
		}
	}
	if _, status, stderr := measured("latency,distance", "--hosts", "4"); status != cli.StatusFine {
		t.Errorf("a flag of one of two kinds: status %d, %s", status, stderr)
	}
}
