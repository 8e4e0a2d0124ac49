package cli

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/mpi"
)

// TestWorkIsToldBeforeItIsDone: by hand from the costs. A minute's work of 6,000 pairs/s is told, an hour's and what
// no memory holds are refused, and a large one is done all the same.
func TestWorkIsToldBeforeItIsDone(t *testing.T) {
	for _, c := range []struct {
		name          string
		work          Work
		large         bool
		note, refused string
	}{
		{"seconds", Work{Pairs: 5 * 6000}, false, "", ""},
		{"a minute", Work{Pairs: 60 * 6000, Remedy: "--ranks"}, false, "100 simulated ranks take up to about 60 seconds and 9.5 MiB of memory; --ranks makes it less, Ctrl-C ends it", ""},
		{"an hour", Work{Pairs: 3600 * 6000, Remedy: "--ranks"}, false, "", "--sim: 100 simulated ranks take up to about 60 minutes and 9.5 MiB of memory: --ranks makes it less, --large does it anyhow"},
		{"an hour, wanted", Work{Pairs: 3600 * 6000, Remedy: "--ranks"}, true, "60 minutes", ""},
		{"memory", Work{Kept: 1e12}, false, "", "1.8 PiB"},
		{"no number", Work{Pairs: math.Inf(1), Remedy: "--ranks"}, false, "", "11574 days"},
	} {
		note := ""
		err := c.work.admit(100, c.large, func(said string) { note = said })
		refused := ""
		if err != nil {
			refused = err.Error()
		}
		if !strings.Contains(note, c.note) || (c.note == "") != (note == "") || !strings.Contains(refused, c.refused) || (c.refused == "") != (refused == "") {
			t.Errorf("%s: note %q, refused %q; want %q and %q", c.name, note, refused, c.note, c.refused)
		}
	}
}

// TestSimulationEndsWithASignal: one whose ranks never look at the context.
func TestSimulationEndsWithASignal(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	root := &cobra.Command{Use: "topocast"}
	release := make(chan struct{})
	defer close(release)
	s := &Flags{}
	s.Add(root)
	began := make(chan struct{}, 1)
	root.RunE = func(c *cobra.Command, _ []string) error {
		return s.Run(c, func(mpi.Communicator) error {
			began <- struct{}{}
			<-release
			return nil
		})
	}
	Measures(root)
	root.SetArgs([]string{"--sim", "star:1"})
	root.SetErr(io.Discard)
	root.SetOut(io.Discard)
	go func() { <-began; cancel() }()
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "stopped by a signal") {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("goes on after the signal")
	}
}

// TestHugeClustersAreNotBuilt: what is refused takes no memory.
func TestHugeClustersAreNotBuilt(t *testing.T) {
	for _, spec := range []string{"tree:1000x1000", "fattree:1000,1000;1,1000", "torus:1000x1000", "core:1000 host:1000", "dragonfly:100,100,100"} {
		if _, _, err := Simulator(nil, spec, "block", 0, 0); err == nil || !strings.Contains(err.Error(), "more than 40000") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
