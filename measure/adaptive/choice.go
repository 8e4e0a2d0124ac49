package adaptive

import (
	"context"
	"encoding/binary"
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
	err := harness.OnWatchedDuplicate(comm, s.Silence, func(own mpi.Communicator, w *harness.Watch) (err error) {
		c, err = choose(ctx, own, w, &s, repetitions)
		return err
	})
	return c, err
}

func choose(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, s *Settings, repetitions int) (Choice, error) {
	p, err := sharePlan(comm, s)
	if err != nil {
		return Choice{}, err
	}
	n := comm.Size()
	now := harness.Clock(comm)
	all := harness.NewBarrier(comm).Under(watch)
	probe := pingpong.New(comm, p.Bytes, p.Samples)
	var times []float64
	for k := 0; n > 1 && k < choiceRounds; k++ {
		word := goOn
		if ctx.Err() != nil {
			word = stopContext
		}
		if word, err = all.Wait(word); err != nil || word != goOn {
			break
		}
		start := now()
		// The circle method's rounds n/4, n/2 and 3n/4: of an odd number one rank rests.
		if peer := harness.CirclePartner(n, comm.Rank(), (k+1)*n/(choiceRounds+1)); peer >= 0 {
			watch.Wait(peer, harness.Measuring, 1)
			_, err = probe.Pair(peer, p.Bytes)
			if watch.Done(); err != nil {
				return Choice{}, fmt.Errorf("adaptive: rank %d: trying a round: exchange with rank %d: %w", comm.Rank(), peer, err)
			}
		}
		if _, err = all.Wait(goOn); err != nil {
			break
		}
		times = append(times, now()-start)
	}
	if err != nil {
		return Choice{}, fmt.Errorf("adaptive: rank %d: trying a round: %w", comm.Rank(), err)
	}
	var data []byte
	if comm.Rank() == 0 {
		c := chosen(times, n, repetitions, s.Budget)
		data = binary.LittleEndian.AppendUint64(data, uint64(c.Round))
		data = binary.LittleEndian.AppendUint64(data, uint64(c.AllPairs))
		adaptive := byte(0)
		if c.Adaptive {
			adaptive = 1
		}
		data = append(data, adaptive)
	}
	if data, err = harness.Tell(comm, data); err != nil {
		return Choice{}, fmt.Errorf("adaptive: rank %d: the choice of rank 0: %w", comm.Rank(), err)
	}
	return Choice{
		Round:    time.Duration(binary.LittleEndian.Uint64(data)),
		AllPairs: time.Duration(binary.LittleEndian.Uint64(data[8:])),
		Adaptive: data[16] == 1,
	}, nil
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
