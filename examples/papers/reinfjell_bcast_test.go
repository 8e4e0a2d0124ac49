package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestOpenMPIDefault: rows of coll_tuned_decision_fixed.c of Open MPI 4.1, on both sides of their bounds.
func TestOpenMPIDefault(t *testing.T) {
	for _, c := range []struct {
		ranks, bytes int
		want         string
	}{
		{2, 0, "chain"},
		{3, 32, "binary"},
		{3, 1 << 20, "binary"},
		{4, 127, "binomial"},
		{7, 1 << 20, "chain"},
		{8, 7, "k-nomial[4]"},
		{15, 32 << 10, "flat"},
		{16, 1<<20 - 1, "binomial"},
		{31, 1 << 20, "scatter-doubling"},
		{32, 2047, "binomial"},
		{64, 1, "k-nomial[4]"},
		{127, 8 << 20, "k-nomial[4]"},
		{128, 1, "binomial"},
		{128, 2, "binary"},
		{255, 16 << 10, "flat"},
		{255, 64 << 10, "k-nomial[4]"},
		{256, 16 << 10, "split-binary"},
		{1023, 32 << 10, "k-nomial[4]"},
		{1024, 512 << 10, "scatter-doubling"},
		{2048, 256<<10 - 1, "k-nomial[4]"},
		{4095, 256 << 10, "scatter-doubling"},
		{4096, 8 << 10, "binary"},
		{1 << 20, 1 << 30, "k-nomial[4]"},
	} {
		if got := schedule.Text(openMPIDefault(c.ranks, c.bytes)); got != c.want {
			t.Errorf("%d ranks, %d B: %s, want %s", c.ranks, c.bytes, got, c.want)
		}
	}
}

// TestLevelBinary: by hand, a rank of level l (from 2^l - 1 on) serves those 2^l and 2^(l+1) after it: 0 serves 1 and 2, 1 serves 3 and 5,
// 2 serves 4 and 6, 3 serves 7 and 11.
func TestLevelBinary(t *testing.T) {
	tree := levelBinary{}.Prepare(schedule.Problem{Ranks: 10}).(*schedule.Tree)
	for rank, want := range [][]int{{1, 2}, {3, 5}, {4, 6}, {7}, {8}, {9}, nil, nil, nil, nil} {
		if got := tree.Links(rank).Children; !slices.Equal(got, want) {
			t.Errorf("rank %d serves %v, want %v", rank, got, want)
		}
	}
	for ranks := 1; ranks < 20; ranks++ {
		if err := schedule.Check(levelBinary{}, schedule.Problem{Ranks: ranks, Root: ranks / 2, Bytes: 5, Segment: 2}); err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// TestSharedMemory: two messages between four cores of one socket take twice the time of one where they share its memory, and their latency
// stays.
func TestSharedMemory(t *testing.T) {
	c, err := cli.SimulatedCluster("core:4 socket:1 host:1 latency=100ns rate=10GBps")
	if err == nil {
		c, err = sharedMemory(c, 10e9)
	}
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	for _, pairs := range []int{1, 2} {
		var ends [4]float64
		err := simnet.Run(c.Graph, nil, &simnet.Settings{EagerLimit: size}, func(comm mpi.Communicator) error {
			var err error
			switch me := comm.Rank(); {
			case me/2 >= pairs:
			case me%2 == 0:
				err = comm.Send(make([]byte, size), me+1, 0)
			default:
				err = comm.Recv(make([]byte, size), me-1, 0)
				ends[me] = comm.(mpi.Clock).Now()
			}
			return err
		})
		want := 200e-9 + float64(pairs)*size/10e9
		if got := max(ends[1], ends[3]); err != nil || math.Abs(got-want) > 0.01*want {
			t.Errorf("%d pairs: %v, %g s, want %g", pairs, err, got, want)
		}
	}
	n, err := wiredNetwork(c)
	if err != nil || math.Abs(n.Time(0, 1, 0)-200e-9) > 1e-12 || math.Abs(n.Time(0, 1, size)-200e-9-size/10e9) > 1e-9 {
		t.Errorf("%v: %g s and %g s", err, n.Time(0, 1, 0), n.Time(0, 1, size))
	}
}

// A countedContext ends after so many looks at it.
type countedContext struct {
	context.Context
	left int
}

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestPredictionsEndWithTheContext: within one more prediction, and what there is by then is kept.
func TestPredictionsEndWithTheContext(t *testing.T) {
	for _, looks := range []int{0, 3, 20} {
		ctx, s := &countedContext{t.Context(), looks}, newStage()
		err := simulatedBroadcasts(ctx, s, []broadcastMachine{{name: "small", spec: "core:2 host:2 latency=5us,1us rate=1Gbps,10Gbps"}})
		if !errors.Is(err, context.Canceled) || ctx.left != -1 {
			t.Errorf("after %d predictions: %v, %d more", looks, err, -1-ctx.left)
		}
		if len(s.out.Sections) == 0 {
			t.Errorf("after %d predictions: nothing is left", looks)
		}
	}
}
