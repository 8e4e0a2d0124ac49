package bcast

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// plain hides all abilities of a communicator beyond the four of the seam.
type plain struct{ mpi.Communicator }

// nonBlocking hides all but NonBlocking.
type nonBlocking struct {
	mpi.Communicator
	mpi.NonBlocking
}

func hide(c mpi.Communicator, but string) mpi.Communicator {
	switch but {
	case "nothing":
		return plain{c}
	case "requests":
		return nonBlocking{c, c.(mpi.NonBlocking)}
	}
	return c
}

// modes in which nothing is timed.
var modes = []local.Mode{local.Buffered, local.Rendezvous}

// Every algorithm over both kinds of sends, by blocking calls and by requests,
// against the contents of the buffer.
func TestAlgorithmsBringEveryByte(t *testing.T) {
	const segment = 100
	rng := rand.New(rand.NewPCG(3, 4))
	counts := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64, 100}
	for _, ranks := range counts {
		tree := randomTree(rng, ranks)
		for _, mode := range modes {
			for _, abilities := range []string{"nothing", "requests"} {
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
					exec := newExecutor(hide(world, abilities), 5)
					for i, a := range algorithms() {
						for k, size := range []int{0, 1, 7, segment - 1, segment, segment + 1, 23 * segment} {
							p := Problem{Ranks: ranks, Root: (i + 3*k) % ranks, Bytes: size, Segment: segment, Tree: tree}
							buf := make([]byte, size)
							pattern := uint64(i*1000 + k)
							fill(buf, pattern, world.Rank() == p.Root)
							if err := exec.run(a.Ops(nil, p, world.Rank()), buf); err != nil {
								return fmt.Errorf("%v, %+v: %w", a, p, err)
							}
							if !matches(buf, pattern) {
								return fmt.Errorf("%v, %+v: rank %d has wrong bytes", a, p, world.Rank())
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Fatalf("%d ranks, mode %v, %s: %v", ranks, mode, abilities, err)
				}
			}
		}
	}
}

func TestBroadcasterBringsEveryByte(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5, 8, 13} {
		for _, s := range []Settings{
			{Budget: time.Millisecond},
			{ModelOnly: true, Tag: 77},
			{ModelOnly: true, Network: networkOf(t, regularTree(t, ranks, 2, 3))},
			{Network: networkOf(t, regularTree(t, ranks, 2, 2)), Budget: time.Millisecond},
		} {
			for _, abilities := range []string{"nothing", "all"} {
				err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
					own := s
					if world.Rank() != 0 {
						own.Network = nil // the others get it from rank 0
					}
					b, err := New(hide(world, abilities), &own)
					if err != nil {
						return err
					}
					for i, size := range []int{0, 1, 7, 8, 9, 1025, 70000, 1 << 20} {
						for _, root := range []int{0, ranks - 1, i % ranks} {
							buf := make([]byte, size)
							pattern := uint64(1000*i + root)
							fill(buf, pattern, world.Rank() == root)
							if err := b.Bcast(buf, root); err != nil {
								return err
							}
							if !matches(buf, pattern) {
								return fmt.Errorf("rank %d: wrong bytes, size %d, root %d", world.Rank(), size, root)
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Fatalf("%d ranks, %+v, %s: %v", ranks, s, abilities, err)
				}
			}
		}
	}
}

// A message of more segments than are laid out at once.
func TestLongMessageInParts(t *testing.T) {
	const size = minSegment*maxSegments*2 + 12345
	err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
		b, err := New(world, nil)
		if err != nil {
			return err
		}
		r := b.newRoute(candidate{Plan{Algorithm: Chain{}, Segment: minSegment}, 2}, 1)
		buf := make([]byte, size)
		fill(buf, 9, world.Rank() == 1)
		if err := b.follow(r, buf, 1); err != nil {
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

func TestAllRanksHaveTheSamePlan(t *testing.T) {
	const ranks = 12
	var mu sync.Mutex
	plans := make(map[string]string) // question -> answer
	network := networkOf(t, regularTree(t, ranks, 2, 3))
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
			if err := b.Tune(root, 8, 64<<10); err != nil {
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

func TestMisuseIsAnErrorOnEveryRank(t *testing.T) {
	network := networkOf(t, regularTree(t, 6, 2))
	err := local.Run(4, nil, func(world mpi.Communicator) error {
		var wrong []string
		expect := func(what string, err error, want error, text string) {
			if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
				wrong = append(wrong, fmt.Sprintf("%s: error %v, want %v with %q", what, err, want, text))
			}
		}
		_, err := New(world, &Settings{Tag: -1})
		expect("tag -1", err, mpi.ErrTag, "tag -1")
		_, err = New(world, &Settings{Tag: mpi.MaxTag + 1})
		expect("tag too large", err, mpi.ErrTag, "tag 32768")
		_, err = New(world, &Settings{Budget: -1})
		expect("budget", err, nil, "budget -1ns")
		s := &Settings{}
		if world.Rank() == 0 {
			s.Network = network
		}
		_, err = New(world, s)
		expect("network of 6", err, nil, "bcast: new: ")
		b, err := New(world, nil)
		if err != nil {
			return err
		}
		for _, root := range []int{-1, 4} {
			text := fmt.Sprintf("root %d", root)
			expect("Bcast", b.Bcast(make([]byte, 3), root), mpi.ErrRank, text)
			expect("empty Bcast", b.Bcast(nil, root), mpi.ErrRank, text)
			expect("Tune", b.Tune(root, 3), mpi.ErrRank, text)
			_, err = b.Plan(3, root)
			expect("Plan", err, mpi.ErrRank, text)
			_, err = Benchmark(b, &BenchmarkSettings{Root: root})
			expect("Benchmark", err, mpi.ErrRank, text)
		}
		expect("Tune", b.Tune(0, 8, -8), nil, "size -8")
		_, err = Benchmark(b, &BenchmarkSettings{Sizes: []int{-1}})
		expect("Benchmark", err, nil, "size -1")
		_, err = Benchmark(b, &BenchmarkSettings{Reps: -1})
		expect("Benchmark", err, nil, "-1 repetitions")
		if wrong != nil {
			return errors.New(strings.Join(wrong, "\n"))
		}
		buf := []byte{byte(world.Rank())}
		if err := b.Bcast(buf, 3); err != nil || !bytes.Equal(buf, []byte{3}) {
			return fmt.Errorf("after the misuse: %v, %v", buf, err)
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
		exec := newExecutor(hide(world, "nothing"), 5)
		if world.Rank() == 0 {
			return world.Send(make([]byte, 3), 1, 5)
		}
		err := exec.run(Flat{}.Ops(nil, Problem{Ranks: 2, Bytes: 4}, 1), make([]byte, 4))
		if !errors.Is(err, mpi.ErrLength) || !strings.HasPrefix(err.Error(), "bcast: rank 1: recv [0, 4) peer 0: ") {
			return fmt.Errorf("error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBcastDoesNotAllocateOnceWarm(t *testing.T) {
	network := networkOf(t, regularTree(t, 4, 2))
	for _, s := range []*Settings{nil, {ModelOnly: true}, {ModelOnly: true, Network: network}} {
		for _, abilities := range []string{"nothing", "requests", "all"} {
			for _, size := range []int{8, 1000, 1 << 20} {
				const runs = 20
				// With Rendezvous no rank runs ahead, so nothing that is buffered grows.
				err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
					b, err := New(hide(world, abilities), s)
					if err != nil {
						return err
					}
					buf := make([]byte, size)
					run := func() {
						if err := b.Bcast(buf, 1); err != nil {
							t.Error(err)
						}
					}
					for range 50 {
						run()
					}
					if world.Rank() != 0 {
						for range runs + 1 { // AllocsPerRun runs once more to warm up
							run()
						}
						return nil
					}
					// Counts what all ranks allocate.
					if n := testing.AllocsPerRun(runs, run); n != 0 {
						t.Errorf("%+v, %s, %d bytes: %g allocations per Bcast", s, abilities, size, n)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
