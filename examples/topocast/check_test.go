package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// An operator sees what each fault looks like: what check names on a simulated cluster.
func TestCheckNamesSimulatedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const cluster = "tree:4x8 latency=10us,5us"
	for _, c := range []struct {
		name, fault string
		status      int
		want        string // the line of what is named, and one of how
	}{
		{"healthy", "", cli.StatusFine, "nothing is slow"},
		{"host", "host h12 1.2x", cli.StatusDifferent, "\nhost h12, or its cable to s2\n"},
		{"one direction", "direction h5>s1 rate=0.5x", cli.StatusDifferent, "\nhost h5, or its cable to s1\n  long messages h5 > s1 "},
		{"a cable's latency", "link h9-s2 latency=1.5x", cli.StatusDifferent, "\nhost h9, or its cable to s2\n"},
		{"an uplink from some time on", "link s0-s1 rate=0.5x from=8ms", cli.StatusDifferent, " since round "},
		{"an uplink", "link s0-s1 rate=0.5x", cli.StatusDifferent, "\nlink s0 - s1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"check", "--size", "64KiB", "--sim", cluster}
			if c.fault != "" {
				args = append(args, "--fault", c.fault)
			}
			status, out, stderr := topocast(args...)
			if status != c.status || !strings.Contains(out, c.want) {
				t.Errorf("status %d, want %d and %q in:\n%s%s", status, c.status, c.want, out, stderr)
			}
		})
	}
}

// A clear fault of one of a few hosts is named, and not said to be nothing beside its name.
func TestCheckNamesASlowHostOfFew(t *testing.T) {
	for _, cluster := range []string{"star:4", "star:5", "tree:2x2"} {
		status, out, stderr := topocast("check", "--all", "--sim", cluster, "--fault", "host h2 2x")
		if status != cli.StatusDifferent || !strings.Contains(out, "\nhost h2, or its cable to ") || strings.Contains(out, "nothing is slow") {
			t.Errorf("%s: status %d\n%s%s", cluster, status, out, stderr)
		}
		status, out, stderr = topocast("check", "--sim", cluster)
		if status != cli.StatusFine || !strings.Contains(out, "nothing is slow") || stderr != "" {
			t.Errorf("%s, healthy: status %d\n%s%s", cluster, status, out, stderr)
		}
	}
}

// What shows only while all hosts are busy is named with --load, and not without.
func TestCheckUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const cluster, fault = "tree:4x8", "switch s1 rate=0.6x"
	status, out, stderr := topocast("check", "--sim", cluster, "--fault", fault, "--size", "64KiB")
	if status != cli.StatusFine {
		t.Errorf("without --load: status %d\n%s%s", status, out, stderr)
	}
	status, out, stderr = topocast("check", "--load", "--sim", cluster, "--fault", fault, "--size", "1MiB")
	if status != cli.StatusDifferent || !strings.Contains(out, "\nswitch s1\n  all that it carries  ") || !strings.Contains(out, "64 rounds of all at once") {
		t.Errorf("with --load: status %d\n%s%s", status, out, stderr)
	}
	status, out, stderr = topocast("check", "--load", "--sim", cluster, "--size", "1MiB")
	if status != cli.StatusFine || !strings.Contains(out, "nothing is slow") {
		t.Errorf("healthy: status %d\n%s%s", status, out, stderr)
	}
	status, out, stderr = topocast("check", "--load", "--sim", "star:8", "--size", "1MiB")
	if status != cli.StatusUnknown || !strings.Contains(out, "nothing stands out") || !strings.Contains(stderr, "switch s0") {
		t.Errorf("nothing to compare a switch with: status %d\n%s%s", status, out, stderr)
	}
	status, _, stderr = topocast("check", "--load")
	if status != cli.StatusInput || !strings.Contains(stderr, "want NET") {
		t.Errorf("without a network: status %d\n%s", status, stderr)
	}
}

