package spanner_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology/spanner"
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
