package throughput

import (
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure/harness"
)

// A load is what is measured as one: messages between pairs of ranks at the same
// time, from the first of each to the second. A step has several loads that do not
// disturb each other; no rank is in two pairs of a step.
type load struct {
	from, to int // the arc that it is about, or a switch and -1
	pairs    [][2]int
	messages int

	samples [][]flow // by sample, by pair
	reading int      // the number of the one that it gave
}

// A part is what one rank does in a step.
type part struct {
	peer, messages int // peer -1: nothing
	asks           bool
}

// An executor runs steps on all ranks.
type executor struct {
	*harness.Conductor
	stream  *stream
	samples int
	bytes   int

	// Of rank 0.
	play     harness.Play
	progress func(done, of int) // does nothing elsewhere
	steps    int                // done so far, of all calls of run
}

// lead calls work on rank 0, which runs steps; the other ranks take part in them. It is collective.
func (e *executor) lead(budget time.Duration, work func() error) error {
	return e.Lead(budget, e.act, func(play harness.Play) error {
		e.play = play
		return work()
	})
}

// run measures steps on all ranks. It returns false when these have stopped: the loads then hold
// what they brought, as far as that got. Rank 0 calls it.
func (e *executor) run(steps [][]*load) (bool, error) {
	if len(steps) == 0 {
		return true, nil
	}
	found, err := e.play(encode(steps))
	if err != nil {
		return false, err
	}
	return e.Stopped() == "", e.collect(steps, found)
}

// encode lists the number of steps, and then of each pair its step, the two ranks and their messages.
func encode(steps [][]*load) []byte {
	told := []float64{float64(len(steps))}
	for i, step := range steps {
		for _, l := range step {
			for _, p := range l.pairs {
				told = append(told, float64(i), float64(p[0]), float64(p[1]), float64(l.messages))
			}
		}
	}
	return share.AppendFloats(nil, told)
}

// act takes encoded steps, and returns what this rank has seen in those that it takes part in.
func (e *executor) act(round []byte) (found []float64, err error) {
	told := share.Floats(round)
	steps, rank := int(told[0]), float64(e.Comm.Rank())
	parts := make(map[int]part) // of this rank, by step
	for x := range slices.Chunk(told[1:], 4) {
		switch rank {
		case x[1]:
			parts[int(x[0])] = part{peer: int(x[2]), messages: int(x[3])}
		case x[2]:
			parts[int(x[0])] = part{peer: int(x[1]), messages: int(x[3]), asks: true} // the receiver
		}
	}
	done := 0
	for going := true; done < steps && going; done++ {
		e.progress(done, steps)
		own, takesPart := parts[done]
		if !takesPart {
			own.peer = -1
		}
		if going, err = e.step(&own, &found); err != nil {
			return nil, err
		}
	}
	e.progress(done, steps)
	e.steps += done
	return found, nil
}

// step lets the pairs of a step greet each other and then takes its samples, each behind a barrier.
func (e *executor) step(own *part, found *[]float64) (going bool, err error) {
	var rtt, met float64
	arrivals := make([]float64, own.messages)
	// Greetings take longer between ranks that are far from each other. Within the first
	// sample, these pairs would begin after the others. Their arrivals, timed from then
	// on, would add up to more than the link that they share carries.
	for turn := range 1 + e.samples {
		if going, err = e.Meet(); err != nil || !going {
			return going, err
		}
		if own.peer < 0 {
			continue
		}
		err = e.With(own.peer, func() (err error) {
			switch {
			case turn == 0:
				rtt, err = e.stream.greet(own.peer, own.asks)
			case own.asks:
				met, err = e.stream.fetch(own.peer, arrivals)
			default:
				err = e.stream.deliver(own.peer, own.messages)
			}
			return err
		})
		if err != nil {
			return false, err
		}
		if turn > 0 && own.asks {
			*found = append(append(*found, rtt, met), arrivals...)
		}
	}
	return true, nil
}

// collect puts what the ranks saw into the loads. Each rank tells it in the order of its parts.
func (e *executor) collect(steps [][]*load, found [][]float64) error {
	for _, step := range steps {
		for _, l := range step {
			for k, p := range l.pairs {
				found[p[1]] = e.take(l, k, found[p[1]])
			}
		}
	}
	for rank, values := range found {
		if len(values) > 0 {
			return fmt.Errorf("throughput: rank %d sent %d times too many", rank, len(values))
		}
	}
	return nil
}

// take moves the samples of one pair to a load, as far as there are any, and returns the rest.
func (e *executor) take(l *load, pair int, values []float64) []float64 {
	size := 2 + l.messages
	for sample := 0; sample < e.samples && len(values) >= size; sample++ {
		if len(l.samples) <= sample {
			l.samples = append(l.samples, make([]flow, len(l.pairs)))
		}
		l.samples[sample][pair] = flow{bytes: float64(e.bytes), rtt: values[0], met: values[1], arrivals: values[2:size]}
		values = values[size:]
	}
	return values
}
