package linkage_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// From a file of latencies to a file of groups. Hosts a1 to a4 are on one
// switch, b1 to b4 on another: some 2 us within, some 3 us between.
func Example() {
	const file = `# unit: us
,a1,a2,a3,a4,b1,b2,b3,b4
a1,,2.01,1.99,2.00,3.02,2.99,3.01,3.00
a2,2.00,,2.02,1.98,3.00,3.01,2.98,3.03
a3,2.00,2.01,,2.00,2.99,3.00,3.02,3.01
a4,1.99,2.00,2.01,,3.01,3.02,3.00,2.98
b1,3.01,3.00,2.98,3.02,,2.00,2.01,1.99
b2,3.00,3.02,3.01,2.99,2.01,,2.00,2.02
b3,2.99,3.00,3.01,3.00,1.98,2.00,,2.01
b4,3.02,2.98,3.00,3.01,2.00,2.02,1.99,
`
	latencies, err := encode.ReadMatrix(strings.NewReader(file), 0)
	if err != nil {
		log.Fatal(err)
	}
	result, err := linkage.Reconstruct(latencies.Matrix)
	if err != nil {
		log.Fatal(err)
	}
	for _, group := range result.Hierarchy.Groups()[1:] { // the first is all hosts
		for _, host := range group.Hosts {
			fmt.Print(latencies.Names[host], " ")
		}
		fmt.Printf("%.1f us, confidence %.2f, confident: %v\n", group.Latency*1e6, group.Confidence, group.Confident())
	}

	var written bytes.Buffer // or a file
	if err := encode.WriteResult(&written, result, latencies.Names); err != nil {
		log.Fatal(err)
	}
	again, names, err := encode.ReadResult(&written)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("read again:", names, "on", again.Graph.Vertices()-again.Graph.Hosts(), "switches")
	// Output:
	// a1 a2 a3 a4 2.0 us, confidence 1.00, confident: true
	// b1 b2 b3 b4 2.0 us, confidence 1.00, confident: true
	// read again: [a1 a2 a3 a4 b1 b2 b3 b4] on 2 switches
}

// Two pairs of hosts between which nothing was measured are not one machine.
func ExampleReconstruct_disconnected() {
	nan := math.NaN()
	_, err := linkage.Reconstruct(mat.NewDense(4, 4, []float64{
		0, 2e-6, nan, nan,
		2e-6, 0, nan, nan,
		nan, nan, 0, 2e-6,
		nan, nan, 2e-6, 0,
	}))
	fmt.Println(errors.Is(err, topology.ErrDisconnected))
	fmt.Println(err)
	// Output:
	// true
	// linkage: hosts 0 and 2: nothing was measured between parts of the hosts
}
