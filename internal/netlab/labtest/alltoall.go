package main

import (
	"fmt"
	"math"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

const alltoallRepeats = 7

// measureAlltoall is collective: ranks exchange so many bytes in all, each with each, in pairs. Rank 0 prints the median time in
// s of some exchanges, and what the network of a file predicts.
func measureAlltoall(comm mpi.Communicator, total int, file string) error {
	ranks, me := comm.Size(), comm.Rank()
	c, err := collective.New(comm, &collective.Settings{Messages: true})
	if err != nil {
		return err
	}
	block := max(1, total/(ranks*ranks))
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = block
	}
	src, dst := make([]byte, ranks*block), make([]byte, ranks*block)
	for i := range src {
		src[i] = byte(me*ranks + i/block)
	}
	var times []float64
	for i := range 1 + alltoallRepeats { // the first to warm up
		if err := collective.Barrier(c); err != nil {
			return err
		}
		begin := time.Now()
		if err := collective.Alltoallv(c, dst, counts, src, counts); err != nil { // in pairs whatever the size
			return err
		}
		slowest := []float64{time.Since(begin).Seconds()}
		if err := collective.Allreduce(c, slowest, mpi.Max); err != nil {
			return err
		}
		if i > 0 {
			times = append(times, slowest[0])
		}
	}
	for i, x := range dst {
		if x != byte(i/block*ranks+me) {
			return fmt.Errorf("alltoall: rank %d: byte %d from rank %d is %d, want %d", me, i%block, i/block, x, byte(i/block*ranks+me))
		}
	}
	at, err := bcast.Locations(comm)
	if err != nil || me != 0 {
		return err
	}
	predicted, err := predictAlltoall(file, at, int64(block))
	if err != nil {
		return err
	}
	fmt.Printf("alltoall %d ranks: %g s, predicted %g s\n", ranks, stats.MiddleMedian(times), predicted)
	return nil
}

// predictAlltoall is what the rounds of an exchange in pairs take, one after the other.
func predictAlltoall(file string, at []model.Location, block int64) (float64, error) {
	network, err := model.Load(file)
	if err != nil {
		return 0, err
	}
	view, err := network.View(at)
	if err != nil {
		return 0, err
	}
	predictor, err := view.NewPredictor(nil)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for distance := 1; distance < len(at); distance++ {
		var round []model.Transfer
		for rank := range at {
			round = append(round, model.Transfer{Src: rank, Dst: (rank + distance) % len(at), Bytes: block})
		}
		times, err := predictor.Predict(nil, round)
		if err != nil {
			return 0, err
		}
		longest := 0.0
		for _, t := range times {
			longest = math.Max(longest, t)
		}
		sum += longest
	}
	return sum, nil
}
