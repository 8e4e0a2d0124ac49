package bcast_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// placed is a communicator whose ranks run where a test wants them.
type placed struct {
	mpi.Communicator
	mpi.NonBlocking
	mpi.NativeBcast
	at model.Location
}

func place(c mpi.Communicator, at model.Location) placed {
	return placed{c, c.(mpi.NonBlocking), c.(mpi.NativeBcast), at}
}

func (p placed) Place() mpi.Place { return mpi.Place{Host: p.at.Host, Core: p.at.Core} }

// plain hides all abilities of a communicator beyond the four of the seam.
type plain struct{ mpi.Communicator }

// nonBlocking hides all but NonBlocking.
type nonBlocking struct {
	mpi.Communicator
	mpi.NonBlocking
}

// performer has one ability, mpi.Scheduler, and performs steps as they stand.
type performer struct{ mpi.Communicator }

func (p performer) Perform(buf []byte, steps []mpi.Step, tag int) (int, error) {
	var sets [mpi.StepSets]mpi.Requests
	for i := range sets {
		sets[i] = p.Communicator.(mpi.NonBlocking).NewRequests()
	}
	for i, s := range steps {
		var err error
		switch s.Kind {
		case mpi.StepSend:
			err = p.Send(buf[s.Offset:s.Offset+s.Length], s.Peer, tag)
		case mpi.StepRecv:
			err = p.Recv(buf[s.Offset:s.Offset+s.Length], s.Peer, tag)
		case mpi.StepStartSend:
			err = sets[s.Set].Isend(buf[s.Offset:s.Offset+s.Length], s.Peer, tag)
		case mpi.StepStartRecv:
			err = sets[s.Set].Irecv(buf[s.Offset:s.Offset+s.Length], s.Peer, tag)
		case mpi.StepWait:
			err = sets[s.Set].WaitAll()
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// hide leaves a communicator the abilities of the name.
func hide(c mpi.Communicator, but string) mpi.Communicator {
	switch but {
	case "nothing":
		return plain{c}
	case "requests":
		return nonBlocking{c, c.(mpi.NonBlocking)}
	case "steps":
		return performer{c}
	}
	return c
}

// What follows is what every rank does in the tests that run both in one
// process and on real MPI libraries.

// bringEveryByte runs all algorithms against the contents of the buffer.
func bringEveryByte(t testing.TB, world mpi.Communicator) error {
	const segment = 100
	ranks := world.Size()
	without, err := along(t, world, nil)
	if err != nil {
		return err
	}
	tree := casttest.RandomTree(rand.New(rand.NewPCG(3, uint64(ranks))), ranks)
	with, err := along(t, world, tree)
	if err != nil {
		return err
	}
	for i, a := range casttest.Algorithms() {
		for k, size := range []int{0, 1, 7, segment - 1, segment, segment + 1, 23 * segment} {
			b, root := []*bcast.Broadcaster{without, with}[(i+k)%2], (i+3*k)%ranks
			if err := verified(world, size, root, by(b, predict.Plan{Algorithm: a, Segment: segment}, size, root)); err != nil {
				return fmt.Errorf("%v, %d bytes from %d: %w", a, size, root, err)
			}
		}
	}
	return nil
}

// along is a broadcaster whose plans follow the groups of a tree, and that splits no communicator. nil: nothing is known.
func along(t testing.TB, world mpi.Communicator, tree *topology.Hierarchy) (*bcast.Broadcaster, error) {
	s := &bcast.Settings{ModelOnly: true, Algorithms: schedule.Algorithms()}
	if tree != nil {
		s.Network = casttest.NetworkOf(t, tree)
	}
	return bcast.New(world, s)
}

// by returns a function that broadcasts by a plan, or the error of its compilation.
func by(b *bcast.Broadcaster, p predict.Plan, bytes, root int) func(buf []byte) error {
	run, err := b.Compile(p, bytes, root)
	if err != nil {
		return func([]byte) error { return err }
	}
	return run
}

// A witness is an algorithm that remembers the problem for which it was prepared last.
type witness struct {
	schedule.Flat
	problem *schedule.Problem
}

func (w witness) Prepare(p schedule.Problem) schedule.Parts {
	*w.problem = p
	return w.Flat.Prepare(p)
}

// problemOf is what a broadcaster asks of algorithms on this rank: it has the groups and the costs that plans follow.
func problemOf(b *bcast.Broadcaster) (p schedule.Problem) {
	_, _ = b.Compile(predict.Plan{Algorithm: witness{problem: &p}}, 1, 0)
	return p
}

// candidateNames are the names of what can be compared for a size and root, native first and then in the order of the
// settings. It is collective.
func candidateNames(b *bcast.Broadcaster, bytes, root int) ([]string, error) {
	plans, err := b.Candidates(bytes, root)
	slices.SortFunc(plans, func(a, b predict.Plan) int { return a.Index - b.Index })
	var names []string
	for _, p := range plans {
		names = append(names, p.Name())
	}
	return names, err
}

// verified runs a broadcast of a pattern and compares every byte.
func verified(world mpi.Communicator, size, root int, run func(buf []byte) error) error {
	buf := make([]byte, size)
	pattern := uint64(1000*size + root)
	fill(buf, pattern, world.Rank() == root)
	if err := run(buf); err != nil {
		return err
	}
	if !matches(buf, pattern) {
		return fmt.Errorf("rank %d: wrong bytes, size %d, root %d", world.Rank(), size, root)
	}
	return nil
}

// broadcast uses a Broadcaster for many sizes and roots.
func broadcast(world mpi.Communicator, s bcast.Settings) error {
	if world.Rank() != 0 {
		s.Network = nil // the others get it from rank 0
	}
	b, err := bcast.New(world, &s)
	if err != nil {
		return err
	}
	ranks := world.Size()
	for i, size := range []int{0, 1, 7, 8, 9, 1025, 70000, 300000} {
		for _, root := range []int{0, ranks - 1, i % ranks} {
			err := verified(world, size, root, func(buf []byte) error { return b.Bcast(buf, root) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// allocations is the number per warm Bcast; counts tells whether this rank counts.
func allocations(world mpi.Communicator, s *bcast.Settings, size int, counts bool) (float64, error) {
	b, err := bcast.New(world, s)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, size)
	var failed error
	run := func() {
		if err := b.Bcast(buf, world.Size()-1); err != nil {
			failed = err
		}
	}
	const runs = 20
	for range 50 {
		run()
	}
	if counts {
		n := testing.AllocsPerRun(runs, run)
		return n, failed
	}
	for range runs + 1 { // AllocsPerRun runs once more to warm up
		run()
	}
	return 0, failed
}

// misuse expects an error for every misuse, on every rank of at least 2, and a broadcast that
// works afterwards. The network is of another number of ranks.
func misuse(world mpi.Communicator, network *model.Network) error {
	ranks := world.Size()
	var wrong []string
	expect := func(what string, err error, want error, text string) {
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			wrong = append(wrong, fmt.Sprintf("%s: error %v, want %v with %q", what, err, want, text))
		}
	}
	_, err := bcast.New(world, &bcast.Settings{Tag: -1})
	expect("tag -1", err, mpi.ErrTag, "tag -1")
	_, err = bcast.New(world, &bcast.Settings{Tag: mpi.MaxTag + 1})
	expect("tag too large", err, mpi.ErrTag, "tag 32768")
	_, err = bcast.New(world, &bcast.Settings{Budget: -1})
	expect("budget", err, nil, "budget -1ns")
	s := &bcast.Settings{}
	if world.Rank() == 0 {
		s.Network = network
	}
	_, err = bcast.New(world, s)
	expect("network of others", err, nil, "bcast: new: ")
	b, err := bcast.New(world, nil)
	if err != nil {
		return err
	}
	for _, root := range []int{-1, ranks} {
		text := fmt.Sprintf("root %d", root)
		expect("Bcast", b.Bcast(make([]byte, 3), root), mpi.ErrRank, text)
		expect("empty Bcast", b.Bcast(nil, root), mpi.ErrRank, text)
		expect("Tune", b.Tune([]int{root}, 3), mpi.ErrRank, text)
		_, err = b.Plan(3, root)
		expect("Plan", err, mpi.ErrRank, text)
	}
	expect("Tune", b.Tune([]int{0}, 8, -8), nil, "size -8")
	if wrong != nil {
		return errors.New(strings.Join(wrong, "\n"))
	}
	buf := []byte{byte(world.Rank())}
	if err := b.Bcast(buf, ranks-1); err != nil || int(buf[0]) != ranks-1 {
		return fmt.Errorf("after the misuse: %v, %v", buf, err)
	}
	return nil
}
