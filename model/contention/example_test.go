package contention_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/model/contention"
)

// A host's link of 940 Mbit/s, 117.5 MB/s, with two flows in and one out (Zhu et al. 2014,
// section 5.2). Fair, the one out has its channel for itself: 117.5 MB take 1 s, those in
// share and take 2 s. By the asymmetric property it is stopped with the other two, at half.
func Example() {
	const in, out = 0, 1 // the two directions of the link
	flows := []contention.Flow{
		{Data: []int32{in}, Reverse: []int32{out}, Bytes: 117.5e6},
		{Data: []int32{in}, Reverse: []int32{out}, Bytes: 117.5e6},
		{Data: []int32{out}, Reverse: []int32{in}, Bytes: 117.5e6},
	}
	for _, sharing := range []contention.Sharing{{}, {Coupling: 1}} {
		solver, err := contention.NewSolver([]float64{117.5e6, 117.5e6}, &sharing)
		if err != nil {
			log.Fatal(err)
		}
		times, err := solver.Times(nil, flows)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("asymmetric %v: %.1f s\n", sharing.Coupling == 1, times)
	}
	// Output:
	// asymmetric false: [2.0 2.0 1.0] s
	// asymmetric true: [2.0 2.0 2.0] s
}

// Flows that come and go: of 100 MB/s one flow has all, two have half each, and half a
// capacity halves that.
func ExampleSolver() {
	solver, err := contention.NewSolver([]float64{100e6}, nil)
	if err != nil {
		log.Fatal(err)
	}
	show := func(what string, flows ...int) {
		solver.Solve(nil)
		fmt.Printf("%s:", what)
		for _, f := range flows {
			fmt.Printf(" %.0f MB/s", solver.Rate(f)/1e6)
		}
		fmt.Println()
	}
	add := func(bound float64) int {
		f, err := solver.Add([]int32{0}, nil, bound, 1)
		if err != nil {
			log.Fatal(err)
		}
		return f
	}
	first := add(1e9)
	show("alone", first)
	second := add(1e9)
	show("together", first, second)
	third := add(20e6) // bounded by its window, say
	show("with one of 20 MB/s", first, second, third)
	solver.Remove(second)
	if err := solver.SetCapacity(0, 50e6); err != nil {
		log.Fatal(err)
	}
	show("half the link", first, third)
	// Output:
	// alone: 100 MB/s
	// together: 50 MB/s 50 MB/s
	// with one of 20 MB/s: 40 MB/s 40 MB/s 20 MB/s
	// half the link: 30 MB/s 20 MB/s
}
