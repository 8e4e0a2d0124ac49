package bcast

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"testing"
	"time"

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
					return bringEveryByte(hide(world, abilities))
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
		for _, s := range []Settings{
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
			exec := newExecutor(world, 1)
			for i, a := range casttest.Algorithms() {
				p := schedule.Problem{Ranks: ranks, Root: i % ranks, Bytes: bytes, Segment: segment, Tree: tree}
				err := verified(world, p.Bytes, p.Root, func(buf []byte) error {
					return exec.performOps(a.Prepare(p).Of(world.Rank()).Ops(nil, p), buf, false)
				})
				if err != nil {
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
			return broadcast(world, Settings{Budget: time.Millisecond})
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
				b, err := New(world, &Settings{Network: c.network(world.Rank()), ModelOnly: true})
				if err != nil {
					return err
				}
				groups, want := -1, -1
				if c.want != nil {
					want = len(c.want.Hierarchy().Groups())
				}
				if b.groups.tree != nil {
					groups = len(b.groups.tree.Groups())
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

// A message of more segments than are laid out at once.
func TestLongMessageInParts(t *testing.T) {
	const size = predict.MinSegment*maxSegments*2 + 12345
	err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
		b, err := New(world, nil)
		if err != nil {
			return err
		}
		r := b.compile(predict.Plan{Index: 2, Algorithm: schedule.Chain{}, Segment: predict.MinSegment}, 1<<20, 1)
		buf := make([]byte, size)
		fill(buf, 9, world.Rank() == 1)
		if err := b.perform(r, buf, 1); err != nil {
			return err
		}
		if !matches(buf, 9) {
			return fmt.Errorf("rank %d: wrong bytes", world.Rank())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is laid out at once is formed without an overflow on any machine:
// 4096 segments of 1 MiB are 2^32 bytes, which an int of 32 bits takes for 0,
// and the broadcast of it never ended.
func TestPartsDoNotOverflow(t *testing.T) {
	for _, c := range []struct{ bytes, segment, want int }{
		{100, 0, 100},
		{100, 7, 100},
		{maxSegments*7 - 1, 7, maxSegments*7 - 1},
		{maxSegments * 7, 7, maxSegments * 7},
		{maxSegments*7 + 1, 7, maxSegments * 7},
		{3 << 20, 1 << 20, 3 << 20},
		{5000, 1 << (bits.UintSize - 12), 5000}, // times 4096 it is 0 in an int
		{math.MaxInt, math.MaxInt, math.MaxInt},
		{math.MaxInt, math.MaxInt / maxSegments, math.MaxInt / maxSegments * maxSegments},
	} {
		if got := (&compiledPlan{Plan: predict.Plan{Segment: c.segment}}).partBytes(c.bytes); got != c.want {
			t.Errorf("partBytes(%d) = %d with segments of %d, want %d", c.bytes, got, c.segment, c.want)
		}
	}
}

// After Tune the first broadcast is as fast as the next: all is decided, and
// measured against the library, for the classes of the sizes and no others.
func TestTuneDecides(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		err := local.Run(ranks, nil, func(world mpi.Communicator) error {
			b, err := New(world, nil)
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
				if undecided := !c.tuned && world.Rank() > 0; (err != nil) != undecided || (b.compiledFor(c.bytes, 1) != nil) != c.tuned || (err == nil && plan.MeasuredNative >= 0) != c.tuned {
					return fmt.Errorf("%d ranks, %d bytes: %v, %v, want it decided: %v", ranks, c.bytes, plan, err, c.tuned)
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
		s := &Settings{Budget: time.Millisecond}
		if world.Rank() == 0 {
			s.Network = network
		}
		b, err := New(world, s)
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
		b, err := New(world, nil)
		if err != nil {
			return err
		}
		f := make([]float64, 5)
		c := make([]celsius, 3)
		z := make([]complex128, 2)
		if world.Rank() == 2 {
			f, c, z = []float64{1, -2, 3.5, 1e300, 0}, []celsius{-3, 0.5, 7}, []complex128{1i, 2}
		}
		for _, err := range []error{BcastSlice(b, f, 2), BcastSlice(b, c, 2), BcastSlice(b, z, 2), BcastSlice(b, []int32(nil), 2)} {
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

// Real transfers fail: the error tells the rank, the step and the cause.
func TestErrorOfATransfer(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		for _, abilities := range []string{"nothing", "steps"} {
			exec := newExecutor(hide(world, abilities), 5)
			p := schedule.Problem{Ranks: 2, Bytes: 4, Segment: 2}
			if world.Rank() == 0 {
				if err := errors.Join(world.Send(make([]byte, 2), 1, 5), world.Send(make([]byte, 1), 1, 5)); err != nil {
					return err
				}
				continue
			}
			err := exec.performOps(schedule.Flat{}.Prepare(p).Of(1).Ops(nil, p), make([]byte, 4), false)
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
	for _, s := range []*Settings{nil, {ModelOnly: true}, {ModelOnly: true, Network: network}} {
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
		b, err := New(plain{world}, nil)
		if err != nil {
			return err
		}
		for range 2 { // before and after the first broadcast
			plan, err := b.Plan(100, 0)
			if world.Rank() == 0 && (err != nil || !math.IsNaN(plan.Predicted) || plan.Algorithm == nil) {
				return fmt.Errorf("rank %d without a network: %v, %v", world.Rank(), plan, err)
			}
			if err := b.Tune([]int{0}, 100); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
