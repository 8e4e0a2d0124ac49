package throughput

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

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
	step, peer, messages int
	asks                 bool
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
	told := []int32{int32(len(steps))}
	for i, step := range steps {
		for _, l := range step {
			for _, p := range l.pairs {
				told = append(told, int32(i), int32(p[0]), int32(p[1]), int32(l.messages))
			}
		}
	}
	data, err := binary.Append(nil, binary.LittleEndian, told)
	if err != nil {
		panic("throughput: " + err.Error()) // plain numbers
	}
	return data
}

// partsOf are this rank's parts in encoded steps, and the number of steps.
func (e *executor) partsOf(data []byte) (parts []part, steps int, err error) {
	told := make([]int32, len(data)/4)
	if _, err := binary.Decode(data, binary.LittleEndian, told); err != nil {
		return nil, 0, err
	}
	own := int32(e.Comm.Rank())
	for x := range slices.Chunk(told[1:], 4) {
		if x[1] == own || x[2] == own {
			parts = append(parts, part{int(x[0]), int(x[1] + x[2] - own), int(x[3]), x[2] == own}) // the receiver asks
		}
	}
	return parts, int(told[0]), nil
}

// act takes steps, and returns what this rank has seen in those that it took part in.
func (e *executor) act(round []byte) ([]float64, error) {
	parts, n, err := e.partsOf(round)
	if err != nil {
		return nil, err
	}
	var found []float64
	done := 0
	for going := true; done < n && going; done++ {
		e.progress(done, n)
		own := &part{peer: -1}
		if len(parts) > 0 && parts[0].step == done {
			own, parts = &parts[0], parts[1:]
		}
		if going, err = e.step(own, &found); err != nil {
			return nil, err
		}
	}
	e.progress(done, n)
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
