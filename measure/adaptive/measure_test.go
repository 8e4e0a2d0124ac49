package adaptive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// simulated measures on a simulated cluster; only rank 0 has settings.
func simulated(t *testing.T, spec string, noise simnet.Noise, s *Settings, ctx func(rank int) context.Context) (*Result, error) {
	t.Helper()
	cluster, err := simnet.ParseCluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	settings := cluster.Settings()
	settings.Noise = noise
	var found *Result
	err = simnet.Run(cluster.Graph, nil, settings, func(c mpi.Communicator) error {
		var own *Settings
		if c.Rank() == 0 {
			own = s
		}
		r, err := Measure(ctx(c.Rank()), c, own)
		if (r != nil) != (c.Rank() == 0 && err == nil) {
			return fmt.Errorf("rank %d has the result %v", c.Rank(), r)
		}
		if r != nil {
			found = r
		}
		return err
	})
	return found, err
}

func background(int) context.Context { return context.Background() }

// The adaptive tree is the cluster's. That it is the one of the full matrix, too, is a test of
// measure.Discover.
func TestMeasureFindsTheCluster(t *testing.T) {
	for _, spec := range []string{"tree:[[5,3,4],[6,7,5,4],[8,3],[6,6,7]] latency=4us,2us,1us shuffle seed=3", "core:4 host:4 rack:4 shuffle"} {
		cluster, err := simnet.ParseCluster(spec)
		if err != nil {
			t.Fatal(err)
		}
		found, err := simulated(t, spec, simnet.Noise{}, nil, background)
		if err != nil {
			t.Fatal(err)
		}
		if missing, extra := differ(groupsOf(cluster.Hierarchy, true), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 {
			t.Errorf("%s: %d groups of the cluster are missing, %d firm ones do not exist", spec, missing, extra)
		}
		if found.share() > 0.6 || found.allPairs {
			t.Errorf("%s: %.0f %% of the pairs, all pairs %t", spec, 100*found.share(), found.allPairs)
		}
		// Latencies are those of the routes.
		for _, x := range found.Readings {
			if got, w := float64(x.Latency), cluster.Hierarchy.Latency(int(x.A), int(x.B)); math.Abs(got-w) > 0.03*w+1e-9 { // the bytes take a little
				t.Errorf("%s: %d to %d: %g s, want %g", spec, x.A, x.B, got, w)
				break
			}
		}
	}
}

// The budget of rank 0 and the context of any rank end it on all ranks; what there is has no firm groups.
func TestMeasureStops(t *testing.T) {
	const spec = "tree:3x3x4 latency=4us,2us,1us shuffle"
	var last *Result
	if _, err := simulated(t, spec, simnet.Noise{}, &Settings{Control: harness.Control{Budget: time.Nanosecond}}, background); !errors.Is(err, errStop) && (err == nil || !strings.Contains(err.Error(), "no time left")) {
		t.Errorf("a budget of nothing: %v, want that no time is left", err)
	}
	for _, ms := range []time.Duration{3 * time.Millisecond, 20 * time.Millisecond, 10 * time.Second} {
		r, err := simulated(t, spec, simnet.Noise{}, &Settings{Control: harness.Control{Budget: ms}}, background)
		if err != nil {
			continue
		}
		if last = r; r.Stopped == "" {
			break
		}
		if groups := groupsOf(r.Topology.Hierarchy, true); len(groups) > 0 || r.Stopped != "budget" {
			t.Errorf("%v: stopped by %s, %d confident groups", ms, r.Stopped, len(groups))
		}
	}
	if last == nil || last.Stopped != "" || len(groupsOf(last.Topology.Hierarchy, true)) != 12 {
		t.Errorf("a second of budget: %+v", last)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := simulated(t, spec, simnet.Noise{}, nil, func(rank int) context.Context {
		if rank == 17 {
			return done
		}
		return context.Background()
	}); err == nil {
		t.Error("a context that has ended: no error")
	}
}

// Wrong settings are an error on all ranks.
func TestMeasureRefuses(t *testing.T) {
	for _, s := range []*Settings{{Bytes: -1}, {Samples: 2}, {Control: harness.Control{Budget: -1}}, {Order: make([]int, 3)}} {
		if _, err := simulated(t, "star:5", simnet.Noise{}, s, background); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	if _, err := simulated(t, "star:1", simnet.Noise{}, nil, background); err == nil {
		t.Error("one rank: no error")
	}
}

// Local ranks, whether Send buffers or not: times are those of goroutines, but rounds come to an end.
func TestMeasureOnLocalRanks(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous, local.Pinned} {
		err := local.Run(14, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			calls := 0
			r, err := Measure(context.Background(), c, &Settings{Samples: 5, Control: harness.Control{Progress: func(harness.Progress) { calls++ }}})
			if err != nil {
				return err
			}
			if c.Rank() == 0 && (calls != r.Rounds+1 || r.Topology.Hierarchy.Hosts() != 14 || len(r.Readings) == 0) {
				return fmt.Errorf("%d calls of Progress, %d rounds, %d measurements of %d hosts", calls, r.Rounds, len(r.Readings), r.Topology.Hierarchy.Hosts())
			}
			return nil
		})
		if err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// Ranks that share a process share its collector, which is on again when all have measured, whichever of them ends last.
func TestCollectorIsOnAgain(t *testing.T) {
	const percent = 150
	before := debug.SetGCPercent(percent)
	defer debug.SetGCPercent(before)
	for range 5 {
		err := local.Run(5, nil, func(c mpi.Communicator) error {
			_, err := Measure(context.Background(), c, &Settings{Samples: 5})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := debug.SetGCPercent(percent); got != percent {
			t.Errorf("GC percent is %d after a measurement, want %d", got, percent)
		}
	}
}
