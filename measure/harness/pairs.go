package harness

import (
	"encoding/binary"
	"math"
	"time"
)

// A Pair is two ranks that measure something with each other in a round.
type Pair struct {
	A, B int

	// Task says what they do, as an Exchange understands it; in [0, WarmUp).
	Task int
}

// WarmUp is the task of both ranks of the first pairs of a repetition: what an Exchange then finds is forgotten.
const WarmUp = math.MaxInt32

// An Exchange measures the pair of the calling rank and peer, and appends what this rank has found: any numbers, or none. It is
// test_pair of LGate (Reinfjell 2023, section 3.1.1). Both ranks of a pair call it at about the same time, and no other rank
// talks to them meanwhile. First says that the calling rank is A of the pair. Its messages have tags from FirstTag on.
type Exchange func(found []float64, peer int, first bool, task int) ([]float64, error)

// A Row is what an Exchange has found on rank From of its pair with To.
type Row struct {
	From, To   int
	Repetition int
	Round      int // number within the repetition, in the order of time; those that Again has chosen are numbered behind those of all pairs
	Values     []float64
}

// A PlayPairs is rank 0's means to lead pairs: it lets all ranks take part in rounds, and returns a row of each rank and
// round in which the rank has found something, by rank and round. It calls done, which may be nil, with the number of rounds
// that are over, after each. Once the ranks have stopped nobody acts.
type PlayPairs func(rounds [][]Pair, done func(rounds int)) ([]Row, error)

// LeadPairs is Lead for rounds of disjoint pairs. Behind a barrier of all ranks both ranks of each pair exchange. As in AllPairs,
// the garbage collector of the process is off.
func (c *Conductor) LeadPairs(budget time.Duration, exchange Exchange, lead func(PlayPairs) error) error {
	p := &pairing{Conductor: c, exchange: exchange}
	defer c.pauseCollector()()
	return c.Lead(budget, p.act, func(play Play) error {
		return lead(func(rounds [][]Pair, done func(int)) ([]Row, error) {
			return p.playBatch(play, &batch{rounds: rounds, levels: make([]int, len(rounds)), every: 1, repetition: noRepetition, over: done})
		})
	})
}

// A batch is some rounds of pairs that follow each other.
type batch struct {
	rounds     [][]Pair
	levels     []int // by round: before it the groups of this level meet, each at its own pace; 0: all ranks
	every      int   // rounds of groups from one barrier of all ranks to the next
	repetition int   // noRepetition: none
	first      int   // number of the first round

	// What rank 0 hears of its own part: that it begins a round behind the barrier, and that so many rounds are over.
	begin func()
	over  func(rounds int)
}

// A pairing is one rank's side of rounds of pairs.
type pairing struct {
	*Conductor
	exchange Exchange
	groups   map[int]*Barrier // by level: that of the rank's group
	batch    *batch           // of rank 0; nil elsewhere
}

// playBatch plays a batch on rank 0, and returns its rows.
func (p *pairing) playBatch(play Play, b *batch) ([]Row, error) {
	p.batch = b
	found, err := play(b.encode())
	if err != nil {
		return nil, err
	}
	return b.rows(found), nil
}

// encode lists whole numbers: those of the batch, and of each round its level and its pairs.
func (b *batch) encode() []byte {
	told := []uint32{uint32(len(b.rounds)), uint32(b.every), uint32(b.repetition + 1), uint32(b.first + 1)} // the last two may be -1
	for k, pairs := range b.rounds {
		told = append(told, uint32(b.levels[k]), uint32(len(pairs)))
		for _, p := range pairs {
			told = append(told, uint32(p.A), uint32(p.B), uint32(p.Task))
		}
	}
	data, _ := binary.Append(nil, binary.LittleEndian, told) // whole numbers always have bytes
	return data
}

// pairNumbers are those of a pair: its ranks and their task.
const pairNumbers = 3

// place are the numbers before those that were found in a round: the round, the peer and how many follow.
const place = 3

// act takes part in an encoded batch until all ranks stop, and returns what this rank has found.
func (p *pairing) act(data []byte) (all []float64, err error) {
	told := make([]uint32, len(data)/4) // bytes of a number
	if _, err := binary.Decode(data, binary.LittleEndian, told); err != nil {
		return nil, err
	}
	next := func() int {
		x := told[0]
		told = told[1:]
		return int(x)
	}
	rounds, every, repetition, first := next(), next(), next()-1, next()-1
	rank := p.Comm.Rank()
	for k := range rounds {
		level, own, takesPart := next(), Pair{}, false
		size := pairNumbers * next()
		pairs := told[:size]
		for told = told[size:]; len(pairs) > 0 && !takesPart; pairs = pairs[pairNumbers:] {
			own = Pair{int(pairs[0]), int(pairs[1]), int(pairs[2])}
			takesPart = own.A == rank || own.B == rank
		}
		if repetition != noRepetition {
			p.silence.at(repetition, max(first+k, 0)-1) // where ranks meet is the next one
		}
		if going, err := p.meet(level, k%every == 0); err != nil || !going {
			return all, err
		}
		if p.batch != nil && p.batch.begin != nil {
			p.batch.begin()
		}
		if takesPart {
			peer, before := own.A+own.B-rank, len(all)
			all = append(all, float64(k), float64(peer), 0)
			err = p.With(peer, func() (err error) {
				all, err = p.exchange(all, peer, own.A == rank, own.Task)
				return err
			})
			if err != nil {
				return nil, err
			}
			if own.Task == WarmUp {
				all = all[:before+place]
			}
			all[before+place-1] = float64(len(all) - before - place)
		}
		if p.batch != nil && p.batch.over != nil {
			p.batch.over(k + 1)
		}
	}
	return all, nil
}

// meet brings those together that have to wait for each other before a round: the ranks of the groups of a level, each group by
// itself, or all ranks. It tells whether to go on.
func (p *pairing) meet(level int, all bool) (bool, error) {
	if all || level == 0 {
		return p.Meet()
	}
	p.silence.next()
	group := p.groups[level]
	if group == nil { // it waits for the next barrier of all
		return true, nil
	}
	_, err := group.Wait(0)
	return true, err
}

// rows are what act has found on each rank.
func (b *batch) rows(found [][]float64) (rows []Row) {
	for rank, all := range found {
		for len(all) > 0 {
			end := place + int(all[place-1])
			if end > place {
				rows = append(rows, Row{From: rank, To: int(all[1]), Repetition: max(b.repetition, 0), Round: b.first + int(all[0]), Values: all[place:end]})
			}
			all = all[end:]
		}
	}
	return rows
}
