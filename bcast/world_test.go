package bcast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// randomTree nests the ranks at random in up to three levels.
func randomTree(rng *rand.Rand, ranks int) *topology.Hierarchy {
	var levels []topology.Level
	var groups []topology.Group
	parts := [][]int{rng.Perm(ranks)}
	for depth := range rng.IntN(4) {
		level := 2 - depth
		var finer [][]int
		for _, part := range parts {
			for len(part) > 0 {
				n := min(len(part), 1+rng.IntN(max(1, ranks>>depth/2)))
				if n >= 2 && n < ranks {
					groups = append(groups, topology.Group{Hosts: part[:n], Level: level, Support: 1})
					finer = append(finer, part[:n])
				}
				part = part[n:]
			}
		}
		parts = finer
	}
	levels = make([]topology.Level, 3)
	h, err := topology.NewHierarchy(ranks, levels, groups, 1e-6)
	if err != nil {
		panic(err)
	}
	return h
}

// regularTree nests ranks in blocks: {4, 2} makes groups of 4, and of 2 of those.
func regularTree(t testing.TB, ranks int, factors ...int) *topology.Hierarchy {
	t.Helper()
	var levels []topology.Level
	var groups []topology.Group
	size, latency := 1, 1e-6
	for level, f := range factors {
		size *= f
		levels = append(levels, topology.Level{Latency: latency})
		for at := 0; at < ranks; at += size {
			hosts := make([]int, 0, size)
			for x := at; x < min(ranks, at+size); x++ {
				hosts = append(hosts, x)
			}
			if len(hosts) > 1 && len(hosts) < ranks {
				groups = append(groups, topology.Group{Hosts: hosts, Level: level, Latency: latency, Support: 1})
			}
		}
		latency *= 10
	}
	h, err := topology.NewHierarchy(ranks, levels, groups, latency)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// algorithms returns all algorithms with all settings that matter.
func algorithms() []Algorithm {
	all := Algorithms()
	for _, outer := range []Shape{ShapeBinomial, ShapeFlat, ShapeChain} {
		for _, inner := range []Shape{ShapeBinomial, ShapeFlat, ShapeChain} {
			all = append(all, MultiLevel{[]Shape{outer, inner}})
		}
	}
	return all
}

// networkOf is a network with the hierarchy's latencies, and bandwidths that
// fall from 10 GB/s by a factor of 5 per level.
func networkOf(t testing.TB, h *topology.Hierarchy) *model.Network {
	t.Helper()
	return networkAt(t, h, nil)
}

// networkAt is networkOf with the ranks at the given places.
func networkAt(t testing.TB, h *topology.Hierarchy, at []model.Location) *model.Network {
	t.Helper()
	g, err := topology.NewGraph(h.Hosts(), 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	bandwidth, b := make([]float64, len(h.Levels())+1), 10e9
	for i := range bandwidth {
		bandwidth[i] = b
		b /= 5
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{LevelBandwidth: bandwidth, Locations: at})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

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

func (p placed) ProcessorName() string { return p.at.Host }
func (p placed) Core() int             { return p.at.Core }

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

// What follows is what every rank does in the tests that run both in one
// process and on real MPI libraries.

// bringEveryByte runs all algorithms against the contents of the buffer.
func bringEveryByte(world mpi.Communicator) error {
	const segment = 100
	ranks := world.Size()
	exec := newExecutor(world, 5)
	trees := []*topology.Hierarchy{nil, randomTree(rand.New(rand.NewPCG(3, uint64(ranks))), ranks)}
	for i, a := range algorithms() {
		for k, size := range []int{0, 1, 7, segment - 1, segment, segment + 1, 23 * segment} {
			p := Problem{Ranks: ranks, Root: (i + 3*k) % ranks, Bytes: size, Segment: segment, Tree: trees[(i+k)%2]}
			err := verified(world, size, p.Root, func(buf []byte) error {
				return exec.run(a.Ops(nil, p, world.Rank()), buf)
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
		expect("Tune", b.Tune(root, 3), mpi.ErrRank, text)
		_, err = b.Plan(3, root)
		expect("Plan", err, mpi.ErrRank, text)
		_, err = Benchmark(context.Background(), b, &BenchmarkSettings{Root: root})
		expect("Benchmark", err, mpi.ErrRank, text)
	}
	expect("Tune", b.Tune(0, 8, -8), nil, "size -8")
	_, err = Benchmark(context.Background(), b, &BenchmarkSettings{Sizes: []int{-1}})
	expect("Benchmark", err, nil, "size -1")
	_, err = Benchmark(context.Background(), b, &BenchmarkSettings{Repetitions: -1})
	expect("Benchmark", err, nil, "-1 repetitions")
	if wrong != nil {
		return errors.New(strings.Join(wrong, "\n"))
	}
	buf := []byte{byte(world.Rank())}
	if err := b.Bcast(buf, ranks-1); err != nil || int(buf[0]) != ranks-1 {
		return fmt.Errorf("after the misuse: %v, %v", buf, err)
	}
	return nil
}

// compareVariants benchmarks, expects the named variants besides the
// algorithms, and returns the report as JSON.
func compareVariants(world mpi.Communicator, s Settings, want ...string) (string, error) {
	if world.Rank() != 0 {
		s.Network = nil
	}
	b, err := New(world, &s)
	if err != nil {
		return "", err
	}
	r, err := Benchmark(context.Background(), b, &BenchmarkSettings{Sizes: []int{0, 5, 3000}, Root: world.Size() - 1, Repetitions: 3})
	if err != nil {
		return "", err
	}
	var variants []string
	for i, row := range r.Rows {
		if row.Bytes == 5 {
			variants = append(variants, row.Variant)
		}
		if !row.Verified || !(row.Min <= row.Median && row.Median <= row.Max) || row.Min < 0 {
			return "", fmt.Errorf("row %d: %+v", i, row)
		}
	}
	if want := append(want, "flat", "binomial", "chain", "multilevel"); !slices.Equal(variants, want) {
		return "", fmt.Errorf("variants %v, want %v", variants, want)
	}
	if _, ok := world.(mpi.Clock); ok && r.ClockDoubt != 0 { // all ranks are on this host
		return "", fmt.Errorf("clock doubt %g s, want 0", r.ClockDoubt)
	}
	var text strings.Builder
	err = r.Write(&text)
	return text.String(), err
}
