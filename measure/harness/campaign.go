package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A campaign is one rank's part in the rounds of a measurement.
type campaign struct {
	ctx      context.Context
	comm     mpi.Communicator
	settings *Settings
	plan     *plan
	order    *schedule
	test     Test
	sampler  Sampler // nil: the test is none
	columns  int

	all       *Barrier
	groups    []*Barrier // by level: that of the rank's group, nil if it is in none
	sinceAll  int        // rounds since the last barrier of all
	untilNext int        // rounds from one to the next
	watch     *Watch

	now   func() float64 // s, the communicator's clock
	start float64        // s, when AllPairs was called
	began time.Time      // for whoever waits: progress goes by the wall clock

	done   int       // rounds
	ended  bool      // all repetitions are done: the next barrier decides on another
	extra  bool      // that one was decided on
	behind int       // of the repetition under way: what its rounds are numbered from
	found  []float64 // by the last exchange
	rows   []float64 // own ones that rank 0 does not have yet: peer, repetition and round before the columns

	// Of rank 0.
	outcome      *Outcome
	totalPairs   int
	earlierPairs int        // of an earlier run
	pairs        int        // of whole repetitions
	levelDone    []int      // rounds of the repetition under way
	chosenDone   int        // pairs of it, if it is of chosen rounds
	delivered    float64    // s, when rank 0 last had all rows
	delivering   float64    // s, that this took
	pace         int        // logarithm of untilNext
	warmUp       float64    // s, of the last repetition
	inRounds     float64    // s, in the rounds so far, from barrier to barrier
	laps         int        // their number
	lastLap      float64    // s, when the last barrier was passed
	lastDone     int        // rounds by then
	nextCheck    int        // rounds after which the plan is checked against the budget
	planned      *plan      // to take the place of the plan
	asked        int        // repetitions
	samplesAsked int        // of each pair
	announced    int        // notes up to the one of the present plan; 0: there is none
	next         [][][2]int // rounds of the repetition that is to follow; none: all
}

// place is what stands before the values of a row: peer, repetition and round.
const place = 3

// deliver sends the rows of all ranks to rank 0. It is collective.
func (c *campaign) deliver() error {
	var began float64
	var all []Row
	if c.outcome != nil {
		began = c.now()
	}
	data := make([]byte, 0, 8*len(c.rows))
	for _, v := range c.rows {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	defer c.watch.Done()
	err := Gather(c.comm, data, func(rank int, data []byte) error {
		c.watch.Wait((rank+1)%c.comm.Size(), Delivering, 1) // they come in the order of ranks
		var err error
		all, err = c.take(all, rank, data)
		return err
	})
	c.rows = c.rows[:0]
	if err != nil || c.outcome == nil {
		return err
	}
	if c.settings.Deliver != nil {
		c.settings.Deliver(all, c.progress())
	}
	c.delivered = c.now()
	c.delivering = c.delivered - began
	return nil
}

// take decodes the rows of one rank.
func (c *campaign) take(all []Row, from int, data []byte) ([]Row, error) {
	width := place + c.columns
	if len(data)%(8*width) != 0 {
		return nil, errors.New("rows of a wrong length")
	}
	values := make([]float64, len(data)/8)
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	for ; len(values) > 0; values = values[width:] {
		all = append(all, Row{
			From: from, To: int(values[0]), Repetition: int(values[1]), Round: int(values[2]), Values: values[place:width:width],
		})
	}
	return all, nil
}

// note keeps a decision, and tells it.
func (c *campaign) note(text string) {
	c.outcome.Notes = append(c.outcome.Notes, text)
	if c.settings.Notify != nil {
		c.settings.Notify(text)
	}
}

func (c *campaign) report() {
	if c.outcome != nil && c.settings.Progress != nil {
		c.settings.Progress(c.progress())
	}
}

// progress is how far rank 0 knows the measurement to be.
func (c *campaign) progress() Progress {
	p := Progress{
		Done: c.done, Total: c.outcome.TotalRounds, Earlier: c.plan.Done,
		Pairs: c.pairs + c.pairsUnderWay(), TotalPairs: c.totalPairs, EarlierPairs: c.earlierPairs, Elapsed: time.Since(c.began),
	}
	if now := c.done - c.plan.Done; now > 0 {
		p.Remaining = time.Duration(float64(p.Elapsed) / float64(now) * float64(p.Total-c.done))
	}
	return p
}

// pairsUnderWay is how many pairs the repetition under way has measured.
func (c *campaign) pairsUnderWay() int {
	count := c.chosenDone
	for level, done := range c.levelDone {
		if f := &c.order.phases[level]; f.rounds > 0 {
			rounds := f.rounds
			if c.plan.Sequential {
				rounds *= f.atOnce
			}
			count += f.pairs * done / rounds
		}
	}
	return count
}
