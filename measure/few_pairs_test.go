package measure

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// foundByFew is what few pairs tell of a job, and the measurements of them.
type foundByFew struct {
	*Result
	topology *topology.Result
}

// byFew measures few pairs alone, without the rounds of all pairs that Discover measures before. Only rank 0 has settings.
func byFew(ctx context.Context, comm mpi.Communicator, s Sampling, control harness.Control) (*foundByFew, error) {
	if comm.Rank() != 0 {
		found, err := fewPairs(ctx, comm, &Settings{}, nil)
		if found != nil {
			return nil, fmt.Errorf("rank %d has the result %v", comm.Rank(), found)
		}
		return nil, err
	}
	f := &foundByFew{Result: &Result{Header: record.Header{Ranks: comm.Size()}, Sizes: []int{latencySize}, Samples: s.Samples}}
	for rank := range comm.Size() {
		f.Hosts = append(f.Hosts, fmt.Sprint("n", rank))
	}
	var err error
	f.topology, err = fewPairs(ctx, comm, &Settings{Sampling: s, Control: control}, f.Result)
	return f, err
}

// FewPairsAlone is byFew for tests of other packages.
func FewPairsAlone(ctx context.Context, comm mpi.Communicator, control harness.Control) error {
	_, err := byFew(ctx, comm, Sampling{Samples: fewPairsSamples}, control)
	return err
}

// share is how many measurements there are per pair of ranks.
func (f *foundByFew) share() float64 {
	return float64(len(f.measurements)) / float64(f.Ranks*(f.Ranks-1)/2)
}

// confident lists the confident groups.
func (f *foundByFew) confident() []string {
	return topotest.Groups(f.topology.Hierarchy.Confident(topology.ConfidentFrom))
}

// simulatedFew measures few pairs on a simulated cluster.
func simulatedFew(t *testing.T, spec string, control harness.Control, ctx func(rank int) context.Context) (*foundByFew, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	cluster, err := simnet.ParseCluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	var found *foundByFew
	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error {
		f, err := byFew(ctx(c.Rank()), c, Sampling{Samples: fewPairsSamples}, control)
		if c.Rank() == 0 {
			found = f
		}
		return err
	})
	return found, err
}

func background(int) context.Context { return context.Background() }

// The tree of few pairs is the cluster's. That it is the one of the full matrix, too, is a test of Discover.
func TestFewPairsFindTheCluster(t *testing.T) {
	for _, spec := range []string{"tree:[[5,3,4],[6,7,5,4],[8,3],[6,6,7]] latency=4us,2us,1us shuffle seed=3", "core:4 host:4 rack:4 shuffle"} {
		cluster, err := simnet.ParseCluster(spec)
		if err != nil {
			t.Fatal(err)
		}
		found, err := simulatedFew(t, spec, harness.Control{}, background)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := found.confident(), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
			t.Errorf("%s: confident groups %v, want %v", spec, got, want)
		}
		if found.share() > 0.6 {
			t.Errorf("%s: %.0f %% of the pairs", spec, 100*found.share())
		}
		// Latencies are those of the routes.
		for _, x := range found.measurements {
			if w := cluster.Hierarchy.Latency(x.From, x.To); math.Abs(x.Q1-w) > 0.03*w+1e-9 { // the bytes take a little
				t.Errorf("%s: %d to %d: %g s, want %g", spec, x.From, x.To, x.Q1, w)
				break
			}
		}
	}
}

