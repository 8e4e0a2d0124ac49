package throughput

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// A load is what is measured as one: messages between pairs of ranks at the same
// time, from the first of each to the second. A step has several loads that do not
// disturb each other; no rank is in two pairs of a step.
type load struct {
	from, to int // the arc that it is about, or a switch and -1
	pairs    [][2]int
	messages int

	// What came of it: by sample, by pair. Back is that of the other direction, in
	// an exchange.
	forth, back [][]flow
	reading     int // the number of the first that it gave
}

// A part is what one rank does in a step.
type part struct {
	step, peer, messages int
	asks                 bool
}

// A slot is the place of one rank's flows in a load.
type slot struct {
	load *load
	into *[][]flow
	pair int
}

// Words of the barrier before each sample. The greatest of all ranks counts.
const (
	goOn byte = iota
	stopBudget
	stopCancelled
)

// reason is why all ranks stopped, as Result.Stopped has it.
func (e *executor) reason() string {
	switch e.stopped {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}

// An executor runs steps on all ranks.
type executor struct {
	ctx     context.Context
	comm    mpi.Communicator
	all     *harness.Barrier
	watch   *harness.Watch
	stream  *stream
	now     func() float64
	mode    Mode
	samples int
	bytes   int
	probe   *pingpong.Probe // times round trips of sizes; nil: messages flow
	sizes   []int           // B
	over    bool            // run has returned false or failed: the ranks take no more steps
	failed  error           // of the communicator, which is unusable

	// Of rank 0.
	end      float64 // s by the clock, when the budget ends; +Inf: never
	progress func(done, of int)
	slots    [][]slot // by rank: where what it saw belongs, in the order of its parts
	stopped  byte     // goOn, or why all ranks stopped
	steps    int      // done so far, of all calls of run
}

// run measures steps, which rank 0 gives; others give nil. All ranks call it until
// it returns false, which it does on all of them: rank 0 has no more steps, or the context or
// the budget has ended. On rank 0 the loads then hold what they brought,
// as far as that got.
func (e *executor) run(steps [][]*load) (bool, error) {
	var unread error // what rank 0 makes of the readings of others is no failure of the communicator
	going, err := e.runAll(steps, func(rank int, data []byte) error {
		if unread == nil {
			unread = e.collect(rank, data)
		}
		return nil
	})
	e.over, e.failed = !going || err != nil, err
	if err == nil {
		err = unread
	}
	return going, err
}

// follow does on other ranks than 0 what rank 0 calls run for.
func (e *executor) follow() {
	for !e.over {
		_, _ = e.run(nil) // its error is kept
	}
}

// leave ends the steps on all ranks, and makes err of rank 0 one of all of them. It is collective.
func (e *executor) leave(err error) error {
	e.follow() // on rank 0: the others wait for what comes next
	if e.failed != nil {
		return e.failed
	}
	return harness.Agree(e.comm, err)
}

// runAll is run, but for what rank 0 makes of the readings.
func (e *executor) runAll(steps [][]*load, collect func(rank int, data []byte) error) (bool, error) {
	if e.comm.Rank() != 0 {
		e.watch.Wait(0, harness.Hearing, harness.HearLimits)
	}
	parts, n, err := e.hand(steps)
	if e.watch.Done(); err != nil || n == 0 {
		return false, err
	}
	var found []byte
	next, done, word := 0, 0, goOn
	for ; done < n && word == goOn; done++ {
		if e.progress != nil {
			e.progress(done, n)
		}
		if word, err = e.step(parts, &next, done, &found); err != nil {
			return false, err
		}
	}
	if e.progress != nil {
		e.progress(done, n)
	}
	err = e.watch.Gather(e.comm, found, collect)
	if e.comm.Rank() == 0 {
		e.steps += done
		e.stopped = max(e.stopped, word)
	}
	return word == goOn, err
}

// step lets the pairs of a step greet each other and then takes its samples, each behind a barrier.
func (e *executor) step(parts []part, next *int, number int, found *[]byte) (byte, error) {
	var own *part
	if *next < len(parts) && parts[*next].step == number {
		own = &parts[*next]
		*next++
	}
	e.watch.Next()
	var rtt, met float64
	var arrivals []float64
	if own != nil {
		arrivals = make([]float64, own.messages)
	}
	// Greetings take longer between ranks that are far from each other: within the first
	// sample, these pairs would begin after the others, and their arrivals, timed from then
	// on, would add up to more than the link that they share carries.
	greets := 0
	if e.probe == nil {
		greets = 1
	}
	for turn := range greets + e.samples {
		word, err := e.all.Wait(e.wish())
		if err != nil || word != goOn {
			return word, err
		}
		if own == nil {
			continue
		}
		e.watch.Wait(own.peer, harness.Measuring, 1)
		if err = e.watch.Introduce(own.peer); err != nil {
			return word, fmt.Errorf("meeting rank %d: %w", own.peer, err)
		}
		switch {
		case turn < greets:
			rtt, err = e.stream.greet(own.peer, own.asks)
		case e.probe != nil:
			err = e.read(own.peer, arrivals)
		default:
			met, err = e.stream.take(own.peer, own.asks, arrivals)
		}
		if e.watch.Done(); err != nil {
			return word, fmt.Errorf("messages to or from rank %d: %w", own.peer, err)
		}
		if turn < greets || !own.asks && e.mode != Exchange {
			continue
		}
		for _, t := range append([]float64{rtt, met}, arrivals...) {
			*found = binary.LittleEndian.AppendUint64(*found, math.Float64bits(t))
		}
	}
	return goOn, nil
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

// wish is what the calling rank wants next.
func (e *executor) wish() byte {
	switch {
	case e.ctx.Err() != nil:
		return stopCancelled
	case e.comm.Rank() == 0 && e.now() > e.end:
		return stopBudget
	}
	return goOn
}

// askers tells for both ranks of a pair which one asks: of messages one way the
// receiver.
func (e *executor) askers() [2]bool { return [2]bool{e.mode != OneWay, e.mode == OneWay} }

const partInts = 4

// hand gives each rank its parts, in the order of steps, and the number of
// steps.
func (e *executor) hand(steps [][]*load) (parts []part, n int, err error) {
	if e.comm.Rank() != 0 {
		head := make([]byte, 8)
		if err := e.comm.Recv(head, 0, tagPlan); err != nil {
			return nil, 0, err
		}
		n = int(binary.LittleEndian.Uint32(head))
		count := binary.LittleEndian.Uint32(head[4:])
		if count == 0 {
			return nil, n, nil
		}
		data := make([]byte, 4*partInts*count)
		if err := e.comm.Recv(data, 0, tagPlan); err != nil {
			return nil, 0, err
		}
		for ; len(data) > 0; data = data[4*partInts:] {
			at := func(i int) int { return int(binary.LittleEndian.Uint32(data[4*i:])) }
			parts = append(parts, part{step: at(0), peer: at(1), messages: at(2), asks: at(3) != 0})
		}
		return parts, n, nil
	}
	all := make([][]part, e.comm.Size())
	e.slots = make([][]slot, e.comm.Size())
	for i, step := range steps {
		for _, l := range step {
			for k, p := range l.pairs {
				for side, asks := range e.askers() {
					rank := p[side]
					all[rank] = append(all[rank], part{i, p[1-side], l.messages, asks})
					switch {
					case e.mode == Exchange && side == 0:
						e.slots[rank] = append(e.slots[rank], slot{l, &l.back, k})
					case e.mode == Exchange || asks:
						e.slots[rank] = append(e.slots[rank], slot{l, &l.forth, k})
					}
				}
			}
		}
	}
	for rank := 1; rank < len(all); rank++ {
		head := binary.LittleEndian.AppendUint32(nil, uint32(len(steps)))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(all[rank])))
		if err := e.comm.Send(head, rank, tagPlan); err != nil {
			return nil, 0, err
		}
		var data []byte
		for _, p := range all[rank] {
			asks := 0
			if p.asks {
				asks = 1
			}
			for _, x := range [partInts]int{p.step, p.peer, p.messages, asks} {
				data = binary.LittleEndian.AppendUint32(data, uint32(x))
			}
		}
		if len(data) > 0 {
			if err := e.comm.Send(data, rank, tagPlan); err != nil {
				return nil, 0, err
			}
		}
	}
	return all[0], len(steps), nil
}

// collect puts what a rank saw into the loads.
func (e *executor) collect(rank int, data []byte) error {
	for _, slot := range e.slots[rank] {
		size := 8 * (2 + slot.load.messages)
		for sample := 0; sample < e.samples && len(data) >= size; sample++ {
			if len(*slot.into) <= sample {
				*slot.into = append(*slot.into, make([]flow, len(slot.load.pairs)))
			}
			at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])) }
			f := flow{bytes: float64(e.bytes), rtt: at(0), met: at(1)}
			for k := range slot.load.messages {
				f.arrivals = append(f.arrivals, at(2+k))
			}
			if e.mode == Answered {
				f.bytes, f.rtt = 2*f.bytes, 0 // there and back; the latency counts
			}
			(*slot.into)[sample][slot.pair] = f
			data = data[size:]
		}
	}
	if len(data) > 0 {
		return fmt.Errorf("throughput: rank %d sent %d bytes too many", rank, len(data))
	}
	return nil
}
