package queue_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/queue"
)

func inOrder(a, b queue.Item) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID)) }

// A sorted slice does the same, slowly. Keys are few, so that most are tied.
func TestMinGivesWhatASortedSliceWould(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var q queue.Min
		var sorted []queue.Item
		for range 400 {
			if rng.IntN(4) < 3 || len(sorted) == 0 {
				x := queue.Item{Key: float64(rng.IntN(8)), ID: int64(rng.IntN(40) - 20)}
				q.Push(x)
				at, _ := slices.BinarySearchFunc(sorted, x, inOrder)
				sorted = slices.Insert(sorted, at, x)
			} else {
				if got, want := q.Pop(), sorted[0]; got != want {
					t.Fatalf("Pop() = %v, want %v", got, want)
				}
				sorted = sorted[1:]
			}
			if len(q) != len(sorted) {
				t.Fatalf("%d items wait, want %d", len(q), len(sorted))
			}
		}
		for _, want := range sorted {
			if got := q.Pop(); got != want {
				t.Fatalf("Pop() = %v, want %v", got, want)
			}
		}
	}
}
