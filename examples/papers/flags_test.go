package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// TestUnusedExperimentFlags: a flag that would change nothing where the experiment is played is refused before anything is done.
func TestUnusedExperimentFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"zhu --here --coupling 0.5", "--coupling: "},
		{"bannikov --specification x", "--specification: "},
		{"servet --full --here", "--full: "},
		{"servet --full --sim star:4", "--full: "},
		{"reinfjell --full --reps 4 --sim star:4", "--full: "},
		{"bufe --full --samples 9", "--full: "},
		{"bufe --ranks 3", "--ranks: "},
	} {
		status, out, stderr := papers(strings.Fields(c.args)...)
		if status != cli.StatusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q: want %d and one line with %q", c.args, status, out, stderr, cli.StatusInput, c.want)
		}
	}
}

// TestFlagsOfRankZeroCount: ranks that were started with other flags play by those of rank 0.
func TestFlagsOfRankZeroCount(t *testing.T) {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		f := pflag.NewFlagSet("experiment", pflag.ContinueOnError)
		new(playing).begin([]source{bufeSource()}, f)
		own := map[int][]string{0: {"--samples=7", "--budget=3s"}, 1: {"--samples=8"}}[comm.Rank()]
		if err := f.Parse(own); err != nil {
			return err
		}
		p, err := playedByAll(comm, f, []source{bufeSource()})
		if err != nil {
			return err
		}
		o := p.each[0].experiment.(*bufeOptions)
		if o.samples != 7 || p.stage.budget.Seconds() != 3 {
			t.Errorf("rank %d: %d samples, budget %v", comm.Rank(), o.samples, p.stage.budget)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
