package throughput

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
)

// A load is what is measured as one: messages between pairs of ranks at the same
// time, from the first of each to the second. A step has several loads that do not
// disturb each other; no rank is in two pairs of a step.
type load struct {
	from, to int // the arc that it is about, or a switch and -1
	pairs    [][2]int
	messages int

	// What came of it: by sample, by pair. Back is that of the other direction, of
	// round trips.
	forth, back [][]flow
	reading     int // the number of the one that it gave
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
	probe   *pingpong.Probe // times round trips of sizes; nil: messages flow
	sizes   []int           // B

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

// encode lists the pairs of each step, behind their number, with their messages.
func encode(steps [][]*load) []byte {
	var data []byte
	put := func(values ...int) {
		for _, x := range values {
			data = binary.LittleEndian.AppendUint32(data, uint32(x))
		}
	}
	for _, step := range steps {
		pairs := 0
		for _, l := range step {
			pairs += len(l.pairs)
		}
		put(pairs)
		for _, l := range step {
			for _, p := range l.pairs {
				put(p[0], p[1], l.messages)
			}
		}
	}
	return data
}

// partsOf are this rank's parts in encoded steps, and the number of steps.
func (e *executor) partsOf(data []byte) (parts []part, steps int) {
	next := func() int {
		x := binary.LittleEndian.Uint32(data)
		data = data[4:]
		return int(x)
	}
	for ; len(data) > 0; steps++ {
		for range next() {
			p := [2]int{next(), next()}
			messages := next()
			for side := range p {
				if p[side] == e.Comm.Rank() {
					parts = append(parts, part{steps, p[1-side], messages, side == 1}) // the receiver asks
				}
			}
		}
	}
	return parts, steps
}

// act takes steps, and returns what this rank has seen in those that it took part in.
func (e *executor) act(round []byte) ([]byte, error) {
	parts, n := e.partsOf(round)
	var found []byte
	done := 0
	for going := true; done < n && going; done++ {
		e.progress(done, n)
		own := &part{peer: -1}
		if len(parts) > 0 && parts[0].step == done {
			own, parts = &parts[0], parts[1:]
		}
		var err error
		if going, err = e.step(own, &found); err != nil {
			return nil, err
		}
	}
	e.progress(done, n)
	e.steps += done
	return found, nil
}

// step lets the pairs of a step greet each other and then takes its samples, each behind a barrier.
func (e *executor) step(own *part, found *[]byte) (going bool, err error) {
	var rtt, met float64
	arrivals := make([]float64, own.messages)
	// Greetings take longer between ranks that are far from each other. Within the first
	// sample, these pairs would begin after the others. Their arrivals, timed from then
	// on, would add up to more than the link that they share carries.
	greets := 0
	if e.probe == nil {
		greets = 1
	}
	for turn := range greets + e.samples {
		if going, err = e.Meet(); err != nil || !going {
			return going, err
		}
		if own.peer < 0 {
			continue
		}
		err = e.With(own.peer, func() (err error) {
			switch {
			case turn < greets:
				rtt, err = e.stream.greet(own.peer, own.asks)
			case e.probe != nil:
				err = e.read(own.peer, arrivals)
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
		if turn < greets || !own.asks && e.probe == nil {
			continue
		}
		for _, t := range append([]float64{rtt, met}, arrivals...) {
			*found = binary.LittleEndian.AppendUint64(*found, math.Float64bits(t))
		}
	}
	return true, nil
}

// read times round trips with another rank, and takes half of each: the lower
// quartile, which disturbances do not reach.
func (e *executor) read(peer int, times []float64) error {
	if err := e.probe.WarmUp(peer, e.sizes[:1]); err != nil {
		return err
	}
	for i, size := range e.sizes {
		s, err := e.probe.Pair(peer, size)
		if err != nil {
			return err
		}
		times[i] = s.Q1
	}
	return nil
}

// collect puts what the ranks saw into the loads. Each rank tells it in the order of its parts.
func (e *executor) collect(steps [][]*load, found [][]byte) error {
	for _, step := range steps {
		for _, l := range step {
			for k, p := range l.pairs {
				if e.probe != nil {
					found[p[0]] = e.take(l, &l.back, k, found[p[0]])
				}
				found[p[1]] = e.take(l, &l.forth, k, found[p[1]])
			}
		}
	}
	for rank, data := range found {
		if len(data) > 0 {
			return fmt.Errorf("throughput: rank %d sent %d bytes too many", rank, len(data))
		}
	}
	return nil
}

// take moves the samples of one pair from data to a load, as far as there are any, and returns the rest.
func (e *executor) take(l *load, into *[][]flow, pair int, data []byte) []byte {
	size := 8 * (2 + l.messages)
	for sample := 0; sample < e.samples && len(data) >= size; sample++ {
		if len(*into) <= sample {
			*into = append(*into, make([]flow, len(l.pairs)))
		}
		at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])) }
		f := flow{bytes: float64(e.bytes), rtt: at(0), met: at(1)}
		for k := range l.messages {
			f.arrivals = append(f.arrivals, at(2+k))
		}
		(*into)[sample][pair] = f
		data = data[size:]
	}
	return data
}
