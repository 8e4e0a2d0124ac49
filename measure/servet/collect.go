package servet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// The words of the barriers. The greatest of all ranks' counts.
const (
	goOn byte = iota
	stopBudget
	stopContext
	stopFailed // a rank could not do its part, see crew.agree
)

// stopped is the word as Result.Stopped has it.
func stopped(word byte) string {
	switch word {
	case stopBudget:
		return StoppedByBudget
	case stopContext:
		return StoppedByContext
	}
	return ""
}

// A pacer holds all ranks together before each step, and tells them when to stop.
type pacer struct {
	ctx     context.Context
	watch   *harness.Watch
	barrier *harness.Barrier
	now     func() float64
	start   float64
	budget  float64 // s; 0: no bound, as on all ranks but 0
	failed  error   // why this rank cannot do its part
}

// newPacer starts the time. The budget is rank 0's to set.
func newPacer(ctx context.Context, comm mpi.Communicator, watch *harness.Watch) *pacer {
	now := harness.Clock(comm)
	return &pacer{ctx: ctx, watch: watch, barrier: harness.NewBarrier(comm).Under(watch), now: now, start: now()}
}

// next waits for all ranks. It is collective.
func (p *pacer) next() (word byte, err error) {
	p.watch.Next()
	switch {
	case p.failed != nil:
		word = stopFailed
	case p.ctx.Err() != nil:
		word = stopContext
	case p.budget > 0 && p.now()-p.start >= p.budget:
		word = stopBudget
	}
	return p.barrier.Wait(word)
}

// collect makes a plan on rank 0 and follows it on all ranks. It is collective.
func collect(ctx context.Context, comm mpi.Communicator, settings *Settings, what string, fill func(*plan, *Settings) []string) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var result *Result
	err := harness.OnWatchedDuplicate(comm, s.Silence, func(own mpi.Communicator, watch *harness.Watch) (err error) {
		result, err = collectUnder(ctx, own, watch, &s, what, fill)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// collectUnder is collect on a communicator of its own.
func collectUnder(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, s *Settings, what string, fill func(*plan, *Settings) []string) (*Result, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, err
	}
	var p plan
	var result *Result
	if comm.Rank() == 0 {
		if err := s.validate(); err != nil {
			p.Error = err.Error()
		} else {
			result = newResult(what, &p, places, s)
			result.Warnings = append(fill(&p, s), crowded(places)...)
			result.planned = len(p.Steps)
			if _, ok := comm.(mpi.NonBlocking); !ok {
				result.Warnings = append(result.Warnings, "the communicator sends or receives, one at a time: half of the messages wait for the others")
			}
		}
	}
	if err := tell(comm, watch, &p); err != nil {
		return nil, err
	}
	if p.Error != "" {
		return nil, errors.New(p.Error)
	}
	if err := follow(ctx, comm, watch, &p, s, result); err != nil {
		return nil, fmt.Errorf("servet: %s: rank %d: %w", what, comm.Rank(), err)
	}
	return result, nil
}

// crowded warns of hosts whose ranks share CPUs.
func crowded(places []mpi.Place) []string {
	if hosts := mpi.OversubscribedHosts(places); len(hosts) > 0 {
		return []string{fmt.Sprintf("ranks share CPUs on %s, such as %s: times are the scheduler's", words.Count(len(hosts), "host"), hosts[0])}
	}
	return nil
}

// follow takes all steps of all repetitions, and gathers the times. It is collective.
func follow(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, p *plan, s *Settings, result *Result) error {
	parts := p.parts(comm.Rank())
	x := newExchanger(comm, watch, p, parts)
	pace := newPacer(ctx, comm, watch)
	if result != nil {
		pace.budget = s.Budget.Seconds()
	}
	times := make([]float64, p.Repetitions*len(p.Steps)) // s, of the messages that this rank gets
	for i := range times {
		times[i] = math.NaN()
	}
	order := coarseFirst(len(p.Steps))
	word, done := goOn, 0
repetitions:
	for r := range p.Repetitions {
		for _, k := range order {
			own, apart := parts[k], p.Steps[k].Apart
			if own.to >= 0 {
				if err := x.hello(own, apart); err != nil {
					return err
				}
			}
			var err error
			if word, err = pace.next(); err != nil {
				return err
			}
			if word != goOn {
				break repetitions
			}
			if own.to >= 0 {
				if times[r*len(p.Steps)+k], err = x.exchange(own, apart); err != nil {
					return err
				}
			}
			if done++; result != nil {
				result.pass(pace, done, s)
			}
		}
	}
	data := make([]byte, 0, 8*len(times))
	for _, t := range times {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(t))
	}
	err := watch.Gather(comm, data, func(rank int, data []byte) error {
		return result.take(p, rank, data)
	})
	if err == nil && result != nil {
		result.Stopped, result.Took = stopped(word), x.now()-pace.start
		result.finish()
	}
	return err
}

// firstLook are the steps after which the time for all is told against the budget.
const firstLook = 3

// pass tells of a step that is over.
func (r *Result) pass(pace *pacer, done int, s *Settings) {
	all := r.Repetitions * r.planned
	if done == firstLook && pace.budget > 0 && s.Notify != nil {
		if need := (pace.now() - pace.start) / firstLook * float64(all); need > pace.budget {
			s.Notify(fmt.Sprintf("the budget is too small for %d repetitions of %d steps, which need about %s: fewer will be made", r.Repetitions, r.planned, quantity.Seconds(need)))
		}
	}
	if s.Progress != nil {
		s.Progress(done, all)
	}
}