// A cluster from a file, a network to check against from another; and JSON.
func TestCheckAgainstAFile(t *testing.T) {
	platform := write(t, "platform.json", `{"graph": {"hosts": ["a", "b", "c", "d", "e"], "switches": ["s"], "links": [
		{"a": "a", "b": "s", "latency_us": 5, "bandwidth_MBps": 1000}, {"a": "b", "b": "s", "latency_us": 5, "bandwidth_MBps": 1000},
		{"a": "c", "b": "s", "latency_us": 5, "bandwidth_MBps": 1000}, {"a": "d", "b": "s", "latency_us": 5, "bandwidth_MBps": 1000},
		{"a": "e", "b": "s", "latency_us": 5, "bandwidth_MBps": 1000}]}}`)
	status, out, stderr := topocast("check", "--sim", platform, "--fault", "direction s>d rate=0.25x", platform, "--json")
	var got struct {
		Format   string
		Hosts    int
		Complete bool
		Suspects []struct {
			Name     string
			Cable    string `json:"or_cable_to"`
			Named    bool
			Findings []struct{ From, To string }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s%s", err, out, stderr)
	}
	if status != cli.StatusDifferent || got.Format != "topocast/check" || got.Hosts != 5 || !got.Complete {
		t.Errorf("status %d, %s", status, out)
	}
	first := got.Suspects[0]
	if first.Name != "host d" || first.Cable != "s" || !first.Named || first.Findings[0].From != "s" || first.Findings[0].To != "d" {
		t.Errorf("first is %+v, want what host d receives", first)
	}
}

// A part of a measured network: the hosts of the job.
func TestCheckAgainstWhatDiscoverWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "network.json")
	const cluster = "tree:4x4 latency=20us,5us"
	if status, _, stderr := topocast("discover", "--patterns", "0", "--sim", cluster, "--output", file); status != 0 {
		t.Fatal(stderr)
	}
	status, out, stderr := topocast("check", "--sim", cluster, "--ranks", "12", "--fault", "host h6 1.5x", file, "--size", "64KiB")
	if status != cli.StatusDifferent || !strings.Contains(out, "12 hosts") || !strings.Contains(out, "\nhost h6, or its cable") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	// Of each host one rank takes part, also where fewer were measured.
	status, out, stderr = topocast("check", "--sim", cluster, "--ranks", "32", "--fault", "host h6 1.5x", file, "--size", "64KiB")
	if status != cli.StatusDifferent || !strings.HasPrefix(out, "16 hosts") || !strings.Contains(out, "\nhost h6, or its cable") {
		t.Errorf("two ranks per host: status %d:\n%s%s", status, out, stderr)
	}
}

func TestCheckWrongInput(t *testing.T) {
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"no such network", "no such file, and no cluster", []string{"check", "nowhere.json"}},
		{"bad line", "column", []string{"check", "tree:x"}},
		{"bad size", "--size", []string{"check", "--size", "0"}},
		{"bad tolerance", "--tolerance 0", []string{"check", "--tolerance", "0"}},
		{"messages that end before others begin", "--size 1024: want at least 750001 with --load", []string{"check", "--load", "--sim", "tree:4x8", "--size", "1KiB"}},
		{"negative budget", "--budget", []string{"check", "--budget", "-1s"}},
		{"no budget", "--budget 0s", []string{"check", "--sim", "star:8", "--budget", "0s"}},
		{"network of other hosts", "star:9: it has 9 hosts, and the job 8 ranks on 8 hosts", []string{"check", "--sim", "star:8", "star:9"}},
		{"bad fault", `--fault: fault "host h99 2x": "h99" is no host`, []string{"check", "--sim", "star:8", "--fault", "host h99 2x"}},
		{"a rank that is not there", `--fault "lost 8": the job has 8 ranks`, []string{"check", "--sim", "star:8", "--fault", "lost 8"}},
		{"fault of no simulation", "--fault: only with --sim", []string{"discover", "--fault", "lost 8"}},
		{"cluster of unknown rates", "cannot be simulated", []string{
			"check", "--sim", write(t, "g.json", `{"graph": {"hosts": ["a"], "switches": ["s"], "links": [{"a": 0, "b": 1, "latency_us": 5}]}}`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := topocast(c.args...)
			if status != cli.StatusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("status %d, %q; want %d and one line with %q", status, stderr, cli.StatusInput, c.want)
			}
		})
	}
}
