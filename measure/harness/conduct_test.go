package harness_test

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// conduct runs lead with act on so many ranks, and returns the errors of all.
func conduct(t *testing.T, ranks int, act func(c *harness.Conductor, round []byte) ([]float64, error), lead func(*harness.Conductor, harness.Play) error) []error {
	t.Helper()
	errs := make([]error, ranks)
	err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
		var own int
		own, errs[comm.Rank()] = harness.Conduct(t.Context(), comm, 0, func(c *harness.Conductor) (int, error) {
			return comm.Rank(), c.Lead(0, func(round []byte) ([]float64, error) { return act(c, round) }, func(play harness.Play) error { return lead(c, play) })
		})
		if want := comm.Rank(); errs[want] == nil && own != want || errs[want] != nil && own != 0 {
			t.Errorf("rank %d gets %d of Conduct, which ends with %v", want, own, errs[want])
		}
		return harness.Agree(comm, nil, nil) // the communicator still works
	})
	if err != nil {
		t.Error(err)
	}
	return errs
}

// Rank 0 gets what each rank has found in each round, whatever the number of ranks and the length of what
// they found.
func TestConductorGathersEachRound(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7, 8, 13} {
		found := func(rank int, round []byte) (values []float64) {
			if rank%3 == 1 {
				return nil
			}
			for k := range rank * 4_000 * len(round) {
				values = append(values, float64(k)+float64(round[0])/256)
			}
			return values
		}
		act := func(c *harness.Conductor, round []byte) ([]float64, error) { return found(c.Comm.Rank(), round), nil }
		errs := conduct(t, ranks, act, func(_ *harness.Conductor, play harness.Play) error {
			for _, round := range []string{"a", "", "bc"} {
				all, err := play([]byte(round))
				if err != nil {
					return err
				}
				for rank, got := range all {
					if want := found(rank, []byte(round)); !slices.Equal(got, want) {
						t.Errorf("%d ranks, round %q: rank %d has found %d numbers, want %d", ranks, round, rank, len(got), len(want))
					}
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// What rank 0 alone fails at between two rounds is an error of all ranks, and none waits for what comes next.
func TestLeaderFailsAlone(t *testing.T) {
	act := func(*harness.Conductor, []byte) ([]float64, error) { return nil, nil }
	errs := conduct(t, 3, act, func(_ *harness.Conductor, play harness.Play) error {
		if _, err := play(nil); err != nil {
			return err
		}
		return errors.New("no plan for the next step")
	})
	for rank, err := range errs {
		if err == nil || err.Error() != "no plan for the next step" {
			t.Errorf("rank %d ends with %v", rank, err)
		}
	}
}

// A rank that cannot do its part stops all ranks where they meet next, and fails the round.
func TestRankThatFailsStopsAll(t *testing.T) {
	met := make([]int, 5)
	act := func(c *harness.Conductor, _ []byte) ([]float64, error) {
		for going := true; going; met[c.Comm.Rank()]++ {
			if met[c.Comm.Rank()] == 2 && c.Comm.Rank() == 3 {
				c.Fail(errors.New("out of memory"))
			}
			var err error
			if going, err = c.Meet(); err != nil {
				return nil, err
			}
		}
		return []float64{1}, nil
	}
	errs := conduct(t, 5, act, func(_ *harness.Conductor, play harness.Play) error {
		_, err := play(nil)
		return err
	})
	for rank, err := range errs {
		if err == nil || err.Error() != "rank 3: out of memory" || met[rank] != 3 {
			t.Errorf("rank %d has met %d times and ends with %v", rank, met[rank], err)
		}
	}
}

// The budget of rank 0 and the context of any rank stop all ranks at the same time; what was found until then
// arrives, and no further round is played.
func TestConductorStops(t *testing.T) {
	cluster, err := gen.Parse("star:4")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []harness.Stopped{harness.StoppedByBudget, harness.StoppedByContext} {
		ctx, cancel := context.WithCancel(t.Context())
		played, acted := 0, make([]int, 4)
		err := simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			budget := time.Duration(0)
			if want == harness.StoppedByBudget && comm.Rank() == 0 {
				budget = time.Millisecond
			}
			_, err := harness.Conduct(ctx, comm, 0, func(c *harness.Conductor) (none struct{}, err error) {
				act := func([]byte) ([]float64, error) {
					for k := 0; ; k++ {
						if k == 500 && want == harness.StoppedByContext && comm.Rank() == 2 {
							cancel()
						}
						going, err := c.Meet()
						if err != nil || !going {
							acted[comm.Rank()] = k
							return []float64{float64(k)}, err
						}
					}
				}
				return none, c.Lead(budget, act, func(play harness.Play) error {
					for range 2 {
						found, err := play(nil)
						if err != nil {
							return err
						}
						if found[3] != nil {
							played++
						}
					}
					if c.Stopped() != want {
						t.Errorf("stopped by %q, want %q", c.Stopped(), want)
					}
					if c.Elapsed() > 0.0012 && want == harness.StoppedByBudget {
						t.Errorf("stopped after %g s, with a budget of 1 ms", c.Elapsed())
					}
					return nil
				})
			})
			return err
		})
		if cancel(); err != nil || played != 1 || acted[0] == 0 || acted[1] != acted[0] || acted[2] != acted[0] || acted[3] != acted[0] {
			t.Errorf("%s: %d rounds, the ranks have met %v times, %v", want, played, acted, err)
		}
	}
}

// Both ranks of a pair exchange in the round of the pair, the first one knows that it is, and rank 0 gets what each has found, by
// rank and round. Once the ranks have stopped nobody acts.
func TestPairsMeetInTheirRounds(t *testing.T) {
	rounds := [][]harness.Pair{{{A: 0, B: 3, Task: 7}, {A: 2, B: 1, Task: 8}}, {}, {{A: 3, B: 2}}}
	want := []harness.Row{
		{From: 0, To: 3, Round: 0, Values: []float64{7, 1}},
		{From: 1, To: 2, Round: 0, Values: []float64{8, 0}},
		{From: 2, To: 1, Round: 0, Values: []float64{8, 1}},
		{From: 2, To: 3, Round: 2, Values: []float64{0, 0}},
		{From: 3, To: 0, Round: 0, Values: []float64{7, 0}},
		{From: 3, To: 2, Round: 2, Values: []float64{0, 1}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		_, err := harness.Conduct(ctx, comm, 0, func(c *harness.Conductor) (none struct{}, err error) {
			exchange := func(found []float64, _ int, first bool, task int) ([]float64, error) {
				if first {
					return append(found, float64(task), 1), nil
				}
				return append(found, float64(task), 0), nil
			}
			return none, c.LeadPairs(0, exchange, func(play harness.PlayPairs) error {
				var done []int
				rows, err := play(rounds, func(over int) { done = append(done, over) })
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(rows, want) || !slices.Equal(done, []int{1, 2, 3}) {
					t.Errorf("rows %v after rounds %v, want %v", rows, done, want)
				}
				cancel()
				if rows, err = play(rounds, nil); len(rows) > 0 || c.Stopped() != harness.StoppedByContext {
					t.Errorf("after the end: rows %v, stopped by %q", rows, c.Stopped())
				}
				return err
			})
		})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Where time is virtual the garbage collector stays on: all ranks share a process, and nothing is timed by the wall clock.
func TestCollectorStaysOnInVirtualTime(t *testing.T) {
	cluster, err := gen.Parse("star:2")
	if err != nil {
		t.Fatal(err)
	}
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	inside := func(percent *int) func(mpi.Communicator) error {
		return func(comm mpi.Communicator) error {
			_, err := harness.Conduct(t.Context(), comm, 0, func(c *harness.Conductor) (none struct{}, err error) {
				exchange := func(found []float64, _ int, first bool, _ int) ([]float64, error) {
					if first {
						*percent = debug.SetGCPercent(-1)
						debug.SetGCPercent(*percent)
					}
					return found, nil
				}
				return none, c.LeadPairs(0, exchange, func(play harness.PlayPairs) error {
					_, err := play([][]harness.Pair{{{A: 0, B: 1}}}, nil)
					return err
				})
			})
			return err
		}
	}
	virtual, real := 0, 0
	err = errors.Join(simnet.Run(cluster.Graph, nil, nil, inside(&virtual)), local.Run(2, nil, inside(&real)))
	if err != nil || virtual != 100 || real != -1 {
		t.Errorf("collector at %d %% in virtual time and %d otherwise, %v, want 100 and -1", virtual, real, err)
	}
}

// Ranks without a part in a round are not ended for waiting until those with one are done, however long that takes.
func TestIdleRanksMayWait(t *testing.T) {
	t.Parallel()
	const silence = 50 * time.Millisecond // of which others may be heard of for twelve
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		_, err := harness.Conduct(t.Context(), comm, silence, func(c *harness.Conductor) (none struct{}, err error) {
			act := func([]byte) ([]float64, error) {
				if comm.Rank() == 0 {
					time.Sleep(16 * silence)
				} else {
					c.Idle()
				}
				return nil, nil
			}
			return none, c.Lead(0, act, func(play harness.Play) error {
				_, err := play(nil)
				return err
			})
		})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
