package pingpong

import (
	"encoding/binary"
	"slices"
)

// Pair measures one pair in both directions at one size in bytes. It returns the
// summary of the direction in which the calling rank sends first. Both ranks of
// the pair call it.
func (p *Probe) Pair(peer, size int) (Summary, error) {
	p.samples = slices.Grow(p.samples[:0], p.Samples)[:p.Samples]
	first := p.comm.Rank() < peer
	batch, err := p.batch(peer, size, first)
	if err != nil {
		return Summary{}, err
	}
	var summary Summary
	for _, leg := range []bool{true, false} {
		if first == leg {
			summary, batch, err = p.ask(peer, size, batch)
		} else {
			batch, err = p.answer(peer, size, batch)
		}
		if err != nil {
			return Summary{}, err
		}
	}
	return summary, nil
}

// batch agrees with the peer on the number of round trips per sample. The lower
// rank decides.
func (p *Probe) batch(peer, size int, first bool) (int, error) {
	tries := p.pilots
	if size >= longPilot {
		tries = tries[:longPilots]
	}
	if err := p.pingPong(tries, peer, size, 1, first); err != nil {
		return 0, err
	}
	if p.Batch > 0 {
		return p.Batch, nil
	}
	if !first {
		return p.wanted(peer)
	}
	batch := p.batchOf(slices.Min(tries) - p.overhead)
	binary.LittleEndian.PutUint64(p.word, uint64(batch))
	return batch, p.comm.Send(p.word, peer, tagPilot)
}

// WarmUp exchanges what a round does, and throws the measurements away. Both ranks
// of the pair call it.
func (p *Probe) WarmUp(peer int, sizes []int) error {
	if err := p.calibrate(peer); err != nil {
		return err
	}
	for _, size := range sizes {
		if _, err := p.Pair(peer, size); err != nil {
			return err
		}
	}
	return nil
}
