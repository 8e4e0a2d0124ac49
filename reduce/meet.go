package reduce

import (
	"runtime"
	"time"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
)

// A meeting lets all ranks begin at once, at an instant that rank 0 names. Ranks leave a barrier one after the other, which
// disturbs what takes no longer than that (S. Hunold, A. Carpen-Amarie, Reproducible MPI benchmarking is still not as easy as you
// think, 2016).
type meeting struct {
	watch     *tuner.Stopwatch
	tree      *share.Tree
	simulated bool // time stands still while ranks wait: they have a barrier; rank 0 knows it
	barrier   func() error
	told      float64 // s, from the last instant's choice until this rank knew it
}

const (
	usualLead = 1e-3 // s, how far ahead the first instant is
	mostLead  = 10e-3
	oversleep = 100e-6 // s: sleeping may take so much longer than it is told to
)

// newMeeting returns a meeting of the ranks of a watch.
func newMeeting(watch *tuner.Stopwatch, tree *share.Tree, barrier func() error) *meeting {
	m := &meeting{watch: watch, tree: tree, barrier: barrier}
	before := watch.Common()
	time.Sleep(oversleep * 1e9)
	m.simulated = watch.Common()-before < oversleep/2
	return m
}

// begin is collective: it returns at the instant, or later on a rank that comes to know it later.
func (m *meeting) begin() error {
	slowest := []float64{m.told}
	if err := m.tree.CollectMax(slowest); err != nil {
		return err
	}
	lead := usualLead
	if slowest[0] > 0 {
		lead = min(2*slowest[0], mostLead)
	}
	if m.simulated {
		lead = 0
	}
	chosen := []float64{m.watch.Common(), lead} // of rank 0
	if err := m.tree.TellFloats(chosen); err != nil {
		return err
	}
	if chosen[1] == 0 {
		return m.barrier()
	}
	m.told = m.watch.Common() - chosen[0]
	instant := chosen[0] + chosen[1]
	time.Sleep(time.Duration((instant - m.watch.Common() - oversleep) * 1e9))
	for m.watch.Common() < instant {
		runtime.Gosched()
	}
	return nil
}
