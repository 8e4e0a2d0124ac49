package benchmark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/topology"
)

// withNothing hides all abilities of a communicator.
func withNothing(c mpi.Communicator) mpi.Communicator { return struct{ mpi.Communicator }{c} }

func withAll(c mpi.Communicator) mpi.Communicator { return c }

func TestBenchmarkReportsAllVariants(t *testing.T) {
	const ranks = 6
	network := casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2))
	for _, c := range []struct {
		over     func(mpi.Communicator) mpi.Communicator
		variants []string
	}{{withNothing, []string{"ours"}}, {withAll, []string{"ours", "native"}}} {
		err := local.Run(ranks, nil, func(world mpi.Communicator) error {
			return compareVariants(c.over(world), network.Hierarchy(), bcast.Settings{Network: network, Budget: time.Millisecond}, c.variants...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// liar breaks a byte of what it broadcasts.
type liar struct {
	mpi.Communicator
	mpi.NativeBcast
}

func (l liar) Bcast(buf []byte, root int) error {
	err := l.NativeBcast.Bcast(buf, root)
	if l.Rank() == 2 && len(buf) > 0 {
		buf[len(buf)-1] ^= 1
	}
	return err
}

func TestBenchmarkFindsWrongBytes(t *testing.T) {
	err := local.Run(3, nil, func(world mpi.Communicator) error {
		comm := liar{world, world.(mpi.NativeBcast)}
		b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		r, err := Run(t.Context(), comm, b, &Settings{Sizes: []int{100}, Repetitions: 2})
		if err != nil || world.Rank() > 0 {
			return err
		}
		for _, row := range r.Rows {
			if want := row.Variant != "native"; row.Verified != want {
				return fmt.Errorf("%s: verified %v, want %v", row.Variant, row.Verified, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The format that the command line promises.
func TestReportFormat(t *testing.T) {
	nan := math.NaN()
	few := func(r Row) Row {
		r.Low, r.High, r.Variance, r.Gain, r.GainLow, r.GainHigh, r.Bound = nan, nan, nan, nan, nan, nan, nan
		return r
	}
	flatChain := schedule.MultiLevel{Shapes: []schedule.Shape{schedule.ShapeFlat, schedule.ShapeChain}}
	conditions := Conditions{Library: "MPI 1.0", Places: "xyz", Hosts: 3, PerHost: []int{1, 2}, Environment: map[string]string{"MPIR_CVAR_A": "b"}}
	r := &Report{Ranks: 4, Root: 1, Stopped: true, ClockDoubt: 2e-6, Conditions: conditions, Rows: []Row{
		{
			Bytes: 8, Variant: "ours", Median: 1.5e-6, Low: 1.25e-6, High: 1.75e-6, Min: 1e-6, Max: 2e-3, Mean: 1.5e-6, Variance: 4e-14,
			Gain: 1.25, GainLow: 1.125, GainHigh: 1.5, Bound: 1e-6, Count: 21, Verified: true,
			Plan: predict.Plan{Algorithm: schedule.Chain{}, Segment: 4096, Blocking: true, Predicted: 1.25e-6},
		},
		few(Row{Bytes: 8, Variant: "native", Median: 3, Min: 1, Max: 3, Mean: 2, Count: 2, Plan: predict.Plan{Predicted: nan}}),
		few(Row{Bytes: 8, Variant: "multilevel", Median: 3, Min: 1, Max: 3, Mean: 3, Count: 1, Plan: predict.Plan{Algorithm: flatChain, Predicted: 2}}),
		few(Row{Bytes: 8, Variant: "multilevel", Median: 3, Min: 1, Max: 3, Mean: 3, Count: 1, Plan: predict.Plan{Algorithm: schedule.MultiLevel{}, Predicted: 2}}),
	}}
	var file, text bytes.Buffer
	if err := r.Write(&file); err != nil {
		t.Fatal(err)
	}
	want := `{"format":"topocast/bcast-benchmark","version":2,"ranks":4,"root":1,"library":"MPI 1.0","places":"xyz","hosts":3,"ranks_per_host":[1,2],"environment":{"MPIR_CVAR_A":"b"},"stopped":true,"rows":[` +
		`{"algorithm":"chain","blocking":true,"bound_s":0.000001,"bytes":8,"count":21,"gain":1.25,"gain_high":1.5,"gain_low":1.125,"max_s":0.002,"mean_s":0.0000015,"median_high_s":0.00000175,` +
		`"median_low_s":0.00000125,"median_s":0.0000015,"min_s":0.000001,"predicted_s":0.00000125,"segment_bytes":4096,"variance_s2":4e-14,"variant":"ours","verified":true},` +
		`{"algorithm":"native","blocking":false,"bytes":8,"count":2,"max_s":3,"mean_s":2,"median_s":3,"min_s":1,"segment_bytes":0,"variant":"native","verified":false},` +
		`{"algorithm":"multilevel[flat chain]","blocking":false,"bytes":8,"count":1,"max_s":3,"mean_s":3,"median_s":3,"min_s":1,"predicted_s":2,"segment_bytes":0,"variant":"multilevel","verified":false},` +
		`{"algorithm":"multilevel[binomial]","blocking":false,"bytes":8,"count":1,"max_s":3,"mean_s":3,"median_s":3,"min_s":1,"predicted_s":2,"segment_bytes":0,"variant":"multilevel","verified":false}]}` + "\n"
	if file.String() != want {
		t.Errorf("Write = %s, want %s", &file, want)
	}
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.5 us", "2 ms", "1.25 us to 1.75 us", "1.25  1.50      chain, segments of 4 KiB, blocking", "too few samples", "WRONG DATA: native", "within 2 us", "stopped before all was timed"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("WriteText = %s, want %q in it", &text, want)
		}
	}
	var none bytes.Buffer
	if err := (&Report{}).Write(&none); err != nil || !json.Valid(none.Bytes()) || !strings.Contains(none.String(), `"rows":[]`) {
		t.Errorf("Write of an empty report = %s, %v", &none, err)
	}
}

// stopper ends a context in the middle of a native broadcast.
type stopper struct {
	mpi.Communicator
	mpi.NativeBcast
	left int // broadcasts until then
	end  func()
}

func (s *stopper) Bcast(buf []byte, root int) error {
	if s.left--; s.left == 0 {
		s.end()
	}
	return s.NativeBcast.Bcast(buf, root)
}

// One rank's context ends: all leave before the same broadcast, with one
// report of what was timed until then.
func TestBenchmarkStopsOnAllRanksAtOnce(t *testing.T) {
	const ranks, reps, warmUps = 4, 50, 2
	for _, c := range []struct {
		name      string
		left      int // native broadcasts until rank 2 is told to stop; 0: at the start
		most      int // repetitions of a variant that may be timed
		sizes     int // with rows
		wantFirst int // repetitions of each variant of the first size at least
		uneven    bool
	}{
		{"at the start", 0, 0, 0, 0, false},
		{"in the first warm-up", 1, 0, 0, 0, false},
		// By the seed, native is not the last of this round.
		{"in the sixth timed round", warmUps + 6, 6, 1, 5, true},
		{"in the second size", warmUps + reps + warmUps + 3, reps, 2, reps, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := local.Run(ranks, nil, func(world mpi.Communicator) error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				comm := &stopper{world, world.(mpi.NativeBcast), 0, func() {}}
				b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true})
				if err != nil {
					return err
				}
				if world.Rank() == 2 {
					if comm.left, comm.end = c.left, cancel; c.left == 0 {
						cancel()
					}
				}
				r, err := Run(ctx, comm, b, &Settings{Sizes: []int{100, 200}, Repetitions: reps, WarmUps: warmUps})
				if err != nil {
					return err
				}
				if (r != nil) != (world.Rank() == 0) {
					return fmt.Errorf("report %v on rank %d", r, world.Rank())
				}
				if r != nil {
					if !r.Stopped {
						return errors.New("not stopped")
					}
					sizes := make(map[int]bool)
					uneven := false
					for _, row := range r.Rows {
						sizes[row.Bytes] = true
						uneven = uneven || row.Count != r.Rows[0].Count
						if row.Count > c.most || row.Bytes == 100 && row.Count < c.wantFirst || !row.Verified {
							return fmt.Errorf("row %+v, want %d to %d repetitions", row, c.wantFirst, c.most)
						}
					}
					if len(sizes) != c.sizes || uneven != c.uneven {
						return fmt.Errorf("rows of %d sizes, want %d; left within a round: %v, want %v", len(sizes), c.sizes, uneven, c.uneven)
					}
				}
				// The ranks are in step: another broadcast works.
				buf := make([]byte, 300)
				fill(buf, 9, world.Rank() == 1)
				if err := b.Bcast(buf, 1); err != nil || !matches(buf, 9) {
					return fmt.Errorf("a broadcast afterwards: %v, or wrong bytes", err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestPatternsDifferInEveryByte(t *testing.T) {
	for _, size := range []int{0, 1, 7, 8, 9, 100} {
		a, b := make([]byte, size), make([]byte, size)
		fill(a, 42, true)
		fill(b, 42, false)
		for i := range a {
			if a[i] == b[i] {
				t.Fatalf("%d bytes: byte %d is alike in both", size, i)
			}
		}
		if !matches(a, 42) || size > 0 && (matches(b, 42) || matches(a, 43)) {
			t.Errorf("%d bytes: matches is wrong", size)
		}
		for i := range a {
			a[i] ^= 0x10
			if matches(a, 42) {
				t.Errorf("%d bytes: a change of byte %d is not seen", size, i)
			}
			a[i] ^= 0x10
		}
	}
}

// TestReportOfAnotherMachine: where broadcasts are faster than the network allows, there are no ratios to its bound.
func TestReportOfAnotherMachine(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts int
		bound float64
		want  string
	}{
		{"the bound is below the median", 2, 0.5e-6, "2.00"},
		{"the bound is above the median within the error of clocks", 2, 1.1e-6, "0.91"},
		{"the bound is far above the median", 2, 50e-6, "it does not describe these ranks, so there is no column"},
		{"the bound is far above the median on one host", 1, 50e-6, "copies in memory, which caches make faster than the messages that were measured, so there is no column"},
	} {
		r := &Report{Conditions: Conditions{Hosts: c.hosts}, Rows: []Row{{Bytes: 8, Variant: "ours", Median: 1e-6, Bound: c.bound, Verified: true, Plan: predict.Plan{Algorithm: schedule.Chain{}}}}}
		var text strings.Builder
		if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), c.want) || strings.Contains(text.String(), "0.02") {
			t.Errorf("%s: %v, %s, want %q in it", c.name, err, text.String(), c.want)
		}
	}
}

// compareVariants benchmarks, and expects the named variants besides the algorithms.
func compareVariants(world mpi.Communicator, tree *topology.Hierarchy, s bcast.Settings, want ...string) error {
	if world.Rank() != 0 {
		s.Network = nil
	}
	b, err := bcast.New(world, &s)
	if err != nil {
		return err
	}
	r, err := Run(context.Background(), world, b, &Settings{Sizes: []int{0, 5, 3000}, Root: world.Size() - 1, Repetitions: 3})
	if err != nil || world.Rank() > 0 {
		return err
	}
	var variants []string
	for i, row := range r.Rows {
		if row.Bytes == 5 {
			variants = append(variants, row.Variant)
		}
		if !row.Verified || !(row.Min <= row.Median && row.Median <= row.Max) || row.Min < 0 {
			return fmt.Errorf("row %d: %+v", i, row)
		}
	}
	algorithms := schedule.Algorithms()
	if _, ok := world.(mpi.Splitter); ok && slices.Contains(want, "native") {
		algorithms = append(algorithms, schedule.NativeGroups{})
	}
	for _, a := range schedule.Variants(algorithms, schedule.Problem{Ranks: world.Size(), Tree: tree}) {
		if !slices.Contains(want, a.Name()) {
			want = append(want, a.Name())
		}
	}
	if !slices.Equal(variants, want) {
		return fmt.Errorf("variants %v, want %v", variants, want)
	}
	if _, ok := world.(mpi.Clock); ok && r.ClockDoubt != 0 { // all ranks are on this host
		return fmt.Errorf("clock doubt %g s, want 0", r.ClockDoubt)
	}
	return nil
}
