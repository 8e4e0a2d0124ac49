package adaptive

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// 100 ranks have 99 rounds, 101 have 101; twice. Of a median of 2 ms the last example takes 404 ms.
func TestChosen(t *testing.T) {
	times := []float64{0.5, 0.002, 0.001}
	for _, tt := range []struct {
		ranks, repetitions int
		budget             time.Duration
		want               Choice
	}{
		{100, 1, 0, Choice{2 * time.Millisecond, 198 * time.Millisecond, false}},
		{100, 1, 199 * time.Millisecond, Choice{2 * time.Millisecond, 198 * time.Millisecond, false}},
		{100, 1, 197 * time.Millisecond, Choice{2 * time.Millisecond, 198 * time.Millisecond, true}},
		{101, 2, 300 * time.Millisecond, Choice{2 * time.Millisecond, 404 * time.Millisecond, true}},
		{10, 1, time.Millisecond, Choice{2 * time.Millisecond, 18 * time.Millisecond, false}},
	} {
		if got := chosen(append([]float64(nil), times...), tt.ranks, tt.repetitions, tt.budget); got != tt.want {
			t.Errorf("chosen(%d ranks, %d times, %v) = %+v, want %+v", tt.ranks, tt.repetitions, tt.budget, got, tt.want)
		}
	}
	if got := chosen(nil, 100, 1, time.Nanosecond); got.Adaptive {
		t.Error("without a round there is a choice")
	}
}

// All ranks choose alike, by the budget of rank 0.
func TestChooseIsCollective(t *testing.T) {
	cluster, err := simnet.ParseCluster("tree:8x9 latency=4us,1us")
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []time.Duration{time.Microsecond, time.Hour} {
		err := simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error {
			s := &Settings{Budget: time.Minute}
			if c.Rank() == 0 {
				s.Budget = budget
			}
			got, err := Choose(context.Background(), c, s, 3)
			if err == nil && (got.Adaptive != (budget == time.Microsecond) || got.Round <= 0 || got.AllPairs < 200*got.Round) {
				return fmt.Errorf("rank %d, budget %v: %+v", c.Rank(), budget, got)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
