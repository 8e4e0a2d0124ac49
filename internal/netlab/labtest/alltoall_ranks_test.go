//go:build linux

package labtest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

const alltoallRepeats = 7

// An exchange is what was found out about one of each rank with each.
type exchange struct {
	At        []string `json:"at"`          // host and core of each rank
	Seconds   float64  `json:"seconds"`     // of the slowest rank, the median of some exchanges
	Predicted float64  `json:"predicted_s"` // by a network
}

// alltoallBytes are the bytes from each rank to each: those of a table as topocast place reads it, or a number in all, shared evenly.
func alltoallBytes(text string, ranks int) ([][]int, error) {
	bytes := make([][]int, ranks)
	if total, err := strconv.Atoi(text); err == nil {
		for i := range bytes {
			bytes[i] = slices.Repeat([]int{max(1, total/(ranks*ranks))}, ranks)
		}
		return bytes, nil
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != ranks || len(rows[0]) != ranks {
		return nil, fmt.Errorf("%s: %d rows: want a square of %d ranks (%v)", text, len(rows), ranks, err)
	}
	for i, row := range rows {
		for _, cell := range row {
			n, err := strconv.Atoi(cell)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			bytes[i] = append(bytes[i], n)
		}
	}
	return bytes, nil
}

// pairwise is a communicator without native collectives, so that package collective exchanges in pairs whatever the size.
type pairwise struct {
	mpi.Communicator
	mpi.NonBlocking
}

// measureAlltoall is collective: ranks exchange so many bytes, in pairs. Rank 0 reports how long that takes, and what the network of
// a file predicts.
func measureAlltoall(comm mpi.Communicator, text, network string) (*exchange, error) {
	me := comm.Rank()
	bytes, err := alltoallBytes(text, comm.Size())
	if err != nil {
		return nil, err
	}
	requests, ok := comm.(mpi.NonBlocking)
	if !ok {
		return nil, errors.New("alltoall: the communicator has no requests")
	}
	c := collective.New(pairwise{comm, requests})
	var src, dst []byte
	var from, to []int
	for rank, n := range bytes[me] {
		to, src = append(to, n), append(src, slices.Repeat([]byte{mark(me, rank)}, n)...)
		n = bytes[rank][me]
		from, dst = append(from, n), append(dst, make([]byte, n)...)
	}
	var times []float64
	for i := range 1 + alltoallRepeats { // the first to warm up
		if err := collective.Barrier(c); err != nil {
			return nil, err
		}
		begin := time.Now()
		if err := collective.Alltoallv(c, dst, from, src, to); err != nil {
			return nil, err
		}
		slowest := []float64{time.Since(begin).Seconds()}
		if err := collective.Allreduce(c, slowest, mpi.Max); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, slowest[0])
		}
	}
	for rank, n := range from {
		for i, x := range dst[:n] {
			if x != mark(rank, me) {
				return nil, fmt.Errorf("alltoall: rank %d: byte %d from rank %d is %d, want %d", me, i, rank, x, mark(rank, me))
			}
		}
		dst = dst[n:]
	}
	at, err := bcast.Locations(comm)
	if err != nil || me != 0 {
		return nil, err
	}
	found := &exchange{Seconds: stats.MiddleMedian(times)}
	for _, l := range at {
		found.At = append(found.At, fmt.Sprint(l.Host, " ", l.Core))
	}
	if found.Predicted, err = predictAlltoall(network, at, bytes); err != nil {
		return nil, err
	}
	return found, nil
}

// mark is what ranks send to each other.
func mark(from, to int) byte { return byte(16*from + to + 1) }

// predictAlltoall is what the rounds of an exchange in pairs take, one after the other.
func predictAlltoall(file string, at []model.Location, bytes [][]int) (float64, error) {
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
			peer := (rank + distance) % len(at)
			if n := bytes[rank][peer]; n > 0 {
				round = append(round, model.Transfer{Src: rank, Dst: peer, Bytes: int64(n)})
			}
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
