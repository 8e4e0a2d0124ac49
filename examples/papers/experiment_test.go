package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// printedExperiment is what experiment --json prints.
type printedExperiment struct {
	Format     string
	Version    int
	Experiment string
	Sections   []struct {
		Title    string
		Tables   []printedTable
		Compared []struct {
			What          string
			Printed, Ours *float64
		}
	}
	Warnings []string
	Detail   json.RawMessage
}

type printedTable struct {
	Name    string
	Columns []struct{ Name, Unit string }
	Rows    [][]any
}

// table is the one of that name.
func (p *printedExperiment) table(t *testing.T, name string) printedTable {
	t.Helper()
	for _, s := range p.Sections {
		for _, table := range s.Tables {
			if table.Name == name {
				return table
			}
		}
	}
	t.Fatalf("no table %s", name)
	return printedTable{}
}

// repeated repeats an experiment.
func repeated(t *testing.T, args ...string) printedExperiment {
	t.Helper()
	status, out, stderr := papers(append(args, "--json")...)
	if status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, stderr)
	}
	var got printedExperiment
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Format != "topocast/experiment" || got.Version != 2 || got.Experiment != args[0] {
		t.Errorf("format %q, version %d of %q", got.Format, got.Version, got.Experiment)
	}
	return got
}

// TestExperimentFiles: tables, figures and the page of an experiment are in the files that flags name, and a
// file that cannot be written is refused before anything is simulated.
func TestExperimentFiles(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	few := []string{"zhu", "--sim", "star:4 rate=1Gbps", "--trials", "1", "--degrees", "1", "--iterations", "2", "--fit", "3", "--interval", "9"}
	status, out, stderr := papers(append(few, "--csv", in("all.csv"), "--page", in("page.html"), "--figures", in("figures"))...)
	if status != 0 || !strings.Contains(out, "Table II") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if page, err := os.ReadFile(in("page.html")); err != nil || !strings.Contains(string(page), "Table II") {
		t.Errorf("page: %v", err)
	}
	if _, err := os.Stat(in("figures/zhu-figure-6.svg")); err != nil {
		t.Error(err)
	}
	f, err := os.Open(in("all.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rows, err := csv.NewReader(f).ReadAll(); err != nil || len(rows) < 20 {
		t.Errorf("%v: %d lines of CSV", err, len(rows))
	}
	for _, flags := range [][]string{{"--page", in("none/page.html")}, {"--csv", in("x"), "--page", in("x")}, {"--csv", "-", "--json"}, {"--page", "-"}} {
		if status, _, stderr := papers(append(few, flags...)...); status != cli.StatusInput || !strings.Contains(stderr, flags[0]) {
			t.Errorf("%q: status %d, %q", flags, status, stderr)
		}
	}
}
