package latencyfit_test

import (
	"fmt"
	"log"
	"math"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// Three hosts on one switch: the latencies between them give those of the links.
func ExampleLatencies() {
	var arcs []topology.Arc
	for host := range 3 {
		arcs = topology.AppendLink(arcs, host, 3, math.NaN(), math.NaN())
	}
	wiring, err := topology.NewGraph(3, 1, []string{"a", "b", "c", "switch"}, arcs)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := latencyfit.Latencies(wiring, nil, mat.NewDense(3, 3, []float64{
		0, 3e-6, 5e-6,
		3e-6, 0, 6e-6,
		5e-6, 6e-6, 0,
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	for host := range 3 {
		fmt.Printf("%s-switch: %.1f us\n", fitted.Graph.Name(host), fitted.Graph.Out(host)[0].Latency*1e6)
	}
	// Output:
	// a-switch: 1.0 us
	// b-switch: 2.0 us
	// c-switch: 4.0 us
}
