package bcast_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// nativeInGroups broadcasts by every plan that ends in native broadcasts in groups, over random groups of the
// ranks of the communicator, which is left as it was.
func nativeInGroups(comm mpi.Communicator, problems int, seed uint64, network func(*rand.Rand, int) *model.Network) error {
	rng := rand.New(rand.NewPCG(seed, 17)) // the same on all ranks
	for range problems {
		b, err := bcast.New(comm, &bcast.Settings{Network: network(rng, comm.Size()), Algorithms: []schedule.Algorithm{schedule.NativeGroups{}}})
		if err != nil {
			return err
		}
		for _, a := range schedule.Variants([]schedule.Algorithm{schedule.NativeGroups{}}, problemOf(b)) {
			c := predict.Plan{Algorithm: a, Segment: rng.IntN(2) * (1 + rng.IntN(500)), Blocking: rng.IntN(2) > 0}
			root, size := rng.IntN(comm.Size()), rng.IntN(5000)
			if err := verified(comm, size, root, by(b, c, max(1, size), root)); err != nil {
				return fmt.Errorf("%v from %d: %w", c.How(), root, err)
			}
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// inPartsToo is nativeInGroups on all ranks, on halves of them in the opposite order, and on ranks of which a network
// knows the places among others.
func inPartsToo(t testing.TB, comm mpi.Communicator, problems int) error {
	random := func(rng *rand.Rand, ranks int) *model.Network {
		return casttest.NetworkOf(t, casttest.RandomTree(rng, ranks))
	}
	if err := nativeInGroups(comm, problems, 1, random); err != nil {
		return err
	}
	half, err := comm.(mpi.Splitter).Split(comm.Rank()%2, -comm.Rank())
	if err != nil {
		return err
	}
	if err := nativeInGroups(half, problems, 2, random); err != nil {
		return fmt.Errorf("half of the ranks: %w", err)
	}
	if err := half.(io.Closer).Close(); err != nil {
		return err
	}
	host := func(i int) model.Location { return model.Location{Host: fmt.Sprint("host", i), Core: -1} }
	view := func(rng *rand.Rand, ranks int) *model.Network { // two hosts more, backwards
		var at []model.Location
		for i := ranks + 1; i >= 0; i-- {
			at = append(at, host(i))
		}
		return casttest.NetworkAt(t, casttest.RandomTree(rng, ranks+2), at)
	}
	if err := nativeInGroups(splitting{place(comm, host(comm.Rank())), comm.(mpi.Splitter)}, problems, 3, view); err != nil {
		return fmt.Errorf("a view: %w", err)
	}
	return nil
}

// splitting is a placed communicator that can be split.
type splitting struct {
	placed
	mpi.Splitter
}

func TestNativeInGroupsBringsEveryByte(t *testing.T) {
	problems := 8
	if testing.Short() {
		problems = 3
	}
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		for _, ranks := range []int{1, 4, 11} {
			if err := local.Run(ranks, &local.Settings{Mode: mode}, func(c mpi.Communicator) error { return inPartsToo(t, c, problems) }); err != nil {
				t.Errorf("%d ranks, mode %v: %v", ranks, mode, err)
			}
		}
	}
}

// Where the communicator cannot be split, or has no broadcast of its own, or its parts have none, no plan
// rests on one, whatever the settings say. Nor where native is never to be used.
func TestOnlyLibrariesBroadcastInGroups(t *testing.T) {
	tree := casttest.RegularTree(t, 4, 2)
	for _, x := range []struct {
		name   string
		hidden func(mpi.Communicator) mpi.Communicator
		tree   *topology.Hierarchy
		only   bool // predictions
		want   bool
	}{
		{"all abilities", func(c mpi.Communicator) mpi.Communicator { return c }, tree, false, true},
		{"no groups", func(c mpi.Communicator) mpi.Communicator { return c }, nil, false, false},
		{"predictions only", func(c mpi.Communicator) mpi.Communicator { return c }, tree, true, false},
		{"no Splitter", func(c mpi.Communicator) mpi.Communicator {
			return struct {
				mpi.Communicator
				mpi.NativeBcast
				mpi.Placed
			}{c, c.(mpi.NativeBcast), c.(mpi.Placed)}
		}, tree, false, false},
		{"no NativeBcast", func(c mpi.Communicator) mpi.Communicator {
			return struct {
				mpi.Communicator
				mpi.Splitter
				mpi.Placed
			}{c, c.(mpi.Splitter), c.(mpi.Placed)}
		}, tree, false, false},
		{"parts without", func(c mpi.Communicator) mpi.Communicator {
			return partless{c, c.(mpi.NativeBcast), c.(mpi.Placed), c.(mpi.Splitter)}
		}, tree, false, false},
	} {
		for _, algorithms := range [][]schedule.Algorithm{nil, {schedule.NativeGroups{}, schedule.Chain{}}} {
			err := local.Run(4, nil, func(c mpi.Communicator) error {
				at, err := bcast.Locations(c)
				if err != nil {
					return err
				}
				s := &bcast.Settings{Algorithms: algorithms, ModelOnly: x.only}
				if x.tree != nil {
					s.Network = casttest.NetworkAt(t, x.tree, at)
				}
				split := &splits{Splitter: c.(mpi.Splitter)}
				b, err := bcast.New(x.hidden(splitting{place(c, at[c.Rank()]), split}), s)
				if err != nil {
					return err
				}
				names, err := candidateNames(b, 100, 1)
				if err != nil {
					return err
				}
				if got := slices.Contains(names, "native-groups"); got != x.want || (split.open > 0) != x.want {
					return fmt.Errorf("candidates %v, %d communicators of groups", names, split.open)
				}
				if err := verified(c, 100, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
					return err
				}
				if err := b.Close(); err != nil || split.open != 0 {
					return fmt.Errorf("after Close %d communicators of groups are left: %w", split.open, err)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
}

// splits counts the communicators that are made of a part of the ranks, and not closed.
type splits struct {
	mpi.Splitter
	open, made int
	fails      int // which split fails, from 1 on; 0: none
}

func (s *splits) Split(color, key int) (mpi.Communicator, error) {
	if s.made++; s.made == s.fails {
		return nil, errSplit
	}
	c, err := s.Splitter.Split(color, key)
	if c == nil || err != nil {
		return nil, err
	}
	s.open++
	return piece{c, c.(mpi.NativeBcast), &s.open}, nil
}

// Where the split into the groups of one level fails, those of the levels before are closed.
func TestGroupsAreClosedWhereOneFails(t *testing.T) {
	err := local.Run(8, nil, func(c mpi.Communicator) error {
		at, err := bcast.Locations(c)
		if err != nil {
			return err
		}
		split := &splits{Splitter: c.(mpi.Splitter), fails: 2}
		s := &bcast.Settings{Network: casttest.NetworkAt(t, casttest.RegularTree(t, 8, 2, 2), at), Algorithms: []schedule.Algorithm{schedule.NativeGroups{}, schedule.Chain{}}}
		b, err := bcast.New(splitting{place(c, at[c.Rank()]), split}, s)
		if !errors.Is(err, errSplit) || split.made != 2 || split.open != 0 {
			return fmt.Errorf("New = %v, %v: %d splits, %d communicators of groups are left", b, err, split.made, split.open)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

var errSplit = errors.New("no more communicators")

// partless has a broadcast, and its parts have none.
type partless struct {
	mpi.Communicator
	mpi.NativeBcast
	mpi.Placed
	splitter mpi.Splitter
}

func (p partless) Split(color, key int) (mpi.Communicator, error) {
	c, err := p.splitter.Split(color, key)
	if p, ok := c.(piece); ok {
		return struct {
			mpi.Communicator
			io.Closer
		}{c, p}, err
	}
	return c, err
}

// A piece is a part of a library, and broadcasts otherwise.
type piece struct {
	mpi.Communicator
	mpi.NativeBcast
	open *int
}

func (p piece) Close() error { *p.open--; return nil }

// A divisible is a library on simulated ranks that can be split.
type divisible struct {
	*library
	open, made int
}

func (h *divisible) Split(color, key int) (mpi.Communicator, error) {
	c, err := h.library.Comm.Split(color, key)
	if c == nil || err != nil {
		return c, err
	}
	h.open++
	h.made++
	return piece{c, newLibrary(c, schedule.Binomial{}, 0), &h.open}, nil
}

// Two racks, and a library that is bad between them and good inside: the plan that leaves the inside to it wins
// by the test, is in the table, and the next job starts with it. Its times in groups were measured, because the plan is
// predicted, and guesses are not shown. Nothing is allocated once warm, and Close leaves no communicator.
func TestNativeInGroupsIsTunedAndKept(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	const size = 3000
	algorithms := []schedule.Algorithm{schedule.NativeGroups{}}
	how := ""
	for job := range 2 {
		err := simnet.Run(c.Graph, []int{0, 3, 1, 4, 2, 5}, overheads, func(comm mpi.Communicator) error {
			h := &divisible{library: newLibrary(comm, schedule.Chain{}, 0)}
			b, err := bcast.New(h, &bcast.Settings{Network: n, Algorithms: algorithms})
			if err != nil {
				return err
			}
			if job == 0 {
				if err := b.Tune([]int{0}, size); err != nil {
					return err
				}
			}
			plan, err := b.Plan(size, 0)
			if err != nil || plan.Name() != "native-groups" {
				return fmt.Errorf("job %d: %v, %v", job, plan, err)
			}
			switch {
			case job > 0 && plan.How() != how:
				return fmt.Errorf("the next job has %v, want %s", plan, how)
			case job == 0 && !(plan.Measured < plan.MeasuredNative && plan.Predicted > 0):
				return fmt.Errorf("%v", plan)
			}
			if job == 0 && comm.Rank() == 0 {
				how = plan.How()
				tuned, err := b.Table(time.Time{})
				if err != nil {
					return err
				}
				if n, err = tuned.Keep(n); err != nil {
					return err
				}
			}
			for root := range comm.Size() {
				if err := verified(comm, size, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
					return err
				}
			}
			if h.made != 1 || h.open != 1 {
				return fmt.Errorf("%d communicators were made, %d are open", h.made, h.open)
			}
			for range 2 {
				if err := b.Close(); err != nil {
					return err
				}
			}
			if h.open != 0 {
				return fmt.Errorf("%d communicators are left", h.open)
			}
			if err := b.Bcast(make([]byte, size), 0); err == nil || !strings.Contains(err.Error(), "the broadcaster is closed") {
				return fmt.Errorf("a broadcast after Close: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBcastInGroupsDoesNotAllocate(t *testing.T) {
	network := casttest.NetworkOf(t, casttest.RegularTree(t, 4, 2))
	err := local.Run(4, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
		b, err := bcast.New(twoByTwo{c, c.(mpi.NativeBcast)}, &bcast.Settings{Network: network, Algorithms: []schedule.Algorithm{schedule.NativeGroups{}}})
		if err != nil {
			return err
		}
		const size = 3000
		plans, err := b.Candidates(size, 0)
		if err != nil {
			return err
		}
		plans[0].Segment = 1000
		b.Decide(plans[0], size, 0)
		buf := make([]byte, size)
		var failed error
		run := func() {
			if err := b.Bcast(buf, 0); err != nil {
				failed = err
			}
		}
		const runs = 20
		for range 50 {
			run()
		}
		if c.Rank() == 0 {
			if n := testing.AllocsPerRun(runs, run); n != 0 {
				return fmt.Errorf("%g allocations per Bcast, want 0", n)
			}
			return failed
		}
		for range runs + 1 {
			run()
		}
		return failed
	})
	if err != nil {
		t.Error(err)
	}
}

// twoByTwo has parts of two ranks, whose broadcast does not allocate.
type twoByTwo struct {
	mpi.Communicator
	mpi.NativeBcast
}

func (c twoByTwo) Split(color, key int) (mpi.Communicator, error) {
	part, err := c.Communicator.(mpi.Splitter).Split(color, key)
	return two{part}, err
}

type two struct{ mpi.Communicator }

func (c two) Bcast(buf []byte, root int) error {
	if c.Rank() == root {
		return c.Send(buf, 1-root, 0)
	}
	return c.Recv(buf, root, 0)
}
