package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/topocast/topocast/mpi"
)

// Run measures the latency of all pairs of ranks: half the time of a round
// trip. It is collective; the settings of rank 0 count. The result is nil on
// other ranks than 0 unless Settings.Share is set.
//
// When the context of any rank ends, or the budget, all ranks stop after
// the round under way, and the result holds what was measured; Stopped says so.
// Weak results carry Warnings. An error means that nothing was measured: wrong
// settings, or a failure of the communicator, which is unusable afterwards.
//
// The messages travel on a duplicate of comm if it is an mpi.Splitter, and on
// comm itself otherwise. Timed communicators do the timing themselves; otherwise
// it is done by Send and Recv with the communicator's Clock, or else time.Now.
// The garbage collector of the process is off while rounds are measured.
//
// It takes n-1 rounds (odd n: n) per repetition, of O(log n) messages for the
// barrier and a pair's exchanges each. Memory is O(n) per repetition and size,
// and O(n^2) on rank 0.
func Run(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var result *Result
	err := onDuplicate(comm, func(own mpi.Communicator) error {
		var err error
		result, err = run(ctx, own, &s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// onDuplicate calls work with a duplicate of comm, so that its messages never
// match those of the caller, or with comm itself if it cannot be duplicated.
// The duplicate is closed whatever work returns. It is collective.
func onDuplicate(comm mpi.Communicator, work func(mpi.Communicator) error) error {
	s, ok := comm.(mpi.Splitter)
	if !ok {
		return work(comm)
	}
	own, err := s.Dup()
	if err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	err = work(own)
	if c, ok := own.(io.Closer); ok {
		if closing := c.Close(); closing != nil && err == nil {
			err = fmt.Errorf("measure: closing the duplicate: %w", closing)
		}
	}
	return err
}

func run(ctx context.Context, comm mpi.Communicator, s *Settings) (*Result, error) {
	now := clockOf(comm)
	start := now()
	p, err := sharePlan(comm, s)
	if err != nil {
		return nil, err
	}
	turns, err := newSchedule(p, comm.Size(), comm.Rank())
	if err != nil {
		return nil, err
	}
	q := newProbe(comm, p)
	readings, stopped, done, err := rounds(ctx, comm, s, p, turns, q, now, start)
	if err != nil {
		return nil, fmt.Errorf("measure: rank %d: %w", comm.Rank(), err)
	}
	result, err := collect(comm, s, p, q, readings)
	if err != nil {
		return nil, fmt.Errorf("measure: collecting the readings: rank %d: %w", comm.Rank(), err)
	}
	if result != nil {
		result.Stopped = stopped.reason()
		result.Rounds, result.TotalRounds = done, p.Repetitions*turns.rounds()
		result.Warnings = warnings(result)
	}
	if p.Share {
		if result, err = shareResult(comm, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (w wish) reason() string {
	switch w {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}

// sharePlan sends the plan of rank 0 to all ranks, or the reason why there is none.
func sharePlan(comm mpi.Communicator, s *Settings) (*plan, error) {
	var p plan
	var data []byte
	if comm.Rank() == 0 {
		if err := s.validate(comm.Size()); err != nil {
			p.Error = err.Error()
		} else {
			p = s.plan()
		}
		var err error
		if data, err = json.Marshal(&p); err != nil {
			return nil, fmt.Errorf("measure: sharing the settings: %w", err)
		}
	}
	data, err := share(comm, data)
	if err != nil {
		return nil, fmt.Errorf("measure: sharing the settings: rank %d: %w", comm.Rank(), err)
	}
	if comm.Rank() != 0 {
		if err := json.Unmarshal(data, &p); err != nil {
			return nil, fmt.Errorf("measure: sharing the settings: rank %d: %w", comm.Rank(), err)
		}
	}
	if p.Error != "" {
		return nil, fmt.Errorf("%s", p.Error)
	}
	return &p, nil
}

// rounds is the measuring itself. It returns the readings of this rank, why
// all ranks stopped early, and the number of rounds done.
func rounds(ctx context.Context, comm mpi.Communicator, s *Settings, p *plan, turns *schedule, q *probe, now func() float64, start float64) ([]Reading, wish, int, error) {
	began := time.Now() // progress is for whoever waits, budgets go by the communicator's clock
	all := newBarrier(comm)
	total := p.Repetitions * turns.rounds()
	readings := make([]Reading, 0, total*len(p.Sizes))
	done := 0
	report := func() {
		if comm.Rank() != 0 || s.Progress == nil {
			return
		}
		elapsed := time.Since(began)
		var remaining time.Duration
		if done > 0 {
			remaining = time.Duration(float64(elapsed) / float64(done) * float64(total-done))
		}
		s.Progress(Progress{Done: done, Total: total, Elapsed: elapsed, Remaining: remaining})
	}
	// next tells all ranks whether to go on, and starts them together.
	next := func() (wish, error) {
		w := goOn
		switch {
		case ctx.Err() != nil:
			w = stopCancelled
		case comm.Rank() == 0 && s.Budget > 0 && now()-start > s.Budget.Seconds():
			w = stopBudget
		}
		return all.wait(w)
	}

	// Ranks may share a process: the collector is switched off by all before
	// the first barrier, and on again, after the last one, by the one that
	// found it on.
	percent := debug.SetGCPercent(-1)
	defer func() {
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}()
	stopped := goOn
	for repetition := 0; repetition < p.Repetitions && stopped == goOn; repetition++ {
		partners := turns.repetition(repetition)
		for i := -1; i < len(partners); i++ { // the first round is also the warm-up
			if i >= 0 {
				report()
			}
			w, err := next()
			if err != nil {
				return nil, goOn, 0, err
			}
			if w != goOn {
				stopped = w
				break
			}
			if len(partners) == 0 {
				break
			}
			peer := partners[max(i, 0)]
			if peer >= 0 && i < 0 {
				if err := q.warmUp(peer, p.Sizes); err != nil {
					return nil, goOn, 0, err
				}
			}
			if i < 0 {
				continue
			}
			if peer >= 0 {
				for k, size := range p.Sizes {
					r, err := q.pair(peer, size)
					if err != nil {
						return nil, goOn, 0, err
					}
					r.From, r.To, r.Repetition, r.Size, r.Round = comm.Rank(), peer, repetition, k, i
					readings = append(readings, r)
				}
			}
			done++
		}
	}
	report()
	// The collector stays off until the last rank has measured.
	if _, err := all.wait(goOn); err != nil {
		return nil, goOn, 0, err
	}
	slices.SortFunc(readings, compareReadings)
	return readings, stopped, done, nil
}

// warmUp exchanges what a round does, and throws the readings away.
func (q *probe) warmUp(peer int, sizes []int) error {
	if err := q.calibrate(peer); err != nil {
		return err
	}
	for _, size := range sizes {
		if _, err := q.pair(peer, size); err != nil {
			return err
		}
	}
	return nil
}