// The budget of rank 0 and the context of any rank end it on all ranks; what there is has no confident groups.
func TestFewPairsStop(t *testing.T) {
	const spec = "tree:3x3x4 latency=4us,2us,1us shuffle"
	var last *foundByFew
	if _, err := simulatedFew(t, spec, harness.Control{Budget: time.Nanosecond}, background); err == nil || !strings.Contains(err.Error(), "no time left") {
		t.Errorf("a budget of nothing: %v, want that no time is left", err)
	}
	for _, ms := range []time.Duration{3 * time.Millisecond, 20 * time.Millisecond, 10 * time.Second} {
		r, err := simulatedFew(t, spec, harness.Control{Budget: ms}, background)
		if err != nil {
			continue
		}
		if last = r; r.Stopped == "" {
			break
		}
		if groups := r.confident(); len(groups) > 0 || r.Stopped != "budget" {
			t.Errorf("%v: stopped by %s, %d confident groups", ms, r.Stopped, len(groups))
		}
	}
	if last == nil || last.Stopped != "" || len(last.confident()) != 12 {
		t.Errorf("a second of budget: %+v", last)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := simulatedFew(t, spec, harness.Control{}, func(rank int) context.Context {
		if rank == 17 {
			return done
		}
		return context.Background()
	}); err == nil {
		t.Error("a context that has ended: no error")
	}
}

// Wrong settings are an error on all ranks.
func TestFewPairsRefuse(t *testing.T) {
	for spec, s := range map[string]DiscoverSettings{
		"star:5": {Sampling: Sampling{Samples: -2}},
		"star:6": {Sampling: Sampling{Samples: maxSamples + 1}},
		"star:7": {Control: harness.Control{Budget: -1}},
		"star:1": {},
	} {
		cluster, err := simnet.ParseCluster(spec)
		if err != nil {
			t.Fatal(err)
		}
		s.Pairs, s.Patterns = FewPairs, -1
		err = simnet.Run(cluster.Graph, nil, nil, func(c mpi.Communicator) error {
			own := &s
			if c.Rank() != 0 {
				own = nil
			}
			if _, err := Discover(context.Background(), c, own); err == nil {
				t.Errorf("%s, rank %d, %+v: no error", spec, c.Rank(), s)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Local ranks, whether Send buffers or not: times are those of goroutines, but rounds come to an end.
func TestFewPairsOfLocalRanks(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous, local.Pinned} {
		err := local.Run(14, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			calls := 0
			r, err := byFew(context.Background(), c, Sampling{Samples: 5}, harness.Control{Progress: func(Progress) { calls++ }})
			if err != nil || c.Rank() != 0 {
				return err
			}
			if calls != r.Rounds+1 || r.topology.Hierarchy.Hosts() != 14 || len(r.measurements) == 0 {
				return fmt.Errorf("%d calls of Progress, %d rounds, %d measurements of %d hosts", calls, r.Rounds, len(r.measurements), r.topology.Hierarchy.Hosts())
			}
			return nil
		})
		if err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// Ranks that share a process share its collector, which is on again when all have measured, whichever of them ends last.
func TestCollectorIsOnAgainAfterFewPairs(t *testing.T) {
	const percent = 150
	before := debug.SetGCPercent(percent)
	defer debug.SetGCPercent(before)
	for range 5 {
		err := local.Run(5, nil, func(c mpi.Communicator) error {
			_, err := byFew(context.Background(), c, Sampling{Samples: 5}, harness.Control{})
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

// Of the two directions of a pair the faster one counts, and measurements of 0 tell nothing. Measurements of few pairs tell of costly calls as all
// others do.
func TestFewTakesTheFasterDirection(t *testing.T) {
	row := func(from, to int, q float64) harness.Row {
		return harness.Row{From: from, To: to, Values: appendSummary([]float64{0}, &pingpong.Summary{Count: 5, Batch: 1, Lots: 1, Min: q, Q1: q, Median: q, Q3: q, Max: q, Mean: q})}
	}
	for cost, want := range map[float64]int{0: 0, 1e-6: 1} {
		r := &Result{Header: record.Header{Ranks: 5, CallCost: cost}, Sizes: []int{8}, Repetitions: 1, Samples: 10, Warnings: []string{"pairs are missing"}}
		f := newFew(&Settings{}, r, func() float64 { return 0 })
		dst := make([]float64, 2)
		f.round(dst, [][2]int32{{2, 1}, {3, 4}}, []harness.Row{row(1, 2, 3e-6), row(2, 1, 2e-6), row(3, 4, 0), row(4, 3, 1e-6)})
		f.end("")
		if dst[0] != 2e-6 || dst[1] != 0 || len(r.measurements) != 1 || r.measurements[0].Q1 != 2e-6 || r.measurements[0].pair() != [2]int{1, 2} {
			t.Errorf("latencies %v, measurements %+v", dst, r.measurements)
		}
		if len(r.Warnings) != want || want > 0 && !strings.HasPrefix(r.Warnings[0], "1 of 1 measurements of 8 B are below 20 us") {
			t.Errorf("calls of %g s: warnings %q", cost, r.Warnings)
		}
	}
}

// What few pairs have told outlives a process that is killed: the rounds up to the last half second.
func TestFewPairsAreRecorded(t *testing.T) {
	const ranks = 6
	h := record.Header{Ranks: ranks, Hosts: make([]string, ranks), Cores: make([]int, ranks), CPUs: make([]int, ranks), GOMAXPROCS: make([]int, ranks)}
	var file bytes.Buffer
	r := &Result{Header: h, Sizes: []int{8}, Repetitions: 1, Samples: 10}
	now := 0.0
	f := newFew(&Settings{Record: record.NewWriter(&file, nil)}, r, func() float64 { return now })
	for round, p := range [][2]int{{0, 1}, {2, 3}, {0, 1}, {4, 5}, {1, 2}} {
		q := 1e-6 * float64(1+round)
		row := harness.Row{From: p[0], To: p[1], Values: appendSummary([]float64{0}, &pingpong.Summary{Count: 5, Batch: 1, Lots: 1, Min: q, Q1: q, Median: q, Q3: q, Max: q, Mean: q})}
		f.round(make([]float64, 1), [][2]int32{{int32(p[0]), int32(p[1])}}, []harness.Row{row})
		now += 0.2
	}
	killed, err := ReadResult(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(killed.measurements) != 5-1 || killed.Rounds != 4 || killed.measurements[3].Repetition != 1 || killed.Stopped != harness.StoppedUnfinished {
		t.Errorf("of a process that was killed: %d rounds, measurements %+v, stopped by %q", killed.Rounds, killed.measurements, killed.Stopped)
	}
	if len(killed.Warnings) != 1 || !strings.Contains(killed.Warnings[0], "while it measured few pairs, of which the journal holds 4 rounds: measure again") {
		t.Errorf("warnings of a process that was killed: %q", killed.Warnings)
	}
	if err := (&Result{Header: h, Sizes: r.Sizes, Samples: r.Samples}).goOn(killed); err == nil {
		t.Error("rounds of all pairs go on with few pairs")
	}
	f.end("")
	whole, err := ReadResult(bytes.NewReader(file.Bytes()))
	if err != nil || len(whole.measurements) != 5 || whole.Stopped != "" || !slices.Equal(whole.Warnings, r.Warnings) {
		t.Errorf("at the end: %+v, %v", whole, err)
	}
}
