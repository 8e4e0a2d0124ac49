package concurrent

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/share"
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
	switch own := c.Comm.Rank(); {
	case !slices.Contains(ranks, own):
		return nil, nil
	case own != 0:
		return nil, c.Await(c.showClock)
	}
	measurements := map[int]clockReading{0: {}}
	for _, rank := range ranks[1:] {
		err := c.With(rank, func() (err error) {
			measurements[rank], err = c.readClock(rank)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return measurements, nil
}

// showClock lets rank 0 read the clock of this rank.
func (c *campaign) showClock() error {
	for range clockExchanges {
		if err := c.Comm.Recv(nil, 0, tagClock); err != nil {
			return err
		}
		if err := c.Comm.Send(share.AppendFloats(nil, []float64{c.Now()}), 0, tagClock); err != nil {
			return err
		}
	}
	return nil
}

// readClock reads the clock of another rank. A clock that may be that of rank 0 is taken to be it, as that of a rank of the
// same host is: where ranks share cores, the ways of a round trip take unequally long.
func (c *campaign) readClock(rank int) (clockReading, error) {
	var buf [8]byte
	best := clockReading{error: math.Inf(1)}
	for range clockExchanges {
		began := c.Now()
		if err := c.Comm.Send(nil, rank, tagClock); err != nil {
			return best, err
		}
		if err := c.Comm.Recv(buf[:], rank, tagClock); err != nil {
			return best, err
		}
		if half := (c.Now() - began) / 2; half < best.error {
			at := share.Floats(buf[:])[0]
			best = clockReading{at, at - (began + half), half}
		}
	}
	if math.Abs(best.ahead) <= best.error {
		best.ahead = 0
	}
	return best, nil
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

// stamps are those of this rank: the starts, and the ends of each transfer that it receives.
func (p *part) stamps() []float64 { return slices.Concat(p.starts, slices.Concat(p.ends...)) }

// stampsOf are the stamps of all transfers of a visit, of what the ranks have found.
func (c *campaign) stampsOf(transfers []model.Transfer, found [][]float64) []stamps {
	all := make([]stamps, len(transfers))
	received := make(map[int]int) // by rank
	for i, t := range transfers {
		received[t.Dst]++
		ends := found[t.Dst][received[t.Dst]*c.count:]
		all[i] = stamps{found[t.Src][:c.count], ends[:c.count]}
	}
	return all
}
