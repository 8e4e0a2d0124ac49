//go:build gompi && cgo

package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	gompi "github.com/sbromberger/gompi"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
	topogompi "github.com/topocast/topocast/mpi/gompi"
)

func main() {
	cells := flag.Int("cells", 1000, "cells of the rod, at least one per rank")
	steps := flag.Int("steps", 5000, "time steps")
	adapter := flag.Bool("adapter", false, "broadcast over gompi, by package mpi/gompi, instead of attaching by mpi.World")
	flag.Parse()

	runtime.LockOSThread() // main runs on the main thread, which MPI may insist on
	gompi.Start(true)
	comm := gompi.NewCommunicator(nil)
	// MPI_Finalize after a panic would wait for ranks that wait for this one.
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "rank %d: panic: %v\n\n%s", comm.Rank(), p, debug.Stack())
			comm.Abort(2)
		}
		gompi.Stop()
	}()

	if *cells < comm.Size() || *steps < 0 {
		if comm.Rank() == 0 {
			fmt.Fprintf(os.Stderr, "gompi: %d cells and %d steps: want at least one cell for each of %d ranks, and no negative steps\n", *cells, *steps, comm.Size())
		}
		comm.Abort(2)
	}
	heat, err := run(comm, *cells, *steps, *adapter)
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", comm.Rank(), err)
		comm.Abort(1)
	}
	if comm.Rank() == 0 {
		fmt.Printf("%d ranks, %d cells, %d steps: heat %.6f of %.6f left\n", comm.Size(), *cells, *steps, heat, heatOf(sine(*cells)))
	}
}

// run is collective: it follows a rod of n cells that starts as a half sine,
// and returns the sum of the temperatures after some steps.
func run(comm *gompi.Communicator, n, steps int, adapter bool) (float64, error) {
	whole := make([]float64, n)
	if comm.Rank() == 0 {
		copy(whole, sine(n))
	}
	cast := castByWorld
	if adapter {
		cast = castByAdapter
	}
	if err := cast(comm, whole); err != nil {
		return 0, err
	}
	r := newRod(comm, whole)
	for range steps {
		r.step()
	}
	sum := make([]float64, 1)
	if err := comm.AllreduceFloat64s(sum, []float64{heatOf(r.now[1 : len(r.now)-1])}, gompi.OpSum, 0); err != nil {
		return 0, err
	}
	return sum[0], nil
}

// castByWorld is collective: it broadcasts from rank 0 over a communicator that mpi.World makes in the MPI that gompi has started.
func castByWorld(_ *gompi.Communicator, values []float64) error {
	world, err := mpi.World()
	if err != nil {
		return err
	}
	if err := cast(world, values); err != nil {
		return err
	}
	return world.Close() // MPI goes on
}

// castByAdapter is collective: it broadcasts from rank 0 over gompi's communicator.
func castByAdapter(comm *gompi.Communicator, values []float64) error {
	return cast(topogompi.New(comm), values)
}

func cast(comm mpi.Communicator, values []float64) error {
	b, err := bcast.New(comm, nil)
	if err != nil {
		return err
	}
	if err := bcast.BcastSlice(b, values, 0); err != nil {
		return err
	}
	return b.Close()
}

// sine is a rod of n cells, warm in the middle.
func sine(n int) []float64 {
	cells := make([]float64, n)
	for i := range cells {
		cells[i] = math.Sin(math.Pi * float64(i+1) / float64(n+1))
	}
	return cells
}

func heatOf(cells []float64) float64 {
	sum := 0.0
	for _, t := range cells {
		sum += t
	}
	return sum
}

// A rod is one rank's piece, between one cell of each neighbour (0 beyond the
// ends of the rod).
type rod struct {
	comm      *gompi.Communicator
	now, next []float64
}

func newRod(comm *gompi.Communicator, whole []float64) *rod {
	first := len(whole) * comm.Rank() / comm.Size()
	last := len(whole) * (comm.Rank() + 1) / comm.Size()
	r := &rod{comm, make([]float64, last-first+2), make([]float64, last-first+2)}
	copy(r.now[1:], whole[first:last])
	return r
}

// ratio is the diffusion number of a step: stable up to 1/2.
const ratio = 0.25

// step is collective: one explicit Euler step of the heat equation.
func (r *rod) step() {
	left, right := r.comm.Rank()-1, r.comm.Rank()+1
	n := len(r.now)
	// Even ranks swap with their right neighbour first, odd ones with their
	// left, so that a Send which waits for its Recv cannot lock up the ring.
	if r.comm.Rank()%2 == 0 {
		r.swap(right, n-2, n-1)
		r.swap(left, 1, 0)
	} else {
		r.swap(left, 1, 0)
		r.swap(right, n-2, n-1)
	}
	for i := 1; i < n-1; i++ {
		r.next[i] = r.now[i] + ratio*(r.now[i-1]-2*r.now[i]+r.now[i+1])
	}
	r.now, r.next = r.next, r.now
}

// swap sends the cell at own to a neighbour, if there is one, and receives the
// neighbour's into the cell at theirs.
func (r *rod) swap(neighbour, own, theirs int) {
	if neighbour < 0 || neighbour >= r.comm.Size() {
		return
	}
	if r.comm.Rank()%2 == 0 {
		r.comm.SendFloat64s(r.now[own:own+1], neighbour, 0)
		r.comm.RecvPreallocFloat64s(r.now[theirs:theirs+1], neighbour, 0)
	} else {
		r.comm.RecvPreallocFloat64s(r.now[theirs:theirs+1], neighbour, 0)
		r.comm.SendFloat64s(r.now[own:own+1], neighbour, 0)
	}
}
