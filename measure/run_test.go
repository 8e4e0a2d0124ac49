package measure

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/topology"
)

// results runs a measurement on n local ranks and returns the result of each.
func results(t *testing.T, n int, world *local.Settings, s *Settings, wrap func(mpi.Communicator) mpi.Communicator) []*Result {
	t.Helper()
	all := make([]*Result, n)
	err := local.Run(n, world, func(c mpi.Communicator) error {
		if wrap != nil {
			c = wrap(c)
		}
		var own *Settings // only rank 0's count
		if c.Rank() == 0 {
			own = s
		}
		r, err := Run(context.Background(), c, own)
		all[c.Rank()] = r
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// bare hides all optional abilities of a communicator.
type bare struct{ mpi.Communicator }

func TestRunMeasuresEveryPairInBothDirections(t *testing.T) {
	worlds := []struct {
		name string
		mode local.Mode
		wrap func(mpi.Communicator) mpi.Communicator
	}{
		{"buffered", local.Buffered, nil},
		{"rendezvous", local.Rendezvous, nil},
		{"rendezvous without other abilities", local.Rendezvous, func(c mpi.Communicator) mpi.Communicator { return bare{c} }},
		{"pinned", local.Pinned, nil},
	}
	for _, w := range worlds {
		for _, n := range []int{1, 2, 3, 4, 5, 8} {
			t.Run(fmt.Sprintf("%s, %d ranks", w.name, n), func(t *testing.T) {
				s := &Settings{Sizes: []int{8, 0, 300}, Sampling: Sampling{Repetitions: 2, Samples: 6}}
				all := results(t, n, &local.Settings{Mode: w.mode}, s, w.wrap)
				r := all[0]
				if n > 1 && all[1] != nil {
					t.Errorf("rank 1 has a result, want nil")
				}
				if want := 2 * 3 * n * (n - 1); len(r.Measurements()) != want {
					t.Fatalf("%d measurements, want %d", len(r.Measurements()), want)
				}
				seen := make(map[[4]int]bool)
				for _, x := range r.Measurements() {
					seen[[4]int{x.Repetition, x.Size, x.From, x.To}] = true
					if x.Count != 6 || x.Batch < 1 || x.Round < 0 || x.Round >= n {
						t.Errorf("measurement %+v", x)
					}
					if !(x.Min >= 0 && x.Min <= x.Q1 && x.Q1 <= x.Median && x.Median <= x.Q3 && x.Q3 <= x.Max) || math.IsInf(x.Max, 0) {
						t.Errorf("times of measurement %+v are not in order", x)
					}
				}
				if len(seen) != len(r.Measurements()) {
					t.Errorf("%d different measurements of %d", len(seen), len(r.Measurements()))
				}
				if r.Stopped != "" || r.Rounds != r.TotalRounds || r.Rounds != 2*fewestRounds(n) {
					t.Errorf("%d of %d rounds, stopped by %q; want %d rounds", r.Rounds, r.TotalRounds, r.Stopped, 2*fewestRounds(n))
				}
				for rank := range n {
					if r.Hosts[rank] == "" || r.CPUs[rank] < 1 || r.GOMAXPROCS[rank] < 1 {
						t.Errorf("rank %d: host %q, %d CPUs, GOMAXPROCS %d", rank, r.Hosts[rank], r.CPUs[rank], r.GOMAXPROCS[rank])
					}
				}
				repetitions := r.Matrices()
				want := 2
				if n == 1 {
					want = 1 // of one empty cell: there is nothing to measure
				}
				if len(repetitions) != want {
					t.Errorf("%d repetitions, want %d", len(repetitions), want)
				}
			})
		}
	}
}

// fewestRounds is the number of rounds in which n ranks meet each other once.
func fewestRounds(n int) int {
	if n == 1 {
		return 0
	}
	return n - 1 + n%2
}

// racks is 12 ranks: racks {0..5} and {6..10} and the lone rank 11; hosts
// {0,1,2}, {3,4} in the first rack, {6,7,8,9} in the second.
func racks(t *testing.T) *topology.Hierarchy {
	t.Helper()
	h, err := topology.NewHierarchy(12, []topology.Level{{Name: "host"}, {Name: "rack"}}, []topology.Group{
		{Hosts: []int{0, 1, 2, 3, 4, 5}, Level: 1},
		{Hosts: []int{6, 7, 8, 9, 10}, Level: 1},
		{Hosts: []int{0, 1, 2}},
		{Hosts: []int{3, 4}},
		{Hosts: []int{6, 7, 8, 9}},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// latency is the known truth of the tests with a simulated clock: in s, from
// one rank to another, and different for each pair.
func latency(a, b int) float64 { return 1e-7 * float64(1+a+10*b) }

// halfRoundTrip is half of what a round trip takes.
func halfRoundTrip(a, b int) float64 { return (latency(a, b) + latency(b, a)) / 2 }

const clockCost = 25e-9

// timedComm claims to have taken samples: exact ones, to which its
// clock has added its cost.
type timedComm struct {
	bare
	now float64
}

func (c *timedComm) Now() float64 {
	c.now += clockCost
	return c.now
}

func (c *timedComm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	for i := range samples {
		samples[i] = 2*halfRoundTrip(c.Rank(), peer)*float64(iters) + clockCost
	}
	return nil
}

// virtualComm is a small simulation: each rank has a clock of its own, and a
// message carries the time at which it was sent.
type virtualComm struct {
	bare
	now float64
}

func (c *virtualComm) Now() float64 {
	c.now += clockCost
	return c.now
}

func (c *virtualComm) Send(buf []byte, dst, tag int) error {
	stamped := binary.LittleEndian.AppendUint64(bytes.Clone(buf), math.Float64bits(c.now))
	return c.bare.Send(stamped, dst, tag)
}

func (c *virtualComm) Recv(buf []byte, src, tag int) error {
	stamped := make([]byte, len(buf)+8)
	if err := c.bare.Recv(stamped, src, tag); err != nil {
		return err
	}
	copy(buf, stamped)
	sent := math.Float64frombits(binary.LittleEndian.Uint64(stamped[len(buf):]))
	c.now = max(c.now, sent+latency(src, c.Rank()))
	return nil
}

func TestMeasurementsAreHalfRoundTripsWithoutTheClock(t *testing.T) {
	wraps := map[string]func(mpi.Communicator) mpi.Communicator{
		"timed":   func(c mpi.Communicator) mpi.Communicator { return &timedComm{bare: bare{c}} },
		"virtual": func(c mpi.Communicator) mpi.Communicator { return &virtualComm{bare: bare{c}} },
	}
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			const n = 6
			r := results(t, n, nil, &Settings{Sampling: Sampling{Repetitions: 2, Samples: 5}}, wrap)[0]
			if r.Timed != (name == "timed") {
				t.Errorf("Timed = %t", r.Timed)
			}
			if math.Abs(r.ClockCost-clockCost) > 1e-12 {
				t.Errorf("clock costs %g s, want %g", r.ClockCost, clockCost)
			}
			for repetition := range 2 {
				for statistic, number := range []func(*Measurement) float64{
					func(x *Measurement) float64 { return x.Min },
					func(x *Measurement) float64 { return x.Q1 },
					func(x *Measurement) float64 { return x.Median },
					func(x *Measurement) float64 { return x.Q3 }, func(x *Measurement) float64 { return x.Max },
				} {
					m, err := r.Matrix(number, repetition, 0)
					if err != nil {
						t.Fatal(err)
					}
					for i := range n {
						for j := range n {
							got, want := m.At(i, j), halfRoundTrip(i, j)
							if i == j {
								if !math.IsNaN(got) {
									t.Errorf("diagonal is %g, want NaN", got)
								}
								continue
							}
							// Peers read their clocks too between batches, which
							// delays an answer by at most the cost of one measurement,
							// and a batch lasts at least 50 of them: 1 of 50.
							if math.Abs(got-want) > 0.02*want+1e-12 {
								t.Errorf("statistic %d of %d -> %d = %g s, want %g", statistic, i, j, got, want)
							}
						}
					}
				}
			}
			// Batches: at least 50 clock steps each, and no more than needed.
			for _, x := range r.Measurements() {
				want := int(math.Ceil(pilotedSteps * clockCost / (2 * halfRoundTrip(x.From, x.To))))
				if x.Batch < want-1 || x.Batch > want+1 {
					t.Errorf("pair %d, %d: batches of %d round trips, want %d", x.From, x.To, x.Batch, want)
				}
			}
		})
	}
}

// A clock that stands still - a simulation without overheads - needs no batches.
func TestClockThatStandsStill(t *testing.T) {
	r := results(t, 3, nil, &Settings{Sampling: Sampling{Repetitions: 1, Samples: 5}}, func(c mpi.Communicator) mpi.Communicator { return &stillComm{virtualComm{bare: bare{c}}} })[0]
	if r.ClockStep != 0 || r.ClockCost != 0 {
		t.Errorf("clock step %g s, cost %g s, want 0", r.ClockStep, r.ClockCost)
	}
	for _, x := range r.Measurements() {
		if want := halfRoundTrip(x.From, x.To); x.Batch != 1 || math.Abs(x.Median-want) > 1e-12 {
			t.Errorf("measurement %+v, want %g s in batches of 1", x, want)
		}
	}
}

type stillComm struct{ virtualComm }

func (c *stillComm) Now() float64 { return c.now }

// Cancelled between rounds, by any rank, all ranks leave at the same round.
func TestCancellationKeepsWhatWasMeasured(t *testing.T) {
	const n = 6
	for _, stopAfter := range []int{0, 1, 4, 7} {
		ctx, cancel := context.WithCancel(context.Background())
		if stopAfter == 0 {
			cancel()
		}
		var r *Result
		s := &Settings{
			Sampling: Sampling{Samples: 5},
			Control: harness.Control{Progress: func(p Progress) {
				if p.Done == stopAfter {
					cancel()
				}
			}},
		}
		err := local.Run(n, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
			own := context.Background()
			if c.Rank() == 0 && stopAfter > 0 || c.Rank() == 4 && stopAfter == 0 {
				own = ctx
			}
			found, err := Run(own, c, s)
			if found != nil {
				r = found
			}
			return err
		})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if r.Stopped != harness.StoppedByContext || r.Rounds != stopAfter || r.TotalRounds != 15 {
			t.Errorf("stopped by %q after %d of %d rounds, want %d of 15", r.Stopped, r.Rounds, r.TotalRounds, stopAfter)
		}
		if want := stopAfter * n; len(r.Measurements()) != want {
			t.Errorf("%d measurements, want %d", len(r.Measurements()), want)
		}
		if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, fmt.Sprintf("cancelled after %d of 15 rounds", stopAfter)) || strings.Contains(text, "resume it") != (stopAfter > 0) {
			t.Errorf("warnings %q", text)
		}
		if want := (stopAfter + 4) / 5; len(r.Matrices()) != want {
			t.Errorf("%d repetitions, want %d", len(r.Matrices()), want)
		}
	}
}

func TestBudgetEndsTheMeasurement(t *testing.T) {
	r := results(t, 4, nil, &Settings{Control: harness.Control{Budget: 1}}, nil)[0]
	if r.Stopped != harness.StoppedByBudget || r.Rounds != 0 || len(r.Measurements()) != 0 {
		t.Errorf("stopped by %q after %d rounds with %d measurements, want the budget, 0 and 0", r.Stopped, r.Rounds, len(r.Measurements()))
	}
	if len(r.Matrices()) != 0 {
		t.Errorf("%d repetitions, want none", len(r.Matrices()))
	}
}

func TestWrongSettingsAreAnErrorOnAllRanks(t *testing.T) {
	tests := []struct {
		settings Settings
		want     string
	}{
		{Settings{Sizes: []int{8, -1}}, "measure: Settings.Sizes: -1 B"},
		{Settings{Sizes: []int{8, 8}}, "measure: Settings.Sizes: 8 B: given twice"},
		{Settings{Sampling: Sampling{Repetitions: -1}}, "measure: Settings.Repetitions: -1"},
		{Settings{Sampling: Sampling{Samples: -2}}, "measure: Settings.Samples: -2"},
		{Settings{Sampling: Sampling{Samples: 2_000_000}}, "measure: Settings.Samples: 2000000"},
		{Settings{Pairs: harness.Pairs{Rounds: -3}}, "measure: Settings.Rounds: -3"},
		{Settings{Control: harness.Control{Budget: -time.Second}}, "measure: Settings.Budget: -1s"},
		{Settings{Pairs: harness.Pairs{WithinGroups: true}}, "measure: Settings.WithinGroups"},
		{Settings{Pairs: harness.Pairs{Groups: racks(t)}}, "measure: Settings.Groups: hierarchy of 12 hosts for 3 ranks"},
	}
	for _, tt := range tests {
		var wrong atomic.Int64
		err := local.Run(3, nil, func(c mpi.Communicator) error {
			r, err := Run(context.Background(), c, &tt.settings)
			if r == nil && err != nil && strings.HasPrefix(err.Error(), tt.want) {
				wrong.Add(1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if wrong.Load() != 3 {
			t.Errorf("%d of 3 ranks return the error %q", wrong.Load(), tt.want)
		}
	}
}

func TestGroupsOnly(t *testing.T) {
	r := results(t, 12, nil, &Settings{Pairs: harness.Pairs{Groups: racks(t), WithinGroups: true}, Sampling: Sampling{Samples: 5, Repetitions: 1}}, nil)[0]
	m, err := r.Matrix(func(x *Measurement) float64 { return x.Median }, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rack := func(i int) int { return min(i/6, 1) + i/11 } // 0..5, 6..10, 11
	for i := range 12 {
		for j := range 12 {
			if measured := !math.IsNaN(m.At(i, j)); measured != (i != j && rack(i) == rack(j)) {
				t.Errorf("cell (%d, %d) = %g", i, j, m.At(i, j))
			}
		}
	}
}

func TestProgress(t *testing.T) {
	var calls []Progress
	results(t, 4, nil, &Settings{Sampling: Sampling{Samples: 5}, Control: harness.Control{Progress: func(p Progress) { calls = append(calls, p) }}}, nil)
	if len(calls) != 10 { // at the start, and after each of 9 rounds
		t.Fatalf("%d calls, want 10", len(calls))
	}
	for i, p := range calls {
		if p.Done != i || p.Total != 9 || (i == 9) != (p.Remaining == 0) && i > 0 {
			t.Errorf("call %d: %+v", i, p)
		}
	}
}

func TestFailureOfOneRankEndsTheOthers(t *testing.T) {
	cause := errors.New("cause")
	err := local.Run(3, nil, func(c mpi.Communicator) error {
		if c.Rank() == 1 {
			return cause
		}
		_, err := Run(context.Background(), c, nil)
		if !errors.Is(err, mpi.ErrAborted) {
			return fmt.Errorf("error = %w, want ErrAborted", err)
		}
		return err
	})
	if !errors.Is(err, cause) {
		t.Errorf("error = %v, want the cause", err)
	}
}

func TestCollectorIsOnAgain(t *testing.T) {
	before := debug.SetGCPercent(150)
	defer debug.SetGCPercent(before)
	results(t, 5, nil, &Settings{Sampling: Sampling{Samples: 5}}, nil)
	if got := debug.SetGCPercent(150); got != 150 {
		t.Errorf("GC percent is %d after a measurement, want 150", got)
	}
}

// The communicator of the caller carries on undisturbed.
func TestRunLeavesNothingBehind(t *testing.T) {
	var mu sync.Mutex
	seen := 0
	err := local.Run(3, nil, func(c mpi.Communicator) error {
		for tag := range 4 { // the tags that Run uses itself
			if c.Rank() == 0 {
				if err := c.Send([]byte{byte(tag)}, 1, tag); err != nil {
					return err
				}
			}
		}
		if _, err := Run(context.Background(), c, &Settings{Sampling: Sampling{Samples: 5}}); err != nil {
			return err
		}
		for tag := range 4 {
			if c.Rank() == 1 {
				buf := make([]byte, 1)
				if err := c.Recv(buf, 0, tag); err != nil {
					return err
				}
				if buf[0] == byte(tag) {
					mu.Lock()
					seen++
					mu.Unlock()
				}
			}
		}
		return nil
	})
	if err != nil || seen != 4 {
		t.Errorf("%d of 4 messages, error %v", seen, err)
	}
}

func TestManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("many ranks take a few seconds")
	}
	n := 256
	if tooltest.Long() {
		n = 1024
	}
	r := results(t, n, nil, &Settings{Pairs: harness.Pairs{Rounds: 1}, Sampling: Sampling{Repetitions: 2, Samples: 5}}, nil)[0]
	if want := 2 * n; len(r.Measurements()) != want {
		t.Errorf("%d measurements, want %d", len(r.Measurements()), want)
	}
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "scheduler noise") {
		t.Errorf("warnings = %q, want one of scheduler noise", text)
	}
}

func TestMeasurementsTravel(t *testing.T) {
	for _, want := range []Measurement{
		{From: 3, To: 1, Repetition: 2, Size: 1, Round: 70000, Summary: pingpong.Summary{Count: 20, Batch: 7, Lots: 2, Unsure: true, Min: 1e-7, Q1: 2e-7, Median: 3e-7, Q3: 4e-7, Max: 5}},
		{From: 3, To: 4, Summary: pingpong.Summary{Min: 0, Max: math.MaxFloat64}},
	} {
		row := harness.Row{From: want.From, To: want.To, Repetition: want.Repetition, Round: want.Round, Values: appendSummary([]float64{float64(want.Size)}, &want.Summary)}
		if got := measurementsOf(row); len(got) != 1 || got[0] != want {
			t.Errorf("measurements = %+v, want %+v", got, want)
		}
	}
}

// BenchmarkPinned reports the latency between the first two cores.
func BenchmarkPinned(b *testing.B) {
	cores, err := local.Cores()
	if err != nil || len(cores) < 2 {
		b.Skip("needs two cores")
	}
	for b.Loop() {
		err := local.Run(2, &local.Settings{Mode: local.Pinned}, func(c mpi.Communicator) error {
			r, err := Run(context.Background(), c, &Settings{Sampling: Sampling{Samples: 50, Repetitions: 5}})
			if err == nil && r != nil {
				x := r.Measurements()[0]
				b.ReportMetric(x.Q1*1e9, "q1-ns")
				b.ReportMetric(x.Median*1e9, "median-ns")
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRounds reports what a round of many ranks costs in one process.
func BenchmarkRounds(b *testing.B) {
	for _, n := range []int{16, 256, 1024} {
		b.Run(fmt.Sprintf("%d ranks", n), func(b *testing.B) {
			const rounds = 4
			for b.Loop() {
				err := local.Run(n, nil, func(c mpi.Communicator) error {
					_, err := Run(context.Background(), c, &Settings{Pairs: harness.Pairs{Rounds: rounds}, Sampling: Sampling{Repetitions: 1, Samples: 5}})
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rounds), "us/round")
		})
	}
}

func (*timedComm) CallCosts() (call, loop float64) { return 0, 0 }
