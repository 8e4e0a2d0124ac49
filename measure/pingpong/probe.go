package pingpong

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// A Probe times round trips on one rank. It belongs to one goroutine.
type Probe struct {
	Timed bool    // the communicator does the timing itself
	Step  float64 // s, smallest step of the clock; 0 if it stands still
	Cost  float64 // s, of reading the clock

	// Batch is the number of round trips in a sample, at most MaxBatch; 0, the default: as many as
	// last long enough for the clock. Both ranks of a pair need the same number.
	Batch int

	// Samples is the number of samples in a lot. Both ranks of a pair need the same number.
	Samples int

	comm     mpi.Communicator
	timed    mpi.Timed      // nil: the loop is ours
	now      func() float64 // s
	overhead float64        // s, of the clock in each sample

	buf     []byte // of messages that the communicator does not time itself
	word    []byte // of its own: cgo looks at the whole allocation
	samples []float64
	pilots  []float64
}

// Tags of the messages.
const (
	tagProbe = harness.FirstTag - 1 - iota // that are timed
	tagPilot                               // in which the ranks of a pair agree
)

const (
	batchSteps = 50   // a sample lasts at least as many clock steps
	MaxBatch   = 1000 // round trips per sample, at most
	pilots     = 5    // single round trips from which the batch is sized
	longPilots = 2    // of messages that surely last longer than a clock's step
	longPilot  = 32 << 10

	clockReads    = 1000  // some 30 us: a clock of longer steps seems to stand still
	clockRounding = 1e-10 // s; the rounding of float64 seconds is below it for five days
	calibrations  = 50    // samples of which the shortest counts: it is disturbed in all if the machine is busy
)

// New returns the probe of the calling rank, for messages of at most longest
// bytes, and reads the clock. It takes some 30 us.
func New(comm mpi.Communicator, longest, samples int) *Probe {
	p := &Probe{
		comm: comm, now: share.Clock(comm), Samples: samples,
		word: make([]byte, 8), samples: make([]float64, samples), pilots: make([]float64, pilots),
	}
	if p.timed, p.Timed = comm.(mpi.Timed); !p.Timed {
		p.buf = make([]byte, longest)
	}
	p.readClock()
	p.overhead = p.Cost
	return p
}

// readClock finds the step and the cost of the clock. A clock that stands still
// while it is read has neither.
func (p *Probe) readClock() {
	differences := make([]float64, clockReads)
	last := p.now()
	for i := range differences {
		t := p.now()
		differences[i] = t - last
		last = t
	}
	slices.Sort(differences)
	// The step is not seen directly when it is below the cost: two measurements
	// then never differ by a single one, but differences differ by some.
	p.Cost = differences[clockReads/2]
	if p.Cost == 0 { // coarse clock: most measurements agree
		p.Cost = stat.Mean(differences, nil)
	}
	p.Step = math.Inf(1)
	before := 0.0
	for _, d := range differences {
		if gap := d - before; gap > clockRounding {
			p.Step = min(p.Step, gap)
			before = d
		}
	}
	if math.IsInf(p.Step, 1) {
		p.Step = 0
	}
	p.Step, p.Cost = rounded(p.Step), rounded(p.Cost)
}

// pingPong fills samples with the time in s of batches of round trips.
func (p *Probe) pingPong(samples []float64, peer, size, batch int, first bool) error {
	if p.timed != nil {
		return p.timed.PingPong(samples, peer, tagProbe, size, batch, first)
	}
	buf := p.buf[:size]
	for i := range samples {
		start := p.now()
		for range batch {
			if first {
				if err := p.comm.Send(buf, peer, tagProbe); err != nil {
					return err
				}
			}
			if err := p.comm.Recv(buf, peer, tagProbe); err != nil {
				return err
			}
			if !first {
				if err := p.comm.Send(buf, peer, tagProbe); err != nil {
					return err
				}
			}
		}
		samples[i] = p.now() - start
	}
	return nil
}

// calibrate finds what the clock adds to the samples of a Timed
// communicator, whose own clock cannot be read by itself: samples of one and of
// two round trips differ by a round trip, so the overhead is 2 t(1) - t(2). It
// is believed up to the cost of our own clock. Both ranks of a pair call it.
func (p *Probe) calibrate(peer int) error {
	if p.timed == nil {
		return nil
	}
	one, two := make([]float64, calibrations), make([]float64, calibrations)
	for _, leg := range []bool{true, false} {
		first := (p.comm.Rank() < peer) == leg
		if err := p.pingPong(one, peer, 0, 1, first); err != nil {
			return err
		}
		if err := p.pingPong(two, peer, 0, 2, first); err != nil {
			return err
		}
		if first { // the other side's samples include waiting
			p.overhead = min(max(2*slices.Min(one)-slices.Min(two), 0), p.Cost)
		}
	}
	return nil
}

// batchOf is the number of round trips of the given time in s that make a
// sample long enough.
func (p *Probe) batchOf(one float64) int {
	long := batchSteps * max(p.Step, p.Cost)
	if !(long > 0) {
		return 1
	}
	return min(max(int(math.Ceil(long/max(one, long/MaxBatch))), 1), MaxBatch)
}

// wanted is the size of batches that the peer asks for, 0 for none.
func (p *Probe) wanted(peer int) (int, error) {
	if err := p.comm.Recv(p.word, peer, tagPilot); err != nil {
		return 0, err
	}
	batch := binary.LittleEndian.Uint64(p.word)
	if batch > MaxBatch {
		return 0, fmt.Errorf("pingpong: rank %d asks for batches of %d round trips", peer, batch)
	}
	return int(batch), nil
}

// summary turns the samples of round trips into one-way times.
func (p *Probe) summary(batch int) Summary {
	for i, s := range p.samples {
		p.samples[i] = max(s-p.overhead, 0) / float64(2*batch)
	}
	slices.Sort(p.samples)
	at := func(share float64) float64 { return rounded(stat.Quantile(share, stat.Empirical, p.samples, nil)) }
	low, high := rounded(p.samples[0]), rounded(p.samples[len(p.samples)-1])
	return Summary{
		Min: low, Q1: at(0.25), Median: at(0.5), Q3: at(0.75), Max: high,
		Mean:  min(max(rounded(stat.Mean(p.samples, nil)), low), high), // but for the rounding of its sum
		Count: len(p.samples), Batch: batch,
	}
}

// rounded keeps a time to a picosecond, which is all that a file has to hold.
func rounded(t float64) float64 { return math.Round(t*1e12) / 1e12 }
