package anywhere_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/mpi/simnet/anywhere"
)

// TestRun: without a launcher, ranks run in this process or simulated, as many as asked for, and errors come back.
func TestRun(t *testing.T) {
	if mpi.Launched() >= 0 {
		t.Skip("started by a launcher")
	}
	failed := errors.New("failed")
	for _, c := range []struct {
		name     string
		settings anywhere.Settings
		ranks    int64
		virtual  bool
	}{
		{"three goroutines", anywhere.Settings{Ranks: 3}, 3, false},
		{"a simulated cluster", anywhere.Settings{Cluster: "tree:2x4"}, 8, true},
		{"a part of one", anywhere.Settings{Cluster: "tree:2x4", Ranks: 5}, 5, true},
	} {
		var ran atomic.Int64
		err := anywhere.Run(&c.settings, func(comm mpi.Communicator) error {
			if _, virtual := comm.(*simnet.Comm); virtual != c.virtual {
				t.Errorf("%s: simulated %v, want %v", c.name, virtual, c.virtual)
			}
			if ran.Add(1); comm.Rank() == 0 && comm.Size() != int(c.ranks) {
				t.Errorf("%s: %d ranks, want %d", c.name, comm.Size(), c.ranks)
			}
			return nil
		})
		if err != nil || ran.Load() != c.ranks {
			t.Errorf("%s: %d ranks ran, %v", c.name, ran.Load(), err)
		}
		if err := anywhere.Run(&c.settings, func(mpi.Communicator) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%s: %v, want the error of work", c.name, err)
		}
	}
	if err := anywhere.Run(nil, func(mpi.Communicator) error { return nil }); err != nil {
		t.Errorf("one rank per core: %v", err)
	}
	for _, c := range []struct {
		settings anywhere.Settings
		says     string
	}{
		{anywhere.Settings{Ranks: -1}, "Settings.Ranks: -1"},
		{anywhere.Settings{Cluster: "blob:3"}, "blob"},
		{anywhere.Settings{Cluster: "star:3", Ranks: 4}, "the cluster has 3 hosts"},
	} {
		if err := anywhere.Run(&c.settings, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.settings, err, c.says)
		}
	}
}
