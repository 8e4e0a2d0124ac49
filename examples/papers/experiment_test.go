package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/tooltest"
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
	if got.Format != "topocast/experiment" || got.Version != 3 || got.Experiment != args[0] {
		t.Errorf("format %q, version %d of %q", got.Format, got.Version, got.Experiment)
	}
	return got
}

// newStage is one without a bound of the time, of which nothing is shown.
func newStage() *stage {
	return &stage{out: new(outcome.Outcome), budget: new(allowance), progress: io.Discard}
}

// printed is what --json prints of an outcome.
func printed(t *testing.T, o *outcome.Outcome) printedExperiment {
	t.Helper()
	var b bytes.Buffer
	if err := outcome.WriteJSON(&b, o); err != nil {
		t.Fatal(err)
	}
	var got printedExperiment
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestPage: the page and its figures are in the files that --page names.
func TestPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "papers.md")
	status, out, stderr := papers("bannikov", "--sim", "torus:3x3 latency=1us rate=1Gbps", "--sizes", "0", "--page", path)
	if status != 0 || !strings.Contains(out, "| merged |") {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "## bannikov") {
		t.Errorf("page: %v", err)
	}
	for _, flags := range [][]string{{"--page", filepath.Join(path, "page.md")}, {"--page", "-"}, {"--full"}} {
		if status, _, stderr := papers(append([]string{"bannikov", "--sim", "star:4", "--sizes", "0"}, flags...)...); status == 0 || !strings.Contains(stderr, flags[0]) {
			t.Errorf("%q: status %d, %q", flags, status, stderr)
		}
	}
}

// TestShort: all five sources, in a short form on the ranks of a small simulated machine, give tables.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const cores = "core:2 socket:2 host:2 rate=1GBps latency=10us,1us,1us"
	for source, flags := range map[string][]string{
		"servet": {cores, "--sizes", "64KiB", "--class", "W"}, "bannikov": {cores, "--sizes", "0"}, "bufe": {cores, "--samples", "5"},
		"zhu":       {"star:4 rate=1Gbps", "--trials", "1", "--degrees", "1", "--iterations", "2", "--fit", "3"},
		"reinfjell": {cores, "--reps", "2,4"},
	} {
		args := append([]string{source, "--sim"}, flags...)
		t.Run(source, func(t *testing.T) {
			if status, out, stderr := papers(args...); status != 0 || !strings.Contains(out, "|--") {
				t.Errorf("%q: status %d: %s%s", args, status, out, stderr)
			}
		})
	}
}

// TestPublished: docs/papers.md has the numbers that the program compares, and no others. It takes three minutes.
func TestPublished(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("all experiments take minutes")
	}
	path := filepath.Join(t.TempDir(), "papers.md")
	if status, _, stderr := papers("all", "--page", path); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	// Of rows of comparisons, the name and the printed number: ours hold times of this machine.
	compared := func(path string) (all []string) {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, results, _ := strings.Cut(string(page), "## What repeats")
		for line := range strings.Lines(results) {
			if cells := strings.Split(line, " | "); len(cells) == 4 {
				all = append(all, strings.Join(strings.Fields(cells[0]+" "+cells[1]), " "))
			}
		}
		return all
	}
	if got, want := compared("../../docs/papers.md"), compared(path); !slices.Equal(got, want) {
		t.Errorf("docs/papers.md compares %d numbers, the program %d: go run ./examples/papers all --page docs/papers.md\n%q\n%q", len(got), len(want), got, want)
	}
}
