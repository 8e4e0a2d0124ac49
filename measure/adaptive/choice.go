package adaptive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// A Choice says whether all pairs of ranks fit a budget.
type Choice struct {
	Round    time.Duration // of disjoint pairs, in the median of those that were tried
	AllPairs time.Duration // what the rounds of all pairs take
	Adaptive bool          // they do not fit: Measure is the way
}

const (
	choiceRounds = 3 // the first may connect ranks, the median passes over it
	// Ranks below which all pairs are the better way whatever they take: a core and what follows read as much.
	fewestForChoice = 64
)

// Choose measures a few rounds of random pairs, and tells whether as many as all pairs need fit the budget, read so many times with
// the samples that will be taken. It is collective; the arguments of rank 0 count, and all ranks get the same choice.
// Where ranks are few it is always for all pairs, and where there is no budget.
func Choose(ctx context.Context, comm mpi.Communicator, settings *Settings, repetitions int) (Choice, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var c Choice
	err := harness.Conduct(ctx, comm, s.Silence, func(conductor *harness.Conductor) (err error) {
		c, err = choose(conductor, &s, repetitions)
		return err
	})
	return c, err
}

func choose(c *harness.Conductor, s *Settings, repetitions int) (Choice, error) {
	p, err := sharePlan(c, s)
	if err != nil {
		return Choice{}, err
	}
	n := c.Comm.Size()
	probe := pingpong.New(c.Comm, p.Bytes, p.Samples)
	var times []float64
	for k := 0; n > 1 && k < choiceRounds; k++ {
		going, err := c.Meet()
		if err == nil && !going {
			break
		}
		start := c.Now()
		// The circle method's rounds n/4, n/2 and 3n/4: of an odd number one rank rests.
		if peer := harness.CirclePartner(n, c.Comm.Rank(), (k+1)*n/(choiceRounds+1)); err == nil && peer >= 0 {
			err = c.With(peer, func() error {
				_, err := probe.Pair(peer, p.Bytes)
				return err
			})
		}
		if err == nil {
			_, err = c.Meet()
		}
		if err != nil {
			return Choice{}, fmt.Errorf("adaptive: rank %d: trying a round: %w", c.Comm.Rank(), err)
		}
		times = append(times, c.Now()-start)
	}
	return harness.Share(c.Comm, c.Watch, func() (Choice, error) { return chosen(times, n, repetitions, s.Budget), nil })
}

// chosen is the choice that rounds of the given times in s lead to; none where none were tried.
func chosen(times []float64, ranks, repetitions int, budget time.Duration) Choice {
	if len(times) == 0 {
		return Choice{}
	}
	slices.Sort(times)
	round := times[len(times)/2]
	rounds := ranks - 1 + ranks%2
	whole := round * float64(rounds) * float64(max(repetitions, 1))
	return Choice{
		Round:    time.Duration(round * float64(time.Second)),
		AllPairs: time.Duration(whole * float64(time.Second)),
		Adaptive: budget > 0 && ranks >= fewestForChoice && whole > budget.Seconds(),
	}
}
