package harness

import (
	"encoding/binary"
	"time"
)

// A Pair is two ranks that measure something with each other in a round.
type Pair struct {
	A, B int

	// Task says what they do, as an Exchange understands it; in [0, 2^32).
	Task int
}

// An Exchange is what the calling rank does with the other rank of a pair. It appends what it has found. First says that it is rank
// A of the pair.
type Exchange func(found []float64, peer int, first bool, task int) ([]float64, error)

// A PlayPairs is rank 0's means to lead pairs: it lets all ranks take part in rounds, and returns a row of each rank and
// round in which the rank has found something, by rank and round. It calls done, which may be nil, with the number of rounds
// that are over, after each. Once the ranks have stopped nobody acts.
type PlayPairs func(rounds [][]Pair, done func(rounds int)) ([]Row, error)

// LeadPairs is Lead for rounds of disjoint pairs. Behind a barrier of all ranks both ranks of each pair call exchange.
func (c *Conductor) LeadPairs(budget time.Duration, exchange Exchange, lead func(PlayPairs) error) error {
	over := func(int) {}
	act := func(told []byte) ([]float64, error) { return c.pairRounds(told, exchange, over) }
	return c.Lead(budget, act, func(play Play) error {
		return lead(func(rounds [][]Pair, done func(int)) ([]Row, error) {
			if done != nil {
				over = done
			}
			found, err := play(encodePairs(rounds))
			if err != nil {
				return nil, err
			}
			return rowsOfPairs(found), nil
		})
	})
}

const (
	pairBytes = 4 * 4 // round, ranks and task
	pairPlace = 3     // numbers before those that were found: round, peer and how many follow
)

// encodePairs lists the number of rounds and then each pair with its round.
func encodePairs(rounds [][]Pair) []byte {
	told := binary.LittleEndian.AppendUint32(nil, uint32(len(rounds)))
	for round, pairs := range rounds {
		for _, p := range pairs {
			for _, x := range [...]int{round, p.A, p.B, p.Task} {
				told = binary.LittleEndian.AppendUint32(told, uint32(x))
			}
		}
	}
	return told
}

// pairRounds takes part in encoded rounds until all ranks stop.
func (c *Conductor) pairRounds(told []byte, exchange Exchange, done func(int)) (all []float64, err error) {
	number := func(k int) int { return int(binary.LittleEndian.Uint32(told[4*k:])) }
	rounds, rank := number(0), c.Comm.Rank()
	own := make(map[int]Pair)
	for told = told[4:]; len(told) > 0; told = told[pairBytes:] {
		if p := (Pair{number(1), number(2), number(3)}); p.A == rank || p.B == rank {
			own[number(0)] = p
		}
	}
	for round := range rounds {
		if going, err := c.Meet(); err != nil || !going {
			return all, err
		}
		if p, takesPart := own[round]; takesPart {
			peer, before := p.A+p.B-rank, len(all)
			all = append(all, float64(round), float64(peer), 0)
			err = c.With(peer, func() (err error) {
				all, err = exchange(all, peer, p.A == rank, p.Task)
				return err
			})
			if err != nil {
				return nil, err
			}
			all[before+pairPlace-1] = float64(len(all) - before - pairPlace)
		}
		done(round + 1)
	}
	return all, nil
}

// rowsOfPairs are the rows that pairRounds has found on each rank.
func rowsOfPairs(found [][]float64) (rows []Row) {
	for rank, all := range found {
		for len(all) > 0 {
			end := pairPlace + int(all[pairPlace-1])
			if end > pairPlace {
				rows = append(rows, Row{From: rank, To: int(all[1]), Round: int(all[0]), Values: all[pairPlace:end]})
			}
			all = all[end:]
		}
	}
	return rows
}
