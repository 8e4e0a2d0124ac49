package spanner_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// Six hosts wired in a ring.
func ExampleWitness() {
	ring, err := gen.Parse("ring:6 latency=2us")
	if err != nil {
		log.Fatal(err)
	}
	latencies, err := ring.Latencies()
	if err != nil {
		log.Fatal(err)
	}
	result, err := (&spanner.Witness{}).Reconstruct(latencies)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range result.Graph.Out(0) {
		fmt.Printf("host 0 is wired to host %d: %.1f us\n", a.To, a.Latency*1e6)
	}
	// Output:
	// host 0 is wired to host 1: 2.0 us
	// host 0 is wired to host 5: 2.0 us
}

// Four hosts in a ring, 10 us from one to the next, of which the arc from host 0 to
// host 3 takes 15 us. By hand: the way round from 0 to 3 takes 30 us, so the arc is
// shorter and closes the ring, but as it is slower than its way back the channel
// is simplex and the arc is dropped.
func ExampleGreedyCycle() {
	latencies := mat.NewDense(4, 4, []float64{
		0, 10e-6, 20e-6, 15e-6,
		10e-6, 0, 10e-6, 20e-6,
		20e-6, 10e-6, 0, 10e-6,
		10e-6, 20e-6, 10e-6, 0,
	})
	result, err := (&spanner.GreedyCycle{}).Reconstruct(latencies)
	if err != nil {
		log.Fatal(err)
	}
	for _, arc := range result.Graph.Arcs() {
		fmt.Printf("%d->%d, ", arc.From, arc.To)
	}
	fmt.Println("and no other")
	for _, warning := range result.Warnings {
		fmt.Println(warning)
	}
	// Output:
	// 0->1, 1->0, 1->2, 2->1, 2->3, 3->0, 3->2, and no other
	// channel 3->0 is simplex: 0->3 takes 1.5 times as long
}
