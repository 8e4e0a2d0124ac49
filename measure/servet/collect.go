package servet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// collect makes a plan on rank 0 and follows it on all ranks. It is collective.
func collect(ctx context.Context, comm mpi.Communicator, settings *Settings, what string, fill func(*plan, *Settings) []string) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var result *Result
	err := harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) error {
		places, err := mpi.GatherPlaces(c.Comm)
		if err != nil {
			return err
		}
		p, err := harness.Share(c.Comm, c.Watch, func() (p plan, err error) {
			if err = s.validate(); err != nil {
				return p, err
			}
			result = newResult(what, &p, places, &s)
			result.Warnings = append(fill(&p, &s), crowded(places)...)
			result.planned = len(p.Steps)
			if _, ok := c.Comm.(mpi.NonBlocking); !ok {
				result.Warnings = append(result.Warnings, "the communicator sends or receives, one at a time: half of the messages wait for the others")
			}
			return p, nil
		})
		if err != nil {
			return err
		}
		x := newExchanger(c, &p)
		pass := func(done int) {}
		if result != nil {
			pass = func(done int) { result.pass(c, done, &s) }
		}
		err = c.Lead(s.Budget, func([]byte) ([]byte, error) { return x.follow(&p, pass) }, func(play harness.Play) error {
			found, err := play(nil)
			for rank := 0; err == nil && rank < len(found); rank++ {
				err = result.take(&p, rank, found[rank])
			}
			result.Stopped, result.Took = c.Stopped(), c.Elapsed()
			result.finish()
			return err
		})
		if err != nil {
			return fmt.Errorf("servet: %s: %w", what, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
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

// follow takes all steps of all repetitions, and returns the times in s of the messages that this rank has got.
func (x *exchanger) follow(p *plan, pass func(done int)) ([]byte, error) {
	times := make([]float64, p.Repetitions*len(p.Steps))
	for i := range times {
		times[i] = math.NaN()
	}
	done := 0
	for r := range p.Repetitions {
		for _, k := range coarseFirst(len(p.Steps)) {
			own, apart := x.parts[k], p.Steps[k].Apart
			if own.to >= 0 {
				if err := x.hello(own, apart); err != nil {
					return nil, err
				}
			}
			going, err := x.Meet()
			if err != nil || !going {
				return encode(times), err
			}
			if own.to >= 0 {
				if times[r*len(p.Steps)+k], err = x.exchange(own, apart); err != nil {
					return nil, err
				}
			}
			done++
			pass(done)
		}
	}
	return encode(times), nil
}

// encode writes values as bytes.
func encode(values []float64) []byte {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

// decode reads the values that encode has written.
func decode(data []byte) []float64 {
	values := make([]float64, len(data)/8)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return values
}

// firstLook are the steps after which the time for all is told against the budget.
const firstLook = 3

// pass tells of a step that is over.
func (r *Result) pass(c *harness.Conductor, done int, s *Settings) {
	all := r.Repetitions * r.planned
	if done == firstLook && s.Budget > 0 && s.Notify != nil {
		if need := c.Elapsed() / firstLook * float64(all); need > s.Budget.Seconds() {
			s.Notify(fmt.Sprintf("the budget is too small for %d repetitions of %d steps, which need about %s: fewer will be made", r.Repetitions, r.planned, quantity.Seconds(need)))
		}
	}
	if s.Progress != nil {
		s.Progress(done, all)
	}
}
