package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Matrices from elsewhere: a pair that gets a tenth slower is told, with the date since when.
func TestWatchMatrices(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "site.watch")
	args := []string{"watch", "--file", file, "--unit", "us"}
	for day := 1; day <= 12; day++ {
		var text strings.Builder
		for i := range 6 {
			for j := range 6 {
				x := 10 + float64(i+j) + 0.01*float64((7*i+5*j+3*day)%11) // as if noise
				if day >= 11 && i+j == 5 && i*j == 4 {                    // hosts 1 and 4
					x *= 1.1
				}
				if j > 0 {
					text.WriteByte(',')
				}
				fmt.Fprintf(&text, "%g", x)
			}
			text.WriteByte('\n')
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.csv", day))
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--csv", fmt.Sprintf("2026-11-%02d=%s", day, path))
	}
	status, out, stderr := topocast(args...)
	if status != statusDifferent || !strings.Contains(out, "told by 2026-11-12:\n") || !strings.Contains(out, "  latency h1 - h4: 1.1 times as long since 2026-11-11\n") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	// The file is judged again, as it is; a line that is cut short is passed over.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, stderr = topocast("watch", "--file", file, "--json")
	var got struct {
		Format  string
		Runs    int
		Changes []json.RawMessage
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if status != statusFine || got.Format != "topocast/changes" || got.Runs != 11 || len(got.Changes) != 0 || !strings.Contains(stderr, "1 line cut short") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
}

// Runs of simulated ranks: the same pairs each time, too few runs at first, then what a
// fault changes.
func TestWatchSimulated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.watch")
	take := func(want int, fault ...string) string {
		t.Helper()
		args := []string{"simulate", "--cluster", "tree:2x4"}
		for _, f := range fault {
			args = append(args, "--fault", f)
		}
		status, out, stderr := topocast(append(args, "--", "watch", "--file", file, "--sample", "--size", "16KiB")...)
		if status != want {
			t.Fatalf("status %d, want %d:\n%s%s", status, want, out, stderr)
		}
		return out
	}
	for range 8 {
		take(statusUnknown)
	}
	take(statusFine)
	take(statusFine, "host h3 1.2x") // one run could be an outlier
	if out := take(statusDifferent, "host h3 1.2x"); !strings.Contains(out, "\n  host h3: ") {
		t.Errorf("host h3 is not told:\n%s", out)
	}
}

func TestWatchWrongInput(t *testing.T) {
	other := write(t, "other.csv", twoPairs)
	file := filepath.Join(t.TempDir(), "site.watch")
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"no file", "want --file", []string{}},
		{"a file of another kind", "format", []string{"--file", other}},
		{"no date", "want DATE=FILE", []string{"--file", file, "--csv", other}},
		{"no matrix", "nowhere.csv", []string{"--file", file, "--csv", "2026-11-01=nowhere.csv"}},
		{"bad unit", "--unit", []string{"--file", file, "--unit", "fortnights"}},
		{"bad step", "--step -1", []string{"--file", file, "--step", "-1"}},
		{"bad rate", "--false-alarms 0.5", []string{"--file", file, "--false-alarms", "0.5"}},
		{"two sources", "want one of them", []string{"--file", file, "--sample", "--csv", "2026-11-01=" + other}},
		{"nothing to sample", "--budget: only with --sample", []string{"--file", file, "--budget", "1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := topocast(append([]string{"watch"}, c.args...)...)
			if status != statusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("status %d, %q; want %d and one line with %q", status, stderr, statusInput, c.want)
			}
		})
	}
}
