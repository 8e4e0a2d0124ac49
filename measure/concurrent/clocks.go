package concurrent

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// clockExchanges are the round trips by which a clock is read. The shortest
// counts; ten see one without a disturbance.
const clockExchanges = 10

// A clockReading says how far the clock of a rank is ahead of that of rank 0.
type clockReading struct {
	at    float64 // s, by the rank's clock
	ahead float64 // s
	error float64 // s: half the round trip, within which the stamp lies somewhere
}

// readClocks reads the clocks of the ranks on rank 0; others get nothing. It is
// collective among them and rank 0.
//
// The stamp of a rank lies between sending and receiving on rank 0, in the
// middle if both ways take equally long (F. Cristian 1989, Probabilistic clock
// synchronization, https://doi.org/10.1007/BF01784024).
func (c *campaign) readClocks(ranks []int) (map[int]clockReading, error) {
	var buf [8]byte
	defer c.watch.Done()
	if c.comm.Rank() != 0 {
		if !slices.Contains(ranks, c.comm.Rank()) {
			return nil, nil
		}
		c.watch.Wait(0, harness.Hearing, harness.HearLimits) // it comes to one after the other
		for range clockExchanges {
			if err := c.comm.Recv(buf[:0], 0, tagClock); err != nil {
				return nil, err
			}
			if err := c.comm.Send(stamp(&buf, c.now()), 0, tagClock); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	readings := map[int]clockReading{0: {}}
	for _, rank := range ranks {
		if rank == 0 {
			continue
		}
		best := clockReading{error: math.Inf(1)}
		c.watch.Wait(rank, harness.Measuring, 1)
		for range clockExchanges {
			began := c.now()
			if err := c.comm.Send(buf[:0], rank, tagClock); err != nil {
				return nil, err
			}
			if err := c.comm.Recv(buf[:], rank, tagClock); err != nil {
				return nil, err
			}
			over := c.now()
			if half := (over - began) / 2; half < best.error {
				at := stampOf(buf[:])
				best = clockReading{at, at - (began + half), half}
			}
		}
		readings[rank] = best
	}
	return readings, nil
}

// A drift is the clocks of the ranks before and after a pattern.
type drift struct{ before, after map[int]clockReading }

// common is a stamp of a rank by the clock of rank 0. In between, clocks are
// taken to drift evenly.
func (d drift) common(rank int, at float64) float64 {
	a, b := d.before[rank], d.after[rank]
	if b.at <= a.at {
		return at - a.ahead
	}
	return at - a.ahead - (b.ahead-a.ahead)*(at-a.at)/(b.at-a.at)
}

// error bounds by how much the difference of two ranks' stamps may be wrong.
func (d drift) error(a, b int) float64 {
	of := func(rank int) float64 { return max(d.before[rank].error, d.after[rank].error) }
	return of(a) + of(b)
}

// stamps are the times by the clocks of its sender and its receiver at which
// a transfer began and ended, per iteration.
type stamps struct{ starts, ends []float64 }

// collect brings the stamps of all transfers to rank 0. It is collective among the ranks of
// the pattern, and rank 0.
func (c *campaign) collect(transfers []model.Transfer, own *part) ([]stamps, error) {
	if c.comm.Rank() != 0 {
		sent, received := 0, 0
		for _, t := range transfers {
			var err error
			switch c.comm.Rank() {
			case t.Src:
				err = c.comm.Send(encode(own.starts[sent]), 0, tagStamps)
				sent++
			case t.Dst:
				err = c.comm.Send(encode(own.ends[received]), 0, tagStamps)
				received++
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	defer c.watch.Done()
	all := make([]stamps, len(transfers))
	buf := make([]byte, 8*own.count)
	sent, received := 0, 0
	for i, t := range transfers {
		for _, rank := range []int{t.Src, t.Dst} {
			var times []float64
			switch {
			case rank != 0:
				c.watch.Wait(rank, harness.Delivering, 1) // others wait in the barrier, twice as long
				if err := c.comm.Recv(buf, rank, tagStamps); err != nil {
					return nil, err
				}
				times = decode(buf)
			case rank == t.Src:
				times = own.starts[sent]
				sent++
			default:
				times = own.ends[received]
				received++
			}
			if rank == t.Src {
				all[i].starts = times
			} else {
				all[i].ends = times
			}
		}
	}
	return all, nil
}

func stamp(buf *[8]byte, seconds float64) []byte {
	binary.LittleEndian.PutUint64(buf[:], math.Float64bits(seconds))
	return buf[:]
}

func stampOf(buf []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(buf)) }

func encode(times []float64) []byte {
	var data []byte
	for _, t := range times {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(t))
	}
	return data
}

func decode(data []byte) []float64 {
	times := make([]float64, len(data)/8)
	for i := range times {
		times[i] = stampOf(data[8*i:])
	}
	return times
}
