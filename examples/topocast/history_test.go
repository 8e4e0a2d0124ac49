package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// Matrices from elsewhere: a pair that gets a tenth slower is told, with the date since when.
func TestWatchMatrices(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "site.watch")
	args := []string{"check", "--history", file, "--unit", "us"}
	for day := 1; day <= 13; day++ {
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
		args = append(args, "--import", fmt.Sprintf("2026-11-%02d=%s", day, path))
	}
	status, out, stderr := topocast(args...)
	if status != cli.StatusDifferent || !strings.Contains(out, "told by 2026-11-13:\n") || !strings.Contains(out, "  latency h1 - h4: 1.1 times as long since 2026-11-11\n") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	if want := "1.csv: read "; !strings.Contains(stderr, want) || !strings.Contains(stderr, "unit us (as given)") {
		t.Errorf("%s: want how each matrix was understood", stderr)
	}
	// The file is judged again, as it is; a line that is cut short is passed over.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, stderr = topocast("check", "--history", file, "--measure=false", "--json")
	var got struct {
		Format  string
		Runs    int
		Changes []json.RawMessage
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if status != cli.StatusFine || got.Format != "topocast/changes" || got.Runs != 12 || len(got.Changes) != 0 || !strings.Contains(stderr, "1 line cut short") {
		t.Errorf("status %d, %s%s", status, out, stderr)
	}
}

// Runs of simulated ranks: the same pairs each time, too few runs at first, then what a
// fault changes.
func TestWatchSimulated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.watch")
	take := func(want int, fault ...string) string {
		t.Helper()
		args := []string{"check", "--history", file, "--size", "16KiB", "--sim", "tree:2x4"}
		for _, f := range fault {
			args = append(args, "--fault", f)
		}
		status, out, stderr := topocast(args...)
		if status != want {
			t.Fatalf("status %d, want %d:\n%s%s", status, want, out, stderr)
		}
		return out
	}
	for range 8 {
		take(cli.StatusUnknown)
	}
	take(cli.StatusFine)
	take(cli.StatusFine, "host h3 1.2x") // two runs could be outliers
	take(cli.StatusFine, "host h3 1.2x")
	if out := take(cli.StatusDifferent, "host h3 1.2x"); !strings.Contains(out, "\n  host h3: ") {
		t.Errorf("host h3 is not told:\n%s", out)
	}
}

// A simulated run has no date. Behind runs that have one it is the newest, a day later.
func TestSimulatedRunIsTheNewest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.watch")
	matrix := write(t, "m.csv", "0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
	for _, args := range [][]string{
		{"--sim", "star:4"}, {"--unit", "us", "--import", "2026-11-02=" + matrix}, {"--sim", "star:4"},
	} {
		if status, _, stderr := topocast(append([]string{"check", "--history", file}, args...)...); status != cli.StatusUnknown {
			t.Fatalf("status %d, %s", status, stderr)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, want := range []string{`{"points"`, `{"date":"2026-11-02T`, `{"date":"2026-11-03T`} {
		if !strings.HasPrefix(lines[i+1], want) {
			t.Errorf("run %d begins with %.40s, want %s", i+1, lines[i+1], want)
		}
	}
}

func TestWatchWrongInput(t *testing.T) {
	other := write(t, "other.csv", twoPairs)
	file := filepath.Join(t.TempDir(), "site.watch")
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"no file", "--step: only with --history", []string{"--step", "0.1"}},
		{"a file of another kind", "format", []string{"--history", other}},
		{"no date", "want DATE=FILE", []string{"--history", file, "--import", other}},
		{"no times", "holds no times", []string{"--history", file, "--import", "2026-11-01=" + write(t, "empty.csv", "0,nan\nnan,0\n")}},
		{"no matrix", "nowhere.csv", []string{"--history", file, "--import", "2026-11-01=nowhere.csv"}},
		{"bad unit", "--unit", []string{"--history", file, "--unit", "fortnights"}},
		{"bad step", "--step -1", []string{"--history", file, "--step", "-1"}},
		{"bad rate", "--false-alarms 0.5", []string{"--history", file, "--false-alarms", "0.5"}},
		{"two sources", "want one of them", []string{"--history", file, "--measure", "--import", "2026-11-01=" + other}},
		{"nothing to measure", "--budget: nothing is measured here", []string{"--history", file, "--measure=false", "--budget", "1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := topocast(append([]string{"check"}, c.args...)...)
			if status != cli.StatusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("status %d, %q; want %d and one line with %q", status, stderr, cli.StatusInput, c.want)
			}
		})
	}
}

// TestHistoryIsCheckedBefore: a file that takes no run is refused, before anything is measured for it.
func TestHistoryIsCheckedBefore(t *testing.T) {
	for file, want := range map[string]string{
		os.DevNull:  "is a device",
		t.TempDir(): "is a directory",
		filepath.Join(t.TempDir(), "missing", "site.history"): "no such file",
	} {
		status, _, stderr := topocast("check", "--sim", "star:6", "--history", file)
		if status != cli.StatusInput || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, want one line with %q", file, status, stderr, want)
		}
	}
}
