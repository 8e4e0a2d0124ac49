package simnet

import (
	"math/rand/v2"
	"testing"
)

// Against the obvious: events come out in order of time, kind, rank and
// sequence, and every message knows its place, whatever is pushed, moved and
// removed between.
func TestEventQueueKeepsOrderAndPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		var q eventQueue
		var now event
		for sequence := range uint64(400) {
			switch at := now.at + instant(rng.IntN(20)); rng.IntN(4) {
			case 0, 1:
				q.push(event{at, order(kind(rng.IntN(3)), int32(rng.IntN(3)), sequence), &message{}})
			case 2:
				if len(q) > 0 {
					i := rng.IntN(len(q))
					if rng.IntN(3) == 0 {
						q.remove(i)
					} else {
						q.move(i, at)
					}
				}
			default:
				if len(q) == 0 {
					continue
				}
				e := q.pop()
				for i := range q {
					if q[i].before(&e) {
						t.Fatalf("%v came before %v", e, q[i])
					}
				}
				now = e
			}
			for i := range q {
				if int(q[i].m.place) != i {
					t.Fatalf("the message at place %d thinks it is at %d", i, q[i].m.place)
				}
			}
		}
	}
}

func TestOrderHoldsKindRankAndSequence(t *testing.T) {
	const last = 1<<rankBits - 1
	e := event{order: order(departure, last, 1<<sequenceBits-1)}
	if e.kind() != departure || e.rank() != last {
		t.Errorf("kind %d of rank %d, want %d of %d", e.kind(), e.rank(), departure, last)
	}
	if a, b := order(arrival, last, 5), order(fault, 0, 0); a >= b {
		t.Error("a fault comes before an arrival")
	}
	if a, b := order(departure, 1, 9), order(departure, 2, 3); a >= b {
		t.Error("sequence counts more than rank")
	}
}
