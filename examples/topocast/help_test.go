package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
)

// allCommands are the names of all commands, "" for the root.
func allCommands() []string {
	names := []string{""}
	for _, c := range command(cli.RunJob).Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// TestHelpFitsATerminal: no line of any help is wider than 80 columns, and the
// same words are in it.
func TestHelpFitsATerminal(t *testing.T) {
	for _, name := range allCommands() {
		args := []string{"--help"}
		if name != "" {
			args = []string{name, "--help"}
		}
		status, out, stderr := topocast(args...)
		if status != 0 || stderr != "" || len(out) < 100 {
			t.Fatalf("%q: status %d, %q, %s", args, status, out, stderr)
		}
		for line := range strings.Lines(out) {
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > cli.HelpWidth {
				t.Errorf("%s: %d columns: %s", name, len([]rune(line)), line)
			}
		}
		// FlagUsagesWrapped would cut nothing off, but a template may.
		for _, c := range append(command(cli.RunJob).Commands(), command(cli.RunJob)) {
			if c.Name() != name {
				continue
			}
			if got, want := strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(c.Long), " "); !strings.Contains(got, want) {
				t.Errorf("%s: the help lacks part of its text", name)
			}
		}
	}
}

// TestCommandsBelow: a command that only has commands below it refuses other words, cobra's own completion, too.
func TestCommandsBelow(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"network", "x"}, {"completion", "x"}, {"completion", "bash", "x"}} {
		if status, out, stderr := topocast(args...); status != cli.StatusInput || out != "" || !strings.Contains(stderr, `unknown command "x"`) {
			t.Errorf("%q: status %d, %q, %s", args, status, out, stderr)
		}
	}
	for _, args := range [][]string{{}, {"network"}, {"completion"}} {
		if status, out, stderr := topocast(args...); status != 0 || stderr != "" || !strings.Contains(out, "Usage:") {
			t.Errorf("%q: status %d, %q, %s", args, status, out, stderr)
		}
	}
}

// TestSameFlagsAreTheSame: what several commands have has one shorthand, and
// the names are those that the project has agreed upon.
func TestSameFlagsAreTheSame(t *testing.T) {
	for _, c := range command(cli.RunJob).Commands() {
		if f := c.Flags().Lookup("output"); f != nil && f.Shorthand != "o" {
			t.Errorf("%s: -o is not --output", c.Name())
		}
		if f := c.Flags().ShorthandLookup("o"); f != nil && f.Name != "output" {
			t.Errorf("%s: -o is --%s", c.Name(), f.Name)
		}
		if c.Flags().Lookup("reps") != nil && !slices.Contains([]string{"bcast", "correct", "reconstruct"}, c.Name()) {
			t.Errorf("%s: --reps: want --repetitions", c.Name())
		}
	}
}
