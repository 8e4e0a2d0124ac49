package bcast_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// modes in which nothing is timed.
var modes = []local.Mode{local.Buffered, local.Rendezvous}

func TestAlgorithmsBringEveryByte(t *testing.T) {
	counts := []int{1, 2, 3, 5, 8, 17}
	if tooltest.Long() {
		counts = append(counts, 40)
	}
	for _, ranks := range counts {
		for _, mode := range modes {
			for _, abilities := range []string{"nothing", "requests", "steps"} {
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
					return bringEveryByte(t, hide(world, abilities))
				})
				if err != nil {
					t.Fatalf("%d ranks, mode %v, %s: %v", ranks, mode, abilities, err)
				}
			}
		}
	}
}

func TestBroadcasterBringsEveryByte(t *testing.T) {
	counts := []int{1, 3}
	if tooltest.Long() {
		counts = []int{1, 2, 3, 5, 8}
	}
	for _, ranks := range counts {
		for _, s := range []bcast.Settings{
			{Budget: time.Millisecond},
			{ModelOnly: true, Tag: 77},
			{ModelOnly: true, Network: casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2, 3))},
			{Budget: time.Millisecond, Network: casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2, 2))},
		} {
			for _, abilities := range []string{"nothing", "all"} {
				err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
					return broadcast(hide(world, abilities), s)
				})
				if err != nil {
					t.Fatalf("%d ranks, %+v, %s: %v", ranks, s, abilities, err)
				}
			}
		}
	}
}

