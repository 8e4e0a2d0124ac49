package measure

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/mpi"
)

// A probe times round trips on one rank.
type probe struct {
	comm  mpi.Communicator
	timed mpi.Timed      // nil: the loop is ours
	now   func() float64 // s

	step     float64 // s, smallest step of the clock; 0 if it stands still
	cost     float64 // s, of reading the clock
	overhead float64 // s, of the clock in each sample

	buf     []byte
	word    []byte // of its own: cgo looks at the whole allocation
	samples []float64
	pilots  []float64
}

const (
	batchSteps = 50   // a sample lasts at least as many clock steps
	maxBatch   = 1000 // round trips per sample
	pilots     = 5    // single round trips from which the batch is sized
	longPilots = 2    // of messages that surely last longer than a clock's step
	longPilot  = 32 << 10

	clockReads    = 1000  // some 30 us: a clock of longer steps seems to stand still
	clockRounding = 1e-10 // s; the rounding of float64 seconds is below it for five days
	calibrations  = 50    // samples of which the shortest counts: it is disturbed in all if the machine is busy
)

func newProbe(comm mpi.Communicator, p *plan) *probe {
	q := &probe{
		comm: comm, now: clockOf(comm),
		buf: make([]byte, slices.Max(p.Sizes)), word: make([]byte, 8), samples: make([]float64, p.Samples), pilots: make([]float64, pilots),
	}
	if t, ok := comm.(mpi.Timed); ok {
		q.timed = t
	}
	q.readClock()
	q.overhead = q.cost
	return q
}

// readClock finds the step and the cost of the clock. A clock that stands still
// while it is read has neither.
func (q *probe) readClock() {
	differences := make([]float64, clockReads)
	last := q.now()
	for i := range differences {
		t := q.now()
		differences[i] = t - last
		last = t
	}
	slices.Sort(differences)
	// The step is not seen directly when it is below the cost: two readings
	// then never differ by a single one, but differences differ by some.
	q.cost = differences[clockReads/2]
	if q.cost == 0 { // coarse clock: most readings agree
		q.cost = stat.Mean(differences, nil)
	}
	q.step = math.Inf(1)
	before := 0.0
	for _, d := range differences {
		if gap := d - before; gap > clockRounding {
			q.step = min(q.step, gap)
			before = d
		}
	}
	if math.IsInf(q.step, 1) {
		q.step = 0
	}
	q.step, q.cost = rounded(q.step), rounded(q.cost)
}

// pingPong fills samples with the time in s of batches of round trips.
func (q *probe) pingPong(samples []float64, peer, size, batch int, first bool) error {
	if q.timed != nil {
		return q.timed.PingPong(samples, peer, tagProbe, size, batch, first)
	}
	buf := q.buf[:size]
	for i := range samples {
		start := q.now()
		for range batch {
			if first {
				if err := q.comm.Send(buf, peer, tagProbe); err != nil {
					return err
				}
			}
			if err := q.comm.Recv(buf, peer, tagProbe); err != nil {
				return err
			}
			if !first {
				if err := q.comm.Send(buf, peer, tagProbe); err != nil {
					return err
				}
			}
		}
		samples[i] = q.now() - start
	}
	return nil
}

// calibrate finds what the clock adds to the samples of a Timed
// communicator, whose own clock cannot be read by itself: samples of one and of
// two round trips differ by a round trip, so the overhead is 2 t(1) - t(2). It
// is believed up to the cost of our own clock. Both ranks of a pair call it.
func (q *probe) calibrate(peer int) error {
	if q.timed == nil {
		return nil
	}
	one, two := make([]float64, calibrations), make([]float64, calibrations)
	for _, leg := range []bool{true, false} {
		first := (q.comm.Rank() < peer) == leg
		if err := q.pingPong(one, peer, 0, 1, first); err != nil {
			return err
		}
		if err := q.pingPong(two, peer, 0, 2, first); err != nil {
			return err
		}
		if first { // the other side's samples include waiting
			q.overhead = min(max(2*slices.Min(one)-slices.Min(two), 0), q.cost)
		}
	}
	return nil
}

// batchOf is the number of round trips of the given time in s that make a
// sample long enough.
func (q *probe) batchOf(one float64) int {
	long := batchSteps * max(q.step, q.cost)
	if !(long > 0) {
		return 1
	}
	return min(max(int(math.Ceil(long/max(one, long/maxBatch))), 1), maxBatch)
}

// wanted is the size of batches that the peer asks for, 0 for none.
func (q *probe) wanted(peer int) (int, error) {
	if err := q.comm.Recv(q.word, peer, tagPilot); err != nil {
		return 0, err
	}
	batch := binary.LittleEndian.Uint64(q.word)
	if batch > maxBatch {
		return 0, fmt.Errorf("measure: rank %d asks for batches of %d round trips", peer, batch)
	}
	return int(batch), nil
}

// summary turns the samples of round trips into a reading of one-way times.
func (q *probe) summary(batch int) Reading {
	for i, s := range q.samples {
		q.samples[i] = max(s-q.overhead, 0) / float64(2*batch)
	}
	slices.Sort(q.samples)
	at := func(p float64) float64 { return rounded(stat.Quantile(p, stat.Empirical, q.samples, nil)) }
	return Reading{
		Min: rounded(q.samples[0]), Q1: at(0.25), Median: at(0.5), Q3: at(0.75),
		Max: rounded(q.samples[len(q.samples)-1]), Count: len(q.samples), Batch: batch,
	}
}

// rounded keeps a time to a picosecond, which is all that a file has to hold.
func rounded(t float64) float64 { return math.Round(t*1e12) / 1e12 }
