package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
)

// The lowered steps of all ranks together bring every byte to every rank, though no send ends before its receive is posted. That
// holds for random ranks, roots, groups, lengths and segments, in each mode. Nothing of Check or Lower is used to find it out.
func TestRandomPlansDeliver(t *testing.T) {
	problems := 150
	if tooltest.Long() {
		problems = 15_000
	}
	rng := rand.New(rand.NewPCG(3, 70))
	for range problems {
		n := 1 + rng.IntN(70)
		p := schedule.Problem{Ranks: n, Root: rng.IntN(n), Bytes: rng.IntN(1 << rng.IntN(10))}
		if rng.IntN(3) > 0 {
			p.Segment = p.Bytes/32 + 1 + rng.IntN(p.Bytes+1)
		}
		if rng.IntN(4) > 0 {
			p.Tree = casttest.RandomTree(rng, n)
		}
		list := append(casttest.Algorithms(), schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), p)...)
		for range 10 {
			a := list[rng.IntN(len(list))]
			for _, mode := range []schedule.Mode{schedule.OneByOne, schedule.InOrder, schedule.Pipelined} {
				if err := newReplay(a, p, mode).run(); err != nil {
					t.Errorf("%s, %+v, mode %d: %v", schedule.Text(a), p, mode, err)
				}
			}
		}
	}
}

// A replay performs the steps of all ranks in one goroutine.
type replay struct {
	ranks []replayedRank
	links map[[2]int]*replayedLink // by sender and receiver
}

type replayedRank struct {
	steps   []mpi.Step
	has     []bool                        // per byte
	waits   [mpi.StepSets + 1][]*mpi.Step // transfers under way, by set; the last is of a blocking step
	isDone  map[*mpi.Step]bool            // transfers
	blocked bool                          // in a blocking step
}

// A replayedLink has the transfers that have not met their other half.
type replayedLink struct{ sends, receives []*mpi.Step }

func newReplay(a schedule.Algorithm, p schedule.Problem, mode schedule.Mode) *replay {
	r := &replay{links: make(map[[2]int]*replayedLink)}
	for rank, ops := range schedule.AllOps(nil, a, p) {
		x := replayedRank{steps: schedule.Lower(nil, ops, rank, mode), has: make([]bool, p.Bytes), isDone: make(map[*mpi.Step]bool)}
		for i := range x.has {
			x.has[i] = rank == p.Root
		}
		r.ranks = append(r.ranks, x)
	}
	return r
}

func (r *replay) run() error {
	for moved := true; moved; {
		moved = false
		for rank := range r.ranks {
			for {
				done, err := r.step(rank)
				if err != nil {
					return err
				}
				if !done {
					break
				}
				moved = true
			}
		}
	}
	for rank, x := range r.ranks {
		if len(x.steps) > 0 {
			return fmt.Errorf("rank %d waits for ever in %v", rank, x.steps[0])
		}
		for i, has := range x.has {
			if !has {
				return fmt.Errorf("rank %d ends without byte %d", rank, i)
			}
		}
	}
	return nil
}

// step performs the next step of a rank, and tells whether that was possible.
func (r *replay) step(rank int) (bool, error) {
	x := &r.ranks[rank]
	if len(x.steps) == 0 {
		return false, nil
	}
	s, set := &x.steps[0], mpi.StepSets
	if s.Kind >= mpi.StepStartSend {
		set = s.Set
	}
	if s.Kind != mpi.StepWait && !x.blocked {
		if err := r.post(rank, s); err != nil {
			return false, err
		}
		x.waits[set] = append(x.waits[set], s)
		x.blocked = set == mpi.StepSets
	}
	if s.Kind == mpi.StepWait || x.blocked {
		for _, transfer := range x.waits[set] {
			if !x.isDone[transfer] {
				return false, nil
			}
		}
		x.waits[set], x.blocked = nil, false
	}
	x.steps = x.steps[1:]
	return true, nil
}

// post lets a transfer meet its other half, if that is there.
func (r *replay) post(rank int, s *mpi.Step) error {
	from, to := rank, s.Peer
	receives := s.Kind == mpi.StepRecv || s.Kind == mpi.StepStartRecv
	if receives {
		from, to = to, from
	}
	link := r.links[[2]int{from, to}]
	if link == nil {
		link = &replayedLink{}
		r.links[[2]int{from, to}] = link
	}
	if receives {
		link.receives = append(link.receives, s)
	} else {
		link.sends = append(link.sends, s)
		for i := s.Offset; i < s.Offset+s.Length; i++ {
			if !r.ranks[rank].has[i] {
				return fmt.Errorf("rank %d sends byte %d before it has it", rank, i)
			}
		}
	}
	if len(link.sends) == 0 || len(link.receives) == 0 {
		return nil
	}
	sent, received := link.sends[0], link.receives[0]
	link.sends, link.receives = link.sends[1:], link.receives[1:]
	if sent.Offset != received.Offset || sent.Length != received.Length {
		return fmt.Errorf("rank %d has %v, where rank %d has %v", to, received, from, sent)
	}
	for i := sent.Offset; i < sent.Offset+sent.Length; i++ {
		if r.ranks[to].has[i] {
			return fmt.Errorf("rank %d gets byte %d twice", to, i)
		}
		r.ranks[to].has[i] = true
	}
	r.ranks[from].isDone[sent], r.ranks[to].isDone[received] = true, true
	return nil
}
