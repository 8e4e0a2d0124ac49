package clique_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology/clique"
)

// The example of Bufe 2014, table 2.2 and figures 2.8 to 2.11: nine nodes A to I,
// of which three each are 2 apart and all others 4. There are three switches, 1
// from their nodes, and a fourth, 1 from each of them.
func ExampleSwitches() {
	latencies := published.Table("2.2") // *mat.Dense, s
	result, err := (&clique.Switches{}).Reconstruct(latencies)
	if err != nil {
		log.Fatal(err)
	}
	for _, arc := range result.Graph.Arcs() {
		if arc.From < arc.To { // each link once
			fmt.Printf("%s-%s: %.0f us\n", result.Graph.Name(arc.From), result.Graph.Name(arc.To), arc.Latency*1e6)
		}
	}
	// Output:
	// h0-s0: 1 us
	// h1-s0: 1 us
	// h2-s0: 1 us
	// h3-s1: 1 us
	// h4-s1: 1 us
	// h5-s1: 1 us
	// h6-s2: 1 us
	// h7-s2: 1 us
	// h8-s2: 1 us
	// s0-s3: 1 us
	// s1-s3: 1 us
	// s2-s3: 1 us
}

// The first column of Bufe 2014, table 3.10: 12 nodes or cores.
func ExampleSuccessProbability() {
	for _, p := range []float64{0.99, 0.999, 0.9999} {
		fmt.Printf("%.2f %% of measurements right: %.1f %% of machines\n", 100*p, 100*clique.SuccessProbability(p, 12))
	}
	// Output:
	// 99.00 % of measurements right: 51.5 % of machines
	// 99.90 % of measurements right: 93.6 % of machines
	// 99.99 % of measurements right: 99.3 % of machines
}
