package pingpong

import (
	"encoding/binary"
	"math"
)

// The samples of a measurement are taken in lots. One quiet lot is enough. After
// one that something has disturbed, such as the scheduler or another
// job on the wire, further ones are taken. They end when the lowest is quiet or a second
// one agrees with it: then it is what the pair takes, and not the moment.
// What was disturbed in all lots stays the lowest of them, and says so.
const (
	MaxLots = 6 // of a measurement, at most

	quietQuartile = 1.15 // lower quartile over minimum of a quiet lot, at most
	quietUpper    = 1.5  // upper quartile over minimum, at most
	agreement     = 1.1  // of the lower quartiles of two lots, at most
)

// ask takes the lots of the direction in which the calling rank sends first. After
// each it tells the peer whether there is another, and of which batches.
func (p *Probe) ask(peer, size, batch int) (Summary, int, error) {
	var best Summary
	for lots := 1; ; lots++ {
		if err := p.pingPong(p.samples, peer, size, batch, true); err != nil {
			return best, batch, err
		}
		lot, sure := p.summary(batch), false
		if p.tooShort(lot) && lots < MaxLots {
			// Pilots in a disturbed moment have hidden how fast the pair is.
			batch = p.batchOf(2 * lot.Min)
		} else {
			second := lot.Q1 // the lowest but one
			switch {
			case best.Count == 0:
				best, second = lot, math.Inf(1)
			case lot.Q1 < best.Q1:
				best, second = lot, best.Q1
			}
			sure = p.quiet(best) || second <= agreement*best.Q1
			best.Unsure = !sure
		}
		best.Lots = lots
		next := batch
		if sure || lots == MaxLots {
			next = 0 // enough
		}
		binary.LittleEndian.PutUint64(p.word, uint64(next))
		if err := p.comm.Send(p.word, peer, tagPilot); err != nil || next == 0 {
			return best, batch, err
		}
	}
}

// answer is the other side of ask.
func (p *Probe) answer(peer, size, batch int) (int, error) {
	for {
		if err := p.pingPong(p.samples, peer, size, batch, false); err != nil {
			return batch, err
		}
		next, err := p.wanted(peer)
		if err != nil || next == 0 {
			return batch, err
		}
		batch = next
	}
}

// quiet tells whether nothing has disturbed a lot, to the step of the clock.
func (p *Probe) quiet(lot Summary) bool {
	step := p.Step / float64(2*lot.Batch)
	return lot.Q1 <= quietQuartile*lot.Min+step && lot.Q3 <= quietUpper*lot.Min+step
}

// tooShort tells whether samples lasted less than half of what the clock asks for.
func (p *Probe) tooShort(lot Summary) bool {
	return p.Batch == 0 && lot.Batch < MaxBatch && 2*lot.Batch < p.batchOf(2*lot.Min)
}
