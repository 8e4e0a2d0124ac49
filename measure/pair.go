package measure

import (
	"encoding/binary"
	"slices"
)

// pair measures one pair in both directions at one size. It returns the
// reading of the calling rank: the one in which it sends first.
func (q *probe) pair(peer, size int) (Reading, error) {
	first := q.comm.Rank() < peer
	batch, err := q.batch(peer, size, first)
	if err != nil {
		return Reading{}, err
	}
	var reading Reading
	for _, leg := range []bool{true, false} {
		if first != leg {
			if batch, err = q.answer(peer, size, batch); err != nil {
				return Reading{}, err
			}
			continue
		}
		if reading, batch, err = q.ask(peer, size, batch); err != nil {
			return Reading{}, err
		}
	}
	return reading, nil
}

// batch agrees with the peer on the number of round trips per sample. The lower
// rank decides.
func (q *probe) batch(peer, size int, first bool) (int, error) {
	tries := q.pilots
	if size >= longPilot {
		tries = tries[:longPilots]
	}
	if err := q.pingPong(tries, peer, size, 1, first); err != nil {
		return 0, err
	}
	if !first {
		return q.wanted(peer)
	}
	batch := q.batchOf(slices.Min(tries) - q.overhead)
	binary.LittleEndian.PutUint64(q.word, uint64(batch))
	return batch, q.comm.Send(q.word, peer, tagPilot)
}

// warmUp exchanges what a round does, and throws the readings away.
func (q *probe) warmUp(peer int, sizes []int) error {
	if err := q.calibrate(peer); err != nil {
		return err
	}
	for _, size := range sizes {
		if _, err := q.pair(peer, size); err != nil {
			return err
		}
	}
	return nil
}
