package plogp_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/measure/plogp"
	groups "github.com/topocast/topocast/topology/cluster"
)

// Ranks that see the others alike belong together: here by their latencies and
// gaps, which differ between the two nodes only (Reinfjell 2023, equations 3.5
// and 3.6).
func ExampleNewProfiles() {
	latencies, gaps := mat.NewDense(8, 8, nil), mat.NewDense(8, 8, nil) // s
	for i := range 8 {
		for j := range 8 {
			latencies.Set(i, j, 10e-6)
			gaps.Set(i, j, 50e-6)
			if i/4 == j/4 {
				latencies.Set(i, j, 2e-6)
				gaps.Set(i, j, 5e-6)
			}
			if i/2 == j/2 {
				latencies.Set(i, j, 1e-6)
			}
		}
	}
	d, err := plogp.NewProfiles(latencies, gaps)
	if err != nil {
		log.Fatal(err)
	}
	labels, err := groups.Agglomerative{K: 2}.Cluster(d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels)
	// Output: [0 0 0 0 1 1 1 1]
}
