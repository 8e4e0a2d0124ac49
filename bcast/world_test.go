package bcast

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
func bringEveryByte(world mpi.Communicator) error {
	const segment = 100
	ranks := world.Size()
	exec := newExecutor(world, 5)
	trees := []*topology.Hierarchy{nil, casttest.RandomTree(rand.New(rand.NewPCG(3, uint64(ranks))), ranks)}
	for i, a := range casttest.Algorithms() {
		for k, size := range []int{0, 1, 7, segment - 1, segment, segment + 1, 23 * segment} {
			p := schedule.Problem{Ranks: ranks, Root: (i + 3*k) % ranks, Bytes: size, Segment: segment, Tree: trees[(i+k)%2]}
			err := verified(world, size, p.Root, func(buf []byte) error {
				return exec.performOps(a.Prepare(p).Of(world.Rank()).Ops(nil, p), buf, false)
			})
			if err != nil {
				return fmt.Errorf("%v, %+v: %w", a, p, err)
			}
		}
	}
	return nil
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
func broadcast(world mpi.Communicator, s Settings) error {
	if world.Rank() != 0 {
		s.Network = nil // the others get it from rank 0
	}
	b, err := New(world, &s)
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
func allocations(world mpi.Communicator, s *Settings, size int, counts bool) (float64, error) {
	b, err := New(world, s)
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
	expect("network of others", err, nil, "bcast: new: ")
	b, err := New(world, nil)
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
