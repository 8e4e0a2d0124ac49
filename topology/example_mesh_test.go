package topology_test

import (
	"fmt"
	"log"
	"math"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
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
	result, err := (&topology.Witness{}).Reconstruct(latencies)
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

// Three hosts on one switch: the latencies between them give those of the links.
func ExampleFitLatencies() {
	var arcs []topology.Arc
	for host := range 3 {
		arcs = topology.AppendLink(arcs, host, 3, math.NaN(), math.NaN())
	}
	wiring, err := topology.NewGraph(3, 1, []string{"a", "b", "c", "switch"}, arcs)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := topology.FitLatencies(wiring, nil, mat.NewDense(3, 3, []float64{
		0, 3e-6, 5e-6,
		3e-6, 0, 6e-6,
		5e-6, 6e-6, 0,
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	for host := range 3 {
		fmt.Printf("%s-switch: %.1f us\n", fit.Graph.Name(host), fit.Graph.Out(host)[0].Latency*1e6)
	}
	// Output:
	// a-switch: 1.0 us
	// b-switch: 2.0 us
	// c-switch: 4.0 us
}