func TestOneMegabyteByEveryAlgorithm(t *testing.T) {
	const ranks = 9
	bytes, segment := 1<<20, 8<<10
	if testing.Short() { // as many segments
		bytes, segment = bytes/8, segment/8
	}
	tree := casttest.RegularTree(t, ranks, 2, 2)
	for _, mode := range modes {
		err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
			b, err := along(t, world, tree)
			if err != nil {
				return err
			}
			for i, a := range casttest.Algorithms() {
				root := i % ranks
				if err := verified(world, bytes, root, by(b, predict.Plan{Algorithm: a, Segment: segment}, bytes, root)); err != nil {
					return fmt.Errorf("%v: %w", a, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("mode %v: %v", mode, err)
		}
	}
}

// Spinning ranks, bound to cores where there are enough of them.
func TestBroadcasterOverPinnedRanks(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		err := local.Run(ranks, &local.Settings{Mode: local.Pinned}, func(world mpi.Communicator) error {
			return broadcast(world, bcast.Settings{Budget: time.Millisecond})
		})
		if err != nil {
			t.Fatalf("%d ranks: %v", ranks, err)
		}
	}
}

// Whatever the other ranks bring along, the network of rank 0 counts.
func TestNetworkOfRank0Counts(t *testing.T) {
	const ranks = 6
	good, other := casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 3)), casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2))
	for _, c := range []struct {
		name    string
		network func(rank int) *model.Network
		want    *model.Network
	}{
		{"only rank 0 has one", func(rank int) *model.Network { return []*model.Network{good, nil, nil, nil, nil, nil}[rank] }, good},
		{"all have the same", func(int) *model.Network { return good }, good},
		{"one has another", func(rank int) *model.Network { return []*model.Network{good, good, good, other, good, good}[rank] }, good},
		{"all but rank 0 have one", func(rank int) *model.Network { return []*model.Network{nil, good, good, good, good, good}[rank] }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := local.Run(ranks, nil, func(world mpi.Communicator) error {
				b, err := bcast.New(world, &bcast.Settings{Network: c.network(world.Rank()), ModelOnly: true})
				if err != nil {
					return err
				}
				groups, want := -1, -1
				if c.want != nil {
					want = len(c.want.Hierarchy().Groups())
				}
				if tree := problemOf(b).Tree; tree != nil {
					groups = len(tree.Groups())
				}
				if groups != want {
					return fmt.Errorf("rank %d: %d groups, want %d", world.Rank(), groups, want)
				}
				return verified(world, 1000, 5, func(buf []byte) error { return b.Bcast(buf, 5) })
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// most is a performer that counts the steps of its longest list.
type most struct {
	performer
	steps int
}

func (m *most) Perform(buf []byte, steps []mpi.Step, tag int) (int, error) {
	m.steps = max(m.steps, len(steps))
	return m.performer.Perform(buf, steps, tag)
}

// A message of more segments than fit into a program is broadcast in parts. In the middle of a chain a segment takes four
// steps: a receive, a send, and their waits. The last receive has a wait of its own.
func TestLongMessageInParts(t *testing.T) {
	const segments = 4096
	const size = predict.MinSegment*segments*2 + 12345
	err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
		m := &most{performer: performer{world}}
		b, err := bcast.New(m, nil)
		if err != nil {
			return err
		}
		plan := predict.Plan{Algorithm: schedule.Chain{}, Segment: predict.MinSegment}
		if err := verified(world, size, 1, by(b, plan, size, 1)); err != nil {
			return err
		}
		if m.steps > 4*segments+1 || m.steps < segments {
			return fmt.Errorf("rank %d: %d steps at once, want those of %d segments", world.Rank(), m.steps, segments)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// After Tune the first broadcast is as fast as the next: all is decided, and
// measured against the library, for the classes of the sizes and no others.
func TestTuneDecides(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		err := local.Run(ranks, nil, func(world mpi.Communicator) error {
			c := &wire{Communicator: world, NonBlocking: world.(mpi.NonBlocking), NativeBcast: world.(mpi.NativeBcast)}
			b, err := bcast.New(c, nil)
			if err != nil {
				return err
			}
			if err := b.Tune([]int{1}, 100, 0, 5000); err != nil {
				return err
			}
			for _, c := range []struct {
				bytes int
				tuned bool
			}{{100, true}, {65, true}, {128, true}, {64, false}, {129, false}, {4097, true}, {8193, false}} {
				plan, err := b.Plan(c.bytes, 1)
				if (err == nil) != c.tuned || (err == nil && plan.MeasuredNative >= 0) != c.tuned {
					return fmt.Errorf("%d ranks, %d bytes: %v, %v, want it decided: %v", ranks, c.bytes, plan, err, c.tuned)
				}
			}
			for _, bytes := range []int{100, 65, 128, 4097} {
				var messages [2]int
				for i := range messages {
					c.messages = 0
					if err := verified(world, bytes, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
						return err
					}
					messages[i] = c.messages
				}
				if messages[0] != messages[1] || messages[0] == 0 {
					return fmt.Errorf("%d ranks, %d bytes: %d messages of the first broadcast, %d of the next: want as many", ranks, bytes, messages[0], messages[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAllRanksHaveTheSamePlan(t *testing.T) {
	const ranks = 12
	var mu sync.Mutex
	plans := make(map[string]string) // question -> answer
	network := casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2, 3))
	err := local.Run(ranks, nil, func(world mpi.Communicator) error {
		s := &bcast.Settings{Budget: time.Millisecond}
		if world.Rank() == 0 {
			s.Network = network
		}
		b, err := bcast.New(world, s)
		if err != nil {
			return err
		}
		for root := range 3 {
			if err := b.Tune([]int{root}, 8, 64<<10); err != nil {
				return err
			}
			for _, size := range []int{7, 8, 64 << 10} {
				plan, err := b.Plan(size, root)
				if err != nil {
					return err
				}
				question := fmt.Sprintf("%d bytes from %d", size, root)
				mu.Lock()
				if other, ok := plans[question]; ok && other != plan.String() {
					err = fmt.Errorf("%s: rank %d says %v, another %s", question, world.Rank(), plan, other)
				}
				plans[question] = plan.String()
				mu.Unlock()
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 9 {
		t.Errorf("%d questions answered, want 9", len(plans))
	}
}

func TestBcastSliceOfAnyNumber(t *testing.T) {
	type celsius float32
	err := local.Run(3, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(world, nil)
		if err != nil {
			return err
		}
		f := make([]float64, 5)
		c := make([]celsius, 3)
		z := make([]complex128, 2)
		if world.Rank() == 2 {
			f, c, z = []float64{1, -2, 3.5, 1e300, 0}, []celsius{-3, 0.5, 7}, []complex128{1i, 2}
		}
		for _, err := range []error{bcast.BcastSlice(b, f, 2), bcast.BcastSlice(b, c, 2), bcast.BcastSlice(b, z, 2), bcast.BcastSlice(b, []int32(nil), 2)} {
			if err != nil {
				return err
			}
		}
		if got, want := fmt.Sprint(f, c, z), "[1 -2 3.5 1e+300 0] [-3 0.5 7] [(0+1i) (2+0i)]"; got != want {
			return fmt.Errorf("rank %d: got %s, want %s", world.Rank(), got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wire counts what a rank asks of its communicator: sends, receives, and native broadcasts.
type wire struct {
	mpi.Communicator
	mpi.NonBlocking
	mpi.NativeBcast
	messages int
	natives  int // those of the messages that are native broadcasts
	tags     map[int]bool
}

func (w *wire) count(tag int) {
	w.messages++
	if w.tags == nil {
		w.tags = make(map[int]bool)
	}
	w.tags[tag] = true
}

func (w *wire) Send(buf []byte, dst, tag int) error {
	w.count(tag)
	return w.Communicator.Send(buf, dst, tag)
}

func (w *wire) Recv(buf []byte, src, tag int) error {
	w.count(tag)
	return w.Communicator.Recv(buf, src, tag)
}

func (w *wire) Bcast(buf []byte, root int) error {
	w.messages++
	w.natives++
	return w.NativeBcast.Bcast(buf, root)
}

func (w *wire) NewRequests() mpi.Requests { return wireRequests{w.NonBlocking.NewRequests(), w} }

type wireRequests struct {
	mpi.Requests
	wire *wire
}

func (r wireRequests) Isend(buf []byte, dst, tag int) error {
	r.wire.count(tag)
	return r.Requests.Isend(buf, dst, tag)
}

func (r wireRequests) Irecv(buf []byte, src, tag int) error {
	r.wire.count(tag)
	return r.Requests.Irecv(buf, src, tag)
}

// Real transfers fail: the error tells the rank, the step and the cause.
func TestErrorOfATransfer(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		for _, abilities := range []string{"nothing", "steps"} {
			b, err := bcast.New(hide(world, abilities), &bcast.Settings{ModelOnly: true, Tag: 5})
			if err != nil {
				return err
			}
			if world.Rank() == 0 {
				if err := errors.Join(world.Send(make([]byte, 2), 1, 5), world.Send(make([]byte, 1), 1, 5)); err != nil {
					return err
				}
				continue
			}
			err = by(b, predict.Plan{Algorithm: schedule.Flat{}, Segment: 2}, 4, 0)(make([]byte, 4))
			if !errors.Is(err, mpi.ErrLength) || !strings.HasPrefix(err.Error(), "bcast: rank 1: receive [2, 4) peer 0: ") {
				return fmt.Errorf("%s: error %v", abilities, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMisuseIsAnErrorOnEveryRank(t *testing.T) {
	network := casttest.NetworkOf(t, casttest.RegularTree(t, 6, 2))
	err := local.Run(4, nil, func(world mpi.Communicator) error { return misuse(world, network) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestBcastDoesNotAllocateOnceWarm(t *testing.T) {
	network := casttest.NetworkOf(t, casttest.RegularTree(t, 4, 2))
	for _, s := range []*bcast.Settings{nil, {ModelOnly: true}, {ModelOnly: true, Network: network}} {
		for _, abilities := range []string{"nothing", "requests", "all"} {
			for _, size := range []int{8, 1000, 200 << 10} {
				// With Rendezvous no rank runs ahead, so nothing that is buffered grows.
				// One rank counts what all allocate.
				err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
					n, err := allocations(hide(world, abilities), s, size, world.Rank() == 0)
					if err == nil && n != 0 {
						err = fmt.Errorf("%g allocations per Bcast", n)
					}
					return err
				})
				if err != nil {
					t.Errorf("%+v, %s, %d bytes: %v", s, abilities, size, err)
				}
			}
		}
	}
}

// Nothing is predicted where nothing is known.
func TestPlanWithoutANetworkTellsNoGuess(t *testing.T) {
	err := local.Run(3, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(plain{world}, nil)
		if err != nil {
			return err
		}
		plans, err := b.Candidates(100, 0)
		if err != nil {
			return err
		}
		if err := b.Tune([]int{0}, 100); err != nil {
			return err
		}
		plan, err := b.Plan(100, 0)
		if err != nil {
			return err
		}
		for _, p := range append(plans, plan) {
			if !math.IsNaN(p.Predicted) || p.Algorithm == nil {
				return fmt.Errorf("rank %d without a network: %v", world.Rank(), p)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
