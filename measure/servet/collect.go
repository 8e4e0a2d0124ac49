package servet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// together lets all ranks measure: rank 0 makes a plan of where they are, and each takes its part. It is collective.
func together[P any](ctx context.Context, comm mpi.Communicator, silence time.Duration, plan func(*harness.Conductor, []mpi.Place) (P, error), measure func(*harness.Conductor, P) error) error {
	return harness.Conduct(ctx, comm, silence, func(c *harness.Conductor) error {
		places, err := mpi.GatherPlaces(c.Comm)
		if err != nil {
			return err
		}
		p, err := harness.Share(c.Comm, c, func() (P, error) { return plan(c, places) })
		if err != nil {
			return err
		}
		if err := measure(c, p); err != nil {
			return fmt.Errorf("servet: %w", err)
		}
		return nil
	})
}

// collect measures rings of hosts. It is collective.
func collect(ctx context.Context, comm mpi.Communicator, settings *Settings, what string, fill func(*plan, *Settings) []string) (*Result, error) {
	s := *cmp.Or(settings, &Settings{})
	var result *Result
	err := together(ctx, comm, s.Silence, func(c *harness.Conductor, places []mpi.Place) (p plan, err error) {
		if err = s.validate(); err != nil {
			return p, err
		}
		result = newResult(what, &p, places, &s)
		result.Warnings = append(fill(&p, &s), crowded(places)...)
		if _, ok := c.Comm.(mpi.NonBlocking); !ok {
			result.Warnings = append(result.Warnings, "the communicator sends or receives, one at a time: half of the messages wait for the others")
		}
		return p, nil
	}, func(c *harness.Conductor, p plan) error {
		x := newExchanger(c, &p)
		pass := func(int, int) {}
		if result != nil {
			steps := s.Steps()
			pass = func(done, of int) {
				result.look(c, done, of, &s)
				steps(done, of)
			}
		}
		act := func([]byte) ([]float64, error) {
			return repeat(p.Repetitions, coarseFirst(len(p.Steps)), len(p.Steps), x.step, pass)
		}
		err := c.Lead(s.Budget, act, func(play harness.Play) error {
			found, err := play(nil)
			for rank := 0; err == nil && rank < len(found); rank++ {
				err = result.take(&p, rank, found[rank])
			}
			result.Stopped, result.Took = c.Stopped(), c.Elapsed()
			result.finish()
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
	return result, err
}

// crowded warns of hosts whose ranks share CPUs.
func crowded(places []mpi.Place) []string {
	if hosts := mpi.OversubscribedHosts(places); len(hosts) > 0 {
		return []string{fmt.Sprintf("ranks share CPUs on %s, such as %s: times are the scheduler's", words.Count(len(hosts), "host"), hosts[0])}
	}
	return nil
}

// repeat takes steps in their order, as often as there are repetitions, until all ranks stop. It returns what this rank
// has measured in each of its own, which are the first ones; NaN: nothing.
func repeat(repetitions int, order []int, own int, take func(step int, value *float64) (going bool, err error), pass func(done, of int)) ([]float64, error) {
	values := slices.Repeat([]float64{math.NaN()}, repetitions*own)
	for done := range repetitions * len(order) {
		repetition, step := done/len(order), order[done%len(order)]
		var value *float64 // nil: others measure
		if step < own {
			value = &values[repetition*own+step]
		}
		going, err := take(step, value)
		if err != nil {
			return nil, err
		}
		if !going {
			break
		}
		pass(done+1, repetitions*len(order))
	}
	return values, nil
}

// firstLook are the steps after which the time for all is told against the budget.
const firstLook = 3

// look holds the time for all steps against the budget.
func (r *Result) look(c *harness.Conductor, done, all int, s *Settings) {
	if done != firstLook || s.Budget == 0 || s.Notify == nil {
		return
	}
	if need := c.Elapsed() / firstLook * float64(all); need > s.Budget.Seconds() {
		s.Notify(fmt.Sprintf("the budget is too small for %d repetitions of %d steps, which need about %s: fewer will be made", r.Repetitions, all/r.Repetitions, quantity.Seconds(need)))
	}
}
