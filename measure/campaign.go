package measure

import (
	"context"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// A campaign is one rank's part in the rounds of a measurement.
type campaign struct {
	ctx      context.Context
	comm     mpi.Communicator
	settings *Settings
	plan     *plan
	turns    *schedule
	probe    *pingpong.Probe
	all      *harness.Barrier

	now   func() float64 // s, the communicator's clock
	start float64        // s, when Run was called
	began time.Time      // for whoever waits: progress goes by the wall clock

	done     int       // rounds
	ended    bool      // all repetitions are done: the next barrier decides on another
	readings []Reading // own ones that rank 0 does not have yet

	// Of rank 0.
	result     *Result
	journal    *journal // nil: none
	delivered  float64  // s, when rank 0 last had all readings
	delivering float64  // s, that this took
	warmUp     float64  // s, of the last repetition
	inRounds   float64  // s, in the rounds so far, from barrier to barrier
	laps       int      // their number
	lastLap    float64  // s, when the last barrier was passed
	nextCheck  int      // rounds after which the plan is checked against the budget
	planned    *plan    // to take the place of the plan
	asked      int      // repetitions
	announced  int      // notes up to the one of the present plan; 0: there is none
}

// deliver sends the readings of all ranks to rank 0. It is collective.
func (c *campaign) deliver() error {
	var began float64
	before := 0
	if c.result != nil {
		began, before = c.now(), len(c.result.readings)
	}
	err := harness.Gather(c.comm, appendReadings(nil, c.readings), func(rank int, data []byte) error {
		var err error
		c.result.readings, err = takeReadings(c.result.readings, rank, data)
		return err
	})
	c.readings = c.readings[:0]
	if err != nil || c.result == nil {
		return err
	}
	if c.journal != nil {
		if err := c.journal.write(c.result.readings[before:], c.done, c.result.TotalRounds); err != nil {
			c.journal = nil
			c.note(unjournaled(err))
		}
	}
	c.delivered = c.now()
	c.delivering = c.delivered - began
	return nil
}

// note keeps a decision, and tells it.
func (c *campaign) note(text string) {
	c.result.Notes = append(c.result.Notes, text)
	if c.journal != nil {
		c.journal.w.Note(text)
	}
	if c.settings.Notify != nil {
		c.settings.Notify(text)
	}
}

func (c *campaign) report() {
	if c.result == nil || c.settings.Progress == nil {
		return
	}
	elapsed, total := time.Since(c.began), c.plan.Repetitions*c.turns.rounds()
	var remaining time.Duration
	if c.done > 0 {
		remaining = time.Duration(float64(elapsed) / float64(c.done) * float64(total-c.done))
	}
	c.settings.Progress(Progress{Done: c.done, Total: total, Elapsed: elapsed, Remaining: remaining})
}
