package harness

import (
	"fmt"
	"slices"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// bare hides all optional abilities of a communicator.
type bare struct{ mpi.Communicator }

func TestBarrierSpreadsTheGreatestWord(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		for n := 1; n <= 17; n++ {
			for from := range n {
				err := local.Run(n, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
					if n%2 == 1 {
						c = bare{c} // both ways of a step
					}
					w := byte(0)
					if c.Rank() == from {
						w = 5
					} else if c.Rank() == 0 {
						w = 4
					}
					got, err := NewBarrier(c).Wait(w)
					if err == nil && got != 5 {
						err = fmt.Errorf("word = %d, want 5", got)
					}
					return err
				})
				if err != nil {
					t.Fatalf("%d ranks, word of rank %d: %v", n, from, err)
				}
			}
		}
	}
}

// TestSubsetBarriers: disjoint subsets, in orders of their own, meet at the
// same time and do not hear of each other.
func TestSubsetBarriers(t *testing.T) {
	subsets := [][]int{{6, 0, 3}, {5}, {1, 2, 4, 7}}
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		err := local.Run(8, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			own := slices.IndexFunc(subsets, func(s []int) bool { return slices.Contains(s, c.Rank()) })
			b := (&Conductor{Comm: c}).Barrier(subsets[own])
			for round := range 3 {
				got, err := b.Wait(byte(c.Rank()))
				if want := byte(slices.Max(subsets[own])); err != nil || got != want {
					return fmt.Errorf("round %d: word = %d, %w, want %d", round, got, err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
